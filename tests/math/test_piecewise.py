"""Lines through points, and shares of samples."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.math.piecewise import piecewise_linear, shares


def naive(x, at, to):
    """The line of the piece that a number is on, one at a time."""
    k = next((k for k in range(len(at) - 2) if x <= at[k + 1]), len(at) - 2)
    return to[k] + (to[k + 1] - to[k]) * (x - at[k]) / (at[k + 1] - at[k])


@settings(max_examples=200, deadline=None)
@given(
    steps=st.lists(st.tuples(st.floats(0.01, 10.0), st.floats(0.01, 10.0)), min_size=1, max_size=6),
    x=st.floats(-100.0, 100.0),
)
def test_it_is_linear_on_every_piece_and_has_an_inverse(steps, x):
    at, to = np.cumsum([(-3.0, 1.0), *steps], axis=0).T
    value = piecewise_linear(np.array([x]), at, to)[0]
    np.testing.assert_allclose(value, naive(x, at, to), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(piecewise_linear(np.array([value]), to, at)[0], x, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(piecewise_linear(at, at, to), to)


@settings(max_examples=100, deadline=None)
@given(sample=st.lists(st.integers(-20, 20), min_size=2, max_size=60), most=st.integers(2, 30))
def test_shares_are_those_of_who_is_below(sample, most):
    sample = np.array([*sample, 100.0])
    values, share = shares(sample, most)
    assert (np.diff(values) > 0).all()
    assert (np.diff(share) > 0).all()
    for value, known in list(zip(values, share, strict=True))[1:-1]:
        np.testing.assert_allclose(known, np.mean(sample < value) + 0.5 * np.mean(sample == value))
    assert (values[1], values[-2]) == (sample.min(), sample.max())
    if len(np.unique(sample)) <= most:
        assert values[1:-1].tolist() == np.unique(sample).tolist()
    # Beyond the sample it goes on at its mean slope.
    slope = (share[-2] - share[1]) / (values[-2] - values[1])
    np.testing.assert_allclose(np.diff(share)[[0, -1]] / np.diff(values)[[0, -1]], slope)


def test_few_values_stand_for_many():
    sample = np.random.default_rng(0).lognormal(size=5000)
    values, share = shares(sample, 101)
    assert len(values) <= 103
    ranks = np.array([np.mean(sample < x) for x in sample[:200]])
    np.testing.assert_allclose(piecewise_linear(sample[:200], values, share), ranks, atol=0.011)
