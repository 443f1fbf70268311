"""Spectral projected gradient on problems whose solution is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.math.descent import minimise
from robust_recourse.math.odds import Odds, OddsObjective, Scales
from robust_recourse.math.projections import project, weighted_cost

seeds = st.integers(0, 2**32 - 1)


class Quadratic:
    """Rows of ``0.5 * sum(curvature * (x - target)**2)``, which counts its evaluations."""

    def __init__(self, target, curvature, calls=None):
        self.target, self.curvature = target, curvature
        self.calls = [] if calls is None else calls

    def __call__(self, x):
        self.calls.append(len(x))
        away = x - self.target
        return Odds((0.5 * self.curvature * away**2).sum(axis=1), self.curvature * away)

    def take(self, rows):
        return Quadratic(self.target[rows], self.curvature[rows], self.calls)


class Absolute:
    """Rows of ``sum(abs(x - target))``: a kink at the solution."""

    def __init__(self, target):
        self.target = target

    def __call__(self, x):
        return Odds(np.abs(x - self.target).sum(axis=1), np.sign(x - self.target))

    def take(self, rows):
        return Absolute(self.target[rows])


def box_projection(lower, upper):
    return lambda points, rows: np.clip(points, lower[rows], upper[rows])


def budget_projection(x0, weights, budget, lower, upper):
    return lambda points, rows: project(points, x0[rows], weights, budget[rows], lower[rows], upper[rows])


def random_boxed(seed, m=5, p=4):
    """Targets inside and outside of their boxes, curvatures that differ a hundredfold."""
    rng = np.random.default_rng(seed)
    lower, upper = -rng.random((m, p)), rng.random((m, p))
    objective = Quadratic(2.0 * rng.normal(size=(m, p)), 10.0 ** rng.uniform(-1.0, 1.0, (m, p)))
    return objective, lower, upper


@settings(max_examples=50, deadline=None)
@given(seeds)
def test_the_boxed_minimum_of_a_separable_quadratic_is_the_clipped_target(seed):
    objective, lower, upper = random_boxed(seed)
    start = np.zeros_like(lower)
    found = minimise(objective, box_projection(lower, upper), start, length=1.0, max_evaluations=1000, tolerance=1e-6)
    assert found.converged.all()
    np.testing.assert_allclose(found.x, np.clip(objective.target, lower, upper), atol=1e-4)
    np.testing.assert_array_equal(found.value, objective(found.x).value)


@settings(max_examples=50, deadline=None)
@given(seeds)
def test_the_minimum_of_a_distance_within_a_budget_is_the_projection(seed):
    rng = np.random.default_rng(seed)
    x0, target = rng.normal(size=(2, 4, 3))
    lower, upper = x0 - rng.random((4, 3)), x0 + np.where(rng.random((4, 3)) < 0.5, np.inf, rng.random((4, 3)))
    weights, budget = rng.uniform(0.3, 3.0, 3), rng.random(4)
    objective = Quadratic(target, np.ones_like(target))
    found = minimise(objective, budget_projection(x0, weights, budget, lower, upper), x0, length=1.0, tolerance=1e-6)
    assert found.converged.all()
    np.testing.assert_allclose(found.x, project(target, x0, weights, budget, lower, upper), atol=1e-4)


@settings(max_examples=30, deadline=None)
@given(seeds, st.sampled_from([2.0**-10, 1.0, 2.0**10]))
def test_the_unit_of_length_does_not_matter(seed, unit):
    objective, lower, upper = random_boxed(seed)
    scaled = Quadratic(unit * objective.target, objective.curvature / unit**2)
    start = np.zeros_like(lower)
    found = minimise(objective, box_projection(lower, upper), start, length=1.0)
    again = minimise(scaled, box_projection(unit * lower, unit * upper), start, length=unit)
    np.testing.assert_array_equal(again.x, unit * found.x)
    np.testing.assert_array_equal(again.converged, found.converged)


@settings(max_examples=30, deadline=None)
@given(seeds)
def test_every_step_of_a_path_descends_inside_the_set(seed):
    objective, lower, upper = random_boxed(seed)
    start = np.zeros_like(lower)
    found = minimise(objective, box_projection(lower, upper), start, length=1.0)
    for row in range(len(start)):
        path = found.path(row)
        np.testing.assert_array_equal(path[0], start[row])
        np.testing.assert_array_equal(path[-1], found.x[row])
        values = Quadratic(objective.target[row], objective.curvature[row])(path).value
        assert np.all(np.diff(values) < 0.0)
        assert values[-1] == pytest.approx(found.value[row], rel=1e-15)
        assert np.all((lower[row] - 1e-15 <= path) & (path <= upper[row] + 1e-15))


def test_convergence_means_a_short_projected_gradient_step():
    objective, lower, upper = random_boxed(7, m=40)
    projection, length, tolerance = box_projection(lower, upper), 0.5, 1e-3
    found = minimise(
        objective, projection, np.zeros_like(lower), length=length, tolerance=tolerance, max_evaluations=1000
    )
    gradient = objective(found.x).gradient
    step = projection(found.x - length**2 * gradient, np.arange(40)) - found.x
    assert found.converged.all()
    assert np.linalg.norm(step, axis=1).max() <= tolerance * length


def test_a_tighter_tolerance_ends_nearer_to_the_solution():
    objective, lower, upper = random_boxed(3, m=30)
    solution = np.clip(objective.target, lower, upper)
    misses = [
        np.abs(
            minimise(
                objective, box_projection(lower, upper), 0.0 * lower, length=1.0, tolerance=t, max_evaluations=1000
            ).x
            - solution
        ).max()
        for t in (1e-1, 1e-5)
    ]
    assert misses[1] < 1e-4 < misses[0]


@pytest.mark.parametrize("max_evaluations", [0, 1, 2])
def test_too_few_evaluations_are_said_not_to_have_converged(max_evaluations):
    target = np.array([[0.0, 0.0, 0.0], [0.5, -0.5, 0.5], [0.2, 0.3, 0.4]])
    objective = Quadratic(target, np.tile([50.0, 1.0, 0.1], (3, 1)))
    projection = box_projection(-np.ones((3, 3)), np.ones((3, 3)))
    found = minimise(objective, projection, np.zeros((3, 3)), length=1.0, max_evaluations=max_evaluations)
    np.testing.assert_array_equal(found.converged, [True, False, False])
    assert len(objective.calls) == len(found.history) == 1 + max_evaluations


def test_what_is_known_at_the_start_is_not_evaluated_again():
    objective, lower, upper = random_boxed(4)
    start = np.zeros_like(lower)
    first = objective(start)
    copies = [part.copy() for part in first]
    without = minimise(objective, box_projection(lower, upper), start, length=1.0)
    evaluated = len(objective.calls)
    objective.calls.clear()
    found = minimise(objective, box_projection(lower, upper), start, length=1.0, first=first)
    assert len(objective.calls) == evaluated - 2
    np.testing.assert_array_equal(found.history, without.history)
    np.testing.assert_array_equal(found.value, without.value)
    np.testing.assert_array_equal(first.value, copies[0])
    np.testing.assert_array_equal(first.gradient, copies[1])


def test_a_row_at_its_minimum_stays_there():
    target, box = np.array([[0.3, -0.2], [5.0, 5.0]]), (-np.ones((2, 2)), np.ones((2, 2)))
    found = minimise(
        Quadratic(target, np.ones((2, 2))), box_projection(*box), np.array([[0.3, -0.2], [1, 1]]), length=1.0
    )
    assert found.converged.all()
    assert [len(found.path(row)) for row in range(2)] == [1, 1]
    np.testing.assert_array_equal(found.x, [[0.3, -0.2], [1.0, 1.0]])


def test_the_start_is_not_changed():
    objective, lower, upper = random_boxed(1)
    start = np.zeros_like(lower)
    minimise(objective, box_projection(lower, upper), start, length=1.0)
    assert not start.any()


def test_a_kink_is_reached_and_ends_the_descent():
    target = np.array([[0.3], [-0.7], [5.0]])
    box = -np.ones((3, 1)), np.ones((3, 1))
    found = minimise(Absolute(target), box_projection(*box), np.full((3, 1), 0.9), length=1.0, max_evaluations=500)
    assert found.converged.all()
    np.testing.assert_allclose(found.x, [[0.3], [-0.7], [1.0]], atol=1e-6)


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_a_row_has_the_same_bits_alone_and_in_a_batch(seed):
    objective, lower, upper = random_boxed(seed)
    start = np.zeros_like(lower)
    together = minimise(objective, box_projection(lower, upper), start, length=1.0)
    for row in range(len(start)):
        one = slice(row, row + 1)
        alone = minimise(
            objective.take(np.array([row])), box_projection(lower[one], upper[one]), start[one], length=1.0
        )
        np.testing.assert_array_equal(alone.path(0), together.path(row))
        assert (alone.value[0], alone.converged[0]) == (together.value[row], together.converged[row])


@settings(max_examples=15, deadline=None)
@given(seeds)
def test_the_worst_case_odds_descend_alike_alone_and_in_a_batch(seed):
    rng = np.random.default_rng(seed)
    accepted = rng.random((6, 20)) < 0.5
    accepted[:, :2] = [True, False]
    objective = OddsObjective(rng.normal(size=(6, 20, 3)), accepted, Scales(0.7, 0.2, 0.3))
    x0, weights, budget, free = rng.normal(size=(6, 3)), np.ones(3), rng.random(6) + 0.5, np.full((6, 3), np.inf)
    together = minimise(objective, budget_projection(x0, weights, budget, -free, free), x0, length=0.7)
    assert np.all(weighted_cost(together.x, x0, weights) <= budget * (1.0 + 1e-14))
    assert np.all(together.value <= objective(x0).value)
    for row in range(6):
        one = slice(row, row + 1)
        projection = budget_projection(x0[one], weights, budget[one], -free[one], free[one])
        alone = minimise(objective.take(np.array([row])), projection, x0[one], length=0.7)
        np.testing.assert_array_equal(alone.path(0), together.path(row))
        assert alone.value[0] == together.value[row]
