"""The model as the samplers see it: rows of points in, accepted or not out, every row counted."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray

__all__ = ["Oracle", "Predict"]

# Large enough to hide the overhead of a call, small enough for a network's activations to stay in the cache.
_BATCH = 8192


class Predict(Protocol):
    """Labels of points; `rows` are the instances that the points belong to, for messages."""

    def __call__(self, X: FloatArray, rows: IntArray, /) -> BoolArray:
        """Return which rows of `X` are accepted."""
        ...


class Oracle:
    """Asks the model about points given in the coordinates that may change.

    Parameters
    ----------
    predict : Predict
        The model.
    x0 : ndarray of shape (m, p)
        The instances, all columns.
    rows : ndarray of int, shape (m,)
        The numbers by which messages name the instances.
    free : ndarray of bool, shape (p,), optional
        The columns that may change (default: all); the points have these columns only.
    """

    def __init__(self, predict: Predict, x0: FloatArray, rows: IntArray, free: BoolArray | None = None) -> None:
        self._predict, self._x0, self._rows = predict, x0, rows
        self._free = None if free is None or free.all() else np.flatnonzero(free)
        self.n_queries = np.zeros(len(x0), dtype=np.int64)

    def embed(self, points: FloatArray, owners: IntArray) -> FloatArray:
        """Put the points of instances `owners` back among all columns."""
        if self._free is None:
            return points
        full = self._x0[owners]
        full[:, self._free] = points
        return full

    def __call__(self, points: FloatArray, owners: IntArray) -> BoolArray:
        """Return which points, `owners[i]` being the instance of the i-th, the model accepts."""
        accepted = np.empty(len(points), dtype=bool)
        for first in range(0, len(points), _BATCH):
            block = slice(first, first + _BATCH)
            accepted[block] = self._predict(self.embed(points[block], owners[block]), self._rows[owners[block]])
        self.n_queries += np.bincount(owners, minlength=len(self.n_queries))
        return accepted
