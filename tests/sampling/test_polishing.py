"""From accepted points to cheaper ones."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from robust_recourse.math.limits import Limits, Room
from robust_recourse.sampling.polishing import polish

N_CODES = 3


def problem(seed, n_numbers, n_categories, m=8):
    """Random limits, people who may change some columns, and a point of each within its limits."""
    rng = np.random.default_rng(seed)
    p = n_numbers + n_categories
    number, way = np.arange(p) < n_numbers, rng.integers(0, 4, p)
    limits = Limits(
        lower=np.where(number & (rng.random(p) < 0.5), -1.5, -np.inf),
        upper=np.where(number & (rng.random(p) < 0.5), 1.5, np.inf),
        rises=way != 1,
        falls=way != 2,
        weights=rng.uniform(0.5, 2.0, p),
        targets=tuple(None if is_number else rng.random(N_CODES) < 0.8 for is_number in number),
    )
    x0 = np.concatenate([rng.uniform(-2, 2, (m, n_numbers)), rng.integers(-1, N_CODES, (m, n_categories))], axis=1)
    room = Room(limits, x0, rng.random((m, p)) < 0.8)
    x = x0 + rng.normal(0.0, 2.0, (m, p)) * (rng.random((m, p)) < 0.8)
    x = room.clipped(x, np.arange(m))
    for k in range(n_numbers, p):
        code = rng.integers(0, N_CODES, m).astype(float)
        x[:, k] = np.where(room.may_switch(k, np.arange(m), code), code, x0[:, k])
    return room, x, rng


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 5), st.integers(0, 3), st.sampled_from(["half space", "any"]))
def test_points_get_cheaper_stay_accepted_and_within_the_room(asked, keeps_within, seed, n_numbers, n_categories, kind):
    if n_numbers + n_categories == 0:
        return
    room, x, rng = problem(seed, n_numbers, n_categories)
    normal, worth = rng.standard_normal(n_numbers), rng.standard_normal((n_categories, N_CODES + 1))

    def score(points):
        value = points[:, :n_numbers] @ normal
        for k in range(n_categories):
            value = value + worth[k, points[:, n_numbers + k].astype(int)]
        return value if kind == "half space" else np.sin(5.0 * value) + value

    # Every point is accepted, and some by little.
    own = np.minimum(score(x), score(room.x0) + 0.5)
    people = np.arange(len(x))
    ask = asked(lambda points, who: score(points) >= own[who], len(x), by_person=True)
    found = polish(ask, room, x)
    assert (score(found) >= own).all()
    assert (room.cost(found, people) <= room.cost(x, people)).all()
    assert keeps_within(room, found, people).all()
    assert not ask.leaves(room)


def cheapest(normal, weights, x0, limits):
    """The least cost so that ``normal @ x >= 1``: of changes up and down, which cost the same."""
    lower, upper = (side[0] for side in limits.box(x0[None]))
    solved = linprog(
        np.tile(weights, 2),
        A_ub=-np.concatenate([normal, -normal])[None],
        b_ub=[normal @ x0 - 1.0],
        bounds=[*((0.0, high) for high in upper - x0), *((0.0, low) for low in x0 - lower)],
    )
    return solved.fun


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 8), st.sampled_from([1.03, 1.3, 1e3]))
def test_for_a_linear_model_it_ends_in_the_cheapest_vertex(asked, seed, p, bound):
    rng = np.random.default_rng(seed)
    normal, weights, X = rng.standard_normal(p), rng.uniform(0.5, 2.0, p), rng.uniform(-1, 1, (300, p))
    x0, candidates = X[X @ normal < 1.0][:6], X[X @ normal > 1.0]
    if not len(x0) or not len(candidates):
        return
    # As the boundary is found: on the segment to a candidate.
    ends = candidates[(np.abs(candidates[None] - x0[:, None]) * weights).sum(axis=2).argmin(axis=1)]
    part = (1.0 + 1e-9 - x0 @ normal) / ((ends - x0) @ normal)
    x = x0 + part[:, None] * (ends - x0)
    limits = Limits(np.full(p, -bound), np.full(p, bound), *np.ones((2, p), bool), weights)
    room = Room(limits, x0, np.ones(x0.shape, dtype=bool))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("robust_recourse.sampling.polishing._ROUNDS", 60)  # the cap is for the sake of few questions
        found = polish(asked(lambda points: points @ normal >= 1.0, len(x0)), room, x)
    # What is left of the way to the boundary is the search's last step.
    way = (found - x0) @ normal
    cost = room.cost(found, np.arange(len(x0))) * np.minimum((1.0 - x0 @ normal) / way, 1.0)
    best = np.array([cheapest(normal, weights, row, limits) for row in x0])
    assert (cost >= best * (1.0 - 1e-7)).all()
    # Of every column a trade may be left that saves less than 1/128.
    assert (cost <= best * (1.0 + p * 2.0**-7)).all()


def test_a_useless_change_is_taken_back_and_a_useful_one_kept(asked):
    limits = Limits(*np.array([[-9.0] * 4, [9.0] * 4]), *np.ones((2, 4), bool), np.ones(4))
    room = Room(limits, np.zeros((1, 4)), np.ones((1, 4), dtype=bool))
    found = polish(asked(lambda x: (x[:, 0] >= 2.0) & (x[:, 1] >= 1.0), 1), room, np.array([[4.0, 2.0, 3.0, 3.0]]))
    np.testing.assert_array_equal(found[0, 2:], 0.0)
    np.testing.assert_allclose(found[0, :2], [2.0, 1.0], rtol=0.02)


def test_of_changes_that_help_either_way_the_cheaper_is_kept(asked):
    limits = Limits(*np.array([[-9.0] * 2, [9.0] * 2]), *np.ones((2, 2), bool), np.array([1.0, 3.0]))
    room = Room(limits, np.zeros((1, 2)), np.ones((1, 2), dtype=bool))
    found = polish(asked(lambda x: x.max(axis=1) >= 2.0, 1), room, np.array([[3.0, 2.5]]))
    np.testing.assert_allclose(found, [[2.0, 0.0]], rtol=0.02)


def test_a_switch_is_traded_for_a_number(asked):
    limits = Limits(
        *np.array([[-9.0, -np.inf], [9.0, np.inf]]),
        *np.ones((2, 2), bool),
        np.array([1.0, 5.0]),
        (None, np.ones(2, bool)),
    )
    room = Room(limits, np.zeros((1, 2)), np.ones((1, 2), dtype=bool))
    found = polish(asked(lambda x: (x[:, 0] >= 2.0) | (x[:, 1] == 1.0), 1), room, np.array([[0.0, 1.0]]))
    np.testing.assert_allclose(found, [[2.0, 0.0]], rtol=0.02)


@pytest.mark.parametrize("numbers", [1, 40])
def test_people_do_not_depend_on_their_company_nor_on_parts(asked, monkeypatch, numbers):
    rng = np.random.default_rng(0)
    normal, x0 = rng.standard_normal(12), rng.uniform(-1, 1, (30, 12))
    limits = Limits(np.full(12, -4.0), np.full(12, 4.0), *np.ones((2, 12), bool), np.ones(12))
    start = np.where(normal > 0.0, 4.0, -4.0) * np.ones((30, 1))

    def model(points):
        return points @ normal + np.cos(points).sum(axis=1) >= 4.0

    def polished(which):
        room = Room(limits, x0[which], np.ones((len(which), 12), dtype=bool))
        ask = asked(model, len(which))
        return polish(ask, room, start[which]), ask.n_queries

    assert model(start).all()
    together, counted = polished(np.arange(30))
    monkeypatch.setattr("robust_recourse.sampling.polishing._NUMBERS", numbers * 144)
    for i in (0, 11, 29):
        alone, own = polished(np.array([i]))
        np.testing.assert_array_equal(alone[0], together[i])
        assert own[0] == counted[i]
    again, asked_again = polished(np.arange(30))
    np.testing.assert_array_equal(again, together)
    np.testing.assert_array_equal(asked_again, counted)


def test_somebody_with_few_free_columns_is_polished_alike_beside_somebody_with_many(asked):
    p = 30
    normal = np.arange(1.0, p + 1.0)  # what has not changed yet is worth more
    x0 = np.zeros((2, p))
    free = np.ones((2, p), dtype=bool)
    free[1, 6:] = False
    limits = Limits(np.full(p, -9.0), np.full(p, 9.0), np.ones(p, dtype=bool), np.ones(p, dtype=bool), np.ones(p))
    x = np.where(np.arange(p) < 3, 1.0, x0)
    least = x @ normal

    def polished(people):
        ask = asked(lambda points, who: points @ normal >= least[people[who]], len(people), by_person=True)
        return polish(ask, Room(limits, x0[people], free[people]), x[people])

    together = polished(np.array([0, 1]))
    for person in (0, 1):
        np.testing.assert_array_equal(polished(np.array([person]))[0], together[person])
