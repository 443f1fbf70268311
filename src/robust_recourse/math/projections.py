r"""Projection onto what a person may do: a weighted L1 ball around the instance, cut by a box."""

from __future__ import annotations

import numpy as np

from robust_recourse._typing import FloatArray

__all__ = ["project", "settle", "weighted_cost"]

_ROUNDING = 4.0 * float(np.finfo(float).eps)


def weighted_cost(x: FloatArray, x0: FloatArray, weights: FloatArray) -> FloatArray:
    r"""Return the cost :math:`\sum_k w_k |x_k - x_{0k}|` of every row of `x`."""
    cost: FloatArray = (np.abs(x - x0) * weights).sum(axis=-1)
    return cost


def project(
    y: FloatArray,
    x0: FloatArray,
    weights: FloatArray,
    budget: FloatArray,
    lower: FloatArray,
    upper: FloatArray,
) -> FloatArray:
    r"""Project every row of `y` onto its feasible set, exactly.

    .. math::
        \min_x \tfrac12 \|x - y\|_2^2 \quad\text{s.t.}\quad
        \sum_k w_k |x_k - x_{0k}| \le \delta,\qquad l \le x \le u,

    with :math:`l \le x_0 \le u`. With :math:`z = y - x_0` and the room :math:`r` to the bound on the side of
    :math:`z`, the solution is :math:`x_0 + \operatorname{sign}(z) \min([|z| - \theta w]_+, r)` where
    :math:`\theta \ge 0` is the root of a decreasing, piecewise linear function: its kinks are sorted, the
    piece that holds the root is found, and the root is read off that piece.

    Parameters
    ----------
    y, x0, lower, upper : ndarray of shape (n, p)
        Points, instances and bounds (infinite where there is none).
    weights : ndarray of shape (p,) or (n, p)
        Positive cost weights.
    budget : ndarray of shape (n,)
        Non-negative budgets :math:`\delta`.

    Returns
    -------
    ndarray of shape (n, p)
        The projections. Bounds hold exactly, and so does the budget as :func:`weighted_cost` computes it.

    Examples
    --------
    >>> zero, one, free = np.zeros((1, 2)), np.ones(2), np.full((1, 2), np.inf)
    >>> project(np.array([[3.0, 1.0]]), zero, one, np.array([2.0]), -free, free)
    array([[2., 0.]])
    """
    z, weights = y - x0, np.broadcast_to(weights, y.shape)
    room = np.where(z >= 0.0, upper - x0, x0 - lower)
    size = np.abs(z)
    move = np.minimum(size, room)
    costly = (move * weights).sum(axis=1) > budget
    if costly.any():
        size, room, price = size[costly], room[costly], weights[costly]
        theta = _threshold(size, room, price, budget[costly])
        move[costly] = np.minimum(np.maximum(size - theta[:, None] * price, 0.0), room)
    return settle(x0 + np.copysign(move, z), x0, weights, budget, lower, upper)


def _threshold(size: FloatArray, room: FloatArray, weights: FloatArray, budget: FloatArray) -> FloatArray:
    """Root in ``theta`` of ``sum w min([size - theta w]_+, room) = budget``, for rows where it is positive."""
    released = np.maximum(size - room, 0.0) / weights
    exhausted = size / weights
    kinks = np.sort(np.concatenate([released, exhausted], axis=1), axis=1)
    # Bisect for the two kinks around the root; running sums would lose light columns beside heavy ones.
    rows = np.arange(len(size))
    low, high = np.zeros(len(size), dtype=int), np.full(len(size), kinks.shape[1] - 1)
    for _ in range(int(kinks.shape[1]).bit_length()):
        halfway = (low + high) // 2
        left = np.maximum(size - kinks[rows, halfway][:, None] * weights, 0.0)
        costly = (np.minimum(left, room) * weights).sum(axis=1) > budget
        low, high = np.where(costly, halfway, low), np.where(costly, high, halfway)
    before, after = kinks[rows, low][:, None], kinks[rows, high][:, None]
    middle = 0.5 * (before + after)
    capped = released >= middle
    moving = ~capped & (exhausted > middle)
    fixed = np.where(capped, weights * room, 0.0).sum(axis=1)
    linear = np.where(moving, weights * size, 0.0).sum(axis=1)
    steep = np.where(moving, weights**2, 0.0).sum(axis=1)
    theta = (fixed + linear - budget) / np.where(steep > 0.0, steep, 1.0)
    root: FloatArray = np.clip(np.where(steep > 0.0, theta, after[:, 0]), before[:, 0], after[:, 0])
    return root


def settle(
    x: FloatArray, x0: FloatArray, weights: FloatArray, budget: FloatArray, lower: FloatArray, upper: FloatArray
) -> FloatArray:
    """Remove what rounding left outside the feasible set, so that bounds and budget hold to the last bit."""
    x, weights = np.clip(x, lower, upper), np.broadcast_to(weights, x.shape)
    spent = weighted_cost(x, x0, weights)
    over = spent > budget
    slack = _ROUNDING
    while over.any():
        shrink = budget[over] / spent[over] * (1.0 - slack)
        x[over] = x0[over] + (x[over] - x0[over]) * shrink[:, None]
        spent[over] = weighted_cost(x[over], x0[over], weights[over])
        over = spent > budget
        # Next to a large instance a small shrinkage is rounded away; in the end the move itself is given up.
        slack = min(2.0 * slack, 1.0)
    # What has not changed keeps its bits, the sign of a zero too.
    return np.where(x == x0, x0, x)
