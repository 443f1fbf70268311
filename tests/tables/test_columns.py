"""Kinds, units and steps of columns, inferred from training values."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse import ActionSet
from robust_recourse.tables import Schema
from robust_recourse.tables.columns import decimals, learn_column


def learn(values, dtype=None, **known):
    return learn_column(pd.Series(values, name="c", dtype=dtype), **known)


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "Int8", "Int64", "UInt16"]


@pytest.mark.parametrize("dtype", [*INTEGERS, "int64[pyarrow]"])
def test_integers_are_numbers_with_step_1(dtype):
    column = learn([3, 7, 12, 3], dtype)
    assert (column.kind, column.step, column.low, column.high) == ("number", 1.0, 3.0, 12.0)


@pytest.mark.parametrize("dtype", [*INTEGERS, "int64[pyarrow]"])
def test_integers_that_are_0_or_1_are_ordered_categories(dtype):
    column = learn([0, 1, 1, 0], dtype)
    assert (column.kind, column.values, column.unit) == ("ordered", (0, 1), 1.0)


@pytest.mark.parametrize("known", [{"integer": True}, {"step": 1.0}])
def test_integers_that_are_0_or_1_are_numbers_if_something_is_said_about_them(known):
    assert learn([0, 1, 1], **known).kind == "number"


@pytest.mark.parametrize("dtype", ["bool", "boolean", object, "bool[pyarrow]"])
def test_booleans_are_ordered(dtype):
    column = learn([True, False, True], dtype)
    assert (column.kind, column.values) == ("ordered", (False, True))


@pytest.mark.parametrize("values", [[True, None, False], [True, np.nan], [None, False, False]])
def test_booleans_with_gaps_are_booleans(values):
    # As frames of other libraries have them once they are frames of pandas.
    column = learn(values, object)
    assert (column.kind, column.values) == ("ordered", (False, True))


@pytest.mark.parametrize("dtype", ["float32", "float64", "Float32", "Float64", object, "double[pyarrow]"])
@pytest.mark.parametrize(("values", "step"), [([1.0, 5.0, 8.0], 1.0), ([0.25, 0.5, 3.75], 0.01)])
def test_floats_are_as_precise_as_they_are_recorded(dtype, values, step):
    column = learn(values, dtype)
    assert (column.kind, column.step) == ("number", step)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-(10**4), 10**4), min_size=2, unique=True), st.integers(1, 3), st.sampled_from([15, 17]))
def test_doubles_from_single_precision_have_the_digits_that_they_had_there(counts, digits, written):
    recorded = [round(count / 10**digits, digits) for count in counts]
    read = [float(f"{number:.{written}g}") for number in np.array(recorded, dtype=np.float32).tolist()]
    column, expected = learn(read), learn(recorded)
    assert (column.step, column.digits) == (expected.step, expected.digits)
    assert (column.low, column.high) == (expected.low, expected.high)


def test_doubles_of_single_precision_with_many_digits_have_no_step():
    column = learn(np.random.default_rng(0).normal(size=50).astype(np.float32).astype(float))
    assert column.step == 0.0
    assert column.low < -1.0 < 1.0 < column.high


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-(10**6), 10**6), min_size=2, unique=True), st.integers(0, 4))
def test_the_step_is_the_coarsest_power_of_ten_that_fits_all_values(counts, digits):
    values = [round(count / 10**digits, digits) for count in counts]
    needed = next(d for d in range(5) if all(float(f"{value:.{d}f}") == value for value in values))
    assert learn(values, float).step == float(f"1e-{needed}")


@pytest.mark.parametrize("values", [[0.12345, 2.0], [1 / 3, 0.5], [np.pi, 1e-7]])
def test_numbers_with_many_digits_have_no_step(values):
    assert learn(values).step == 0.0


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(-8, 8), st.sampled_from(["float64", "float32"]))
def test_numbers_with_many_digits_are_told_to_a_thousandth_of_their_unit(seed, power, dtype):
    power = power if dtype == "float64" else min(power, 2)  # larger ones have few digits in such a type
    column = learn(np.random.default_rng(seed).normal(3.0, 1.0, 40) * 10.0**power, dtype)
    assert column.step == 0.0
    assert column.grid == float(f"1e-{column.digits}")
    assert column.digits == 0 or column.grid <= column.unit / 1000.0 < 10.0 * column.grid


@pytest.mark.parametrize("dtype", ["float64", "float32", "Float64"])
@pytest.mark.parametrize("digits", [0, 1, 2, 3, 4])
def test_numbers_are_told_with_the_digits_that_they_are_recorded_with(digits, dtype):
    values = np.random.default_rng(0).integers(0, 900, 50) / 10.0**digits
    column = learn([*values, 1 / 10**digits], dtype)
    assert (column.step, column.digits, column.grid) == (10.0**-digits, digits, 10.0**-digits)


def test_few_digits_of_small_numbers_are_kept():
    values = np.round(np.random.default_rng(0).uniform(0.0, 0.002, 60), 5)
    assert (learn(values).step, learn(values).digits) == (0.0, 5)


def test_a_step_is_told_with_all_of_its_digits():
    assert learn([0.25, 0.5, 3.75], step=0.125).digits == 3
    assert learn(np.random.default_rng(0).normal(size=40), step=0.5).digits == 4


@pytest.mark.parametrize("values", [[1e14 + 1 / 3, 1e14 + 2.0, 1e14], [*np.linspace(0.0, 1e-9, 9), 1e140]])
def test_numbers_without_such_digits_may_be_anything(values):
    column = learn(values)
    assert column.digits is None or column.grid < column.unit


def test_the_columns_of_an_array_are_told_with_all_digits():
    assert [column.digits for column in Schema.learn(np.random.default_rng(0).normal(size=(40, 2))).columns] == [
        None,
        None,
    ]


@pytest.mark.parametrize("values", [[5, 5, 5], [5.5, 5.5], [0, 0], ["a", "a"], [5.5, None, 5.5], [7]])
def test_constant_columns_never_change(values):
    column = learn(values)
    assert column.kind == "fixed"
    assert "same value" in column.why


@pytest.mark.parametrize("dtype", [object, float, "Int64", "string", "boolean", "category", "datetime64[ns]"])
def test_columns_without_values_never_change(dtype):
    column = learn([None, None], dtype)
    assert column.kind == "fixed"
    assert "no values" in column.why


@pytest.mark.parametrize(
    "values",
    [
        pd.to_datetime(["2020-01-01", "2021-01-01"]),
        pd.to_datetime(["2020-01-01", "2021-01-01"], utc=True),
        pd.to_timedelta([1, 2], unit="D"),
        pd.period_range("2020-01", periods=2, freq="M"),
        pd.interval_range(0, 2),
        np.array([1 + 2j, 3j]),
    ],
)
def test_dates_and_the_like_never_change(values):
    column = learn(values)
    assert column.kind == "fixed"
    assert "kept as they are" in column.why


@pytest.mark.parametrize("dtype", [object, "str", "string", "string[pyarrow]", "category"])
def test_texts_are_categories_in_alphabetical_order(dtype):
    column = learn(["b", "a", None, "c", "a"], dtype)
    assert (column.kind, column.values) == ("category", ("a", "b", "c"))


def test_categories_of_a_type_keep_its_order_and_those_without_a_row():
    dtype = pd.CategoricalDtype(["low", "mid", "high"])
    assert learn(["high", "low"], dtype).values == ("low", "mid", "high")
    assert learn(["high", "low"], dtype).kind == "category"
    assert learn(["high", "low"], pd.CategoricalDtype(dtype.categories, ordered=True)).kind == "ordered"


@pytest.mark.parametrize("values", [[1, "a", 2.5], [None, 3, "x"], [Decimal("1.5"), Decimal(2)], [(1, 2), (3, 4), "a"]])
def test_objects_of_several_types_are_categories(values):
    column = learn(values, object)
    assert column.kind == "category"
    assert set(column.values) == set(values) - {None}


@pytest.mark.parametrize("values", [[1, 2, 5], [1, None, 5], [1, 2.0, np.nan], [np.int64(3), np.float32(4)]])
def test_numbers_in_a_column_of_objects_are_numbers(values):
    column = learn(values, object)
    assert (column.kind, column.step) == ("number", 1.0)


def test_cells_that_are_no_values_are_named():
    with pytest.raises(TypeError, match=r"Column 'c' must hold numbers or categories.*unhashable"):
        learn([[1], [2]], object)


@pytest.mark.parametrize("values", [[1.0, np.inf], [-np.inf, 2.0, 3.0]])
def test_infinite_numbers_are_refused(values):
    with pytest.raises(ValueError, match="Column 'c' must have finite numbers"):
        learn(values)


def test_what_is_said_comes_before_what_is_seen():
    assert learn([1, 2, 3], step=50).step == 50.0
    assert learn([1.5, 2.5], integer=True).step == 1.0
    assert learn([1, 2, 3], categories=[2, 9]).values == (1, 2, 3, 9)
    assert learn([1, 2, 3], ordered=[3, 2, 1]).values == (3, 2, 1)
    assert learn(["a", "b"], "category", ordered=["b", "a"]).kind == "ordered"


@pytest.mark.parametrize("dtype", ["int64", "UInt8"])
def test_integers_have_no_fractions_as_steps(dtype):
    with pytest.raises(ValueError, match=r"'c' has integers, so its step must be a whole number, got 0\.5"):
        learn([1, 2, 3], dtype, step=0.5)


def test_the_unit_is_one_deviation_of_a_normal_column_and_no_outlier_stretches_it():
    values = np.random.default_rng(0).normal(100.0, 7.0, 20_000)
    assert learn(values).unit == pytest.approx(7.0, rel=0.03)
    assert learn(np.append(values, 1e9)).unit == pytest.approx(7.0, rel=0.03)


@pytest.mark.parametrize(
    ("step", "expected"), [(1, 0), (50, 0), (0.5, 1), (0.05, 2), (1e-7, 7), (1e3, 0), (2.50, 1), (1e-20, 20)]
)
def test_decimals_are_those_that_are_written(step, expected):
    assert decimals(step) == expected


def test_round_numbers_have_round_steps():
    hundreds = pd.Series(np.arange(40) * 300, name="a")
    assert learn_column(hundreds).step == 100.0
    assert learn_column(hundreds.astype(float)).step == 100.0
    # Few values may be round by chance, and bounds need not be round.
    assert learn_column(hundreds.head(20)).step == 1.0
    assert learn_column(hundreds, bounded=True).step == 1.0
    assert learn_column(hundreds, step=50).step == 50.0


def test_bounds_that_are_not_round_leave_something():
    X = pd.DataFrame({"amount": np.arange(40) * 1000})
    actions = ActionSet(X, bounds={"amount": (1100, 1900)})
    assert actions.schema.columns[0].step == 1.0


def test_texts_that_name_rows_never_change():
    names = pd.Series([f"person {i}" for i in range(300)], name="name")
    column = learn_column(names)
    assert (column.kind, column.values) == ("fixed", ())
    assert "names rows" in column.why
    assert learn_column(pd.concat([names, names, names])).kind == "category"
    assert learn_column(names.head(100)).kind == "category"


def test_sparse_columns_are_refused_by_name():
    X = pd.DataFrame({"a": pd.arrays.SparseArray([0, 0, 1])})
    with pytest.raises(TypeError, match="Column 'a' is sparse"):
        Schema.learn(X)


@pytest.mark.parametrize("scale", [1e-300, 1e-160])
def test_numbers_that_differ_too_little_to_calculate_with_never_change(scale):
    column = learn_column(pd.Series(np.arange(40) * scale, name="c"))
    assert column.kind == "fixed"
    assert column.why == "its numbers differ too little to calculate with; use another unit for them"
    # Ever so little more is no problem.
    assert learn_column(pd.Series(np.arange(40) * 1e-140, name="c")).unit == pytest.approx(1.4e-139, rel=0.1)
