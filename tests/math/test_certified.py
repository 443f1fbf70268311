"""The certified radius: against a root of the exact odds, by what it promises, and by its invariances."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from robust_recourse.math import certified
from robust_recourse.math.certified import certify_distances
from robust_recourse.math.odds import log_worst_case_odds

seeds = st.integers(0, 2**32 - 1)
dimensions = st.sampled_from((1, 2, 3, 10, 40))
sigmas = st.floats(0.05, 5.0)
radii = st.one_of(st.just(0.0), st.floats(1e-9, 2.0))  # in units of sigma
spreads = st.sampled_from((0.3, 1.0, 3.0, 30.0))  # of the samples, in units of sigma


class Problem:
    """Points whose nearest samples are mostly accepted."""

    def __init__(self, seed, p, sigma=1.0, spread=2.0, m=3, n=20):
        rng = np.random.default_rng(seed)
        self.p, self.sigma = p, sigma
        self.samples = spread * sigma * rng.standard_normal((n, p)) / np.sqrt(p)
        direction = rng.standard_normal(p)
        heights = self.samples @ direction
        self.labels = (heights > np.median(heights)).astype(int)
        best = self.samples[np.argsort(-heights)[:m]]
        self.points = best + 0.3 * spread * sigma * rng.standard_normal((m, p)) / np.sqrt(p)
        self.c = np.linalg.norm(self.points[:, None] - self.samples, axis=2)

    def certify(self, epsilon_0=0.0, epsilon_1=0.0):
        return certify_distances(self.c, self.labels, self.p, self.sigma, epsilon_0, epsilon_1)

    def log_odds(self, i, epsilon_0, epsilon_1):
        """The naive oracle: exact profiles of one radius."""
        return float(
            log_worst_case_odds(self.points[i], self.samples, self.labels, self.sigma, epsilon_0, epsilon_1).value
        )


def beyond(radius, sigma):
    """Where the odds must have reached 1."""
    return radius * (1.0 + 1e-6) + 1e-9 * sigma


@settings(max_examples=10, deadline=None)
@given(seeds, dimensions, sigmas, spreads, radii, radii)
def test_odds_are_those_of_the_exact_profiles(seed, p, sigma, spread, e0, e1):
    problem = Problem(seed, p, sigma, spread)
    found = problem.certify(e0 * sigma, e1 * sigma)
    for i in range(len(problem.points)):
        nominal, worst = problem.log_odds(i, 0.0, 0.0), problem.log_odds(i, e0 * sigma, e1 * sigma)
        assert found.log_nominal_odds[i] == pytest.approx(nominal, rel=1e-10, abs=1e-10)
        assert found.log_worst_case_odds[i] == pytest.approx(worst, rel=1e-10, abs=1e-10)


@settings(max_examples=6, deadline=None)
@given(seeds, dimensions, sigmas, spreads)
def test_the_odds_reach_one_at_the_radius_and_not_before(seed, p, sigma, spread):
    problem = Problem(seed, p, sigma, spread)
    found = problem.certify()
    for i, radius in enumerate(found.radius):
        if found.log_nominal_odds[i] >= 0.0:
            assert radius == 0.0
        else:
            assert problem.log_odds(i, radius, radius) < 0.0
            after = beyond(radius, sigma)
            assert problem.log_odds(i, after, after) >= 0.0


@settings(max_examples=3, deadline=None)
@given(seeds, dimensions, spreads)
def test_the_radius_is_the_root_that_brent_finds(seed, p, spread):
    problem = Problem(seed, p, 1.0, spread, m=1, n=8)
    found = problem.certify()
    if found.log_nominal_odds[0] < 0.0:
        high = 1.0
        while problem.log_odds(0, high, high) < 0.0:
            high *= 2.0
        root = brentq(lambda e: problem.log_odds(0, e, e), 0.0, high, xtol=1e-9, rtol=1e-9)
        assert found.radius[0] == pytest.approx(root, rel=1e-6, abs=2e-9)


@pytest.mark.parametrize("shift", [1e-6, 0.01, 0.2, 0.45])
def test_two_samples_on_a_line_meet_half_way(shift):
    found = certify_distances([[1.0 + shift, 1.0 - shift]], [0, 1], p=1, sigma=1.0)
    assert found.log_nominal_odds[0] == pytest.approx(-2.0 * shift)
    assert found.radius[0] <= shift <= beyond(found.radius[0], 1.0)


@settings(max_examples=20, deadline=None)
@given(seeds, dimensions, spreads)
def test_the_radius_is_finite_and_within_its_bound(seed, p, spread):
    problem = Problem(seed, p, 1.0, spread)
    refused, accepted = problem.c[:, problem.labels == 0], problem.c[:, problem.labels == 1]
    bound = np.maximum(refused.min(axis=1), np.sqrt(2.0 * np.log(accepted.shape[1])) - accepted.min(axis=1))
    assert (problem.certify().radius <= np.maximum(bound, 0.0) * (1.0 + 1e-9)).all()


@settings(max_examples=20, deadline=None)
@given(seeds, dimensions, st.floats(1e-6, 1e6))
def test_lengths_scale(seed, p, factor):
    problem = Problem(seed, p)
    found = certify_distances(problem.c, problem.labels, p, 1.0, 0.1, 0.2)
    scaled = certify_distances(problem.c * factor, problem.labels, p, factor, 0.1 * factor, 0.2 * factor)
    np.testing.assert_allclose(scaled.log_nominal_odds, found.log_nominal_odds, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(scaled.log_worst_case_odds, found.log_worst_case_odds, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(scaled.radius, found.radius * factor, rtol=1e-6, atol=2e-9 * factor)


@settings(max_examples=20, deadline=None)
@given(seeds, dimensions, spreads)
def test_worst_case_odds_rise_with_either_radius_and_the_certified_radius_is_where_they_are_one(seed, p, spread):
    problem = Problem(seed, p, 1.0, spread)
    steps = [problem.certify(e, 0.5 * e) for e in (0.0, 0.1, 0.5, 2.0)]
    odds = np.array([step.log_worst_case_odds for step in steps])
    np.testing.assert_array_equal(odds[0], steps[0].log_nominal_odds)
    assert (np.diff(odds, axis=0) > 0.0).all()
    for step in steps:
        np.testing.assert_array_equal(step.radius, steps[0].radius)
    both = problem.certify(0.3, 0.3)
    np.testing.assert_array_equal(both.radius > 0.3, both.log_worst_case_odds < 0.0)


@settings(max_examples=20, deadline=None)
@given(seeds, dimensions)
def test_an_accepted_sample_that_comes_closer_raises_the_radius(seed, p):
    problem = Problem(seed, p)
    closer = np.where(problem.labels == 1, 0.8 * problem.c, problem.c)
    before, after = problem.certify(), certify_distances(closer, problem.labels, p, 1.0)
    assert (after.radius >= before.radius).all()
    assert (after.radius > before.radius)[after.radius > 0.0].all()


def test_a_row_does_not_depend_on_its_company(monkeypatch):
    problem = Problem(0, 3, m=30, n=60)
    sigma, e0, e1 = np.linspace(0.2, 3.0, 30), np.linspace(0.0, 1.0, 30), np.linspace(0.5, 0.0, 30)
    labels = np.random.default_rng(1).permuted(np.tile(problem.labels, (30, 1)), axis=1)
    whole = certify_distances(problem.c, labels, 3, sigma, e0, e1)
    monkeypatch.setattr(certified, "_BLOCK", 70)
    in_blocks = certify_distances(problem.c, labels, 3, sigma, e0, e1)
    alone = [
        certify_distances(problem.c[i : i + 1], labels[i], 3, sigma[i], e0[i], e1[i]) for i in range(len(problem.c))
    ]
    for part, blocks, single in zip(whole, in_blocks, zip(*alone, strict=True), strict=True):
        np.testing.assert_array_equal(part, blocks)
        np.testing.assert_array_equal(part, np.concatenate(single))


def test_samples_may_stand_in_any_order():
    problem = Problem(3, 4)
    order = np.random.default_rng(0).permutation(len(problem.labels))
    turned = certify_distances(problem.c[:, order], problem.labels[order], 4, 1.0)
    np.testing.assert_allclose(turned.radius, problem.certify().radius, rtol=1e-6, atol=2e-9)


@pytest.mark.parametrize("far", [1e3, 9e5])
def test_far_samples_keep_the_promise_up_to_rounding(far):
    c = far * np.array([[1.0, 0.7, 0.9, 0.99], [0.5, 0.4999, 1.0, 1.0]])
    labels = [0, 1, 0, 1]
    found = certify_distances(c, labels, 5, 1.0)
    for i, radius in enumerate(found.radius):
        after = beyond(radius, 1.0)
        low, high = (
            certify_distances(c[i : i + 1], labels, 5, 1.0, e, e).log_worst_case_odds[0] for e in (radius, after)
        )
        assert radius > 0.0
        assert low < 0.0 <= high


def test_a_point_on_its_samples():
    on_refused = certify_distances([[0.0, 1.0]], [0, 1], p=2, sigma=1.0)
    assert on_refused.radius[0] == 0.0
    on_accepted = certify_distances([[1.0, 0.0]], [0, 1], p=2, sigma=1.0)
    assert 0.0 < on_accepted.radius[0] < 1.0


def test_equal_odds_have_no_radius():
    found = certify_distances([[1.0, 1.0]], [0, 1], p=2, sigma=1.0)
    assert found.log_nominal_odds[0] == 0.0
    assert found.radius[0] == 0.0


def test_the_search_ends_also_if_interpolation_always_misleads(monkeypatch):
    monkeypatch.setattr(certified, "_interpolate", lambda _, now: np.full_like(now.e, np.nan))
    problem = Problem(5, 3)
    found = problem.certify()
    for i, radius in enumerate(found.radius):
        assert problem.log_odds(i, radius, radius) < 0.0 <= problem.log_odds(i, *2 * [beyond(radius, 1.0)])


BAD = [
    ({"c": [1.0, 2.0]}, ValueError, "c must have a row"),
    ({"c": np.empty((0, 2))}, ValueError, "c must have a row"),
    ({"c": [[1.0, np.nan]]}, ValueError, "c must be finite"),
    ({"c": [[1.0, -1.0]]}, ValueError, "c must be finite and non-negative"),
    ({"labels": [0, 1, 1]}, ValueError, "labels must have shape"),
    ({"labels": [0, 2]}, ValueError, "labels must be 0 or 1, got"),
    ({"labels": [1, 1]}, ValueError, "labels must hold both classes in every row, row 0"),
    ({"labels": [[0, 1], [0, 0]], "c": [[1.0, 2.0], [1.0, 2.0]]}, ValueError, "row 1"),
    ({"p": 0}, ValueError, "p must be at least 1"),
    ({"p": 1.5}, TypeError, "p must be an integer"),
    ({"sigma": 0.0}, ValueError, "sigma must be greater than 0"),
    ({"sigma": -1.0}, ValueError, "sigma must be finite and non-negative"),
    ({"sigma": [1.0, 2.0]}, ValueError, "sigma must be one number or one for each of the 1 rows"),
    ({"sigma": 1e-7}, ValueError, r"c must be at most 1e\+06 times sigma.*row 0"),
    ({"epsilon_0": -0.1}, ValueError, "epsilon_0 must be finite and non-negative"),
    ({"epsilon_1": np.inf}, ValueError, "epsilon_1 must be finite"),
    ({"epsilon_1": 1e7}, ValueError, r"epsilon_1 must be at most 1e\+06 times sigma"),
]


@pytest.mark.parametrize(("change", "error", "message"), BAD)
def test_bad_input_is_named(change, error, message):
    with pytest.raises(error, match=message):
        certify_distances(**{"c": [[1.0, 2.0]], "labels": [0, 1], "p": 2, "sigma": 1.0, **change})
