"""Points that stand for many: few, and nowhere far from those that they stand for."""

from __future__ import annotations

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray

__all__ = ["thinned"]

_HALVINGS = 40


def thinned(points: FloatArray, most: int, exact: BoolArray) -> tuple[FloatArray, float]:
    r"""Keep at most so many of the points, spread over all of them.

    A grid of cubes with edges of the length :math:`h` is laid over the points, and of all in a cube the first stays:
    every point :math:`z` has one that stays, :math:`z'`, with :math:`|z_k - z'_k| < h` in every column. The length is
    the least, up to rounding, for which no more than `most` cubes are occupied.

    Parameters
    ----------
    points : ndarray of shape (n, p)
        The points, all different or not.
    most : int
        How many may stay.
    exact : ndarray of bool, shape (p,)
        Columns in which points that stand for each other must be equal, as codes of categories.

    Returns
    -------
    kept : ndarray of shape (m, p)
        Those that stay, in their order; different from each other.
    edge : float
        The length :math:`h`; 0 if all different points stay.

    Raises
    ------
    ValueError
        If the exact columns alone tell more points apart.
    """
    points = points[_firsts(points)]
    if len(points) <= most:
        return points, 0.0
    low = points.min(axis=0)
    spans = np.where(exact, 0.0, points.max(axis=0) - low)
    short, long = 0.0, float(spans.max()) * 1.001
    kept = _cubes(points, low, long, exact)
    if len(kept) > most:
        raise ValueError(
            f"the rows have {len(kept)} different combinations of categories, and only {most} rows may stay. Keep more."
        )
    for _ in range(_HALVINGS):
        edge = 0.5 * (short + long)
        some = _cubes(points, low, edge, exact)
        if len(some) <= most:
            long, kept = edge, some
        else:
            short = edge
        if len(kept) >= 0.95 * most:
            break
    return points[kept], long


def _cubes(points: FloatArray, low: FloatArray, edge: float, exact: BoolArray) -> np.ndarray:
    """Return the first point of every occupied cube."""
    return _firsts(np.where(exact, points, np.floor((points - low) / edge)))


def _firsts(rows: FloatArray) -> np.ndarray:
    """Return the positions of the first of all equal rows, in order."""
    whole = np.ascontiguousarray(rows + 0.0)  # no negative zeros
    keys = whole.view(np.dtype((np.void, whole.dtype.itemsize * whole.shape[1]))).ravel()
    return np.sort(np.unique(keys, return_index=True)[1])
