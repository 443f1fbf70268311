"""Projection onto a weighted L1 ball cut by a box: optimality, exact feasibility and termination."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from robust_recourse.math import projections
from robust_recourse.math.projections import weighted_cost


def terminating(function):
    """Let a call that would loop for ever fail."""

    def called(*arguments):
        rounds = iter(range(200))

        def counted(*each):
            assert next(rounds, None) is not None, "it does not terminate"
            return weighted_cost(*each)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(projections, "weighted_cost", counted)
            return function(*arguments)

    return called


project, settle = terminating(projections.project), terminating(projections.settle)

# Quarters make ties between kinks, which random floats do not.
coordinates = st.one_of(st.integers(-16, 16).map(lambda k: k / 4.0), st.floats(-4.0, 4.0))
rooms = st.one_of(st.just(0.0), st.just(np.inf), st.integers(1, 8).map(lambda k: k / 4.0), st.floats(0.0, 3.0))
some_weights = st.one_of(st.just(1.0), st.floats(0.05, 20.0))


@st.composite
def problems(draw, scale=1.0, rows=1, weights=some_weights):
    """Arguments of `project`: bounds at random sides of the instance, some infinite, some at the instance itself."""
    p = draw(st.integers(1, 6))

    def matrix(elements):
        return np.array([[draw(elements) for _ in range(p)] for _ in range(rows)])

    x0 = scale * matrix(coordinates)
    y, lower, upper = x0 + matrix(coordinates), x0 - matrix(rooms), x0 + matrix(rooms)
    w = np.array([draw(weights) for _ in range(p)])
    # Of what is no normal number, halving loses bits.
    part = st.one_of(st.just(0.0), st.floats(0.0, 1.2, allow_subnormal=False), st.floats(-9.0, 0.0).map(np.exp2))
    share = [draw(part) for _ in range(rows)]
    budget = share * weighted_cost(np.clip(y, lower, upper), x0, w)
    return y, x0, w, budget, lower, upper


def naive_project(y, x0, weights, budget, lower, upper):
    """Bisect the multiplier of the budget, row by row."""
    found = np.empty_like(y)
    for i in range(len(y)):

        def shrunk(theta, i=i):
            z = y[i] - x0[i]
            return np.clip(x0[i] + np.sign(z) * np.maximum(np.abs(z) - theta * weights, 0.0), lower[i], upper[i])

        low, high = 0.0, float((np.abs(y[i] - x0[i]) / weights).max())
        if (weights * np.abs(shrunk(0.0) - x0[i])).sum() <= budget[i]:
            high = 0.0
        for _ in range(100):
            middle = 0.5 * (low + high)
            if (weights * np.abs(shrunk(middle) - x0[i])).sum() > budget[i]:
                low = middle
            else:
                high = middle
        found[i] = shrunk(high)
    return found


def assert_feasible(x, x0, weights, budget, lower, upper):
    assert np.all((lower <= x) & (x <= upper))
    assert np.all(weighted_cost(x, x0, weights) <= budget)


@settings(max_examples=150, deadline=None)
@given(problems(rows=2))
def test_projection_is_the_nearest_feasible_point(problem):
    found = project(*problem)
    assert_feasible(found, *problem[1:])
    np.testing.assert_allclose(found, naive_project(*problem), rtol=1e-12, atol=1e-11)


@settings(max_examples=40, deadline=None)
@given(problems())
def test_projection_agrees_with_a_general_solver(problem):
    y, x0, weights, budget, lower, upper = (part[0] if part.ndim == 2 else part for part in problem)

    # Split into what goes up and what goes down the cost is linear.
    def miss(moves):
        ups, downs = np.split(moves, 2)
        return x0 + ups - downs - y

    solved = minimize(
        lambda moves: 0.5 * (miss(moves) ** 2).sum(),
        np.zeros(2 * len(x0)),
        jac=lambda moves: np.concatenate([miss(moves), -miss(moves)]),
        bounds=[(0.0, room) for room in np.concatenate([upper - x0, x0 - lower])],
        constraints={"type": "ineq", "fun": lambda moves: budget[0] - np.tile(weights, 2) @ moves},
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    assume(solved.success)
    np.testing.assert_allclose(project(*problem)[0], y + miss(solved.x), atol=1e-4)


@settings(max_examples=100, deadline=None)
@given(problems(), st.integers(0, 2**32 - 1))
def test_no_feasible_direction_leads_nearer(problem, seed):
    y, x0, weights, budget, lower, upper = problem
    x = project(*problem)
    z = np.clip(x0 + 5.0 * np.random.default_rng(seed).normal(size=(50, x0.shape[1])), lower, upper)
    cost = weighted_cost(z, x0, weights)
    z = x0 + (z - x0) * np.minimum(1.0, budget / np.where(cost > 0.0, cost, 1.0))[:, None]
    assert np.all(((y - x) * (z - x)).sum(axis=1) <= 1e-10)


@settings(max_examples=100, deadline=None)
@given(problems(rows=2))
def test_projecting_twice_changes_nothing_but_rounding(problem):
    once = project(*problem)
    np.testing.assert_allclose(project(once, *problem[1:]), once, rtol=1e-14, atol=1e-14)


@settings(max_examples=60, deadline=None)
@given(problems(rows=4))
def test_a_row_has_the_same_bits_alone_and_in_a_batch(problem):
    y, x0, weights, budget, lower, upper = problem
    together = project(*problem)
    for i in range(4):
        one = slice(i, i + 1)
        alone = project(y[one], x0[one], weights, budget[one], lower[one], upper[one])
        np.testing.assert_array_equal(alone, together[one])


@settings(max_examples=60, deadline=None)
@given(problems(rows=2))
def test_a_feasible_point_is_its_own_projection(problem):
    inside = project(*problem)
    np.testing.assert_array_equal(settle(inside, *problem[1:]), inside)


@given(problems(rows=2))
def test_nothing_moves_without_a_budget(problem):
    y, x0, weights, _, lower, upper = problem
    np.testing.assert_array_equal(project(y, x0, weights, np.zeros(2), lower, upper), x0)


@settings(max_examples=60, deadline=None)
@given(problems(), st.sampled_from([2.0**-30, 2.0**30]))
def test_the_unit_of_length_does_not_matter(problem, unit):
    y, x0, weights, budget, lower, upper = problem
    scaled = project(unit * y, unit * x0, weights, unit * budget, unit * lower, unit * upper)
    np.testing.assert_array_equal(scaled, unit * project(*problem))


@settings(max_examples=100, deadline=None)
@given(problems(weights=st.integers(-3, 3).map(lambda k: 10.0**k)))
def test_weights_of_very_different_size_are_no_trouble(problem):
    found = project(*problem)
    assert_feasible(found, *problem[1:])
    np.testing.assert_allclose(found, naive_project(*problem), rtol=1e-9, atol=1e-9)


# Columns in very different units have very different weights.
@pytest.mark.parametrize(
    ("weights", "budget", "expected"),
    [
        ([1e3, 1e-3, 1e-3], 0.01, [0.0, 7.5, 2.5]),
        ([1e6, 1e-3, 1e-3], 0.01, [0.0, 7.5, 2.5]),
        ([1e6, 1e-3, 1e-3], 0.02, [0.0, 12.5, 7.5]),
    ],
)
def test_a_heavy_column_does_not_disturb_the_light_ones(weights, budget, expected):
    x0, free = np.zeros((1, 3)), np.full((1, 3), np.inf)
    found = project(np.array([[0.1, 20.0, 15.0]]), x0, np.array(weights), np.array([budget]), -free, free)
    np.testing.assert_allclose(found, [expected], rtol=1e-9)


@pytest.mark.parametrize("size", [1e6, 1e12, 1e15, 1e300])
@pytest.mark.parametrize("budget", [0.0, 1e-300, 1e-12, 1e-3, 1.0])
def test_a_small_budget_next_to_a_large_instance_terminates(size, budget):
    rng = np.random.default_rng(0)
    x0 = size * (1.0 + rng.random((20, 7)))
    y, free = x0 * (1.0 + 1e-3 * rng.normal(size=x0.shape)), np.full_like(x0, np.inf)
    weights, budgets = rng.uniform(0.5, 2.0, 7), np.full(20, budget)
    found = project(y, x0, weights, budgets, -free, free)
    assert_feasible(found, x0, weights, budgets, -free, free)


@settings(max_examples=100, deadline=None)
@given(problems(scale=2.0**20, rows=2))
def test_next_to_a_large_instance_it_is_the_nearest_point_up_to_rounding(problem):
    found = project(*problem)
    assert_feasible(found, *problem[1:])
    np.testing.assert_allclose(found, naive_project(*problem), rtol=0.0, atol=1e-7)


@settings(max_examples=100, deadline=None)
@given(problems(rows=3))
def test_settling_only_shrinks(problem):
    y, x0, _, _, lower, upper = problem
    settled = settle(y, *problem[1:])
    assert_feasible(settled, *problem[1:])
    before, after = np.clip(y, lower, upper) - x0, settled - x0
    assert np.all(before * after >= 0.0)
    assert np.all(np.abs(after) <= np.abs(before))


def test_settling_does_not_touch_its_argument():
    y = np.array([[3.0, 4.0]])
    settle(y, np.zeros((1, 2)), np.ones(2), np.array([1.0]), np.full((1, 2), -9.0), np.full((1, 2), 9.0))
    np.testing.assert_array_equal(y, [[3.0, 4.0]])


def test_immutable_columns_stay_and_leave_the_budget_to_the_others():
    x0 = np.array([[1.0, 2.0, 3.0]])
    lower, upper = np.array([[1.0, -np.inf, 3.0]]), np.array([[1.0, np.inf, np.inf]])
    found = project(x0 + np.array([[9.0, -1.0, -9.0]]), x0, np.array([1.0, 2.0, 1.0]), np.array([1.0]), lower, upper)
    np.testing.assert_allclose(found, [[1.0, 1.5, 3.0]], rtol=1e-15)
    assert (found[0, 0], found[0, 2]) == (1.0, 3.0)


def test_the_cost_is_the_weighted_distance():
    cost = weighted_cost(np.array([[1.0, -2.0], [0.5, 0.5]]), np.array([0.5, 0.5]), np.array([2.0, 3.0]))
    np.testing.assert_array_equal(cost, [0.5 * 2.0 + 2.5 * 3.0, 0.0])
