"""From an accepted point to a cheaper one: take changes back, as far as that is accepted, and trade columns.

A segment to a candidate changes every column, be it for better or worse, and some farther than needed. Near the
boundary questions for each column tell which: where the point is still accepted without a change, or with a part of it
taken back. Where nothing can be taken back, a change is given up and what it cost, less a little, is spent on another
column; if that is accepted, that column helps more. For a linear model these are the steps of the simplex method.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math.limits import Room
from robust_recourse.sampling.asking import Ask
from robust_recourse.sampling.bisection import Lines, bisect

__all__ = ["polish"]

_ROUNDS = 24  # at most: they end where nothing gets cheaper
_EASED = 0.25  # part of a change that is taken back on trial
_GAIN = 2.0**-7  # least part of the cost that a trade saves; and the width of a bracket
_DEAREST, _WIDEST = 4, 24  # changes that are traded, and columns that are all tried in exchange
_BISECTED = 3  # trades of a person that are followed
_NUMBERS = 2**22  # in the points that are asked about together


class _Ways(NamedTuple):
    """Ways of people from points that are too cheap to points that cost less than before."""

    people: IntArray  # (n,)
    start: FloatArray  # (n, p)
    end: FloatArray  # (n, p)

    def take(self, which: IntArray) -> _Ways:
        return _Ways(self.people[which], self.start[which], self.end[which])


def polish(ask: Ask, room: Room, x: FloatArray) -> FloatArray:
    """Make accepted points cheaper as long as that is possible, a few rounds at most.

    Parameters
    ----------
    ask : Ask
        The model.
    room : Room
        The people, and how far they may go.
    x : ndarray of shape (m, p)
        A point of each that the model accepts.
    """
    x, going = x.copy(), np.arange(len(x))
    size = max(1, _NUMBERS // x.shape[1] ** 2)
    for _ in range(_ROUNDS):
        if not len(going):
            break
        better = []
        for part in np.array_split(going, -(-len(going) // size)):
            points, improved = _round(ask.take(part), room.take(part), x[part])
            x[part[improved]] = points[improved]
            better.append(part[improved])
        going = np.concatenate(better)
    return x


def _round(ask: Ask, room: Room, x: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Improve points once; return them, and whose are cheaper."""
    owner, column = np.nonzero(x != room.x0)
    numbers = ~room.limits.categories[column]
    back, trades = _taken_back(room, x, owner, column, 1.0), _trades(room, x)
    eased = _Ways(owner, back, _taken_back(room, x, owner, column, _EASED)).take(np.flatnonzero(numbers))
    ends = np.concatenate([back, eased.end, trades.end])
    yes = ask(ends, np.concatenate([owner, eased.people, trades.people]))
    useless, easy, traded = (np.flatnonzero(part) for part in np.split(yes, [len(owner), len(owner) + len(eased.end)]))
    easy = easy[~yes[: len(owner)][numbers][easy]]
    free = np.ones(len(x), dtype=bool)
    free[owner[useless]] = free[eased.people[easy]] = False
    traded = traded[free[trades.people[traded]]]
    traded = traded[_first_few(trades.people[traded])]
    ways = [eased.take(easy), trades.take(traded)]
    followed = _Ways(*(np.concatenate(parts) for parts in zip(*ways, strict=True)))
    found = np.concatenate([back[useless], _shortened(ask, room, followed)])
    people = np.append(owner[useless], followed.people)
    columns = np.append(column[useless], column[numbers][easy])
    found, people = _with_all(ask, room, x, found, people, columns)
    cost, before = room.cost(found, people), room.limits.cost(x, room.x0)
    order = np.lexsort((np.arange(len(people)), cost, people))
    first = order[np.diff(people[order], prepend=-1) != 0]
    # Somebody who was refused must change something, whatever a model that contradicts itself says.
    first = first[(cost[first] < before[people[first]]) & (cost[first] > 0.0)]
    improved = np.zeros(len(x), dtype=bool)
    improved[people[first]] = True
    points = x.copy()
    points[people[first]] = found[first]
    return points, improved


