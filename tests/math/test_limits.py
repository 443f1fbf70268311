"""What may change, as arrays."""

import numpy as np
import pytest

from robust_recourse.math.limits import Limits

NO, YES = False, True
# Anything, only up, only down, immutable; the bounds of the last are not kept to.
LIMITS = Limits(
    lower=np.array([-np.inf, 0.0, 0.0, 0.0]),
    upper=np.array([np.inf, 9.0, 9.0, 1.0]),
    rises=np.array([YES, YES, NO, NO]),
    falls=np.array([YES, NO, YES, NO]),
    weights=np.array([1.0, 2.0, 3.0, 4.0]),
)


def free(p=2):
    return Limits(np.full(p, -np.inf), np.full(p, np.inf), np.ones(p, bool), np.ones(p, bool), np.ones(p))


def test_directions_become_bounds_at_the_instance():
    lower, upper = LIMITS.box(np.array([[5.0, 5.0, 5.0, 5.0], [1.0, 2.0, 3.0, 4.0]]))
    np.testing.assert_array_equal(lower, [[-np.inf, 5.0, 0.0, 5.0], [-np.inf, 2.0, 0.0, 4.0]])
    np.testing.assert_array_equal(upper, [[np.inf, 9.0, 5.0, 5.0], [np.inf, 9.0, 3.0, 4.0]])


def test_the_box_holds_the_instance_exactly_when_the_limits_do():
    x0 = np.random.default_rng(0).uniform(-3.0, 12.0, (500, 4))
    lower, upper = LIMITS.box(x0)
    inside = ((lower <= x0) & (x0 <= upper)).all(axis=1)
    # A column that only rises has no lower bound but the instance: one below its bounds is still in the box.
    assert np.all(inside[LIMITS.holds(x0)])
    assert LIMITS.holds(x0).any()
    assert not LIMITS.holds(x0).all()


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        (0, -1e9, True),
        (1, -0.1, False),
        (1, 9.0, True),
        (1, 9.1, False),
        (2, -0.1, False),
        (2, 9.1, False),
        (3, 7.0, True),
    ],
)
def test_an_instance_must_lie_within_the_bounds_of_what_may_change(column, value, expected):
    x0 = np.full((2, 4), 0.5)
    x0[1, column] = value
    np.testing.assert_array_equal(LIMITS.holds(x0), [True, expected])


def test_taking_columns_keeps_all_of_them_aligned():
    kept = LIMITS.take(np.array([NO, YES, NO, YES]))
    np.testing.assert_array_equal(kept.lower, [0.0, 0.0])
    np.testing.assert_array_equal(kept.upper, [9.0, 1.0])
    np.testing.assert_array_equal(kept.rises, [YES, NO])
    np.testing.assert_array_equal(kept.falls, [NO, NO])
    np.testing.assert_array_equal(kept.weights, [2.0, 4.0])


def test_unlimited_means_no_bound_and_both_directions():
    assert free().unlimited
    assert not LIMITS.unlimited


@pytest.mark.parametrize(
    ("name", "value"), [("lower", 0.0), ("upper", 0.0), ("lower", np.inf), ("rises", False), ("falls", False)]
)
def test_one_limit_is_enough_not_to_be_unlimited(name, value):
    limits = free()
    getattr(limits, name)[1] = value
    assert not limits.unlimited


def test_weights_are_no_limits():
    limits = free()
    limits.weights[0] = 5.0
    assert limits.unlimited


def mixed():
    """Categories that go anywhere, only up, only down and nowhere, then a number."""
    none, all_of_them = None, np.ones(4, dtype=bool)
    return Limits(
        lower=np.full(5, -np.inf),
        upper=np.full(5, np.inf),
        rises=np.array([YES, YES, NO, NO, YES]),
        falls=np.array([YES, NO, YES, NO, YES]),
        weights=np.ones(5),
        targets=(np.array([YES, NO, YES, YES]), all_of_them, all_of_them, all_of_them, none),
    )


def naive_switch(limits, column, own, code):
    """Whether a switch is allowed, spelt out; codes below 0 are no category that is known."""
    if code < 0 or code == own or not limits.targets[column][int(code)]:
        return False
    if limits.rises[column] and limits.falls[column]:
        return True
    if limits.rises[column]:
        return own >= 0 and code > own
    if limits.falls[column]:
        return own >= 0 and code < own
    return False


@pytest.mark.parametrize("column", range(4))
def test_switches_keep_to_targets_and_directions(column):
    limits = mixed()
    codes = np.arange(-2.0, 4.0)
    own, code = (grid.ravel() for grid in np.meshgrid(codes, codes))
    expected = [naive_switch(limits, column, o, c) for o, c in zip(own, code, strict=True)]
    np.testing.assert_array_equal(limits.may_switch(column, own, code), expected)
    table = limits.may_switch(column, codes[:, None], codes[None])
    expected = [[naive_switch(limits, column, o, c) for c in codes] for o in codes]
    np.testing.assert_array_equal(table, expected)


def test_numbers_do_not_switch():
    with pytest.raises(ValueError, match="column 4 holds no categories"):
        mixed().may_switch(4, np.zeros(1), np.ones(1))


def test_categories_are_known_and_taken_along():
    limits = mixed()
    np.testing.assert_array_equal(limits.categories, [YES, YES, YES, YES, NO])
    kept = limits.take(np.array([YES, NO, NO, NO, YES]))
    np.testing.assert_array_equal(kept.categories, [YES, NO])
    np.testing.assert_array_equal(kept.targets[0], limits.targets[0])
    assert kept.targets[1] is None


def test_a_table_with_categories_is_not_unlimited():
    limits = Limits(*(np.full(1, side) for side in (-np.inf, np.inf, True, True, 1.0)), targets=(np.ones(2, bool),))
    assert not limits.unlimited


def test_the_reach_holds_the_instance_whatever_the_directions():
    x0 = np.array([[20.0, 20.0, -5.0, 7.0]])
    lower, upper = LIMITS.reach(x0)
    np.testing.assert_array_equal(lower, [[-np.inf, 0.0, -5.0, 0.0]])
    np.testing.assert_array_equal(upper, [[np.inf, 20.0, 9.0, 7.0]])


def test_an_instance_beyond_the_bounds_may_stay_or_come_back():
    lower, upper = LIMITS.box(np.array([[0.0, 20.0, 20.0, 0.0]]))
    np.testing.assert_array_equal(lower[0, 1:], [20.0, 0.0, 0.0])
    np.testing.assert_array_equal(upper[0, 1:], [20.0, 20.0, 0.0])
