from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.special import comb

from robust_recourse.math.intervals import clopper_pearson, mean_interval, median_interval

LEVELS = [0.5, 0.8, 0.95, 0.999]


def at_least(k, n, q):
    """The upper tail of the binomial distribution, summed."""
    return sum(comb(n, i, exact=True) * q**i * (1.0 - q) ** (n - i) for i in range(k, n + 1))


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n", [1, 2, 7, 40])
def test_the_ends_are_where_the_binomial_tails_say(n, level):
    low, high = clopper_pearson(np.arange(n + 1), n, level)
    assert (low[0], high[-1]) == (0.0, 1.0)
    tails = [at_least(k, n, low[k]) for k in range(1, n + 1)]
    np.testing.assert_allclose(tails, (1.0 - level) / 2.0, rtol=1e-9)
    tails = [1.0 - at_least(k + 1, n, high[k]) for k in range(n)]
    np.testing.assert_allclose(tails, (1.0 - level) / 2.0, rtol=1e-7)


@given(st.integers(1, 10_000), st.floats(0.0, 1.0), st.floats(0.01, 0.9999))
@settings(deadline=None, max_examples=60)
def test_agrees_with_scipy(n, part, level):
    k = round(part * n)
    low, high = clopper_pearson(k, n, level)
    exact = stats.binomtest(k, n).proportion_ci(level, method="exact")
    np.testing.assert_allclose([low, high], [exact.low, exact.high], rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n", [1, 3, 10, 25])
def test_every_share_is_covered_often_enough(n, level):
    low, high = clopper_pearson(np.arange(n + 1), n, level)
    for q in np.linspace(0.0, 1.0, 301):
        chances = stats.binom.pmf(np.arange(n + 1), n, q)
        assert chances[(low <= q) & (q <= high)].sum() >= level - 1e-12


@given(st.floats(0.0, 30.0), st.floats(0.0, 30.0), st.sampled_from(LEVELS))
@settings(deadline=None, max_examples=60)
def test_fractions_of_a_success_lie_between(one, other, level):
    less, more = sorted((one, other))
    low, high = clopper_pearson([less, more], 30, level)
    assert low[0] <= low[1]
    assert high[0] <= high[1]
    assert (low <= np.array([less, more]) / 30 + 1e-12).all()
    assert (np.array([less, more]) / 30 <= high + 1e-12).all()
    floor, ceiling = clopper_pearson([np.floor(less), np.ceil(less)], 30, level).low
    assert floor <= low[0] <= ceiling


def test_shares_broadcast_and_nothing_is_known_without_a_trial():
    low, high = clopper_pearson([[0], [1]], [1, 2, 4])
    assert low.shape == high.shape == (2, 3)
    assert high[1, 2] == clopper_pearson(1, 4).high
    assert [end.item() for end in clopper_pearson(0, 0)] == [0.0, 1.0]
    assert clopper_pearson([], []).low.shape == (0,)


def test_equal_tails_make_the_interval_symmetric():
    low, high = clopper_pearson(np.arange(21), 20, 0.9)
    np.testing.assert_allclose(low, 1.0 - high[::-1], atol=1e-12)


@pytest.mark.parametrize(
    ("successes", "trials", "level", "message"),
    [
        ([1, 3], 2, 0.95, r"successes must be at most trials, got 3 of 2 at index \(1,\)"),
        (-1, 2, 0.95, "successes must be finite and non-negative"),
        (0, np.nan, 0.95, "trials must be finite and non-negative"),
        (1, 2, 1.0, "level must be less than 1, got 1"),
        (1, 2, 95, r"level must be less than 1, got 95. For 95 % pass 0.95"),
        (1, 2, 0.0, "level must be greater than 0"),
    ],
)
def test_what_is_no_share_is_refused(successes, trials, level, message):
    with pytest.raises(ValueError, match=message):
        clopper_pearson(successes, trials, level)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("n", [1, 5, 6, 9, 30, 31, 200])
def test_the_median_lies_between_order_statistics(n, level):
    values = np.random.default_rng(n).permutation(n).astype(float)
    low, high = median_interval(values, level)
    tail = (1.0 - level) / 2.0
    # The median lies outside on one side if at most k of n values are on the other.
    tails = [sum(comb(n, i, exact=True) for i in range(k + 1)) / 2**n for k in range((n + 1) // 2)]
    usable = [k for k, chance in enumerate(tails) if chance <= tail]
    if not usable:
        assert (low, high) == (-np.inf, np.inf)
    else:
        assert (low, high) == (usable[-1], n - 1.0 - usable[-1])


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95])
@pytest.mark.parametrize("n", [2, 6, 11])
def test_the_median_is_covered_often_enough(n, level):
    """Exact: only the number of values below the median matters, and it is binomial."""
    covered = 0.0
    for below in range(n + 1):
        values = np.r_[-1.0 - np.arange(below), 1.0 + np.arange(n - below)]
        low, high = median_interval(values, level)
        covered += (low <= 0.0 <= high) * stats.binom.pmf(below, n, 0.5)
    assert covered >= level


def test_ties_and_emptiness_have_a_median_interval():
    assert median_interval(np.full(20, 3.0)) == (3.0, 3.0)
    assert median_interval([]) == (-np.inf, np.inf)
    with pytest.raises(ValueError, match="values must be finite, got nan at index 1"):
        median_interval([1.0, np.nan])


@given(st.integers(2, 60), st.sampled_from(LEVELS), st.integers(0, 10))
@settings(deadline=None, max_examples=40)
def test_the_mean_has_the_interval_of_student(n, level, seed):
    values = np.random.default_rng(seed).normal(3.0, 2.0, n)
    known = stats.ttest_1samp(values, 0.0).confidence_interval(level)
    np.testing.assert_allclose(mean_interval(values, level), [known.low, known.high], rtol=1e-9)


def test_a_single_value_says_nothing_about_the_mean():
    assert mean_interval([1.0]) == (-np.inf, np.inf)
    assert mean_interval([]) == (-np.inf, np.inf)
    assert mean_interval([2.0, 2.0]) == (2.0, 2.0)
