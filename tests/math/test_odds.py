"""The worst-case odds against plain loops, differences, invariances and failures."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from robust_recourse.math import odds as odds_module
from robust_recourse.math.odds import OddsObjective, Scales, log_worst_case_odds
from robust_recourse.math.profiles import optimistic, pessimistic, pessimistic_switches

seeds = st.integers(0, 2**32 - 1)
dimensions = st.sampled_from((1, 2, 3, 8))
sigmas = st.floats(0.1, 5.0)
radii = st.one_of(st.just(0.0), st.floats(0.01, 2.0))  # in units of sigma


def random_problem(seed, p, sigma, n=9):
    """A point, samples about one sigma apart and labels of both classes."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation([0, 1, *rng.integers(0, 2, n - 2)])
    return sigma * rng.normal(size=p), sigma * rng.normal(size=(n, p)), labels


def naive_log_worst_case_odds(x, samples, labels, sigma, epsilon_0, epsilon_1):
    refused = accepted = 0.0
    for sample, label in zip(samples, labels, strict=True):
        c = math.dist(x, sample)
        if label == 0:
            refused += math.exp(-float(optimistic(c, sigma, epsilon_0, len(x)).value))
        else:
            accepted += math.exp(-float(pessimistic(c, sigma, epsilon_1, len(x)).value))
    return math.log(refused) - math.log(accepted)


def naive_log_kde_odds(x, samples, labels, bandwidth):
    kernels = [math.exp(-(math.dist(x, sample) ** 2) / (2.0 * bandwidth**2)) for sample in samples]
    sums = [math.fsum(k for k, label in zip(kernels, labels, strict=True) if label == y) for y in (0, 1)]
    return math.log(sums[0]) - math.log(sums[1])


def random_objective(seed, m, n=12, p=3, inner="table", rounding=0.0):
    rng = np.random.default_rng(seed)
    accepted = rng.random((m, n)) < 0.5
    accepted[:, :2] = [True, False]
    objective = OddsObjective(rng.normal(size=(m, n, p)), accepted, Scales(0.7, 0.3, 0.4), inner, rounding)
    return objective, rng.normal(size=(m, p))


@settings(max_examples=25, deadline=None)
@given(seeds, dimensions, sigmas, radii, radii)
def test_value_is_the_sum_over_samples(seed, p, sigma, e0, e1):
    x, samples, labels = random_problem(seed, p, sigma)
    expected = naive_log_worst_case_odds(x, samples, labels, sigma, e0 * sigma, e1 * sigma)
    found = log_worst_case_odds(x, samples, labels, sigma, e0 * sigma, e1 * sigma).value
    assert found == pytest.approx(expected, rel=1e-10, abs=1e-10)


@settings(max_examples=25, deadline=None)
@given(seeds, dimensions, sigmas, radii, radii)
def test_gradient_is_the_derivative_of_the_value(seed, p, sigma, e0, e1):
    x, samples, labels = random_problem(seed, p, sigma)
    epsilon_0, epsilon_1 = e0 * sigma, e1 * sigma
    c = np.linalg.norm(x - samples, axis=1)
    switches = pessimistic_switches(sigma, epsilon_1, p)
    assume(c.min() > 0.01 * sigma)
    assume(np.abs(np.subtract.outer(c, switches)).min(initial=np.inf) > 0.02 * sigma)
    gradient = log_worst_case_odds(x, samples, labels, sigma, epsilon_0, epsilon_1).gradient
    step = 1e-5 * sigma
    ends = np.stack([x + step * np.eye(p), x - step * np.eye(p)])
    values = log_worst_case_odds(ends.reshape(-1, p), samples, labels, sigma, epsilon_0, epsilon_1).value.reshape(2, p)
    np.testing.assert_allclose(gradient * sigma, (values[0] - values[1]) * sigma / (2.0 * step), rtol=1e-4, atol=1e-4)