def _taken_back(room: Room, x: FloatArray, owner: IntArray, column: IntArray, part: float) -> FloatArray:
    """Return points of which one change is taken back, or a part of it."""
    points, rows = x[owner], np.arange(len(owner))
    own = room.x0[owner, column]
    points[rows, column] = own if part == 1.0 else points[rows, column] + part * (own - points[rows, column])
    return points


def _with_all(
    ask: Ask, room: Room, x: FloatArray, found: FloatArray, people: IntArray, columns: IntArray
) -> tuple[FloatArray, IntArray]:
    """Add the points in which everything is taken back that can be taken back alone, where the model accepts them.

    The first of the points that were found differ from `x` in one of `columns` each.
    """
    n = len(columns)
    together = x.copy()
    together[people[:n], columns] = found[np.arange(n), columns]
    several = np.flatnonzero(np.bincount(people[:n], minlength=len(x)) > 1)
    if not len(several):
        return found, people
    several = several[ask(together[several], several)]
    # What is left of somebody must be a change.
    several = several[(together[several] != room.x0[several]).any(axis=1)]
    return np.concatenate([found, together[several]]), np.append(people, several)


def _trades(room: Room, x: FloatArray) -> _Ways:
    """Take back one of the dearest changes of a point, and spend nearly the same on another column."""
    x0, weights, numbers = room.x0, room.limits.weights, ~room.limits.categories
    lower, upper = room.box
    saved = np.where(numbers, np.abs(x - x0), x != x0) * weights
    spare = saved - _GAIN * saved.sum(axis=1, keepdims=True)
    rank = np.argsort(np.argsort(-saved, axis=1, kind="stable"), axis=1)
    owner, given = np.nonzero((spare > 0.0) & (rank < _DEAREST))
    takes = room.free & numbers & (lower < upper)
    takes &= (x != x0) | (takes.sum(axis=1, keepdims=True) <= _WIDEST)
    pair, taken = np.nonzero(takes[owner] & (given[:, None] != np.arange(x.shape[1])))
    # Away from the person: on the other side a column only gets dearer.
    at, own = x[owner[pair], taken], x0[owner[pair], taken]
    ups = np.flatnonzero((at >= own) & (at < upper[owner[pair], taken]))
    downs = np.flatnonzero((at <= own) & (at > lower[owner[pair], taken]))
    every, sign = np.append(ups, downs), np.repeat([1.0, -1.0], [len(ups), len(downs)])
    pair, taken = pair[every], taken[every]
    people, given, rows = owner[pair], given[pair], np.arange(len(every))
    start, all_of_it = x[people], spare[people, given]
    left = np.where(sign > 0.0, upper[people, taken], -lower[people, taken]) - sign * start[rows, taken]
    spent = np.minimum(all_of_it, weights[taken] * left)
    # Where the other column ends before, only so much of the change is taken back.
    part = np.where((spent < all_of_it) & numbers[given], 1.0 - (all_of_it - spent) / saved[people, given], 1.0)
    start[rows, given] = x[people, given] * (1.0 - part) + x0[people, given] * part
    end = start.copy()
    end[rows, taken] += sign * spent / weights[taken]
    return _Ways(people, start, room.clipped(end, people))


def _first_few(owner: IntArray) -> BoolArray:
    order = np.argsort(owner, kind="stable")
    begin = np.searchsorted(owner[order], owner[order])
    few = np.zeros(len(owner), dtype=bool)
    few[order] = np.arange(len(owner)) - begin < _BISECTED
    return few


def _shortened(ask: Ask, room: Room, ways: _Ways) -> FloatArray:
    """Go back from accepted ends towards starts, as far as that is accepted."""
    people, start, end = ways

    def point(which: IntArray, part: FloatArray) -> FloatArray:
        t = part[:, None]
        moved = end[which] * t + start[which] * (1.0 - t)
        fixed = room.limits.categories | (end[which] == start[which])
        return room.clipped(np.where(fixed, end[which], moved), people[which])

    n = len(people)
    lines = Lines(people, np.zeros(n), point)
    _, high, _ = bisect(ask, lines, np.zeros(n), np.ones(n), lambda _, low, high: high - low <= _GAIN * high)
    return point(np.arange(n), high)
