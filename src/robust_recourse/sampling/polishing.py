"""From an accepted point to a cheaper one: take changes back, and trade one column for another.

A segment to a candidate changes every column, be it for better or worse. Near the boundary a question for each column
tells which: where the point is still accepted without a change, that change does not help. Where none is useless, a
change is taken back and what it cost, less a little, is spent on another column; if that is accepted, that column helps
more. For a linear model these are the steps of the simplex method.
"""

from __future__ import annotations

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math.limits import Room
from robust_recourse.sampling.asking import Ask
from robust_recourse.sampling.bisection import Lines, bisect

__all__ = ["polish"]

_ROUNDS = 6
_GAIN = 2.0**-7  # least part of the cost that a trade saves; and the width of a bracket
_DEAREST, _WIDEST = 4, 24  # changes that are traded, and columns that are all tried in exchange
_BISECTED = 3  # trades of a person that are followed
_NUMBERS = 2**22  # in the points that are asked about together


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
    without = _taken_back(room, x, owner, column)
    traders, trades = _trades(room, x)
    yes = ask(np.concatenate([without, trades.end]), np.concatenate([owner, traders]))
    useless, traded = np.flatnonzero(yes[: len(owner)]), np.flatnonzero(yes[len(owner) :])
    thin, thinner = _without_useless(ask, room, x, owner[useless], column[useless])
    traded = traded[~thinner[traders[traded]]]
    traded = traded[_first_few(traders[traded])]
    lean = np.flatnonzero(thinner)
    people = np.append(lean, traders[traded])
    start = np.concatenate([np.where(room.limits.categories, thin, room.x0)[lean], trades.start[traded]])
    end = np.concatenate([thin[lean], trades.end[traded]])
    ends = _shortened(ask, room, people, start, end)
    cost, before = room.cost(ends, people), room.limits.cost(x, room.x0)
    order = np.lexsort((np.arange(len(people)), cost, people))
    first = order[np.diff(people[order], prepend=-1) != 0]
    # Somebody who was refused must change something, whatever a model that contradicts itself says.
    first = first[(cost[first] < before[people[first]]) & (cost[first] > 0.0)]
    improved = np.zeros(len(x), dtype=bool)
    improved[people[first]] = True
    points = x.copy()
    points[people[first]] = ends[first]
    return points, improved


def _taken_back(room: Room, x: FloatArray, owner: IntArray, column: IntArray) -> FloatArray:
    points = x[owner]
    points[np.arange(len(owner)), column] = room.x0[owner, column]
    return points


def _without_useless(
    ask: Ask, room: Room, x: FloatArray, owner: IntArray, column: IntArray
) -> tuple[FloatArray, BoolArray]:
    """Take back what can be taken back alone: together if the model lets us, or else the dearest."""
    thin, changed = x.copy(), np.zeros(len(x), dtype=bool)
    thin[owner, column] = room.x0[owner, column]
    changed[owner] = True
    several = np.flatnonzero(np.bincount(owner, minlength=len(x)) > 1)
    # What is accepted as it was asked is accepted.
    alone = several[~ask(thin[several].copy(), several)] if len(several) else several
    if len(alone):
        mine = np.isin(owner, alone)
        points = _taken_back(room, x, owner[mine], column[mine])
        cost = room.cost(points, owner[mine])
        order = np.lexsort((cost, owner[mine]))
        first = order[np.diff(owner[mine][order], prepend=-1) != 0]
        thin[owner[mine][first]] = points[first]
    return thin, changed


class _Trades:
    """Ways from points without a change to points that cost a little less than before."""

    def __init__(self, start: FloatArray, end: FloatArray) -> None:
        self.start, self.end = start, end


def _trades(room: Room, x: FloatArray) -> tuple[IntArray, _Trades]:
    """Take back one of the dearest changes of a point, and spend nearly the same on another column."""
    x0, weights, numbers = room.x0, room.limits.weights, ~room.limits.categories
    lower, upper = room.box
    saved = np.where(numbers, np.abs(x - x0), x != x0) * weights
    spare = saved - _GAIN * saved.sum(axis=1, keepdims=True)
    rank = np.argsort(np.argsort(-saved, axis=1, kind="stable"), axis=1)
    owner, given = np.nonzero((spare > 0.0) & (rank < _DEAREST))
    takes = room.free & numbers & (lower < upper)
    if takes.sum(axis=1).max(initial=0) > _WIDEST:
        takes &= x != x0
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
    return people, _Trades(start, room.clipped(end, people))


def _first_few(owner: IntArray) -> BoolArray:
    order = np.argsort(owner, kind="stable")
    begin = np.searchsorted(owner[order], owner[order])
    few = np.zeros(len(owner), dtype=bool)
    few[order] = np.arange(len(owner)) - begin < _BISECTED
    return few


def _shortened(ask: Ask, room: Room, people: IntArray, start: FloatArray, end: FloatArray) -> FloatArray:
    """Go back from accepted ends towards starts, as far as that is accepted."""

    def point(which: IntArray, part: FloatArray) -> FloatArray:
        t = part[:, None]
        moved = end[which] * t + start[which] * (1.0 - t)
        fixed = room.limits.categories | (end[which] == start[which])
        return room.clipped(np.where(fixed, end[which], moved), people[which])

    n = len(people)
    lines = Lines(people, np.zeros(n), point)
    _, high, _ = bisect(ask, lines, np.zeros(n), np.ones(n), lambda _, low, high: high - low <= _GAIN * high)
    return point(np.arange(n), high)
