"""What can be told to a person: bounds, grids and types, against all that is possible."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.actions import ActionSet
from robust_recourse.actions.moves import Moves
from robust_recourse.tables import Column
from robust_recourse.tables.columns import decimals

ROUNDINGS = ["nearest", "inward", "outward"]
STEPS = [1.0, 2.0, 50.0, 0.5, 0.1, 0.01, 0.05, 0.25, 2.5, 0.001]


def moves(step=0.0, low=-100.0, high=100.0, lower=-np.inf, upper=np.inf, rises=True, falls=True, dtype="float64"):
    return Moves(
        columns=(Column("c", "number", unit=3.0, step=step, low=low, high=high),),
        lower=np.array([lower]),
        upper=np.array([upper]),
        rises=np.array([rises]),
        falls=np.array([falls]),
        weights=np.ones(1),
        targets=(None,),
        dtypes=(pd.api.types.pandas_dtype(dtype),),
    )


def settle(allowed, value, own, rounding="nearest"):
    return float(allowed.settle(np.array([[value]]), np.array([[own]]), rounding)[0, 0])


def possible_values(step, own, low, high, rises, falls, dtype):
    """All that a column may become, by the definition: multiples of the step within bounds, or the own value."""
    bottom, top = (min(low, own) if falls else own), (max(high, own) if rises else own)
    first, last = int(np.floor(bottom / step)) - 2, int(np.ceil(top / step)) + 2
    grid = [float(np.dtype(dtype).type(round(k * step, decimals(step)))) for k in range(first, last + 1)]
    return sorted({value for value in grid if bottom <= value <= top} | {own})


@settings(max_examples=120, deadline=None)
@given(
    step=st.sampled_from(STEPS),
    ends=st.tuples(st.floats(-9, 9), st.floats(-9, 9)),
    own=st.one_of(st.floats(-12, 12), st.integers(-12, 12).map(float)),
    value=st.one_of(st.floats(-20, 20), st.integers(-20, 20).map(float)),
    rises=st.booleans(),
    falls=st.booleans(),
    dtype=st.sampled_from(["float64", "float32"]),
    rounding=st.sampled_from(ROUNDINGS),
    hard=st.booleans(),
)
def test_a_settled_value_is_the_best_of_all_that_are_possible(
    step, ends, own, value, rises, falls, dtype, rounding, hard
):
    low, high, own, value = min(ends) * step, max(ends) * step, own * step, value * step
    bounds = {"lower": low, "upper": high} if hard else {"low": low, "high": high}
    own = float(np.dtype(dtype).type(own))
    if hard and not low <= own <= high:
        own = float(np.clip(own, low, high))
        if dtype == "float32":
            return
    allowed = moves(step, rises=rises, falls=falls, dtype=dtype, **bounds)
    settled = settle(allowed, value, own, rounding)
    possible = possible_values(step, own, low, high, rises, falls, dtype)
    assert settled in possible
    near = 1e-14 * max(abs(value), abs(own), step)  # what differs by rounding is taken to be the same
    if rounding == "nearest":
        assert abs(settled - value) <= min(abs(other - value) for other in possible) + near
    bottom, top = possible[0], possible[-1]
    aim = min(max(value, bottom), top)
    if rounding == "inward":
        assert abs(settled - own) <= abs(aim - own) + near
        between = [other for other in possible if min(own, aim) <= other <= max(own, aim)]
        assert abs(settled - own) >= max(abs(other - own) for other in between) - near
    if rounding == "outward":
        assert abs(settled - own) >= abs(aim - own) - near
        beyond = [other for other in possible if (other >= aim >= own) or (other <= aim < own)]
        assert abs(settled - own) <= min(abs(other - own) for other in beyond) + near
    assert settle(allowed, settled, own, rounding) == settled
    # Points are kept in units of cost, so that a value comes back with another last bit.
    assert settle(allowed, settled / 3.0 * 3.0, own, rounding) == settled


@settings(max_examples=80, deadline=None)
@given(
    own=st.floats(-80, 80),
    value=st.floats(-200, 200),
    ends=st.tuples(st.floats(-60, 60), st.floats(-60, 60)),
    rises=st.booleans(),
    falls=st.booleans(),
    dtype=st.sampled_from(["float16", "float32", "Float32", "float[pyarrow]"]),
    rounding=st.sampled_from(ROUNDINGS),
)
def test_numbers_on_no_grid_are_numbers_of_their_type_within_bounds(own, value, ends, rises, falls, dtype, rounding):
    low, high = min(ends), max(ends)
    allowed = moves(low=low, high=high, rises=rises, falls=falls, dtype=dtype)
    kind = np.float16 if dtype == "float16" else np.float32
    settled = settle(allowed, value, own, rounding)
    assert settled == own or float(kind(settled)) == settled
    bottom, top = (min(low, own) if falls else own), (max(high, own) if rises else own)
    assert bottom <= settled <= top
    aim = min(max(value, bottom), top)
    if rounding == "inward":
        assert abs(settled - own) <= abs(aim - own) * (1.0 + 1e-14)
    if rounding == "nearest":
        others = [float(kind(aim)), float(np.nextafter(kind(aim), kind(own))), own]
        assert abs(settled - aim) <= min(abs(o - aim) for o in others if bottom <= o <= top) * (1.0 + 1e-9)
    assert settle(allowed, settled, own, rounding) == settled


def test_doubles_on_no_grid_are_only_clipped():
    assert settle(moves(low=-1.0, high=2.0), 1.2345678901234567, 0.0) == 1.2345678901234567
    assert settle(moves(low=-1.0, high=2.0), 7.7, 0.0) == 2.0
    assert settle(moves(low=-1.0, high=2.0, falls=False), -0.5, 0.25) == 0.25


def test_a_bound_that_is_next_to_a_multiple_holds():
    below, above = float(np.nextafter(0.3, 0.0)), float(np.nextafter(0.3, 1.0))
    for rounding in ROUNDINGS:
        assert settle(moves(0.1, upper=below, lower=0.0), 0.3, 0.0, rounding) == 0.2
        assert settle(moves(0.1, upper=0.3, lower=0.0), above, 0.0, rounding) == 0.3
        assert settle(moves(0.1, lower=above, upper=5.0), 0.3, 5.0, rounding) == 0.4


def test_single_precision_keeps_the_bounds_after_the_cast():
    # In single precision 0.3 is a little more than 0.3.
    assert float(np.float32(0.3)) > 0.3
    assert settle(moves(0.1, lower=0.0, upper=0.3, dtype="float32"), 0.3, 0.0) == float(np.float32(0.2))
    assert settle(moves(0.0, lower=0.0, upper=0.3, dtype="float32"), 0.3, 0.0) < 0.3


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "Int8", "int32", "int64", "uint64", "UInt64", "int64[pyarrow]"]
)
@pytest.mark.parametrize("value", [1e30, -1e30])
def test_no_type_overflows(dtype, value):
    allowed = moves(1.0, lower=-1e25, upper=1e25, dtype=dtype)
    kept = np.dtype(str(dtype).lower().removesuffix("[pyarrow]"))
    settled = settle(allowed, value, 5.0)
    assert np.iinfo(kept).min <= int(settled) <= np.iinfo(kept).max
    assert abs(settled) >= abs(0.99 * (np.iinfo(kept).max if value > 0 else np.iinfo(kept).min))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_floats_do_not_overflow_either(dtype):
    allowed = moves(0.0, lower=-np.inf, upper=1e306, dtype=dtype)
    assert np.isfinite(np.dtype(dtype).type(settle(allowed, 1e308, 5.0)))


def test_large_numbers_have_their_steps_too():
    assert settle(moves(1.0, high=1e12), 1e10 + 0.4, 0.0, "inward") == 1e10
    assert settle(moves(1.0, high=1e12), 1e10 + 0.4, 0.0, "outward") == 1e10 + 1.0


def test_an_own_value_beside_the_grid_is_kept():
    for value in (7.3, 7.3 / 3.0 * 3.0):
        assert settle(moves(1.0), value, value) == value
    assert settle(moves(50.0, low=100.0, high=900.0), 130.0, 120.0) == 120.0
    assert settle(moves(50.0, low=100.0, high=900.0), 136.0, 120.0) == 150.0


def test_a_row_outside_the_training_range_stays_or_comes_back():
    soft = moves(1.0, low=0.0, high=10.0)
    assert settle(soft, 20.0, 15.0) == 15.0
    assert settle(soft, 12.0, 15.0) == 12.0
    assert settle(soft, -3.0, 15.0) == 0.0
    assert settle(moves(1.0, low=0.0, high=10.0, falls=False), 12.0, 15.0) == 15.0


def test_bounds_beyond_the_training_range_widen_it():
    low, high = moves(1.0, low=0.0, high=10.0, lower=20.0).range()
    assert (low[0], high[0]) == (20.0, 20.0)
    low, high = moves(1.0, low=0.0, high=10.0, upper=-5.0).range()
    assert (low[0], high[0]) == (-5.0, -5.0)
    low, high = moves(1.0, low=0.0, high=10.0, lower=-7.0).range()
    assert (low[0], high[0]) == (-7.0, 10.0)


@settings(max_examples=80, deadline=None)
@given(st.integers(-(10**12), 10**12), st.sampled_from([*STEPS, 1e-6, 0.125, 1e-13, 0.30000000000000004, 7e-15]))
def test_multiples_are_those_of_the_definition(count, step):
    value = round(count * step, decimals(step))
    allowed = moves(step, low=-np.inf, high=np.inf)
    for rounding in ROUNDINGS:
        assert settle(allowed, value, np.pi, rounding) == value


def test_categories_and_fixed_columns_pass_through():
    frame = pd.DataFrame({"c": ["a", "b"], "k": [1.5, 1.5], "n": [1, 5]})
    actions = ActionSet(frame)
    allowed = actions.resolve(actions.schema)
    settled = allowed.settle(np.array([[1.0, 1.5, 2.7]]), np.array([[0.0, 1.5, 1.0]]))
    np.testing.assert_array_equal(settled, [[1.0, 1.5, 3.0]])


@pytest.mark.parametrize(
    ("rounding", "expected"), [("nearest", [9.0, 4.0, 4.0]), ("inward", [9.0, 9.0, 9.0]), ("outward", [4.0, 4.0, 4.0])]
)
def test_who_is_out_of_the_bounds_stays_or_comes_within(rounding, expected):
    frame = pd.DataFrame({"a": [1.5, 5.0], "c": ["x", "y"]})
    actions = ActionSet(frame, bounds={"a": (0, 4)}, step={"a": 0.5})
    allowed = actions.resolve(actions.schema)
    values, own = np.array([[8.0, 0.0], [5.0, 0.0], [4.5, 0.0]]), np.array([[9.0, 0.0]] * 3)
    np.testing.assert_array_equal(allowed.settle(values, own, rounding)[:, 0], expected)
    within = np.array([[3.0, 0.0], [12.0, 0.0]])
    np.testing.assert_array_equal(allowed.settle(within, own[:2], rounding)[:, 0], [3.0, 9.0])


def test_rules_are_judged_on_values_and_missing_ones_count_as_holding():
    frame = pd.DataFrame({"used": [1.5, 5.0], "limit": [2.5, 9.0]})
    actions = ActionSet(frame, rules=["used <= limit", "limit <= 9"])
    allowed = actions.resolve(actions.schema)
    values = np.array([[1.0, 2.0], [3.0, 2.0], [3.0, 0.0], [1.0, 10.0]])
    missing = np.array([[False, False], [False, False], [False, True], [False, False]])
    np.testing.assert_array_equal(allowed.keeps_rules(values, values, missing), [True, False, True, False])
    assert [allowed.broken_rule(v, v, m) for v, m in zip(values, missing, strict=True)] == [
        "",
        "used <= limit",
        "",
        "limit <= 9",
    ]


def test_rules_about_arrays_call_their_columns_by_number():
    actions = ActionSet(rules=["x0 <= x1"])
    schema = actions.schema_for(np.zeros((2, 2)))
    allowed = actions.resolve(schema)
    values = np.array([[1.0, 2.0], [2.0, 1.0]])
    kept = allowed.keeps_rules(values, values, np.zeros((2, 2), dtype=bool))
    np.testing.assert_array_equal(kept, [True, False])


def test_limits_are_in_units_of_cost():
    frame = pd.DataFrame({"a": [10.0, 20.5, 30.0], "c": ["x", "y", "z"]})
    actions = ActionSet(frame, bounds={"a": (0, None)}, categories={"c": ["x", "z"]}, weights={"a": 2.0})
    allowed = actions.resolve(actions.schema)
    limits, unit = allowed.limits(), actions.schema.columns[0].unit
    np.testing.assert_array_equal(limits.lower, [0.0, -np.inf])
    np.testing.assert_array_equal(limits.upper, [30.0 / unit, np.inf])
    np.testing.assert_array_equal(limits.weights, [2.0, 1.0])
    np.testing.assert_array_equal(limits.targets[1], [True, False, True])
    np.testing.assert_array_equal(limits.categories, [False, True])


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("own", [-90.05, 90.05])
def test_rounding_errors_do_not_cost_a_step(rounding, own):
    allowed, unit = moves(0.1), 0.7
    values = [round(k * 0.1, 1) for k in range(-500, 500)]
    assert any(value / unit * unit != value for value in values)
    for value in values:
        assert settle(allowed, value / unit * unit, own, rounding) == value


def test_rules_between_columns_that_never_change_are_left_out():
    frame = pd.DataFrame({"used": [1.5, 5.0], "limit": [2.5, 9.0], "constant": [3.0, 3.0]})
    rules = ["used <= limit", "used <= constant", "limit <= 9"]
    actions = ActionSet(frame, immutable=["used"], rules=rules)
    assert [rule.text for rule in actions.resolve(actions.schema).rules] == ["used <= limit", "limit <= 9"]


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), power=st.integers(-9, 6), rounding=st.sampled_from(ROUNDINGS))
def test_numbers_with_many_digits_become_short_ones(seed, power, rounding):
    generator = np.random.default_rng(seed)
    frame = pd.DataFrame({"c": generator.normal(2.0, 1.0, 60) * 10.0**power})
    schema = ActionSet().schema_for(frame)
    digits = schema.columns[0].digits
    own, values = generator.normal(2.0, 1.0, (2, 50, 1)) * 10.0**power
    settled = ActionSet().resolve(schema).settle(values, own, rounding)
    changed = settled != own
    assert changed.any()
    assert all(float(f"{value:.{digits}f}") == value for value in settled[changed])
    # What nobody changes keeps all of its digits, and a check of other changes knows nothing of the grid.
    assert (ActionSet().resolve(schema).settle(own, own, rounding) == own).all()
    assert ActionSet(frame).check(frame, frame.clip(*np.quantile(frame["c"], [0.2, 0.8]))) == []


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), rounding=st.sampled_from(ROUNDINGS))
def test_a_table_is_settled_as_its_cells_are(seed, rounding):
    rng = np.random.default_rng(seed)
    p, cells = int(rng.integers(1, 7)), []
    for _ in range(p):
        low = rng.normal(0.0, 10.0)
        lower = rng.choice([-np.inf, rng.normal(0.0, 5.0)])
        cells.append(
            {
                "step": rng.choice([0.0, *STEPS, 1e-13]),
                "low": low,
                "high": low + rng.gamma(1.0, 20.0),
                "lower": lower,
                "upper": rng.choice([np.inf, max(lower, -10.0) + rng.gamma(1.0, 10.0)]),
                "rises": rng.random() < 0.8,
                "falls": rng.random() < 0.8,
                "dtype": rng.choice(["float64", "float64", "int64", "float32"]),
            }
        )
    alone = [moves(**cell) for cell in cells]
    whole = Moves(
        columns=tuple(each.columns[0] for each in alone),
        **{name: np.concatenate([getattr(each, name) for each in alone]) for name in ("lower", "upper")},
        **{name: np.concatenate([getattr(each, name) for each in alone]) for name in ("rises", "falls", "weights")},
        targets=(None,) * p,
        dtypes=tuple(each.dtypes[0] for each in alone),
    )
    own = rng.normal(0.0, 8.0, (9, p)).round(int(rng.integers(0, 3)))
    values = np.where(rng.random((9, p)) < 0.3, own, own + rng.normal(0.0, 5.0, (9, p)))
    settled = whole.settle(values, own, rounding)
    for row, k in np.ndindex(9, p):
        assert settled[row, k] == settle(alone[k], values[row, k], own[row, k], rounding)
