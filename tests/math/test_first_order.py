"""The paper's Algorithm 1: its projection, and where it ends compared with the exact profiles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from robust_recourse.math import first_order, profiles

coordinates = st.one_of(st.integers(-8, 8).map(lambda k: k / 4.0), st.floats(-3.0, 3.0).map(lambda v: round(v, 9)))
dimensions = st.sampled_from((1, 2, 3, 8, 30))
radii = st.one_of(st.just(0.0), st.floats(0.01, 3.0))
sigmas = st.floats(0.2, 5.0)
GRID = np.concatenate([[0.0], np.geomspace(1e-3, 6.0, 30)])  # in units of sigma


def naive_project_quarter_disc(v1, v2, radius):
    """Follow the seven cases of the paper's appendix."""
    if v1 >= 0.0 and v2 >= 0.0:
        length = np.sqrt(v1**2 + v2**2)
        return (v1, v2) if length <= radius else (radius / length * v1, radius / length * v2)
    if v1 < 0.0 and v2 > radius:
        return 0.0, radius
    if v1 < 0.0 and v2 >= 0.0:
        return 0.0, v2
    if v1 > radius and v2 < 0.0:
        return radius, 0.0
    if v1 >= 0.0 and v2 < 0.0:
        return v1, 0.0
    return 0.0, 0.0


@given(st.lists(st.tuples(coordinates, coordinates), min_size=1, max_size=6), st.floats(0.0, 3.0))
def test_projection_is_the_seven_cases_of_the_paper(rows, radius):
    expected = [naive_project_quarter_disc(*row, radius) for row in rows]
    found = first_order.project_quarter_disc(np.array(rows), radius)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)


@settings(max_examples=40, deadline=None)
@given(coordinates, coordinates, st.floats(0.1, 3.0))
def test_projection_is_the_nearest_point(v1, v2, radius):
    v = np.array([v1, v2])
    nearest = minimize(
        lambda z: ((z - v) ** 2).sum(),
        np.full(2, radius / 2.0),
        jac=lambda z: 2.0 * (z - v),
        bounds=[(0.0, None)] * 2,
        constraints={"type": "ineq", "fun": lambda z: radius**2 - z @ z, "jac": lambda z: -2.0 * z},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 500},
    )
    np.testing.assert_allclose(first_order.project_quarter_disc(v[None], radius)[0], nearest.x, atol=1e-5)


@settings(max_examples=15, deadline=None)
@given(radii, sigmas, dimensions)
def test_it_is_never_better_than_the_exact_solution(e, sigma, p):
    c, epsilon = GRID * sigma, e * sigma
    found, exact = (module.optimistic(c, sigma, epsilon, p).value for module in (first_order, profiles))
    assert np.all(found >= exact - 1e-9)
    found, exact = (module.pessimistic(c, sigma, epsilon, p).value for module in (first_order, profiles))
    assert np.all(found <= exact + 1e-9)


@settings(max_examples=15, deadline=None)
@given(radii, sigmas, dimensions)
def test_it_is_never_worse_than_its_start(e, sigma, p):
    c, epsilon = GRID * sigma, e * sigma
    gaussian = np.log(sigma) + 0.5 * GRID**2
    assert np.all(first_order.optimistic(c, sigma, epsilon, p).value <= gaussian + (p - 1) * np.log(sigma) + 1e-12)
    spread = (p - 1) * np.log(sigma + epsilon / np.sqrt(max(p - 1, 1)))
    # It descends on the perturbed problem: what the perturbation hides may be lost.
    assert np.all(first_order.pessimistic(c, sigma, epsilon, p).value >= gaussian + spread - 1e-3)


