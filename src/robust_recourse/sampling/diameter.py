"""Diameter of a cloud of points without looking at all pairs."""

from __future__ import annotations

from scipy.spatial.distance import cdist, pdist

from robust_recourse._typing import FloatArray

__all__ = ["diameter"]

_MOST_EXACT = 4096
_MOST_SWEEPS = 32


def diameter(points: FloatArray) -> float:
    r"""Return the largest Euclidean distance between two rows.

    Sweeps to the farthest point (from the centre, then from every extreme row of a column) give a lower bound
    :math:`L`, at least :math:`1/\sqrt 3` of the diameter. A pair farther apart than :math:`L` needs rows at
    distances :math:`r_i + r_j > L` from the centre, so a row with :math:`r_i \le L - \max r` is out. When at
    most 4096 rows are left, their pairs settle it and the result is exact; otherwise :math:`L` is returned,
    which has cost time linear in the number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> diameter(np.array([[0.0, 0.0], [3.0, 4.0], [1.0, 1.0]]))
    5.0
    """
    centre = points.mean(axis=0)
    from_centre = _distances(points, centre)
    starts = {int(from_centre.argmax()), *map(int, points.argmax(axis=0)), *map(int, points.argmin(axis=0))}
    bound = max(_sweep(points, start) for start in sorted(starts)[:_MOST_SWEEPS])
    left = points[from_centre > bound - from_centre.max()]
    if 1 < len(left) <= _MOST_EXACT:
        bound = max(bound, float(pdist(left).max()))
    return bound


def _sweep(points: FloatArray, start: int) -> float:
    """Walk to the farthest row until the distance no longer grows."""
    longest = -1.0
    while True:
        distances = _distances(points, points[start])
        start = int(distances.argmax())
        if distances[start] <= longest:
            return longest
        longest = float(distances[start])


def _distances(points: FloatArray, to: FloatArray) -> FloatArray:
    distances: FloatArray = cdist(points, to[None])[:, 0]
    return distances