@settings(max_examples=60, deadline=None)
@given(seeds, dimensions, sigmas)
def test_without_ambiguity_it_is_the_kde_odds(seed, p, sigma):
    x, samples, labels = random_problem(seed, p, sigma)
    expected = naive_log_kde_odds(x, samples, labels, sigma)
    assert log_worst_case_odds(x, samples, labels, sigma, 0.0, 0.0).value == pytest.approx(
        expected, rel=1e-11, abs=1e-11
    )


def test_far_from_all_samples_it_stays_finite():
    samples, labels = [[0.0, 0.0], [1.0, 0.0]], [0, 1]
    value, gradient = log_worst_case_odds([1e4, 0.0], samples, labels, 1.0, 0.0, 0.0)
    assert value == pytest.approx(0.5 * (9999.0**2 - 1e8))
    np.testing.assert_allclose(gradient, [-1.0, 0.0], rtol=1e-9)


@settings(max_examples=25, deadline=None)
@given(seeds, dimensions, sigmas, radii, radii, radii)
def test_more_ambiguity_means_worse_odds(seed, p, sigma, e, f, other):
    x, samples, labels = random_problem(seed, p, sigma)
    small, large = sorted((e * sigma, f * sigma))
    for radii_of in (lambda r: (r, other * sigma), lambda r: (other * sigma, r)):
        low, high = (log_worst_case_odds(x, samples, labels, sigma, *radii_of(r)).value for r in (small, large))
        assert high >= low - 1e-9


@settings(max_examples=30, deadline=None)
@given(seeds, dimensions, sigmas, radii, radii)
def test_moving_and_turning_everything_turns_the_gradient_only(seed, p, sigma, e0, e1):
    x, samples, labels = random_problem(seed, p, sigma)
    rng = np.random.default_rng(seed)
    turn = np.linalg.qr(rng.normal(size=(p, p)))[0]
    shift = 3.0 * sigma * rng.normal(size=p)
    scales = (sigma, e0 * sigma, e1 * sigma)
    # A distance that rounding moves across a kink would change its slope.
    c = np.linalg.norm(x - samples, axis=1)
    assume(np.abs(np.subtract.outer(c, pessimistic_switches(sigma, e1 * sigma, p))).min(initial=1.0) > 1e-6 * sigma)
    value, gradient = log_worst_case_odds(x, samples, labels, *scales)
    moved = log_worst_case_odds(turn @ x + shift, samples @ turn.T + shift, labels, *scales)
    assert moved.value == pytest.approx(value, rel=1e-9, abs=1e-9)
    np.testing.assert_allclose(moved.gradient * sigma, turn @ gradient * sigma, rtol=1e-6, atol=1e-6)


@settings(max_examples=30, deadline=None)
@given(seeds, dimensions, sigmas, radii, radii)
def test_the_order_of_the_samples_does_not_matter(seed, p, sigma, e0, e1):
    x, samples, labels = random_problem(seed, p, sigma)
    order = np.random.default_rng(seed).permutation(len(labels))
    value, gradient = log_worst_case_odds(x, samples, labels, sigma, e0 * sigma, e1 * sigma)
    shuffled = log_worst_case_odds(x, samples[order], labels[order], sigma, e0 * sigma, e1 * sigma)
    assert shuffled.value == pytest.approx(value, rel=1e-11, abs=1e-11)
    np.testing.assert_allclose(shuffled.gradient * sigma, gradient * sigma, rtol=1e-9, atol=1e-9)


