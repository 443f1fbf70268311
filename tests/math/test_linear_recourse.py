"""The cheapest robustly accepted point: closed forms, linear programs, optimality conditions and failures."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from robust_recourse.math.linear_recourse import cheapest_accepted
from robust_recourse.math.linear_worst_case import worst_case_score, worst_case_shift
from robust_recourse.math.projections import weighted_cost

NORMS = ("2", "inf")
RADII = [0.0, 1e-13, 1e-6, 0.02, 0.1, 0.2, 0.5, 0.9, 1.1]

# Quarters make ties and zeros, which random floats do not.
coordinates = st.one_of(st.integers(-8, 8).map(lambda k: k / 4.0), st.floats(-3.0, 3.0))
rooms = st.one_of(st.just(0.0), st.just(np.inf), st.integers(1, 8).map(lambda k: k / 4.0), st.floats(0.01, 3.0))
prices = st.one_of(st.just(1.0), st.floats(0.1, 10.0))


@st.composite
def problems(draw, radii=RADII):
    """Arguments of `cheapest_accepted` for one instance."""
    p = draw(st.integers(1, 5))

    def row(elements):
        return np.array([[draw(elements) for _ in range(p)]])

    w = row(coordinates)
    assume(np.linalg.norm(w) > 0.1)
    w /= np.linalg.norm(w)
    x0 = row(coordinates)
    b = np.array([draw(coordinates)]) - (w * x0).sum(axis=1)
    delta = draw(st.sampled_from(radii))
    return w, b, delta, x0, row(prices)[0], x0 - row(rooms), x0 + row(rooms)


def cutting_planes(w, b, delta, x0, c, lower, upper, norm):
    """Least cost by linear programs, to which the worst parameters at the last solution are added; None if infeasible.

    The value of each is a lower bound, so that what it proves does not depend on when we stop.
    """
    rooms = np.minimum(np.concatenate([upper - x0, x0 - lower], axis=1)[0], 1e7)
    rows, sides = [], []
    x = x0
    for _ in range(60):
        dw, db = worst_case_shift(x, delta, norm)
        slope, offset = (w + dw)[0], (b + db)[0]
        rows.append(np.concatenate([-slope, slope]))
        sides.append(offset + slope @ x0[0])
        program = linprog(np.tile(c, 2), rows, sides, bounds=np.column_stack([np.zeros(len(rooms)), rooms]))
        if program.status == 2:
            return None
        assert program.status == 0
        x = x0 + (program.x[: len(c)] - program.x[len(c) :])
        if worst_case_score(x, w, b, delta, norm)[0] >= -1e-9:
            break
    return program.fun


@pytest.mark.parametrize("norm", NORMS)
@settings(max_examples=30, deadline=None)
@given(problem=problems())
def test_it_costs_what_a_generic_solver_finds(norm, problem):
    w, b, delta, x0, c, lower, upper = problem
    x, found = cheapest_accepted(*problem, norm)
    best = cutting_planes(*problem, norm)
    # The generic solver has a tolerance and bounds: it cannot tell problems that are just, or only far away, solvable.
    margin = 1e-6 * (-1.0 if found[0] else 1.0)
    assume(cheapest_accepted(w, b + margin, *problem[2:], norm).found[0] == found[0])
    cost = weighted_cost(x, x0, c)[0]
    assume(np.abs(x - x0).max() < 1e4)
    if not found[0]:
        assert best is None
        return
    assert np.all((lower <= x) & (x <= upper))
    assert worst_case_score(x, w, b, delta, norm)[0] >= -1e-12 * (1.0 + cost)
    assert cost == pytest.approx(best, rel=1e-6, abs=1e-6)


def price_gap(x, w, delta, x0, c, lower, upper, norm):
    """Largest gain per cost of what could move less the smallest of what has moved: not positive at an optimum."""
    if norm == "2":
        up = down = w - delta * x / np.sqrt((x**2).sum(axis=1, keepdims=True) + 1.0)
    else:
        # One-sided slopes, which differ at 0.
        up, down = w - delta * np.where(x >= 0.0, 1.0, -1.0), w - delta * np.where(x > 0.0, 1.0, -1.0)
    could = np.maximum(
        np.where((x >= x0) & (x < upper), up / c, 0.0), np.where((x <= x0) & (x > lower), -down / c, 0.0)
    )
    has = np.where(x > x0, down / c, np.where(x < x0, -up / c, np.inf))
    return could.max(axis=1) - has.min(axis=1)


@pytest.mark.parametrize("norm", NORMS)
@settings(max_examples=100, deadline=None)
@given(problem=problems())
def test_the_optimality_conditions_hold(norm, problem):
    w, b, delta, x0, c, _, _ = problem
    x, found = cheapest_accepted(*problem, norm)
    assume(found[0])
    score, size = worst_case_score(x, w, b, delta, norm)[0], 1.0 + np.abs(x).sum()
    assert score >= -1e-13 * size
    if (x != x0).any():
        assert score <= 1e-9 * size
    assert price_gap(x, w, *problem[2:], norm)[0] <= 1e-9 / c.min()


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("delta", [0.01, 0.1, 0.5, 1.2])
def test_the_optimality_conditions_hold_where_many_bounds_do(norm, delta):
    rng = np.random.default_rng(int(100 * delta))
    m, p = 2000, 6
    w = rng.standard_normal((m, p))
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    x0, c = 2.0 * rng.standard_normal((m, p)), rng.uniform(0.5, 2.0, p)
    lower, upper = x0 - rng.uniform(0.0, 2.0, (m, p)), x0 + rng.uniform(0.0, 2.0, (m, p))
    b = -worst_case_score(x0, w, np.zeros(m), delta, norm) - rng.uniform(0.0, 3.0, m)
    problem = w, b, delta, x0, c, lower, upper
    x, found = cheapest_accepted(*problem, norm)
    at_lower, at_upper = (x == lower).any(axis=1) & found, (x == upper).any(axis=1) & found
    assert at_lower.sum() > 50
    assert at_upper.sum() > 50
    assert price_gap(x, w, *problem[2:], norm)[found].max() <= 1e-9
    assert np.abs(worst_case_score(x, w, b, delta, norm))[found & (x != x0).any(axis=1)].max() <= 1e-9


@settings(deadline=None)
@given(problem=problems([0.0]))
def test_without_radius_and_bounds_the_steepest_column_moves_alone(problem):
    w, b, _, x0, c, _, _ = problem
    free = np.full_like(x0, np.inf)
    x, found = cheapest_accepted(w, b, 0.0, x0, c, -free, free)
    deficit = max(0.0, -((w * x0).sum() + b[0]))
    assert found[0]
    assert (x != x0).sum() <= 1
    assert weighted_cost(x, x0, c)[0] == pytest.approx(deficit / (np.abs(w[0]) / c).max(), rel=1e-9, abs=1e-12)


@settings(deadline=None)
@given(x0=st.floats(-3.0, 3.0), b=st.floats(-3.0, 3.0), delta=st.floats(0.001, 0.95), side=st.sampled_from([-1.0, 1.0]))
def test_one_column_is_a_quadratic_equation(x0, b, delta, side):
    """``z + b = delta sqrt(z^2 + 1)`` for ``z = side x``: the larger root of the squared equation."""
    free = np.full((1, 1), np.inf)
    x, found = cheapest_accepted(np.array([[side]]), np.array([b]), delta, np.array([[x0]]), np.ones(1), -free, free)
    shrink = 1.0 - delta**2
    z = (-b + np.sqrt(b**2 - shrink * (b**2 - delta**2))) / shrink
    assert found[0]
    assert x[0, 0] == pytest.approx(side * max(side * x0, z), rel=1e-8, abs=1e-8)


def test_a_smooth_solver_agrees_in_more_columns():
    rng = np.random.default_rng(0)
    p = 8
    for _ in range(10):
        w = rng.standard_normal(p)
        w /= np.linalg.norm(w)
        x0, c = rng.standard_normal(p), rng.uniform(0.5, 2.0, p)
        b, lower, upper = -1.0 - w @ x0, x0 - rng.uniform(0.0, 3.0, p), x0 + rng.uniform(0.0, 3.0, p)
        arguments = w[None], np.array([b]), 0.15, x0[None], c, lower[None], upper[None]
        x, found = cheapest_accepted(*arguments)

        def score(z, w=w, b=b, x0=x0):
            y = x0 + z[:p] - z[p:]
            return w @ y + b - 0.15 * np.sqrt(y @ y + 1.0)

        bounds = [(0.0, room) for room in np.concatenate([upper - x0, x0 - lower])]
        generic = minimize(
            lambda z, c=c: np.tile(c, 2) @ z,
            np.full(2 * p, 0.1),
            bounds=bounds,
            constraints={"type": "ineq", "fun": score},
            method="SLSQP",
            options={"ftol": 1e-12, "maxiter": 500},
        )
        assert found[0] == generic.success
        if found[0]:
            assert weighted_cost(x, x0, c)[0] == pytest.approx(generic.fun, rel=1e-5)


@pytest.mark.parametrize("delta", [1.0, 1.05, 1.5])
def test_a_large_radius_needs_an_origin_that_is_accepted(delta):
    """Without bounds ``max h = b - sqrt(delta^2 - 1)`` for ``delta >= 1``."""
    w, free = np.array([[0.6, 0.8]]), np.full((1, 2), np.inf)
    x0 = np.array([[-3.0, -4.0]])
    needed = np.sqrt(delta**2 - 1.0)
    for b in (needed - 1e-3, needed + 1e-3):
        x, found = cheapest_accepted(w, np.array([b]), delta, x0, np.ones(2), -free, free)
        assert found[0] == (b > needed)
        if found[0]:
            assert worst_case_score(x, w, np.array([b]), delta)[0] >= 0.0
        else:
            np.testing.assert_array_equal(x, x0)


@pytest.mark.parametrize("norm", NORMS)
def test_columns_that_may_not_change_count_in_the_worst_case(norm):
    """With the second column fixed at 3 the first one solves an equation that has the 3 in it."""
    w, b, x0 = np.array([[1.0, 0.0]]), np.array([-1.0]), np.array([[0.0, 3.0]])
    lower, upper = np.array([[-np.inf, 3.0]]), np.array([[np.inf, 3.0]])
    x, found = cheapest_accepted(w, b, 0.2, x0, np.ones(2), lower, upper, norm)
    assert found[0]
    assert x[0, 1] == 3.0
    t = x[0, 0]
    dual = np.sqrt(t**2 + 9.0 + 1.0) if norm == "2" else t + 3.0 + 1.0
    assert t - 1.0 == pytest.approx(0.2 * dual, rel=1e-9)


@pytest.mark.parametrize("norm", NORMS)
def test_a_larger_radius_never_costs_less(norm):
    rng = np.random.default_rng(3)
    m, p = 200, 4
    w = rng.standard_normal((m, p))
    w /= np.linalg.norm(w, axis=1, keepdims=True)
    b, x0, c = rng.standard_normal(m), rng.standard_normal((m, p)), rng.uniform(0.5, 2.0, p)
    lower, upper = x0 - rng.uniform(0.0, 4.0, (m, p)), x0 + rng.uniform(0.0, 4.0, (m, p))
    last = np.zeros(m)
    for delta in np.linspace(0.0, 0.6, 13):
        x, found = cheapest_accepted(w, b, delta, x0, c, lower, upper, norm)
        cost = np.where(found, weighted_cost(x, x0, c), np.inf)
        assert np.all(cost >= last - 1e-9)
        last = cost
    assert 0 < np.isinf(last).sum() < m


@pytest.mark.parametrize("norm", NORMS)
def test_an_accepted_instance_stays_and_a_row_without_answer_says_so(norm):
    w, b = np.array([[1.0], [1.0], [1.0]]), np.array([5.0, -1.0, -1.0])
    x0 = np.zeros((3, 1))
    x, found = cheapest_accepted(w, b, 0.1, x0, np.ones(1), x0, np.array([[9.0], [0.5], [9.0]]), norm)
    np.testing.assert_array_equal(found, [True, False, True])
    np.testing.assert_array_equal(x[:2], 0.0)
    assert x[2, 0] > 1.0


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("delta", [0.0, 1e-10, 0.1])
def test_a_row_does_not_depend_on_the_others(norm, delta):
    rng = np.random.default_rng(5)
    m, p = 60, 7
    w = rng.standard_normal((m, p))
    b, x0, c = rng.standard_normal(m) - 1.0, rng.standard_normal((m, p)), rng.uniform(0.5, 2.0, p)
    lower = np.where(rng.random((m, p)) < 0.5, -np.inf, x0)
    upper = np.where(rng.random((m, p)) < 0.5, np.inf, x0 + 1.0)
    x, found = cheapest_accepted(w, b, delta, x0, c, lower, upper, norm)
    for i in range(m):
        one = slice(i, i + 1)
        alone = cheapest_accepted(w[one], b[one], delta, x0[one], c, lower[one], upper[one], norm)
        np.testing.assert_array_equal(alone.x[0], x[i])
        assert alone.found[0] == found[i]


@settings(max_examples=50, deadline=None)
@given(problem=problems([1e-12, 1e-6, 0.1]))
def test_what_does_not_move_keeps_its_bits(problem):
    _, _, _, x0, _, lower, upper = problem
    x, _ = cheapest_accepted(*problem)
    still = lower == upper
    np.testing.assert_array_equal(x[still], x0[still])
    assert np.all((lower <= x) & (x <= upper))
    moved = np.abs(x - x0)
    assert not ((moved > 0.0) & (moved < 1e-15 * np.abs(x0))).any()


@pytest.mark.parametrize("norm", NORMS)
def test_prices_of_very_different_size(norm):
    """The second column is almost free, so that it moves alone."""
    free = np.full((1, 2), np.inf)
    w, b, x0 = np.array([[0.8, 0.6]]), np.array([-1.0]), np.zeros((1, 2))
    x, found = cheapest_accepted(w, b, 0.1, x0, np.array([1e40, 1e-40]), -free, free, norm)
    assert found[0]
    assert x[0, 0] == 0.0
    assert worst_case_score(x, w, b, 0.1, norm)[0] == pytest.approx(0.0, abs=1e-12)
