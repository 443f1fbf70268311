"""Ridge regression of many small data sets at once."""

from __future__ import annotations

import numpy as np

from robust_recourse._typing import FloatArray

__all__ = ["ridge"]

_LOST = 4.0 * float(np.finfo(float).eps)  # part of a sum, for each of its terms, that may be rounding


def ridge(
    X: FloatArray, y: FloatArray, alpha: float, weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    r"""Fit a linear function with a free intercept to every data set.

    .. math:: \min_{w, b} \; \sum_i v_i (w^\top x_i + b - y_i)^2 + \alpha \|w\|_2^2.

    The intercept takes care of the weighted means, and :math:`w` solves
    :math:`(\bar X^\top V \bar X + \alpha I)\, w = \bar X^\top V \bar y` of the centred data.

    Parameters
    ----------
    X : ndarray of shape (m, n, p)
        Samples of the `m` data sets.
    y : ndarray of shape (m, n)
        Targets.
    alpha : float
        Positive penalty.
    weights : ndarray of shape (m, n), optional
        Non-negative weights :math:`v` of the samples, not all zero; 1 if None.

    Returns
    -------
    w : ndarray of shape (m, p)
        Slopes.
    b : ndarray of shape (m,)
        Intercepts.

    Examples
    --------
    >>> X = np.array([[[0.0], [1.0], [2.0]]])
    >>> w, b = ridge(X, 3.0 * X[..., 0] + 1.0, alpha=1e-12)
    >>> w.round(6), b.round(6)
    (array([[3.]]), array([1.]))
    """
    v = np.ones_like(y) if weights is None else weights
    total = v.sum(axis=1, keepdims=True)
    share = (v / total)[:, :, None]
    x_mean, y_mean = (share * X).sum(axis=1), (share[:, :, 0] * y).sum(axis=1)
    centred = X - x_mean[:, None, :]
    # A column that is constant but for rounding, of its mean too, would make the system singular.
    rounding = float(np.finfo(float).eps) * X.shape[1]
    centred[np.abs(centred) <= rounding * np.abs(X).max(axis=1, keepdims=True)] = 0.0
    weighted = (share * centred).swapaxes(1, 2)
    gram, pull = weighted @ centred, (weighted @ (y - y_mean[:, None])[:, :, None])[:, :, 0]
    penalty = alpha / total[:, 0]
    # Beside squares that are so large the penalty is lost, and nothing keeps the system from being singular.
    lost = penalty <= _LOST * X.shape[2] * np.diagonal(gram, axis1=1, axis2=2).max(axis=1)
    gram = gram + penalty[:, None, None] * np.eye(X.shape[2])
    w = np.empty_like(pull)
    w[~lost] = np.linalg.solve(gram[~lost], pull[~lost, :, None])[:, :, 0]
    w[lost] = _least_norm(gram[lost], pull[lost])
    return w, y_mean - (w * x_mean).sum(axis=1)


def _least_norm(gram: FloatArray, pull: FloatArray) -> FloatArray:
    """Solve symmetric systems that may be singular: of all solutions the shortest, in the spreads of the columns."""
    squares = np.diagonal(gram, axis1=1, axis2=2)
    spread = np.sqrt(np.where(squares > 0.0, squares, 1.0))
    values, vectors = np.linalg.eigh(gram / spread[:, :, None] / spread[:, None, :])
    kept = values > _LOST * gram.shape[1]
    along = (vectors.swapaxes(1, 2) @ (pull / spread)[:, :, None])[:, :, 0]
    solution: FloatArray = (vectors @ np.where(kept, along / np.where(kept, values, 1.0), 0.0)[:, :, None])[:, :, 0]
    return solution / spread
