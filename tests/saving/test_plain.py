"""Values that survive being written, to the last bit and with their types."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from robust_recourse.saving.kinds import KINDS
from robust_recourse.tables.plain import decode, encode

BERLIN = ZoneInfo("Europe/Berlin")


def assert_same_index(back, index):
    assert type(back) is type(index)
    assert back.dtype == index.dtype
    assert back.names == index.names
    assert list(map(repr, back)) == list(map(repr, index))


def again(value):
    """Write a value as text and read it."""
    arrays = []
    text = json.dumps(encode(value, KINDS, arrays))
    return decode(json.loads(text), KINDS, arrays)


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(),
    st.decimals(allow_nan=False),
    st.dates(),
    st.times().map(lambda time: time.replace(fold=0)),
    st.datetimes().map(lambda time: time.replace(fold=0)),
    st.timedeltas(),
    st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1)).map(pd.Timestamp),
    hnp.scalar_dtypes().flatmap(hnp.from_dtype),
)


@settings(deadline=None, max_examples=150)
@given(scalars)
def test_a_value_comes_back_with_its_type_and_its_bits(value):
    back = again(value)
    assert type(back) is type(value)
    assert repr(back) == repr(value)
    if isinstance(value, np.generic):
        assert back.dtype == value.dtype
        assert back.tobytes() == value.tobytes()


@settings(deadline=None, max_examples=25)
@given(st.recursive(scalars, lambda inner: st.lists(inner) | st.tuples(inner, inner)))
def test_lists_and_tuples_come_back(value):
    assert repr(again(value)) == repr(value)


def test_keys_of_a_dictionary_keep_their_types_and_their_order():
    value = {True: 1, "1": 2, 2.5: {"a": None}, ("a", 1): [4], np.int64(3): 5}
    back = again(value)
    assert back == value
    assert [type(key) for key in back] == [type(key) for key in value]


@pytest.mark.parametrize(
    "value",
    [
        pd.NA,
        pd.NaT,
        pd.Timestamp("2020-03-29 03:30", tz="Europe/Berlin"),
        pd.Timestamp("2020-01-01T00:00:00+05:30"),
        pd.Timestamp("2020-01-01").as_unit("s"),
        pd.Timedelta("1h"),
        pd.Period("2020Q1"),
        pd.Period("2020-02", "M"),
        pd.Interval(0.1, 1.0, closed="both"),
        pd.Interval(pd.Timestamp("2020"), pd.Timestamp("2021")),
        datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC),
        Decimal("1.20"),
        np.str_(""),
        np.datetime64("2020-01-01T12", "h"),
    ],
    ids=repr,
)
def test_values_of_pandas_come_back(value):
    back = again(value)
    assert type(back) is type(value)
    assert repr(back) == repr(value)
    if isinstance(value, pd.Timestamp):
        assert back.unit == value.unit


INDEXES = [
    pd.Index(["a", "b"], name="n"),
    pd.Index(["a", 1, None, 2.5], dtype=object),
    pd.RangeIndex(2, 9, 3, name=("n", 1)),
    pd.Index([3, 1]),
    pd.Index([1.5, np.nan]),
    pd.Index([True, False]),
    pd.Index([1, pd.NA], dtype="Int64"),
    pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["x", None]),
    pd.CategoricalIndex(["a", "b", "a"], categories=["b", "a"], ordered=True),
    pd.date_range("2020", periods=3, tz="Europe/Berlin"),
    pd.to_timedelta(["1h", "2h"]),
    pd.interval_range(0, 3),
    pd.period_range("2020", periods=3, freq="M"),
    pd.Index([], dtype=object),
]


@pytest.mark.parametrize("index", INDEXES, ids=lambda index: str(index.dtype))
def test_names_of_columns_come_back(index):
    assert_same_index(again(index), index)


def test_tables_come_back():
    table = pd.DataFrame(
        {
            "mode": ["odds", "budget", "odds"],
            "odds": np.array([0.1, None, float("nan")], dtype=object),
            "cost": [0.1 + 0.2, np.inf, np.nan],
            "axes": [True, False, True],
            "people": [1, 2, 3],
            "kind": pd.Categorical(["a", None, "b"]),
        },
        index=pd.Index([4, 2, 2], name="n"),
    )
    for frame in (table, table.iloc[:0], table[["cost", "cost"]]):
        back = again(frame)
        pd.testing.assert_frame_equal(back, frame, check_exact=True)
        assert repr(back) == repr(frame)
    # None and NaN are not the same.
    assert [value is None for value in again(table)["odds"]] == [False, True, False]


DTYPES = [
    *(
        np.dtype(name)
        for name in ("float64", "float32", "int8", "uint64", "bool", "object", "<M8[ns]", "<m8[s]", ">f8")
    ),
    pd.CategoricalDtype(),
    pd.CategoricalDtype(["b", "a"]),
    pd.CategoricalDtype([3, 1, 2], ordered=True),
    pd.CategoricalDtype(pd.interval_range(0, 3)),
    pd.CategoricalDtype(pd.Index(["x", 1], dtype=object)),
    pd.Int64Dtype(),
    pd.UInt8Dtype(),
    pd.Float32Dtype(),
    pd.BooleanDtype(),
    pd.StringDtype(),
    pd.StringDtype("python"),
    pd.Series(["a"], dtype="str").dtype,
    pd.DatetimeTZDtype("ns", "Europe/Berlin"),
    pd.PeriodDtype("M"),
    pd.IntervalDtype("float64", "left"),
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_types_of_columns_come_back(dtype):
    back = again(dtype)
    assert type(back) is type(dtype)
    assert back == dtype
    if isinstance(dtype, pd.CategoricalDtype) and dtype.categories is not None:
        assert_same_index(back.categories, dtype.categories)
    if isinstance(dtype, pd.StringDtype):
        assert repr(back.na_value) == repr(dtype.na_value)


@pytest.mark.parametrize("name", ["int64", "string", "timestamp", "decimal", "dictionary"])
def test_types_of_arrow_come_back(name):
    arrow = pytest.importorskip("pyarrow")
    made = {
        "timestamp": lambda: arrow.timestamp("us", "UTC"),
        "decimal": lambda: arrow.decimal128(5, 2),
        "dictionary": lambda: arrow.dictionary(arrow.int32(), arrow.string()),
    }
    dtype = pd.ArrowDtype(made.get(name, getattr(arrow, name, None))())
    assert again(dtype) == dtype


def test_types_of_polars_come_back():
    polars = pytest.importorskip("polars")
    schema = {
        "a": polars.Int16,
        "b": polars.Categorical,
        "c": polars.Enum(["x", "y"]),
        "d": polars.Datetime("ms", "UTC"),
        "e": polars.Decimal(5, 2),
        "f": polars.String,
        "g": polars.Boolean,
    }
    frame = polars.DataFrame(schema=schema)
    assert again(frame).schema == frame.schema


@pytest.mark.parametrize("bits", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_random_generators_go_on_where_they_were(bits):
    generator = np.random.Generator(getattr(np.random, bits)(1))
    generator.normal(size=3)
    generator.integers(9, dtype=np.int32)  # keeps half of its bits for the next time
    back = again(generator)
    assert back.bit_generator is not generator.bit_generator
    assert (back.integers(2**31, size=9, dtype=np.int32) == generator.integers(2**31, size=9, dtype=np.int32)).all()


def test_random_states_go_on_where_they_were():
    state = np.random.RandomState(1)
    state.normal(size=3)
    assert (again(state).normal(size=5) == state.normal(size=5)).all()


def test_arrays_keep_shape_type_and_order():
    for array in (np.arange(6.0).reshape(2, 3), np.asfortranarray(np.eye(3)), np.zeros((0, 2), bool), np.array(3)):
        arrays = []
        data = encode([array], KINDS, arrays)
        (back,) = decode(json.loads(json.dumps(data)), KINDS, arrays)
        assert back.dtype == array.dtype
        assert back.flags.f_contiguous == array.flags.f_contiguous
        np.testing.assert_array_equal(back, array)


class Number(int):
    pass


@pytest.mark.parametrize(
    "value",
    [
        object(),
        Number(3),
        {1, 2},
        np.array([object()]),
        print,
        datetime.datetime(2020, 1, 1, tzinfo=BERLIN),  # which would come back with an offset instead of a zone
        pd.SparseDtype(float, 0.0),
        np.random.Generator(type("Own", (np.random.PCG64,), {})(1)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_would_not_come_back_is_refused(value):
    with pytest.raises(TypeError, match="cannot be saved"):
        encode([value], KINDS, [])
