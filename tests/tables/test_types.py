"""Types of columns."""

import numpy as np
import pandas as pd
import pytest

from robust_recourse.tables.types import alike, cast, replaced_in


@pytest.mark.parametrize(
    ("values", "own", "wanted"),
    [
        ([1, 2], "int64", "float64"),
        ([1.0, 2.0], "float64", "int8"),
        ([True, False], "bool", "int64"),
        ([0, 1], "int64", "bool"),
        ([0.5, 2.0], "float64", "float32"),
        ([1, None], "Int64", "float64"),
        (["a", "b"], "category", "str"),
        (["a", "b"], object, "category"),
        ([1, 2], "category", "int64"),
        ([1, 2], object, "int64"),
    ],
)
def test_a_type_that_holds_all_values_is_taken(values, own, wanted):
    series = pd.Series(values, dtype=own, index=[7, 7], name="c")
    typed = cast(series, pd.Series(values, dtype=wanted).dtype)
    assert typed.dtype == pd.Series(values, dtype=wanted).dtype
    assert typed.dropna().tolist() == series.dropna().tolist()
    assert typed.index.tolist() == [7, 7]


@pytest.mark.parametrize(
    ("values", "own", "wanted"),
    [
        ([1.5, 2.0], "float64", "int64"),
        ([300, 1], "int64", "int8"),
        ([2, 1], "int64", "bool"),
        ([0.1, 2.0], "float64", "float32"),
        ([1.0, np.nan], "float64", "int64"),
        ([2**53 + 1, 1], "int64", "float64"),
        ([1e300, 1.0], "float64", "int64"),
        ([1e300, 1.0], "float64", "float32"),
        (["a", "b"], object, "float64"),
        ([2**70, 1], object, "int64"),
    ],
)
def test_a_type_that_would_change_a_value_is_not(values, own, wanted):
    series = pd.Series(values, dtype=own)
    assert cast(series, pd.api.types.pandas_dtype(wanted)) is series


def test_categories_get_the_codes_of_the_wanted_type():
    wanted = pd.CategoricalDtype(["x", "y", "z"])
    for own in (["z"], ["z", "y", "x"], ["z", "y"]):
        typed = cast(pd.Series(["z", None], dtype=pd.CategoricalDtype(own)), wanted)
        assert typed.cat.categories.tolist() == ["x", "y", "z"]
        assert typed.cat.codes.tolist() == [2, -1]


def test_categories_that_a_type_lacks_are_added():
    wanted = pd.CategoricalDtype(["x", "y"], ordered=True)
    typed = cast(pd.Series(["new", "y", 3], dtype=object), wanted)
    assert typed.cat.categories.tolist() == ["x", "y", "new", 3]
    assert typed.cat.ordered
    assert typed.tolist() == ["new", "y", 3]


@pytest.mark.parametrize(("known", "new", "dtype"), [(["a"], "b", "str"), ([1], 2, "int64"), (["a"], 2, "object")])
def test_added_categories_keep_the_type_of_all(known, new, dtype):
    typed = cast(pd.Series([new, known[0]], dtype=object), pd.CategoricalDtype(known))
    assert typed.cat.categories.dtype == dtype
    assert typed.tolist() == [new, known[0]]


def test_types_with_other_codes_are_not_alike():
    one, other = pd.CategoricalDtype(["a", "b"]), pd.CategoricalDtype(["b", "a"])
    assert one == other
    assert not alike(one, other)
    assert alike(one, pd.CategoricalDtype(["a", "b"]))
    assert not alike(np.dtype("int8"), np.dtype("int64"))


@pytest.mark.parametrize(
    ("own", "new", "dtype"),
    [
        (pd.Series([1, 2, 3], dtype="int8"), 9.0, "int8"),
        (pd.Series([1, 2, 3], dtype="int8"), 900, "int64"),
        (pd.Series([1, 2, 3]), 2.5, "float64"),
        (pd.Series([1, None, 3], dtype="Int64"), 9, "Int64"),
        (pd.Series([True, False, True]), 0, "bool"),
        (pd.Series(["a", "b", "a"], dtype="string"), "c", "string"),
        (pd.Series([1, 2, 3], dtype=object), 2.5, "object"),
    ],
)
def test_values_are_written_in_the_type_of_a_column_if_they_fit(own, new, dtype):
    written = replaced_in(own, np.array([True, False, False]), np.array([new], dtype=object))
    assert written.dtype == dtype
    assert written[0] == new
    pd.testing.assert_series_equal(written[1:], own[1:], check_dtype=False)


def test_a_new_category_is_added_where_it_is_written():
    own = pd.Series(["a", "b"], dtype="category")
    written = replaced_in(own, np.array([True, False]), np.array(["new"], dtype=object))
    assert written.tolist() == ["new", "b"]
    assert written.cat.categories.tolist() == ["a", "b", "new"]
