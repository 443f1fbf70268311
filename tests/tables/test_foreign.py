"""Frames of other libraries."""

from datetime import date

import numpy as np
import pandas as pd
import pytest

from robust_recourse.tables import Schema, to_pandas
from robust_recourse.tables.foreign import is_frame, native

pl = pytest.importorskip("polars")
pytest.importorskip("pyarrow")

FRAME = pl.DataFrame(
    {
        "i": [1, 2, 3],
        "u": [1, 2, 200],
        "f": [0.1, 0.5, 0.9],
        "b": [True, False, True],
        "t": ["x", "y", "x"],
        "e": ["lo", "hi", "lo"],
        "c": ["p", "q", "p"],
        "d": [date(2020, 1, 1), date(2021, 2, 3), date(2022, 1, 1)],
    },
    schema={
        "i": pl.Int16,
        "u": pl.UInt8,
        "f": pl.Float32,
        "b": pl.Boolean,
        "t": pl.String,
        "e": pl.Enum(["lo", "hi"]),
        "c": pl.Categorical,
        "d": pl.Date,
    },
)


def assert_same(frame, other):
    assert isinstance(frame, pl.DataFrame)
    assert frame.schema == other.schema
    assert frame.equals(other)


@pytest.mark.parametrize("gaps", [False, True])
def test_a_frame_goes_through_pandas_and_back(gaps):
    frame = pl.concat([FRAME, FRAME.clear(1)]) if gaps else FRAME
    assert_same(native(frame)(to_pandas(frame)), frame)


def test_a_column_that_does_not_fit_its_type_any_more_has_the_one_that_it_needs():
    changed = to_pandas(FRAME)
    changed["u"] = [1, 2.5, 300]
    changed["e"] = ["lo", "hi", "more"]
    back = native(FRAME)(changed)
    assert back["u"].to_list() == [1.0, 2.5, 300.0]
    assert back["e"].to_list() == ["lo", "hi", "more"]
    assert_same(back.drop("u", "e"), FRAME.drop("u", "e"))


@pytest.mark.parametrize("column", ["i", "u"])
def test_derivatives_may_ask_between_integers(column):
    table = Schema.learn(FRAME).read(FRAME, "X")
    values = table.values.copy()
    k = FRAME.columns.index(column)
    values[0, k] = 1.0 + 1e-9
    asked = table.decode(values, np.arange(3))
    assert asked[column].to_list()[0] == 1.0 + 1e-9
    assert_same(asked.drop(column), FRAME.drop(column))


def test_what_is_given_in_double_precision_is_asked_in_it():
    given = FRAME.with_columns(f=pl.Series([0.1, 0.2, 0.3], dtype=pl.Float64))
    table = Schema.learn(FRAME).read(given, "X")
    asked = table.decode(table.values, np.arange(3))
    assert asked["f"].to_list() == [0.1, 0.2, 0.3]


@pytest.mark.parametrize("gaps", [False, True])
def test_rows_come_back_as_they_were_given(gaps):
    frame = pl.concat([FRAME, FRAME.clear(1)]) if gaps else FRAME
    table = Schema.learn(frame).read(frame.select(frame.columns[::-1]), "X")
    rows = np.arange(len(frame))
    assert_same(table.restore(table.values, rows, np.ones(len(frame), dtype=bool)), frame.select(frame.columns[::-1]))
    assert_same(table.decode(table.values, rows), frame)


def test_kinds_are_those_of_the_same_frame_of_pandas():
    with_gaps = pl.concat([FRAME, FRAME.clear(1)])
    kinds = ["number", "number", "number", "ordered", "category", "ordered", "category", "fixed"]
    for frame in (FRAME, with_gaps):
        found = [column.kind for column in Schema.learn(frame).columns]
        # Whether an Enum is ordered is up to polars.
        assert found[:5] + found[6:] == kinds[:5] + kinds[6:]
        assert found[5] in {"ordered", "category"}


def test_the_model_gets_what_fit_got():
    pandas = to_pandas(FRAME)
    everything = np.arange(3), np.ones(3, dtype=bool)
    table = Schema.learn(FRAME).read(pandas, "X")
    assert_same(table.decode(table.values, everything[0]), FRAME)
    pd.testing.assert_frame_equal(table.given_at(everything[0]), pandas)
    table = Schema.learn(pandas).read(FRAME, "X")
    pd.testing.assert_frame_equal(table.decode(table.values, everything[0]), pandas)
    assert_same(table.restore(table.values, *everything), FRAME)


def test_empty_rows_are_null():
    table = Schema.learn(FRAME).read(FRAME, "X")
    back = table.restore(table.values, np.arange(3), np.array([True, False, True]))
    assert back.schema == FRAME.schema
    assert back.row(1) == (None,) * 8
    assert_same(back[[0, 2]], FRAME[[0, 2]])


def test_for_columns_learnt_from_an_array_a_frame_comes_back_too():
    frame = pl.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    table = Schema.of_array(2).read(frame, "X")
    assert_same(table.restore(table.values, np.arange(2), np.ones(2, dtype=bool)), frame)


def test_tables_of_other_libraries_become_frames_of_pandas():
    import pyarrow as pa

    arrow = pa.table({"a": [1.0, 2.0], "b": ["x", "y"]})
    assert is_frame(arrow)
    assert native(arrow) is None
    table = Schema.learn(arrow).read(arrow, "X")
    assert isinstance(table.restore(table.values, np.arange(2), np.ones(2, dtype=bool)), pd.DataFrame)


def test_what_is_no_frame_stays_as_it_is():
    array = np.zeros((2, 2))
    assert to_pandas(array) is array
    assert native(array) is None
    assert not is_frame([[1.0]])


def test_a_missing_package_is_named():
    class Frame:
        def to_pandas(self):
            raise ImportError("pyarrow is required")

    with pytest.raises(ImportError, match=r"pip install 'robust-recourse\[polars\]'"):
        to_pandas(Frame())


def test_a_lazy_frame_must_be_collected():
    with pytest.raises(TypeError, match=r"A LazyFrame has no rows yet; pass X\.collect\(\)"):
        Schema.learn(FRAME.lazy())