@settings(max_examples=15, deadline=None)
@given(seeds, dimensions, sigmas, radii, radii)
def test_the_table_agrees_with_the_direct_solution(seed, p, sigma, e0, e1):
    rng = np.random.default_rng(seed)
    accepted = rng.random((4, 30)) < 0.5
    accepted[:, :2] = [True, False]
    samples, x = sigma * rng.normal(size=(4, 30, p)), sigma * rng.normal(size=(4, p))
    scales = Scales(sigma, e0 * sigma, e1 * sigma)
    table, direct = (OddsObjective(samples, accepted, scales, inner)(x) for inner in ("table", "direct"))
    np.testing.assert_allclose(table.value, direct.value, rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(table.gradient * sigma, direct.gradient * sigma, rtol=1e-7, atol=1e-7)


def test_the_first_order_objective_agrees_with_the_direct_solution_without_ambiguity():
    rng = np.random.default_rng(3)
    samples, accepted, x = rng.normal(size=(2, 6, 2)), np.array([[True, False, False] * 2] * 2), rng.normal(size=(2, 2))
    first, direct = (OddsObjective(samples, accepted, Scales(1.0, 0.0, 0.0), i)(x) for i in ("first-order", "direct"))
    np.testing.assert_allclose(first.value, direct.value, rtol=1e-9)
    np.testing.assert_allclose(first.gradient, direct.gradient, rtol=1e-9)


@pytest.mark.parametrize(("inner", "rounding"), [("table", 0.0), ("table", 0.05), ("direct", 0.0)])
@pytest.mark.parametrize("block", [1, 100, 2**17])
def test_an_instance_has_the_same_bits_alone_and_in_any_batch(monkeypatch, inner, rounding, block):
    objective, x = random_objective(0, m=9, inner=inner, rounding=rounding)
    together = objective(x)
    monkeypatch.setattr(odds_module, "_BLOCK", block)
    batches = [[i] for i in range(9)] + [[i, i + 1] for i in range(8)] + [[8, 3, 5], list(range(9))]
    for batch in batches:
        found = objective.take(np.array(batch))(x[batch])
        np.testing.assert_array_equal(found.value, together.value[batch])
        np.testing.assert_array_equal(found.gradient, together.gradient[batch])


@pytest.mark.parametrize("block", [1, 200, 2**17])
def test_values_at_many_points_are_the_same_bits_as_one_by_one(monkeypatch, block):
    monkeypatch.setattr(odds_module, "_BLOCK", block)
    objective, x = random_objective(0, m=7)
    points = x[:, None] + np.random.default_rng(1).normal(size=(7, 5, 3))
    expected = np.stack([objective(points[:, k]).value for k in range(5)], axis=1)
    np.testing.assert_array_equal(objective.values(points), expected)


@settings(max_examples=15, deadline=None)
@given(seeds, st.sampled_from((1, 2, 3)), st.sampled_from((1.0, 2.0, 4.0)), st.sampled_from((0.01, 0.05)))
def test_rounding_off_kinks_makes_the_odds_a_little_worse(seed, p, epsilon_1, rounding):
    rng = np.random.default_rng(seed)
    samples, accepted = rng.normal(size=(4, 8, p)), np.tile([True, False], (4, 4))
    # At a sample, next to one and anywhere.
    x = np.concatenate([samples[:2, 0], samples[2:3, 0] + 0.3 * rounding, rng.normal(size=(1, p))])
    scales = Scales(1.0, 0.3, epsilon_1)
    exact, rounded = (OddsObjective(samples, accepted, scales, "table", r)(x).value for r in (0.0, rounding))
    steepest = pessimistic(np.append(0.0, pessimistic_switches(1.0, epsilon_1, p)), 1.0, epsilon_1, p).slope.max()
    assert np.all(rounded >= exact - rounding**3 - 1e-7)
    assert np.all(rounded <= exact + 0.5 * rounding * steepest + rounding**3 + 1e-7)


def test_rounding_off_makes_the_gradient_continuous_at_a_sample():
    samples, accepted, scales = np.array([[[0.0, 0.0], [1.0, 1.0]]]), np.array([[True, False]]), Scales(1.0, 0.3, 4.0)
    sides = np.array([[-1e-9, 0.0], [1e-9, 0.0]])
    for rounding, jump in ((0.0, 4.0), (0.05, 0.0)):
        objective = OddsObjective(samples, accepted, scales, "table", rounding)
        left, right = (objective(side[None]).gradient[0, 0] for side in sides)
        assert right - left == pytest.approx(2.0 * jump, abs=0.5 if jump else 1e-5)


def test_each_instance_has_its_own_samples():
    objective, x = random_objective(1, m=3, inner="direct")
    found = objective(x)
    for i in range(3):
        samples, labels = objective._samples[i], objective._accepted[i].astype(int)
        alone = log_worst_case_odds(x[i], samples, labels, 0.7, 0.3, 0.4)
        assert found.value[i] == pytest.approx(alone.value, rel=1e-12)
        np.testing.assert_allclose(found.gradient[i], alone.gradient, rtol=1e-10)


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 4.0])
@pytest.mark.parametrize("at", [0, 1])
def test_at_a_sample_the_others_alone_pull(epsilon, at):
    samples, labels = np.array([[0.0, 0.0], [2.0, 1.0]]), np.array([0, 1])
    x, other = samples[at], samples[1 - at]
    gradient = log_worst_case_odds(x, samples, labels, 1.0, epsilon, epsilon).gradient
    c = math.dist(x, other)
    # The sum over the other class has one term, its weight is one.
    slope = pessimistic(c, 1.0, epsilon, 2).slope if at == 0 else -optimistic(c, 1.0, epsilon, 2).slope
    np.testing.assert_allclose(gradient, slope * (x - other) / c, rtol=1e-12)


