"""What may change, as arrays."""

import numpy as np
import pytest

from robust_recourse.math.limits import Limits, Room

NO, YES = False, True
# Anything, only up, only down, immutable; the bounds of the last are not kept to.
LIMITS = Limits(
    lower=np.array([-np.inf, 0.0, 0.0, 0.0]),
    upper=np.array([np.inf, 9.0, 9.0, 1.0]),
    rises=np.array([YES, YES, NO, NO]),
    falls=np.array([YES, NO, YES, NO]),
    weights=np.array([1.0, 2.0, 3.0, 4.0]),
)


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


def test_the_reach_holds_the_instance_whatever_the_directions():
    x0 = np.array([[20.0, 20.0, -5.0, 7.0]])
    lower, upper = LIMITS.reach(x0)
    np.testing.assert_array_equal(lower, [[-np.inf, 0.0, -5.0, 0.0]])
    np.testing.assert_array_equal(upper, [[np.inf, 20.0, 9.0, 7.0]])


def test_an_instance_beyond_the_bounds_may_stay_or_come_back():
    lower, upper = LIMITS.box(np.array([[0.0, 20.0, 20.0, 0.0]]))
    np.testing.assert_array_equal(lower[0, 1:], [20.0, 0.0, 0.0])
    np.testing.assert_array_equal(upper[0, 1:], [20.0, 20.0, 0.0])


def room(seed=0, m=30):
    """People of whom each may change some columns, of the limits with categories."""
    rng = np.random.default_rng(seed)
    limits = mixed()
    limits.lower[4], limits.upper[4] = -1.0, 1.0
    x0 = np.concatenate([rng.integers(-1, 4, (m, 4)), rng.uniform(-2.0, 2.0, (m, 1))], axis=1)
    return Room(limits, x0, rng.random((m, 5)) < 0.6)


def test_in_a_room_only_free_numbers_have_somewhere_to_go():
    where = room()
    lower, upper = where.box
    all_lower, all_upper = where.limits.box(where.x0)
    for i, k in np.ndindex(where.x0.shape):
        own = where.x0[i, k]
        free = where.free[i, k] and k == 4
        assert lower[i, k] == (all_lower[i, k] if free else own)
        assert upper[i, k] == (all_upper[i, k] if free else own)


def test_points_are_clipped_into_the_room_of_their_people_and_categories_are_left():
    where, rng = room(), np.random.default_rng(1)
    people = rng.integers(0, len(where), 50)
    points = where.x0[people] + rng.normal(0.0, 3.0, (50, 5))
    given = points.copy()
    clipped = where.clipped(points, people)
    np.testing.assert_array_equal(clipped[:, :4], given[:, :4])
    expected = np.clip(given[:, 4], where.box[0][people, 4], where.box[1][people, 4])
    np.testing.assert_array_equal(clipped[:, 4], expected)
    anywhere = Limits(*np.array([[-np.inf] * 2, [np.inf] * 2]), *np.ones((2, 2), bool), np.ones(2))
    for free, end in ((True, [7.0, -7.0]), (False, [0.0, 0.0])):
        one = Room(anywhere, np.zeros((1, 2)), np.full((1, 2), free))
        np.testing.assert_array_equal(one.clipped(np.array([[7.0, -7.0]]), np.array([0]))[0], end)


def test_a_person_switches_only_free_columns():
    where = room()
    people = np.arange(len(where))
    for k in range(4):
        for code in range(4):
            expected = [where.free[i, k] and naive_switch(where.limits, k, where.x0[i, k], float(code)) for i in people]
            np.testing.assert_array_equal(where.may_switch(k, people, np.full(len(people), float(code))), expected)


def test_some_people_of_a_room_are_numbered_anew():
    where, people = room(), np.array([7, 2, 7])
    some = where.take(people)
    assert len(some) == 3
    np.testing.assert_array_equal(some.box, [side[people] for side in where.box])
    x = where.x0[people] + 1.0
    np.testing.assert_array_equal(some.cost(x, np.arange(3)), where.cost(x, people))
    # Codes of categories are no lengths: another one is a switch, however far.
    expected = [sum(1.0 for _ in range(4)) + abs(x[i, 4] - where.x0[people[i], 4]) for i in range(3)]
    np.testing.assert_allclose(some.cost(x, np.arange(3)), expected)
