r"""Search for cheap accepted points that differ from a person in one, two or three columns.

The corners of an L1 ball lie on the axes and its edges between pairs of them, so that a cheap point mostly changes few
columns. Segments to training rows change all of them, and what is left after polishing depends on where that began.
So single columns and sets of two are tried all over: at the quantiles of the training rows, at every category, and,
where something is known that must be beaten, at the whole of its cost, shared out between two columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np

from robust_recourse._typing import FloatArray, IntArray
from robust_recourse.math.limits import Room
from robust_recourse.sampling.asking import Ask, OutOfTime
from robust_recourse.sampling.options import ROUNDED, Ladder, options_of
from robust_recourse.sampling.polishing import polish
from robust_recourse.sampling.ranking import best_of_each, rank_within

__all__ = ["LESS", "cheapest_few", "cheapest_of_each"]

_ROUNDS = 2  # after something cheaper was found
_VALUES = 5  # of a number on either side, in sets that must beat what is known
_FINER = {1: (64,), 2: (2, 5, 17), 3: (1, 2)}  # the same where nothing is known yet, by number of changes
_SHARE = 1.0 / 3.0  # of a known cost that one column of two gets; the other gets the rest
_FOLLOWED = 3  # points of a person that are polished
_POINTS, _ALL = 4096, 2**17  # of a person, of every kind: to beat what is known, and to find anything at all
_OPTIONS = {2: 640, 3: 112}  # single changes of a person that are combined
_NUMBERS, _TOGETHER = 2**21, 2**23  # in the points of a person, and in those that are built together

LESS = 2.0**-7
"""The part of a known cost that must be saved."""


def cheapest_few(ask: Ask, room: Room, ladder: Ladder, x: FloatArray, size: int = 2) -> FloatArray:
    """Replace points by cheaper ones that change so many columns, where there are any.

    Parameters
    ----------
    ask : Ask
        The model.
    room : Room
        The people, and how far they may go.
    ladder : Ladder
        Values of the columns.
    x : ndarray of shape (m, p)
        A point of each that the model accepts; NaN if none is known.
    size : int
        How many columns change, 1, 2 or 3. Sets of two are tried to find something cheaper, too, those of three only
        to find anything at all.

    Returns
    -------
    ndarray of shape (m, p)
        Points that the model accepts, and that are rows; what was known where nothing is cheaper.
    """
    x = x.copy()
    for n in _FINER[size]:
        missing = np.flatnonzero(np.isnan(x).any(axis=1))
        if len(missing):
            x[missing] = _tried(ask.take(missing), room.take(missing), ladder, x[missing], size, n)
    going = np.flatnonzero(~np.isnan(x).any(axis=1) & (size == 2))
    for _ in range(_ROUNDS):
        if not len(going):
            break
        found = _tried(ask.take(going), room.take(going), ladder, x[going], size, _VALUES)
        better = ~np.isnan(found).any(axis=1)
        x[going[better]] = found[better]
        going = going[better]
    return x


def _tried(ask: Ask, room: Room, ladder: Ladder, x: FloatArray, size: int, n: int) -> FloatArray:
    """Ask about small sets of changes, follow the cheapest that are accepted, and return the best, NaN if none is."""
    limit = np.nan_to_num(room.limits.cost(x, room.x0), nan=np.inf) * (1.0 - LESS)
    sets = _Sets(ask, room, ladder, limit, n, size)
    held, owners = [np.zeros((0, room.x0.shape[1]))], [np.zeros(0, dtype=np.int64)]
    together = max(1, _TOGETHER // (sets.most * room.x0.shape[1]))
    for people in np.array_split(np.arange(len(room)), -(-len(room) // together)):
        built = [build(people) for build in sets.kinds()]
        owner = np.concatenate([owner for _, owner in built])
        points = ask.rows(np.concatenate([points for points, _ in built]), owner, "inward")
        cost = room.cost(points, owner)
        asked = np.flatnonzero((cost > 0.0) & (cost <= limit[owner] * ROUNDED))
        asked = asked[ask(points[asked], owner[asked])]
        held.append(points[asked])
        owners.append(owner[asked])
    return cheapest_of_each(ask, room, np.concatenate(held), np.concatenate(owners))


def cheapest_of_each(ask: Ask, room: Room, points: FloatArray, owner: IntArray) -> FloatArray:
    """Polish the cheapest points of a few sets of columns of every person; return the best, NaN where there is none."""
    cost = room.cost(points, owner)
    order = np.lexsort((np.arange(len(owner)), cost, owner))
    points, owner = points[order], owner[order]
    sets = np.column_stack([owner, points != room.x0[owner]])
    first = np.sort(np.unique(sets, axis=0, return_index=True)[1])
    first = first[rank_within(owner[first]) < _FOLLOWED]
    points, owner = points[first], owner[first]
    best = np.full_like(room.x0, np.nan)
    if not len(points):
        return best
    x0 = room.x0[owner]
    with suppress(OutOfTime):  # what is found is good enough
        points = polish(ask.take(owner), Room(room.limits, x0, points != x0), points)
    first = best_of_each(owner, room.cost(points, owner))
    best[owner[first]] = points[first]
    return best


class _Sets:
    """Points of people in which a few columns have other values."""

    def __init__(self, ask: Ask, room: Room, ladder: Ladder, limit: FloatArray, n: int, size: int) -> None:
        self._room, self._limit, self._size = room, limit, size
        self._known = bool(np.isfinite(limit).all())
        self.most = min(_POINTS if self._known else _ALL, max(1, _NUMBERS // room.x0.shape[1]))
        self._options = options_of(ask, room, ladder, limit, n)
        self._begin = np.searchsorted(self._options.owner, np.arange(len(room) + 1))

    def kinds(self) -> Iterator[Callable[[IntArray], tuple[FloatArray, IntArray]]]:
        """Yield what builds points of some people, and says whose they are."""
        if self._size < 3:
            yield lambda people: self._combined(people, 1)
        if self._size > 1:
            yield lambda people: self._combined(people, self._size)
            if self._known:
                yield self._shared

    def _combined(self, people: IntArray, size: int) -> tuple[FloatArray, IntArray]:
        """Combine single changes."""
        chosen = [self._chosen(int(i), size) for i in people]
        every = np.concatenate([np.zeros((0, size), dtype=np.int64), *chosen])
        owner = np.repeat(people, [len(some) for some in chosen])
        points, rows = self._room.x0[owner], np.arange(len(owner))
        for k in range(size):
            points[rows, self._options.column[every[:, k]]] = self._options.value[every[:, k]]
        return points, owner

    def _chosen(self, i: int, size: int) -> IntArray:
        """Return sets of single changes of a person, in different columns, that together cost less than the limit."""
        begin, end = self._begin[i : i + 2]
        cost, column = self._options.cost[begin:end], self._options.column[begin:end]
        chosen = np.arange(len(cost))[:, None]
        if size > 1 and len(chosen) > _OPTIONS[size]:
            chosen = chosen[np.linspace(0, len(chosen) - 1, _OPTIONS[size]).astype(np.int64)]
        others = chosen[:, 0]
        for _ in range(size - 1):
            one, other = np.nonzero(chosen[:, -1:] < others)
            other = others[other]
            fits = (column[chosen[one]] != column[other][:, None]).all(axis=1)
            fits &= cost[chosen[one]].sum(axis=1) + cost[other] <= self._limit[i] * ROUNDED
            chosen = np.column_stack([chosen[one[fits]], other[fits]])
            if len(chosen) > self.most:
                chosen = chosen[np.linspace(0, len(chosen) - 1, self.most).astype(np.int64)]
        sets: IntArray = begin + chosen
        return sets

    def _shared(self, people: IntArray) -> tuple[FloatArray, IntArray]:
        """Spend the whole limit on two columns: a part on one, or a switch, and the rest on another."""
        room, options = self._room, self._options
        x0, weights, numbers = room.x0, room.limits.weights, ~room.limits.categories
        lower, upper = room.box
        points, owners = [], []
        for i in people:
            begin, end = self._begin[i : i + 2]
            own, limit, free = x0[i], self._limit[i], np.flatnonzero(room.free[i] & numbers)
            switch = begin + np.flatnonzero(~numbers[options.column[begin:end]])
            spent = _SHARE * limit / weights[free]
            column = np.concatenate([free, free, options.column[switch]])
            value = np.concatenate([own[free] - spent, own[free] + spent, options.value[switch]])
            value = np.where(numbers[column], np.clip(value, lower[i, column], upper[i, column]), value)
            price = np.where(numbers[column], np.abs(value - own[column]), 1.0) * weights[column]
            one, other = np.nonzero((price > 0.0)[:, None] & (column[:, None] != np.tile(free, 2)))
            if len(one) > self.most:
                few = np.linspace(0, len(one) - 1, self.most).astype(np.int64)
                one, other = one[few], other[few]
            partner, sign = np.tile(free, 2)[other], np.where(other < len(free), -1.0, 1.0)
            whole = own[partner] + sign * (limit - price[one]) / weights[partner]
            built, rows = np.tile(own, (len(one), 1)), np.arange(len(one))
            built[rows, column[one]] = value[one]
            built[rows, partner] = np.clip(whole, lower[i, partner], upper[i, partner])
            points.append(built)
            owners.append(np.full(len(one), i))
        return np.concatenate(points), np.concatenate(owners)
