import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import pdist

from robust_recourse.sampling.diameter import diameter


@given(arrays(float, st.tuples(st.integers(2, 40), st.integers(1, 5)), elements=st.floats(-1e3, 1e3)))
def test_it_is_the_largest_distance_of_a_pair(points):
    np.testing.assert_allclose(diameter(points), pdist(points).max(), rtol=1e-12)


@pytest.mark.parametrize("heavy_tails", [False, True])
def test_a_hundred_thousand_rows_are_exact_without_looking_at_all_pairs(heavy_tails):
    rng = np.random.default_rng(0)
    points = rng.standard_t(2, (100_000, 4)) if heavy_tails else rng.standard_normal((100_000, 4))
    extremes = points[np.argsort(np.linalg.norm(points, axis=1))[-3000:]]
    np.testing.assert_allclose(diameter(points), pdist(extremes).max(), rtol=1e-12)


def test_on_a_sphere_where_no_row_can_be_left_out_the_bound_is_tight():
    points = np.random.default_rng(0).standard_normal((20_000, 6))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    assert 1.9 < diameter(points) <= 2.0


def test_equal_rows_have_diameter_zero():
    assert diameter(np.ones((5, 3))) == 0.0
    assert diameter(np.ones((1, 3))) == 0.0
