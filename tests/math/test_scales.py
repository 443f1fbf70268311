"""Scales of columns."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robust_recourse.math.scales import scales_differ, spread


def naive(values):
    deviation = float(np.sqrt(np.mean((values - values.mean()) ** 2)))
    low, high = np.percentile(values, 25), np.percentile(values, 75)
    return min(deviation, (high - low) / 1.349) if high > low else deviation


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.integers(3, 50), st.integers(1, 4))
def test_every_column_has_the_smaller_of_deviation_and_interquartile_range(seed, n, p):
    table = np.random.default_rng(seed).standard_t(2, (n, p)) * 10.0
    np.testing.assert_allclose(spread(table), [naive(column) for column in table.T], rtol=1e-12)


def test_for_a_normal_column_it_is_the_deviation():
    table = np.random.default_rng(0).normal(5.0, 3.0, (50_000, 1))
    assert spread(table)[0] == pytest.approx(3.0, rel=0.02)


def test_a_column_that_is_mostly_one_value_has_its_deviation():
    table = np.zeros((100, 1))
    table[:5] = 4.0
    assert spread(table)[0] == pytest.approx(table.std())


@pytest.mark.parametrize("value", [0.0, 0.1, -3.7e9, 1e-300])
def test_a_constant_column_has_scale_1(value):
    # The sum of such numbers is rounded, and so is their deviation.
    np.testing.assert_array_equal(spread(np.full((7, 1), value)), 1.0)


@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_the_scale_has_the_unit_of_the_column(factor):
    table = np.random.default_rng(1).normal(size=(50, 2))
    np.testing.assert_allclose(spread(table * factor), spread(table) * factor, rtol=1e-12)


ROWS = np.random.default_rng(0).standard_normal((200, 3))
ONES, ALL = np.ones(3), np.ones(3, dtype=bool)


def test_columns_of_very_different_scale_are_named():
    message = scales_differ(ROWS * [1.0, 3e-2, 5e4], ONES, ALL)
    assert re.match(r"The columns of X have very different scales: column 2 has a spread of 4\.", message)
    assert re.search(r"column 1 one of 0\.0\d+\. .*Give a DataFrame.*or weights in the ActionSet", message)


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_factor_of_a_hundred_is_the_limit(factor):
    table = ROWS[:, [0, 0]] * [1.0, 100.0 * factor]
    assert (scales_differ(table, np.ones(2), np.ones(2, dtype=bool)) is None) == (factor < 1.0)


@pytest.mark.parametrize(
    ("table", "weights", "free"),
    [
        (ROWS, ONES, ALL),
        (ROWS * 1e30, ONES, ALL),
        (ROWS * [1.0, 1.0, 1e6], ONES, np.array([True, True, False])),
        (ROWS * [1.0, 1.0, 1e6], np.array([1.0, 1.0, 1e-6]), ALL),
        (ROWS * [1.0, 1.0, 0.0] + 7.0, ONES, ALL),
        (ROWS * 0.0 + 0.1, ONES, ALL),
        (ROWS * [1.0, 1e6, 1e6], ONES, np.array([True, False, False])),
        (ROWS, ONES, ~ALL),
    ],
    ids=["alike", "alike and large", "not free", "weights", "constant", "all constant", "one is free", "none is free"],
)
def test_scales_that_do_not_matter_are_fine(table, weights, free):
    assert scales_differ(table, weights, free) is None


def test_weights_can_make_scales_differ():
    assert "column 0" in scales_differ(ROWS, np.array([1e4, 1.0, 1.0]), ALL)


def test_an_outlier_is_no_scale():
    assert scales_differ(np.vstack([ROWS, [1e6, 0.0, 0.0]]), ONES, ALL) is None
