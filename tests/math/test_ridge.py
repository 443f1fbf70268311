import numpy as np
import pytest
from sklearn.linear_model import Ridge

from robust_recourse.math.ridge import ridge


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("alpha", [1e-3, 1.0, 50.0])
@pytest.mark.parametrize(("n", "p"), [(30, 3), (5, 8), (2, 1)])
def test_every_fit_is_that_of_scikit_learn(weighted, alpha, n, p):
    rng = np.random.default_rng(n)
    X, y = 3.0 + rng.standard_normal((6, n, p)), rng.random((6, n))
    weights = rng.random((6, n)) ** 3 if weighted else None
    w, b = ridge(X, y, alpha, weights)
    for i in range(6):
        reference = Ridge(alpha=alpha).fit(X[i], y[i], None if weights is None else weights[i])
        np.testing.assert_allclose(w[i], reference.coef_, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(b[i], reference.intercept_, rtol=1e-8)


def test_a_constant_column_has_no_slope():
    X = np.random.default_rng(0).standard_normal((1, 50, 2))
    X[..., 1] = 7.0
    w, _ = ridge(X, X[..., 0], 1.0)
    assert w[0, 1] == pytest.approx(0.0, abs=1e-12)


def test_a_fit_does_not_depend_on_the_others():
    rng = np.random.default_rng(0)
    X, y, weights = rng.standard_normal((20, 40, 5)), rng.random((20, 40)), rng.random((20, 40))
    w, b = ridge(X, y, 1.0, weights)
    for i in (0, 7, 19):
        alone = ridge(X[i : i + 1].copy(), y[i : i + 1].copy(), 1.0, weights[i : i + 1].copy())
        np.testing.assert_array_equal(alone[0][0], w[i])
        assert alone[1][0] == b[i]


@pytest.mark.parametrize("size", [1e15, 1e30, 1e60, 1e100])
def test_columns_that_are_constant_but_for_rounding_have_no_slope(size):
    rng = np.random.default_rng(0)
    X = np.concatenate([size + rng.uniform(-0.1, 0.1, (2, 50, 2)), rng.normal(size=(2, 50, 1))], axis=2)
    w, b = ridge(X, 2.0 * X[:, :, 2] + 1.0, alpha=1e-9)
    np.testing.assert_array_equal(w[:, :2], 0.0)
    np.testing.assert_allclose(w[:, 2], 2.0, rtol=1e-6)
    np.testing.assert_allclose(b, 1.0, rtol=1e-6)


@pytest.mark.parametrize("size", [1.0, 1e10, 1e73, 1e99])
def test_columns_that_are_the_same_share_their_slope(size):
    rng = np.random.default_rng(0)
    X = size * rng.standard_normal((3, 40, 3))
    X[..., 1] = X[..., 0]
    w, b = ridge(X, (2.0 * X[..., 0] - X[..., 2]) / size + 1.0, alpha=1e-6)
    np.testing.assert_allclose(w * size, [[1.0, 1.0, -1.0]] * 3, rtol=1e-5)
    np.testing.assert_allclose(b, 1.0, rtol=1e-6)


@pytest.mark.parametrize("scales", [(1e7, 1e73), (1e73, 1.0), (1e-73, 1e73)])
def test_columns_of_any_two_scales_are_told_apart(scales):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2, 40, 2))
    w, _ = ridge(X * scales, X @ [2.0, -1.0], alpha=1e-200)
    np.testing.assert_allclose(w * scales, [[2.0, -1.0]] * 2, rtol=1e-6)


def test_a_fit_without_a_penalty_that_counts_does_not_depend_on_the_others():
    rng = np.random.default_rng(0)
    scale = np.where(np.arange(20) % 2, 1e30, 1.0)
    X, y = rng.standard_normal((20, 40, 5)) * scale[:, None, None], rng.random((20, 40))
    X[3, :, 1] = X[3, :, 0]
    w, b = ridge(X, y, 1.0)
    for i in range(20):
        alone = ridge(X[i : i + 1].copy(), y[i : i + 1].copy(), 1.0)
        np.testing.assert_array_equal(alone[0][0], w[i])
        assert alone[1][0] == b[i]
