"""The nearest candidates that are accepted."""

from __future__ import annotations

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse.math.limits import Room
from robust_recourse.sampling.asking import Ask
from robust_recourse.sampling.segments import nearest_segments

__all__ = ["nearest_accepted"]

_FIRST, _GROWTH = 8, 4  # candidates that are asked about first, and how many times more each time that none will do
_PAIRS = 2**16  # candidates of all people that are held together


def nearest_accepted(ask: Ask, room: Room, candidates: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Ask about the candidates in the order of their cost until one is accepted.

    Returns
    -------
    points : ndarray of shape (m, p)
        The cheapest accepted candidate of every person, moved into its room; NaN if there is none.
    found : ndarray of bool, shape (m,)
        Who has one.
    """
    points, found = np.full_like(room.x0, np.nan), np.zeros(len(room), dtype=bool)
    first, last = 0, _FIRST
    while first < len(candidates) and not found.all():
        last = min(last, len(candidates))
        missing = np.flatnonzero(~found)
        for part in np.array_split(missing, -(-len(missing) * (last - first) // _PAIRS)):
            segments = nearest_segments(room.take(part), candidates, first, last)
            # A candidate that moves onto the person is refused as that is.
            pairs = np.flatnonzero(segments.cost > 0.0)
            owner, cost = segments.owner(pairs), segments.cost.ravel()[pairs]
            ends = segments.point(pairs, cost)
            accepted = ask(ends, part[owner])
            order = np.flatnonzero(accepted)[np.lexsort((pairs[accepted], cost[accepted], owner[accepted]))]
            reached, best = np.unique(owner[order], return_index=True)
            points[part[reached]], found[part[reached]] = ends[order[best]], True
        first, last = last, _GROWTH * last
    return points, found
