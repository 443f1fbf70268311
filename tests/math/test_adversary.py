"""The recovered mixtures attain the worst-case odds, stay in the ambiguity set and cannot be made worse."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import sqrtm
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from robust_recourse.math.adversary import recover
from robust_recourse.math.odds import log_worst_case_odds
from robust_recourse.math.profiles import optimistic, pessimistic

seeds = st.integers(0, 2**32 - 1)
dimensions = st.sampled_from((1, 2, 3, 8))
sigmas = st.floats(0.2, 3.0)
radii = st.one_of(st.just(0.0), st.floats(0.01, 3.0))  # in units of sigma


@st.composite
def problems(draw):
    """Arguments of `recover`; the point sometimes is a sample of either class."""
    rng, p, sigma = np.random.default_rng(draw(seeds)), draw(dimensions), draw(sigmas)
    samples, labels = sigma * rng.normal(size=(6, p)), rng.permutation([0, 1, *rng.integers(0, 2, 4)])
    at = draw(st.sampled_from([None, None, 0, 1]))
    x = sigma * rng.normal(size=p) if at is None else samples[np.flatnonzero(labels == at)[0]].copy()
    return x, samples, labels, sigma, draw(radii) * sigma, draw(radii) * sigma


def mixtures(problem):
    """Pairs of a recovered mixture and its ambiguity radius."""
    worst = recover(*problem)
    return (worst.refused, problem[4]), (worst.accepted, problem[5])


def naive_log_likelihood(means, covariances, x):
    densities = [multivariate_normal.logpdf(x, m, c) for m, c in zip(means, covariances, strict=True)]
    return logsumexp(densities) - np.log(len(densities))


def naive_transport_cost(mean, covariance, nominal_mean, nominal_covariance):
    """Wasserstein distance of two Gaussians, which is the paper's distance where the covariances commute."""
    root = sqrtm(nominal_covariance)
    middle = sqrtm(root @ covariance @ root)
    trace = np.trace(covariance + nominal_covariance - 2.0 * middle)
    return np.sqrt(((mean - nominal_mean) ** 2).sum() + max(trace, 0.0))


def random_feasible_mixture(rng, nominal, sigma, epsilon):
    """Means and covariances in the ambiguity set: random shifts, and roots of eigenvalues of at least sigma."""
    means, covariances = [], []
    for sample in nominal:
        p = len(sample)
        shift, stretch = rng.normal(size=p), np.abs(rng.normal(size=p)) * rng.integers(0, 2, p)
        size = epsilon * rng.random() ** 0.2 / np.sqrt((shift**2).sum() + (stretch**2).sum())
        basis = np.linalg.qr(rng.normal(size=(p, p)))[0]
        means.append(sample + size * shift)
        covariances.append((basis * (sigma + size * stretch) ** 2) @ basis.T)
    return np.array(means), np.array(covariances)


@settings(max_examples=60, deadline=None)
@given(problems())
def test_the_mixtures_attain_the_worst_case_odds(problem):
    expected = log_worst_case_odds(*problem).value
    assert recover(*problem).log_odds == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(problems())
def test_the_likelihood_at_the_point_is_that_of_the_profiles(problem):
    x, samples, labels, sigma, epsilon_0, epsilon_1 = problem
    worst, p = recover(*problem), len(x)
    c = np.linalg.norm(x - samples, axis=1)
    losses = (
        optimistic(c[labels == 0], sigma, epsilon_0, p).value,
        pessimistic(c[labels == 1], sigma, epsilon_1, p).value,
    )
    for mixture, loss in zip((worst.refused, worst.accepted), losses, strict=True):
        expected = np.log(np.mean(np.exp(-loss) / (2.0 * np.pi) ** (p / 2)))
        assert mixture.log_likelihood(x) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(max_examples=60, deadline=None)
@given(problems())
def test_every_component_stays_within_the_radius(problem):
    for mixture, epsilon in mixtures(problem):
        assert np.all(mixture.transport_cost <= epsilon * (1.0 + 1e-9) + 1e-14 * mixture.sigma)


@settings(max_examples=40, deadline=None)
@given(problems())
def test_covariances_have_the_stated_standard_deviations_and_never_shrink(problem):
    for mixture, _ in mixtures(problem):
        p = mixture.means.shape[1]
        for i, covariance in enumerate(mixture.covariances):
            along, across = mixture.along[i], mixture.across[i]
            eigenvalues = np.linalg.eigvalsh(covariance)
            np.testing.assert_allclose(eigenvalues, np.sort([along**2, *[across**2] * (p - 1)]), rtol=1e-10)
            assert eigenvalues.min() >= mixture.sigma**2 * (1.0 - 1e-12)
            direction = mixture.directions[i]
            np.testing.assert_allclose(covariance @ direction, along**2 * direction, atol=1e-10 * mixture.sigma**2)


@settings(max_examples=30, deadline=None)
@given(problems())
def test_the_transport_cost_is_the_wasserstein_distance(problem):
    for mixture, _ in mixtures(problem):
        nominal = mixture.sigma**2 * np.eye(mixture.means.shape[1])
        expected = [
            naive_transport_cost(mean, covariance, nominal_mean, nominal)
            for mean, covariance, nominal_mean in zip(
                mixture.means, mixture.covariances, mixture.nominal_means, strict=True
            )
        ]
        # A difference of traces loses half of the digits of a short distance.
        np.testing.assert_allclose(mixture.transport_cost, expected, rtol=1e-6, atol=1e-6 * mixture.sigma)


