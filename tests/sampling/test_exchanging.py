"""What one column gives and another takes, and questions that leave out what is too cheap."""

import numpy as np
import pytest

from robust_recourse.math.limits import Limits, Room
from robust_recourse.sampling.asking import Dearer
from robust_recourse.sampling.exchanging import exchange
from robust_recourse.sampling.polishing import polish


def room_of(x0, targets=None, free=None):
    p = x0.shape[1]
    limits = Limits(
        np.full(p, -9.0), np.full(p, 9.0), np.ones(p, bool), np.ones(p, bool), np.ones(p), targets=targets or ()
    )
    return Room(limits, x0, np.ones(x0.shape, bool) if free is None else free)


def stairs(points):
    """Two steps of a staircase: (3, 3) and, cheaper, (1, 4); nothing between."""
    return ((points[:, 0] >= 3.0) & (points[:, 1] >= 3.0)) | ((points[:, 0] >= 1.0) & (points[:, 1] >= 4.0))


def test_a_change_is_taken_back_for_a_little_of_another_column(asked):
    room, x = room_of(np.zeros((1, 3))), np.array([[3.0, 3.0, 0.0]])
    assert room.cost(polish(asked(stairs, 1), room_of(np.zeros((1, 3)), free=x != 0.0), x), np.array([0]))[0] > 4.9
    found = exchange(asked(stairs, 1), room, x)
    assert 5.0 <= room.cost(found, np.array([0]))[0] < 5.1


def test_no_more_columns_change_than_allowed(asked):
    def model(points):
        return (points[:, :2].sum(axis=1) >= 6.0) | ((points[:, 0] >= 3.0) & (points[:, 2] >= 1.0))

    room, x = room_of(np.zeros((2, 4))), np.array([[3.0, 3.0, 0.0, 0.0], [4.0, 2.0, 0.0, 0.0]])
    for most, cheap in ((1, False), (2, True), (None, True)):
        found = exchange(asked(model, 2), room, x, most)
        assert model(found).all()
        assert ((room.cost(found, np.arange(2)) < 4.1) == cheap).all()
        assert most is None or not cheap or ((found != 0.0).sum(axis=1) <= most).all()


def test_a_change_is_given_for_a_switch(asked):
    targets = (None, None, np.array([True, True]))

    def model(points):
        return ((points[:, 0] >= 3.0) & (points[:, 1] >= 3.0)) | ((points[:, 0] >= 3.0) & (points[:, 2] == 1.0))

    room = room_of(np.zeros((1, 3)), targets)
    np.testing.assert_array_equal(exchange(asked(model, 1), room, np.array([[3.0, 3.0, 0.0]])), [[3.0, 0.0, 1.0]])


def test_who_has_one_change_or_none_known_is_left_alone(asked):
    ask, x = asked(stairs, 2), np.array([[0.0, 8.0, 0.0], [np.nan] * 3])
    np.testing.assert_array_equal(exchange(ask, room_of(np.zeros((2, 3))), x), x)
    assert not ask.calls


@pytest.mark.parametrize("n", [1, 2, 5])
def test_company_does_not_matter(asked, n):
    draw = np.random.default_rng(3)
    x0, x = draw.uniform(-1, 0, (n, 3)), draw.uniform(3, 5, (n, 3))
    together, every = asked(stairs, n), np.arange(n)
    found = exchange(together, room_of(x0), x)
    for i in every:
        alone = asked(stairs, 1)
        np.testing.assert_array_equal(exchange(alone, room_of(x0[[i]]), x[[i]])[0], found[i])
        assert alone.counts[0] == together.counts[i]


def test_what_is_too_cheap_is_neither_asked_nor_accepted(asked):
    ask, room = asked(lambda points: points[:, 0] >= 1.0, 2), room_of(np.zeros((2, 2)))
    dearer = Dearer(ask, room, np.array([2.0, 0.0])).take(np.array([1, 0]))
    points, people = np.array([[1.5, 0.0], [1.5, 0.0], [2.0, 0.0], [0.5, 9.0]]), np.array([0, 1, 1, 1])
    np.testing.assert_array_equal(dearer(points, people), [True, False, True, False])
    np.testing.assert_array_equal(ask.counts, [2, 1])
    assert len(ask.calls[0][0]) == 3
    answers = dearer.ahead(points, people)
    answers.count(np.array([1, 2]))
    np.testing.assert_array_equal(ask.counts, [3, 1])
