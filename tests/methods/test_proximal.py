import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize, minimize_scalar

from robust_recourse.methods._proximal import Descent, Iterate, Penalty, _solve, proximal, violation
from robust_recourse.models.gradients import Score


def random_penalty(rng, m, p):
    """Instances within bounds, some of them at a bound, some bounds infinite."""
    x0 = rng.uniform(-1, 1, (m, p))
    below, above = (rng.choice([0.0, 0.3, 2.0, np.inf], (m, p)) for _ in range(2))
    return Penalty(x0, x0 - below, x0 + above, 10.0 ** rng.uniform(-1, 1, p), 10.0 ** rng.uniform(-0.5, 0.5, p))


def inside(rng, penalty):
    return np.clip(penalty.x0 + rng.standard_normal(penalty.x0.shape), penalty.lower, penalty.upper)


def objective(x, score, penalty, trade_off):
    return np.logaddexp(0.0, -score) + trade_off * penalty.cost(x)


def naive_minimum(f, penalty, row, start):
    """A generic solver; each column split into what it rises and what it falls, so that the cost is smooth."""
    x0, p = penalty.x0[row], penalty.x0.shape[1]
    room = np.concatenate([penalty.upper[row] - x0, x0 - penalty.lower[row]])

    def split(z):
        return f(x0 + z[:p] - z[p:], (penalty.weights * (z[:p] + z[p:])).sum())

    z = np.clip(np.concatenate([start - x0, x0 - start]), 0.0, room)
    bounds = [(0.0, None if np.isinf(r) else r) for r in room]
    return min(minimize(split, guess, bounds=bounds, method="L-BFGS-B").fun for guess in (z, np.zeros(2 * p)))


class Affine:
    """Scores that are linear, so that every minimum is global."""

    def __init__(self, rng, m, p):
        self.slope, self.offset = 3.0 * rng.standard_normal((m, p)), rng.uniform(-6, 2, m)

    def __call__(self, x, rows):
        return Score((x * self.slope[rows]).sum(axis=1) + self.offset[rows], self.slope[rows].copy())


def run(field, penalty, trade_off, start=None, max_iter=300, tolerance=1e-6):
    rows = np.arange(len(penalty.x0))
    start = penalty.x0 if start is None else start
    begin = Iterate(start, *field(start, rows))
    descent = Descent(field, begin, penalty, max_iter=max_iter, tolerance=tolerance)
    descent.restart(rows, begin, trade_off)
    active = rows
    while len(active):
        active = active[~descent.advance(active)]
    return descent


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_the_proximal_map_minimises_column_by_column(seed, p):
    rng = np.random.default_rng(seed)
    penalty = random_penalty(rng, 3, p)
    y, threshold = penalty.x0 + 2.0 * rng.standard_normal((3, p)), rng.uniform(0.0, 1.5, (3, p))
    found = proximal(y, penalty, threshold)
    assert (found >= penalty.lower).all()
    assert (found <= penalty.upper).all()

    def value(x):
        return 0.5 * (x - y) ** 2 + threshold * np.abs(x - penalty.x0)

    for t in np.linspace(-4.0, 4.0, 801):
        grid = np.clip(penalty.x0 + t, penalty.lower, penalty.upper)
        assert (value(found) <= value(grid) + 1e-12).all()
    np.testing.assert_array_equal(
        found[np.abs(y - penalty.x0) <= threshold], penalty.x0[np.abs(y - penalty.x0) <= threshold]
    )


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.floats(-3, 3))
@example(2931, 4, 1.96875)  # plain Newton goes back and forth between two kinks
def test_a_step_minimises_the_linearised_problem(seed, p, log_step):
    rng = np.random.default_rng(seed)
    penalty, field = random_penalty(rng, 3, p), Affine(rng, 3, p)
    x, rows = inside(rng, penalty), np.arange(3)
    now, trade_off, step = Iterate(x, *field(x, rows)), 10.0 ** rng.uniform(-2, 0.5, 3), np.full(3, 10.0**log_step)
    found = _solve(now, penalty, trade_off[:, None] * penalty.weights, step)

    def model(row, y, cost):
        far = ((y - x[row]) ** 2 / penalty.scale**2).sum() / (2.0 * step[row])
        score = now.score[row] + now.gradient[row] @ (y - x[row])
        return np.logaddexp(0.0, -score) + trade_off[row] * cost + far

    for row in rows:
        best = naive_minimum(lambda y, cost, row=row: model(row, y, cost), penalty, row, found[row])
        assert model(row, found[row], penalty.cost(found)[row]) <= best + 1e-7 * (1.0 + abs(best))
    assert (found >= penalty.lower).all()
    assert (found <= penalty.upper).all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 5))
def test_linear_scores_are_solved_to_optimality(seed, p):
    rng = np.random.default_rng(seed)
    penalty, field = random_penalty(rng, 4, p), Affine(rng, 4, p)
    trade_off = 10.0 ** rng.uniform(-3, 1, 4)
    descent = run(field, penalty, trade_off, inside(rng, penalty))
    x, score, _ = descent.now
    assert (violation(descent.now, penalty, trade_off[:, None] * penalty.weights) <= 1e-6).all()
    for row in range(4):
        best = naive_minimum(
            lambda y, cost, row=row: np.logaddexp(0.0, -field(y[None], [row]).value[0]) + trade_off[row] * cost,
            penalty,
            row,
            x[row],
        )
        value = objective(x, score, penalty, trade_off)[row]
        assert value <= best + 1e-6 * (1.0 + abs(best))
    assert (x >= penalty.lower).all()
    assert (x <= penalty.upper).all()