@settings(max_examples=40, deadline=None)
@given(problems(), seeds)
def test_the_likelihood_is_that_of_a_gaussian_mixture_anywhere(problem, seed):
    elsewhere = problem[3] * np.random.default_rng(seed).normal(size=len(problem[0]))
    for mixture, _ in mixtures(problem):
        expected = naive_log_likelihood(mixture.means, mixture.covariances, elsewhere)
        assert mixture.log_likelihood(elsewhere) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(problems(), seeds)
def test_no_feasible_mixture_is_worse(problem, seed):
    x, _, _, sigma, epsilon_0, epsilon_1 = problem
    worst, rng = recover(*problem), np.random.default_rng(seed)
    for _ in range(10):
        means, covariances = random_feasible_mixture(rng, worst.refused.nominal_means, sigma, epsilon_0)
        assert naive_log_likelihood(means, covariances, x) <= worst.refused.log_likelihood(x) + 1e-9
        means, covariances = random_feasible_mixture(rng, worst.accepted.nominal_means, sigma, epsilon_1)
        assert naive_log_likelihood(means, covariances, x) >= worst.accepted.log_likelihood(x) - 1e-9


@settings(max_examples=30, deadline=None)
@given(problems(), seeds, st.floats(1e-3, 0.3))
def test_no_small_change_of_the_mixture_is_worse(problem, seed, size):
    rng, x, sigma = np.random.default_rng(seed), problem[0], problem[3]
    for (mixture, epsilon), sign in zip(mixtures(problem), (1.0, -1.0), strict=True):
        p = len(x)
        for i in range(len(mixture.means)):
            shift = mixture.means[i] - mixture.nominal_means[i] + size * epsilon * rng.normal(size=p)
            basis = np.linalg.qr(np.column_stack([mixture.directions[i], rng.normal(size=(p, p - 1))]))[0]
            basis = np.linalg.qr(basis + size * rng.normal(size=(p, p)))[0]
            roots = np.append(mixture.along[i], np.full(p - 1, mixture.across[i]))
            stretch = np.maximum(roots - sigma + size * epsilon * rng.normal(size=p), 0.0)
            within = min(1.0, epsilon / max(np.sqrt((shift**2).sum() + (stretch**2).sum()), 1e-300))
            covariance = (basis * (sigma + within * stretch) ** 2) @ basis.T
            changed = multivariate_normal.logpdf(x, mixture.nominal_means[i] + within * shift, covariance)
            kept = multivariate_normal.logpdf(x, mixture.means[i], mixture.covariances[i])
            assert sign * changed <= sign * kept + 1e-9


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 4.0])
def test_a_point_that_is_a_sample_is_worked_out_along_the_first_axis(p, epsilon):
    samples = np.stack([np.zeros(p), np.ones(p)])
    for x in samples:
        worst = recover(x, samples, [0, 1], 1.0, epsilon, epsilon)
        mixture = worst.refused if x[0] == 0.0 else worst.accepted
        np.testing.assert_array_equal(mixture.directions, np.eye(p)[:1])
        assert np.isfinite(mixture.means).all()
        assert worst.log_odds == pytest.approx(log_worst_case_odds(x, samples, [0, 1], 1.0, epsilon, epsilon).value)


def test_refused_components_come_nearer_and_accepted_ones_go_away():
    worst = recover([1.0, 0.0], [[0.0, 0.0], [3.0, 0.0]], [0, 1], 1.0, 0.5, 0.5)
    np.testing.assert_array_equal(worst.refused.means, [[0.5, 0.0]])
    assert worst.accepted.means[0, 0] > 3.0
    assert worst.accepted.across[0] > worst.accepted.along[0] == 1.0


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"x": [0.0]}, ValueError, "^x must have 2 entries, got 1"),
        ({"x": [[0.0, 0.0]]}, ValueError, "^x must be one-dimensional"),
        ({"x": [0.0, np.nan]}, ValueError, "^x must be finite, got nan at index 1"),
        ({"x": ["a", "b"]}, TypeError, "^x must be numeric"),
        ({"labels": [1, 1]}, ValueError, "^labels must hold both classes"),
        ({"labels": [0, 3]}, ValueError, "^labels must be 0 or 1"),
        ({"samples": [[0.0, np.nan], [1.0, 1.0]]}, ValueError, "^samples must be finite"),
        ({"sigma": 0.0}, ValueError, "^sigma must be greater than 0"),
        ({"epsilon_0": -1.0}, ValueError, "^epsilon_0 must be at least 0"),
        ({"epsilon_1": -1.0}, ValueError, "^epsilon_1 must be at least 0"),
    ],
)
def test_bad_input_raises_and_names_the_argument(change, error, message):
    arguments = {"x": [0.0, 0.0], "samples": [[0.0, 0.0], [1.0, 1.0]], "labels": [0, 1]}
    scales = {"sigma": 1.0, "epsilon_0": 0.1, "epsilon_1": 0.1}
    with pytest.raises(error, match=message):
        recover(**(arguments | scales | change))


def test_the_likelihood_of_a_point_of_another_width_raises():
    worst = recover([0.0, 0.0], [[0.0, 0.0], [1.0, 1.0]], [0, 1], 1.0, 0.1, 0.1)
    with pytest.raises(ValueError, match=r"^x must have 2 entries, got 3"):
        worst.refused.log_likelihood([0.0, 0.0, 0.0])