@settings(max_examples=15, deadline=None)
@given(radii, sigmas, dimensions)
def test_where_it_ends_is_feasible_and_has_the_value_it_says(e, sigma, p):
    c, epsilon = GRID * sigma, e * sigma
    value, slope, a, d = first_order.optimistic(c, sigma, epsilon, p)
    assert np.all((a >= 0.0) & (d >= sigma) & (np.hypot(a, d - sigma) <= epsilon * (1.0 + 1e-12) + 1e-15 * sigma))
    np.testing.assert_allclose(value, np.log(d) + (c - a) ** 2 / (2.0 * d**2) + (p - 1) * np.log(sigma), atol=1e-10)
    np.testing.assert_allclose(slope, (c - a) / d**2, rtol=1e-12, atol=1e-14)
    value, slope, a, d = first_order.pessimistic(c, sigma, epsilon, p)
    s = d - sigma
    assert np.all((a >= 0.0) & (s >= 0.0) & (np.hypot(a, np.sqrt(p) * s) <= epsilon * (1.0 + 1e-12) + 1e-14 * sigma))
    t = np.sqrt(np.maximum(epsilon**2 - a**2 - s**2, 0.0) / max(p - 1, 1))
    expected = np.log(d) + (c + a) ** 2 / (2.0 * d**2) + (p - 1) * np.log(sigma + t)
    np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(slope, (c + a) / d**2, rtol=1e-12)


@settings(max_examples=15, deadline=None)
@given(radii, sigmas, dimensions)
def test_it_solves_the_optimistic_problem(e, sigma, p):
    c, epsilon = GRID * sigma, e * sigma
    found = first_order.optimistic(c, sigma, epsilon, p, max_iter=20000)
    np.testing.assert_allclose(found.value, profiles.optimistic(c, sigma, epsilon, p).value, atol=1e-5)


@pytest.mark.parametrize(("p", "epsilon"), [(1, 0.3), (2, 0.5), (3, 1.0), (8, 0.5), (30, 1.0)])
def test_far_from_the_switch_it_solves_the_pessimistic_problem(p, epsilon):
    (switch,) = profiles.pessimistic_switches(1.0, epsilon, p)
    c = np.concatenate([np.linspace(0.0, 0.5 * switch, 5), np.linspace(2.0 * switch + 0.5, 6.0, 5)])
    found = first_order.pessimistic(c, 1.0, epsilon, p, max_iter=20000)
    np.testing.assert_allclose(found.value, profiles.pessimistic(c, 1.0, epsilon, p).value, atol=1e-5)


def test_each_distance_is_solved_on_its_own():
    c = np.linspace(0.0, 4.0, 12).reshape(3, 4)
    for solve in (first_order.optimistic, first_order.pessimistic):
        together = solve(c, 1.0, 0.8, 3)
        for index in np.ndindex(c.shape):
            assert [part[index] for part in together] == list(solve(c[index], 1.0, 0.8, 3))


# Both start at a = s = 0, where the gradient points into the basin of the other kind of optimum.
@pytest.mark.parametrize(("c", "epsilon", "p", "loss"), [(0.35, 1.0, 2, 0.03), (0.15, 4.0, 2, 6.0)])
def test_the_pessimistic_algorithm_can_end_in_a_worse_local_optimum(c, epsilon, p, loss):
    exact, found = (module.pessimistic(c, 1.0, epsilon, p) for module in (profiles, first_order))
    assert (exact.d, found.d > 1.1) == (1.0, True)
    assert exact.value - found.value > loss
    # It is a local optimum and not a lack of patience.
    assert first_order.pessimistic(c, 1.0, epsilon, p, max_iter=10**5).value == pytest.approx(found.value, abs=1e-6)


@pytest.mark.parametrize("solve", [first_order.optimistic, first_order.pessimistic])
@pytest.mark.parametrize(
    ("name", "value", "error"),
    [("c", -1.0, ValueError), ("sigma", 0.0, ValueError), ("epsilon", -1.0, ValueError), ("p", 1.5, TypeError)],
)
def test_bad_input_raises_and_names_the_argument(solve, name, value, error):
    with pytest.raises(error, match=rf"^{name} must be"):
        solve(**({"c": 1.0, "sigma": 1.0, "epsilon": 1.0, "p": 2} | {name: value}))


@pytest.mark.parametrize("zeta", [0.0, -1.0, np.nan])
def test_the_perturbation_must_be_positive(zeta):
    with pytest.raises(ValueError, match=r"^zeta must be"):
        first_order.pessimistic(1.0, 1.0, 1.0, 2, zeta=zeta)
