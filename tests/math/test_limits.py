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
