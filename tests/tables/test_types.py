"""Types of columns."""

import numpy as np
import pandas as pd
import pytest

from robust_recourse.tables.types import alike, cast, decimal_places, gapped, holds, replaced_in, ungapped


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
        ([True, False], "bool", "halffloat[pyarrow]"),
        ([1.5, 2.0], "halffloat[pyarrow]", "bool[pyarrow]"),
        ([2020, 2021], "int64", "period[M]"),
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


@pytest.mark.parametrize(
    ("own", "asked", "wanted"),
    [
        ("int64", "int64", "Int64"),
        ("uint8", None, "UInt8"),
        ("bool", None, "boolean"),
        ("bool", "int16", "Int16"),
        ("int8", "int64", "Int64"),
        ("int64", "float64", "float64"),
        ("int64", "Float64", "float64"),
        ("int64", "object", "float64"),
        ("float32", "float32", "float32"),
        ("float32", "float64", "float64"),
        ("float64", "int64", "float64"),
        ("Int64", "int64", "Int64"),
        ("Int8", "float32", "Float32"),
        ("Int8", "int16", "Int16"),
        ("int64[pyarrow]", "int64", "int64[pyarrow]"),
        ("int64[pyarrow]", "float64", "double[pyarrow]"),
        ("object", "float64", "object"),
        ("string", None, "string"),
        ("datetime64[ns]", None, "datetime64[ns]"),
    ],
)
def test_a_column_of_recourses_has_the_next_type_that_holds_everything(own, asked, wanted):
    own, asked, wanted = (None if dtype is None else pd.api.types.pandas_dtype(dtype) for dtype in (own, asked, wanted))
    assert gapped(own, asked) == wanted


@pytest.mark.parametrize(
    ("own", "values", "ordered", "wanted"),
    [
        (["b", "a"], ["a", "b"], False, ["b", "a"]),
        (["b", "a"], ["a", "b", "c"], False, ["b", "a", "c"]),
        (["low", "high"], ["low", "mid", "high"], True, ["low", "mid", "high"]),
        (["high", "low"], ["low", "mid", "high"], True, ["high", "low", "mid"]),
        (["low", "other"], ["low", "mid"], True, ["low", "other", "mid"]),
    ],
)
def test_categories_of_recourses_are_all_that_there_are(own, values, ordered, wanted):
    dtype = gapped(pd.CategoricalDtype(own, ordered), None, values)
    assert dtype.categories.tolist() == wanted
    assert dtype.ordered == ordered


def test_gaps_that_are_none_do_not_need_a_nullable_type():
    table = pd.DataFrame({"a": [1, 2], 7: [True, False], "c": [1, 2], "d": [0.5, 1.5]})
    wide = table.astype({"a": "Int64", 7: "boolean", "c": "Int64"})
    like = table.astype({"c": "Int64"})
    pd.testing.assert_frame_equal(ungapped(wide, like), like)
    pd.testing.assert_frame_equal(ungapped(wide), table)
    holes = wide.drop(columns="d").where(np.array([[False] * 3, [True] * 3]))
    assert ungapped(holes, like.drop(columns="d")) is holes


@pytest.mark.parametrize(
    ("own", "values", "wanted"),
    [
        ("str", ("a", "b"), "str"),
        ("string", ("a", "b"), "string"),
        ("string[pyarrow]", ("a", "b"), "string[pyarrow]"),
        ("str", ("a", 3), "object"),
        ("string", (0, 1), "object"),
        ("int64", (False, True), "Int64"),
        ("bool", (0, 1), "boolean"),
        ("float64", (0, 1), "float64"),
        ("int8", (0, 1000), "object"),
        ("int64", ("a", "b"), "object"),
        ("object", ("a", 3), "object"),
    ],
)
def test_a_column_of_recourses_holds_all_categories_or_objects(own, values, wanted):
    assert gapped(pd.api.types.pandas_dtype(own), None, values) == wanted


@pytest.mark.parametrize(
    ("known", "cells", "wanted"),
    [
        ([0, 10], [False, 10, True], [0, 10, True]),
        (pd.to_datetime(["2020-01-01"]), ["2020-01-01", pd.Timestamp("2020")], ["2020-01-01", pd.Timestamp("2020")]),
        ([False, True], ["True", 1, 0.0], ["True", True, False]),
        ([1, 2], [2.0, 2.5, None], [2, 2.5, None]),
    ],
)
def test_cells_are_the_categories_that_they_equal_and_others_are_added(known, cells, wanted):
    typed = cast(pd.Series(cells, dtype=object), pd.CategoricalDtype(known))
    found = [None if gap else cell for cell, gap in zip(typed.tolist(), typed.isna(), strict=True)]
    assert found == wanted
    assert list(typed.cat.categories[: len(known)]) == list(known)


def test_numbers_that_were_given_as_categories_have_a_type_of_numbers():
    assert gapped(pd.CategoricalDtype([1.5, 2.0]), np.dtype("int64")) == np.dtype(float)
    assert gapped(pd.CategoricalDtype([1, 2]), np.dtype("int8")) == "Int64"


def test_what_a_type_holds():
    assert holds(np.dtype("int64"), (False, True))
    assert holds(pd.CategoricalDtype(["a", "b"]), ("b",))
    assert not holds(pd.CategoricalDtype(["a", "b"]), ("b", "c"))
    assert not holds(pd.StringDtype(), (False, True))
    assert holds(pd.StringDtype(), ())


def test_digits_of_decimal_types():
    pa = pytest.importorskip("pyarrow")
    assert decimal_places(pd.ArrowDtype(pa.decimal128(10, 2))) == (8, 2)
    assert decimal_places(pd.ArrowDtype(pa.float64())) is None
    assert decimal_places(np.dtype(float)) is None
