"""Points that differ from an instance in a few columns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, islice
from math import comb

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math.limits import Limits, Room
from robust_recourse.sampling.segments import nearest_segments

__all__ = ["SmallSets"]

_SETS = 256  # sets of columns that get the values of each of them
_PAIRS = 4096  # pairs of values that are tried at most


class SmallSets:
    """Values of single columns, and how they are combined.

    Parameters
    ----------
    x0 : ndarray of shape (p,)
        The instance.
    mask : ndarray of bool, shape (p,)
        The columns that may change.
    candidates : ndarray of shape (N, p)
        Accepted training rows.
    limits : Limits
        The action set.
    n_ends : int
        How many candidates there are whose values are tried.
    """

    def __init__(
        self, x0: FloatArray, mask: BoolArray, candidates: FloatArray, limits: Limits, n_ends: int = 16
    ) -> None:
        self._x0, self._columns = x0, np.flatnonzero(mask)
        known, taken = np.ascontiguousarray(candidates[:, mask]), limits.take(mask)
        last = min(n_ends, len(known))
        room = Room(taken, x0[None, mask], np.ones((1, known.shape[1]), dtype=bool))
        segments = nearest_segments(room, known, 0, last)
        self._ends = segments.point(np.arange(last), segments.cost[0])
        lower, upper = taken.box(x0[None, mask])
        # The columns of an array may have no bounds: the candidates have.
        low = np.where(np.isfinite(lower[0]), lower[0], np.minimum(known.min(axis=0), upper[0]))
        high = np.where(np.isfinite(upper[0]), upper[0], np.maximum(known.max(axis=0), lower[0]))
        self._values = [
            _codes(taken, k, x0[column]) if taken.categories[k] else np.array([low[k], high[k]])
            for k, column in enumerate(self._columns)
        ]

    def points(self, most: int) -> Iterator[FloatArray]:
        """Yield points with at most so many changes, in batches; they are on no grid yet."""
        singles = self._singles()
        yield self._built(*singles)
        if most > 1:
            yield self._paired(*singles)
            yield self._joint(min(most, len(self._columns)))

    def ends(self) -> tuple[IntArray, FloatArray]:
        """Return columns and the ends of their ranges, or their categories."""
        return np.repeat(self._columns, [len(known) for known in self._values]), np.concatenate(self._values)

    def _singles(self) -> tuple[IntArray, FloatArray]:
        """Return columns and their values: all categories, the ends of the range, and the values of candidates."""
        several = [np.unique(np.append(known, self._ends[:, k])) for k, known in enumerate(self._values)]
        return np.repeat(self._columns, [len(known) for known in several]), np.concatenate(several)

    def _paired(self, column: IntArray, value: FloatArray) -> FloatArray:
        """Return the points with two changes."""
        if comb(len(column), 2) > _PAIRS:
            column, value = self.ends()
        pairs = islice(combinations(range(len(column)), 2), _PAIRS)
        one, other = np.array(list(pairs), dtype=np.int64).reshape(-1, 2).T
        different = column[one] != column[other]
        one, other = one[different], other[different]
        return self._built(np.stack([column[one], column[other]], axis=1), np.stack([value[one], value[other]], axis=1))

    def _joint(self, size: int) -> FloatArray:
        """Return the points in which a set of columns has the values of a candidate."""
        width = len(self._columns)
        if comb(width, size) <= _SETS:
            chosen = np.array(list(combinations(range(width), size)))
        else:
            draw = np.random.default_rng(0)
            chosen = np.array([draw.choice(width, size, replace=False) for _ in range(_SETS)])
        each, end = np.repeat(chosen, len(self._ends), axis=0), np.tile(np.arange(len(self._ends)), len(chosen))
        return self._built(self._columns[each], self._ends[end[:, None], each])

    def _built(self, columns: IntArray, values: FloatArray) -> FloatArray:
        points = np.tile(self._x0, (len(values), 1))
        points[np.arange(len(values))[:, None], columns.reshape(len(values), -1)] = values.reshape(len(values), -1)
        return points


def _codes(limits: Limits, column: int, own: float) -> FloatArray:
    """Return the categories that an instance may switch to."""
    target = limits.targets[column]
    assert target is not None
    codes = np.flatnonzero(target).astype(float)
    return codes[limits.may_switch(column, np.full(len(codes), own), codes)]
