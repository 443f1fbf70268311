"""Profiles at pairs of distance and radius: against those of one radius, from any start, in any company."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from robust_recourse.math import paired, profiles

DIMENSIONS = (1, 2, 3, 10, 60)
dimensions = st.sampled_from(DIMENSIONS)
seeds = st.integers(0, 2**32 - 1)
radius = st.one_of(st.just(0.0), st.floats(1e-9, 4.0), st.floats(4.0, 1e3), st.floats(0.465, 0.505))
radii = st.lists(radius, min_size=1, max_size=2)


def pairs(seed, several):
    """Distances of all sizes, most of them where a solution changes its kind, with each of the radii."""
    rng = np.random.default_rng(seed)
    parts = [
        np.concatenate(
            [
                [0.0, e, e + 1.0],
                rng.random(40),
                rng.uniform(0.0, 4.0, 20),
                e + rng.uniform(0.0, 4.0, 20),
                10.0 ** rng.uniform(-9, 4, 20),
            ]
        )
        for e in several
    ]
    return np.concatenate(parts), np.repeat(several, [len(part) for part in parts])


def exact(solve, x, e):
    """The profile of one radius after the other."""
    values = np.empty_like(x)
    for radius in np.unique(e):
        values[e == radius] = solve(x[e == radius], float(radius))
    return values


def exact_optimistic(x, e):
    return exact(lambda x, e: profiles.optimistic(x, 1.0, e, 1).value, x, e)


def exact_pessimistic(x, e, p):
    return exact(lambda x, e: profiles.pessimistic(x, 1.0, e, p).value, x, e)


def assert_equal(value, expected):
    np.testing.assert_allclose(value, expected, rtol=1e-12, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(seeds, radii)
def test_the_optimistic_values_are_those_of_the_profile(seed, several):
    x, e = pairs(seed, several)
    assert_equal(paired.optimistic(x, e).value, exact_optimistic(x, e))


@settings(max_examples=10, deadline=None)
@given(seeds, radii, dimensions)
def test_the_pessimistic_values_are_those_of_the_profile(seed, several, p):
    x, e = pairs(seed, several)
    assert_equal(paired.pessimistic(x, e, p).value, exact_pessimistic(x, e, p))


@pytest.mark.parametrize("e", np.linspace(0.4705, 0.5015, 12))
def test_in_one_dimension_two_stretched_optima_take_turns(e):
    x = np.linspace(0.45, 0.6, 400)
    assert_equal(paired.pessimistic(x, np.full_like(x, e), 1).value, exact_pessimistic(x, np.full_like(x, e), 1))


@settings(max_examples=10, deadline=None)
@given(seeds, radius, radius, dimensions)
@example(0, 0.05, 0.7, 1)
@example(0, 0.03, 0.9, 2)
@example(0, 0.1, 1.0, 10)
@example(0, 3.0, 0.1, 3)
@example(0, 30.0, 0.1, 3)
def test_any_start_leads_to_the_same_values(seed, e, other, p):
    x, now = pairs(seed, [e])
    before = np.full_like(x, other)
    start = paired.optimistic(x, before).solution
    assert_equal(paired.optimistic(x, now, start).value, exact_optimistic(x, now))
    start = paired.pessimistic(x, before, p).solution
    assert_equal(paired.pessimistic(x, now, p, start).value, exact_pessimistic(x, now, p))


@pytest.mark.parametrize("p", DIMENSIONS)
@pytest.mark.parametrize("bad", [0.0, 0.3, 1.0, 2.0, 1e3, 1e9])
def test_a_bad_start_is_overcome(bad, p):
    x, e = np.linspace(0.0, 4.0, 200), np.full(200, 0.4)
    start = np.full_like(x, bad)
    assert_equal(paired.optimistic(x, e, (start,)).value, exact_optimistic(x, e))
    n_close = int((x < 1.0).sum())
    assert_equal(paired.pessimistic(x, e, p, (start, start[:n_close])).value, exact_pessimistic(x, e, p))


@settings(max_examples=5, deadline=None)
@given(seeds, st.floats(0.05, 4.0), dimensions)
def test_rates_are_the_derivatives_by_the_radius(seed, e, p):
    x, at = pairs(seed, [e])
    x, at = x[x < 20.0], at[x < 20.0]
    h = 1e-6

    def differences(solve):
        low, middle, high = (solve(x, at + shift) for shift in (-h, 0.0, h))
        # Where the one-sided slopes differ there is a kink in between.
        smooth = np.abs(high - 2.0 * middle + low) < 1e-3 * h
        return (high - low) / (2.0 * h), smooth

    slope, smooth = differences(exact_optimistic)
    np.testing.assert_allclose(paired.optimistic(x, at).rate[smooth], slope[smooth], rtol=1e-6, atol=1e-6)
    slope, smooth = differences(lambda x, e: exact_pessimistic(x, e, p))
    assert smooth.mean() > 0.5
    np.testing.assert_allclose(paired.pessimistic(x, at, p).rate[smooth], slope[smooth], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("p", DIMENSIONS)
def test_without_a_radius_rates_are_one_sided_derivatives(p):
    x, h = np.concatenate([[0.0], np.linspace(0.05, 6.0, 60)]), 1e-7
    none, little = np.zeros_like(x), np.full_like(x, h)
    for at_0, at_h in (
        (paired.optimistic(x, none), paired.optimistic(x, little)),
        (paired.pessimistic(x, none, p), paired.pessimistic(x, little, p)),
    ):
        np.testing.assert_array_equal(at_0.value, 0.5 * x * x)
        np.testing.assert_allclose(at_0.rate, (at_h.value - at_0.value) / h, rtol=1e-5, atol=1e-5)


@settings(max_examples=20, deadline=None)
@given(seeds, radii, dimensions)
def test_a_pair_does_not_depend_on_its_company(seed, several, p):
    x, e = pairs(seed, several)
    together = paired.optimistic(x, e).value, paired.pessimistic(x, e, p).value
    for i in np.random.default_rng(seed).integers(0, len(x), 10):
        alone = x[i : i + 1], e[i : i + 1]
        assert paired.optimistic(*alone).value[0] == together[0][i]
        assert paired.pessimistic(*alone, p).value[0] == together[1][i]


@pytest.mark.parametrize("p", DIMENSIONS)
def test_where_newtons_iteration_gives_up_the_root_is_bracketed(p, monkeypatch):
    x, e = pairs(0, [0.01, 0.7, 3.0, 40.0])
    monkeypatch.setattr(paired, "_SURE_STEPS", 1)
    monkeypatch.setattr(paired, "_MORE_STEPS", 0)
    assert_equal(paired.optimistic(x, e).value, exact_optimistic(x, e))
    assert_equal(paired.pessimistic(x, e, p).value, exact_pessimistic(x, e, p))