@pytest.mark.parametrize("inner", ["table", "direct", "first-order"])
def test_at_a_sample_the_gradient_is_finite(inner):
    objective, _ = random_objective(2, m=5, inner=inner)
    found = objective(objective._samples[:, 0].copy())
    assert np.isfinite(found.value).all()
    assert np.isfinite(found.gradient).all()


def test_one_point_gives_a_scalar_and_many_give_an_array():
    x, samples, labels = random_problem(0, 3, 1.0)
    alone, many = (log_worst_case_odds(rows, samples, labels, 1.0, 0.1, 0.1) for rows in (x, [x, x]))
    assert (np.shape(alone.value), alone.gradient.shape) == ((), (3,))
    assert (many.value.shape, many.gradient.shape) == ((2,), (2, 3))


SAMPLES = [[0.0, 0.0], [2.0, 0.0]]


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"labels": [0, 0]}, ValueError, "^labels must hold both classes, got only 0"),
        ({"labels": [1, 1]}, ValueError, "^labels must hold both classes, got only 1"),
        ({"labels": [0, 2]}, ValueError, "^labels must be 0 or 1, got .*2"),
        ({"labels": [-1, 1]}, ValueError, "^labels must be 0 or 1"),
        ({"labels": ["0", "1"]}, ValueError, "^labels must be 0 or 1"),
        ({"labels": [0, np.nan]}, ValueError, "^labels must be 0 or 1"),
        ({"labels": [0, 1, 1]}, ValueError, "^labels must have one entry for each of the 2 samples"),
        ({"x": [1.0]}, ValueError, "^x must have 2 columns, got 1"),
        ({"x": [[1.0, 0.0, 0.0]]}, ValueError, "^x must have 2 columns, got 3"),
        ({"x": [1.0, np.nan]}, ValueError, "^x must be finite"),
        ({"x": ["a", "b"]}, TypeError, "^x must be numeric"),
        ({"samples": [[0.0, np.inf], [2.0, 0.0]]}, ValueError, "^samples must be finite, got inf in row 0, column 1"),
        ({"samples": [0.0, 2.0]}, ValueError, "^samples must be two-dimensional"),
        ({"samples": [["a", "b"], ["c", "d"]]}, TypeError, "^samples must be numeric"),
        ({"sigma": 0.0}, ValueError, "^sigma must be greater than 0"),
        ({"epsilon_0": -0.1}, ValueError, "^epsilon_0 must be at least 0"),
        ({"epsilon_1": np.nan}, ValueError, "^epsilon_1 must be finite"),
    ],
)
def test_bad_input_raises_and_names_the_argument(change, error, message):
    arguments = {
        "x": [1.0, 0.0],
        "samples": SAMPLES,
        "labels": [0, 1],
        "sigma": 1.0,
        "epsilon_0": 0.1,
        "epsilon_1": 0.1,
    }
    with pytest.raises(error, match=message):
        log_worst_case_odds(**(arguments | change))
