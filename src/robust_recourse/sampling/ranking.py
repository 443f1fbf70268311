"""The best of several that belong to the same person."""

from __future__ import annotations

import numpy as np

from robust_recourse._typing import FloatArray, IntArray

__all__ = ["best_of_each", "rank_within"]


def best_of_each(owner: IntArray, value: FloatArray) -> IntArray:
    """Return the places of the least value of every owner, in the order of the owners; of equal ones the first.

    Examples
    --------
    >>> best_of_each(np.array([4, 2, 4, 2]), np.array([1.0, 3.0, 0.5, 3.0]))
    array([1, 2])
    """
    order = np.lexsort((np.arange(len(owner)), value, owner))
    best: IntArray = order[rank_within(owner[order]) == 0]
    return best


def rank_within(groups: IntArray) -> IntArray:
    """Position of every entry within its run of equal entries, which are not negative.

    Examples
    --------
    >>> rank_within(np.array([1, 1, 1, 5, 5]))
    array([0, 1, 2, 0, 1])
    """
    starts = np.flatnonzero(np.diff(groups, prepend=-1))
    lengths = np.diff(np.append(starts, len(groups)))
    return np.arange(len(groups)) - np.repeat(starts, lengths)
