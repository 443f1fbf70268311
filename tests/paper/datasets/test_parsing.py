from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from robust_recourse.paper.datasets import DatasetError
from robust_recourse.paper.datasets.files import Found
from robust_recourse.paper.datasets.parsing import categories, numbers, read_text


def file(text):
    return Found(Path("some.csv"), text.encode() if isinstance(text, str) else text, "")


def column(*entries):
    return pd.Series(list(entries), name="price", dtype=str)


def test_numbers_may_have_dollars_commas_and_spaces():
    values = numbers(column("1", " 2.5 ", "$3,000.50", "$ 1,000,000 ", "-4", "1e3"), file(""))
    assert values.tolist() == [1.0, 2.5, 3000.5, 1e6, -4.0, 1000.0]
    assert values.dtype == np.float64


def test_missing_entries_are_nan_only_where_they_are_allowed():
    assert np.isnan(numbers(column("NA", "1"), file(""), missing=("NA",))[0])
    with pytest.raises(DatasetError, match=r"some.csv: column price, row 1 \(from 0\): 'NA' is not a number"):
        numbers(column("1", "NA"), file(""))


@pytest.mark.parametrize("bad", ["", "nan", "inf", "one", "$", "1;2", "1.2.3"])
def test_what_is_no_number_is_named(bad):
    with pytest.raises(DatasetError, match=r"row 2 .* is not a number"):
        numbers(column("1", "2", bad, "x"), file(""))


def test_a_fraction_is_no_integer():
    assert numbers(column("1", "2.0"), file(""), whole=True).tolist() == [1.0, 2.0]
    with pytest.raises(DatasetError, match=r"row 1 .*'2.5' is not an integer"):
        numbers(column("1", "2.5"), file(""), whole=True)


def test_codes_become_their_meanings_and_unknown_codes_are_named():
    assert categories(column("1", " 0"), {"0": "no", "1": "yes"}, file("")).tolist() == ["yes", "no"]
    with pytest.raises(DatasetError, match=r"row 1 .*'2' is not in the code book, which has 0, 1"):
        categories(column("1", "2"), {"0": "no", "1": "yes"}, file(""))


def test_columns_are_returned_in_the_order_asked_for_and_a_byte_order_mark_is_no_part_of_a_name():
    table = read_text(file("\ufeffa,b,c\r\n1,NA,3\r\n4,,6\r\n"), ["c", "b", "a"], separator=",")
    assert list(table.columns) == ["c", "b", "a"]
    assert table.to_numpy().tolist() == [["3", "NA", "1"], ["6", "", "4"]]


def test_renamed_columns_are_named():
    with pytest.raises(DatasetError, match=r"some.csv lacks the column.s. b, d; it has a, B, c"):
        read_text(file("a,B,c\n1,2,3\n"), ["a", "b", "d"], separator=",")


def test_a_file_without_header_must_have_as_many_columns():
    assert read_text(file("1 2\n3 4\n"), ["a", "b"], separator=" ", header=False)["b"].tolist() == ["2", "4"]
    with pytest.raises(DatasetError, match="must have 3 columns without a header, got 2"):
        read_text(file("1 2\n"), ["a", "b", "c"], separator=" ", header=False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot be read as a table"),
        ("a,b\n", "has no rows"),
        ("a,b\n1,2\n1,2,3\n", "cannot be read as a table"),
        ("a,b\n1,2,3\n1,2,3\n", "more entries than the 2 columns"),
        (b"a,b\n\xff\xfe,2\n", "cannot be read as a table"),
    ],
)
def test_what_is_no_table_is_a_data_set_error_in_one_line(text, message):
    with pytest.raises(DatasetError, match=message) as error:
        read_text(file(text), ["a", "b"], separator=",")
    assert "\n" not in str(error.value)


def test_a_row_that_ends_early_is_found_where_it_is_used():
    table = read_text(file("a,b\n1,2\n1\n"), ["a", "b"], separator=",")
    with pytest.raises(DatasetError, match="column b, row 1"):
        numbers(table["b"], file(""))
