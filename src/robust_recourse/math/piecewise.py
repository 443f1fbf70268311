"""Lines through points, and shares of samples."""

from __future__ import annotations

import numpy as np

from robust_recourse._typing import FloatArray

__all__ = ["piecewise_linear", "shares"]


def piecewise_linear(x: FloatArray, at: FloatArray, to: FloatArray) -> FloatArray:
    """Return the function that is `to` at the rising points `at`, and linear between and beyond them.

    Examples
    --------
    >>> piecewise_linear(np.array([-1.0, 0.5, 3.0]), np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 4.0]))
    array([-1. ,  0.5,  7. ])
    """
    first, last = ((to[k + 1] - to[k]) / (at[k + 1] - at[k]) for k in (0, -2))
    inside = np.interp(x, at, to)
    return np.where(x < at[0], to[0] + first * (x - at[0]), np.where(x > at[-1], to[-1] + last * (x - at[-1]), inside))


def shares(sample: FloatArray, most: int) -> tuple[FloatArray, FloatArray]:
    r"""Return the distribution function of a sample at some of its values, which rises strictly.

    .. math:: F(v) = \frac1n \Big( \#\{i : x_i < v\} + \tfrac12 \#\{i : x_i = v\} \Big)

    Beyond the smallest and the largest value a point is added on each side, one range away, at which it has gone on at
    its mean slope.

    Parameters
    ----------
    sample : ndarray of shape (n,)
        The sample, of two different values or more.
    most : int
        How many values at most: if there are more, those that cut the sample into equal parts.

    Returns
    -------
    values, shares : ndarray of shape (k,)
        Both rising.
    """
    values, counts = np.unique(sample, return_counts=True)
    share = (np.cumsum(counts) - 0.5 * counts) / len(sample)
    if len(values) > most:
        kept = np.unique(np.searchsorted(share, np.linspace(share[0], share[-1], most)).clip(0, len(values) - 1))
        values, share = values[kept], share[kept]
    width, height = values[-1] - values[0], share[-1] - share[0]
    return (
        np.concatenate([[values[0] - width], values, [values[-1] + width]]),
        np.concatenate([[share[0] - height], share, [share[-1] + height]]),
    )