def wavy(x, rows):
    """Not concave, with kinks."""
    value = 2.0 * np.sin(3.0 * x[:, 0]) + x[:, 0] - np.abs(x).sum(axis=1) + 0.3 * rows
    gradient = -np.sign(x)
    gradient[:, 0] += 6.0 * np.cos(3.0 * x[:, 0]) + 1.0
    return Score(value, gradient)


def test_the_objective_never_rises_and_the_evaluations_are_capped():
    rng = np.random.default_rng(0)
    penalty, rows = random_penalty(rng, 30, 3), np.arange(30)
    trade_off = 10.0 ** rng.uniform(-2, 0, 30)
    asked = np.zeros(30, dtype=int)

    def field(x, rows):
        asked[rows] += 1
        return wavy(x, rows)

    begin = Iterate(penalty.x0, *wavy(penalty.x0, rows))
    descent = Descent(field, begin, penalty, max_iter=50, tolerance=1e-9)
    descent.restart(rows, begin, trade_off)
    before, active = objective(begin.x, begin.score, penalty, trade_off), rows
    for _ in range(51):
        active = active[~descent.advance(active)]
        value = objective(descent.now.x, descent.now.score, penalty, trade_off)
        assert (value <= before + 1e-12).all()
        before = value
    assert not len(active)
    assert asked.max() <= 50
    np.testing.assert_array_equal(descent.now.score, wavy(descent.now.x, rows).value)


def test_a_row_does_not_depend_on_its_company():
    rng = np.random.default_rng(1)
    penalty = random_penalty(rng, 40, 9)
    trade_off = 10.0 ** rng.uniform(-2, 0, 40)
    together = run(wavy, penalty, trade_off).now
    for row in (0, 7, 31):
        alone = run(lambda x, rows, row=row: wavy(x, rows + row), penalty.take(np.array([row])), trade_off[[row]]).now
        for one, other in zip(alone, together, strict=True):
            np.testing.assert_array_equal(one[0], other[row])


def test_at_a_kink_the_descent_gives_up_and_says_so():
    def ridge(x, _):
        return Score(-5.0 - 4.0 * np.abs(x[:, 0] - 1.0), -4.0 * np.sign(x - 1.0))

    penalty = Penalty(np.zeros((1, 1)), np.full((1, 1), -9.0), np.full((1, 1), 9.0), np.ones(1), np.ones(1))
    descent = run(ridge, penalty, np.array([0.1]), tolerance=1e-4)
    assert descent.stuck(np.array([0]))[0]
    assert descent.now.x[0, 0] == pytest.approx(1.0, abs=1e-4)


class Roof:
    """Scores with kinks: the lowest of several planes, so that every minimum is global."""

    def __init__(self, rng, m, p, planes):
        self.slope, self.offset = 3.0 * rng.standard_normal((m, planes, p)), rng.uniform(-4, 2, (m, planes))

    def __call__(self, x, rows):
        heights = (self.slope[rows] * x[:, None]).sum(axis=2) + self.offset[rows]
        lowest = heights.argmin(axis=1)
        every = np.arange(len(x))
        return Score(heights[every, lowest], self.slope[rows, lowest])

    def least(self, row, penalty, trade_off):
        """The minimum: a linear program for every score that is aimed at, and a search over these."""
        slope, offset, x0 = self.slope[row], self.offset[row], penalty.x0[row]
        room = np.concatenate([penalty.upper[row] - x0, x0 - penalty.lower[row]])
        bounds = [(0.0, None if np.isinf(r) else r) for r in room]
        heights, moves = slope @ x0 + offset, np.hstack([-slope, slope])
        lowest = heights.min()
        # The highest score within reach, or twenty more.
        climb = linprog(
            [*np.zeros(len(room)), -1.0],
            np.column_stack([moves, np.ones(len(slope))]),
            heights,
            bounds=[*bounds, (None, lowest + 20.0)],
        )

        def value(score):
            found = linprog(np.tile(penalty.weights, 2), moves, heights - score, bounds=bounds)
            return np.logaddexp(0.0, -score) + trade_off * found.fun

        top = -climb.fun - 1e-9
        inner = minimize_scalar(value, bounds=(lowest, top), method="bounded").fun if top > lowest else np.inf
        return min(value(lowest), inner)


def test_kinks_are_followed_to_the_minimum():
    rng = np.random.default_rng(0)
    m, p = 30, 2
    penalty, field = random_penalty(rng, m, p), Roof(rng, m, p, 3)
    trade_off = 10.0 ** rng.uniform(-2, 0, m)
    descent = run(field, penalty, trade_off, tolerance=1e-4)
    start = field(penalty.x0, np.arange(m)).value
    value = objective(descent.now.x, descent.now.score, penalty, trade_off)
    best = np.array([field.least(row, penalty, trade_off[row]) for row in range(m)])
    left = (value - best) / (objective(penalty.x0, start, penalty, trade_off) - best + 1e-9)
    assert (value >= best - 1e-4).all()
    assert np.mean(left < 1e-2) > 0.9


@pytest.mark.parametrize("unit", [1e-4, 1.0, 1e5])
def test_units_do_not_matter(unit):
    rng = np.random.default_rng(2)
    penalty, field = random_penalty(rng, 10, 3), Affine(rng, 10, 3)
    units = np.array([1.0, unit, 1.0])

    def converted(x, rows):
        value, gradient = field(x / units, rows)
        return Score(value, gradient / units)

    bounds = (part * units for part in penalty[:3])
    other = Penalty(*bounds, penalty.weights / units, penalty.scale * units)
    expected = run(field, penalty, np.full(10, 0.3)).now.x
    np.testing.assert_allclose(run(converted, other, np.full(10, 0.3)).now.x / units, expected, rtol=1e-6, atol=1e-9)
