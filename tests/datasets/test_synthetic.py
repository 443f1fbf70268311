import numpy as np

from robust_recourse.datasets.synthetic import make_synthetic


def quartic(x):
    return 1 + x + 2 * x**2 + x**3 - x**4


def test_points_fill_the_rectangle_and_labels_follow_the_quartic():
    X, y = make_synthetic(5000, random_state=0)
    np.testing.assert_allclose(X.min(axis=0), [-2, -2], atol=0.01)
    np.testing.assert_allclose(X.max(axis=0), [4, 7], atol=0.01)
    np.testing.assert_array_equal(y, X[:, 1] >= quartic(X[:, 0]))


def test_noise_shifts_the_boundary_by_its_standard_deviation():
    X, y = make_synthetic(200_000, noise=1.0, random_state=1)
    # At distance one above the quartic a point is favourable if the noise is below one.
    near = np.abs(X[:, 1] - quartic(X[:, 0]) - 1.0) < 0.1
    assert abs(y[near].mean() - 0.841) < 0.02


def test_the_seed_decides():
    first, again, other = (make_synthetic(50, noise=1.0, random_state=s) for s in (3, 3, 4))
    np.testing.assert_array_equal(first[0], again[0])
    np.testing.assert_array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])
