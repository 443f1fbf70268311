"""From points with many changes to cheaper ones: columns in the order in which they help."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sampling.test_polishing import N_CODES, cheapest, problem

from robust_recourse.math.limits import Limits, Room
from robust_recourse.sampling.filling import fill
from robust_recourse.sampling.polishing import polish


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(4, 8), st.integers(0, 2), st.sampled_from(["half space", "any"]))
def test_points_get_cheaper_stay_accepted_and_within_the_room(asked, keeps_within, seed, n_numbers, n_categories, kind):
    room, x, rng = problem(seed, n_numbers, n_categories)
    normal, worth = rng.standard_normal(n_numbers), rng.standard_normal((n_categories, N_CODES + 1))

    def score(points):
        value = points[:, :n_numbers] @ normal
        for k in range(n_categories):
            value = value + worth[k, points[:, n_numbers + k].astype(int)]
        return value if kind == "half space" else np.sin(5.0 * value) + value

    own = np.minimum(score(x), score(room.x0) + 0.5)
    people = np.arange(len(x))
    ask = asked(lambda points, who: score(points) >= own[who], len(x), by_person=True)
    found = fill(ask, room, x)
    assert (score(found) >= own).all()
    other = (found != x).any(axis=1)
    assert (room.cost(found, people)[other] < room.cost(x, people)[other]).all()
    assert keeps_within(room, found, people).all()
    assert not ask.leaves(room)


@pytest.fixture
def wide():
    """A half space in thirty columns that nobody reaches by a few of them, and points on the way to candidates."""
    rng = np.random.default_rng(5)
    p = 30
    normal, weights, X = rng.standard_normal(p), rng.uniform(0.5, 2.0, p), rng.uniform(-1, 1, (400, p))
    normal *= 1.0 / np.abs(normal).sum()
    level = 0.3
    normal /= level
    x0 = X[X @ normal < 0.3][:12]
    ends = np.where(rng.random(x0.shape) < 0.85, np.sign(normal), X[: len(x0)])
    part = (1.0 + 1e-9 - x0 @ normal) / ((ends - x0) @ normal)
    limits = Limits(np.full(p, -1.0), np.full(p, 1.0), *np.ones((2, p), bool), weights)
    room = Room(limits, x0, np.ones(x0.shape, dtype=bool))
    return normal, limits, room, x0 + part[:, None] * (ends - x0)


def test_for_a_linear_model_of_many_columns_it_comes_near_the_cheapest_vertex(asked, wide):
    normal, limits, room, x = wide
    people = np.arange(len(x))
    ask = asked(lambda points: points @ normal >= 1.0, len(x))
    best = np.array([cheapest(normal, limits.weights, row, limits) for row in room.x0])
    alone = room.cost(polish(ask, room, x), people) / best - 1.0
    excess = room.cost(fill(ask, room, x), people) / best - 1.0
    assert (excess >= -1e-7).all()
    assert excess.mean() < 0.02
    assert excess.mean() < 0.5 * alone.mean()
    assert excess.max() < 0.5 * alone.max()


def test_nobody_depends_on_company(asked, wide):
    normal, _, room, x = wide

    def model(points):
        return points @ normal >= 1.0

    together = fill(asked(model, len(x)), room, x)
    for i in (0, 5, 11):
        one = np.array([i])
        alone = fill(asked(model, 1), room.take(one), x[one])
        np.testing.assert_array_equal(alone[0], together[i])


def test_few_changes_are_left_to_trades(asked):
    limits = Limits(*np.array([[-9.0] * 4, [9.0] * 4]), *np.ones((2, 4), bool), np.ones(4))
    room = Room(limits, np.zeros((1, 4)), np.ones((1, 4), dtype=bool))
    ask = asked(lambda points: points.sum(axis=1) >= 2.0, 1)
    found = fill(ask, room, np.array([[3.0, 1.0, 1.0, 0.0]]))
    assert not ask.calls
    np.testing.assert_array_equal(found, [[3.0, 1.0, 1.0, 0.0]])
