"""Projection onto a weighted L1 ball cut by a box: optimality, exact feasibility and termination."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from robust_recourse.math import projections
from robust_recourse.math.projections import project, settle, weighted_cost

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
    budget = np.array([draw(st.one_of(st.just(0.0), st.floats(0.0, 5.0))) for _ in range(rows)])
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
        for _ in range(200):
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


@settings(max_examples=300, deadline=None)
@given(problems(rows=2))
def test_projection_is_the_nearest_feasible_point(problem):
    found = project(*problem)
    assert_feasible(found, *problem[1:])
    np.testing.assert_allclose(found, naive_project(*problem), rtol=1e-12, atol=1e-11)


@settings(max_examples=40, deadline=None)
@given(problems())
def test_projection_agrees_with_a_general_solver(problem):
    y, x0, weights, budget, lower, upper = problem
    p = y.shape[1]
    # In the parts that go up and down the cost is linear.
    up = minimize(
        lambda m: 0.5 * ((x0[0] + m[:p] - m[p:] - y[0]) ** 2).sum(),
        np.zeros(2 * p),
        jac=lambda m: np.concatenate([1.0, -1.0] * (x0[0] + m[:p] - m[p:] - y[0])[:, None], axis=None, dtype=float)
        if p == 0
        else np.concatenate([x0[0] + m[:p] - m[p:] - y[0], y[0] - x0[0] - m[:p] + m[p:]]),
        bounds=[(0.0, room) for room in np.concatenate([upper - x0, x0 - lower], axis=1)[0]],
        constraints={"type": "ineq", "fun": lambda m: budget[0] - np.tile(weights, 2) @ m},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 500},
    ).x
    expected = x0[0] + up[:p] - up[p:]
    np.testing.assert_allclose(project(*problem)[0], expected, atol=1e-4)
