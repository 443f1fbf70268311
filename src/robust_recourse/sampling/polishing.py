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
from robust_recourse.sampling.ranking import best_of_each, rank_within

__all__ = ["polish"]

_ROUNDS = 48  # at most: they end where nothing gets cheaper
_EASED = (0.25, 0.0625, 0.015625)  # parts of a change that are taken back on trial
_GAIN = 2.0**-7  # least part of the cost that a trade saves; and the width of a bracket
_LAST = 2.0**-4  # the same of the last bracket, which is short
_DEAREST, _TRADES = 4, 96  # changes that are traded, and pairs of a change and a column that are tried
_NUDGED, _NUDGE = 2, 0.0625  # changes that a nudge to another column eases, and its part of the cost
_BISECTED = 3  # trades of a person that are followed
_NUMBERS = 2**22  # in the points that are asked about together
_AHEAD = 8192  # questions up to which a call is asked ahead: of many short ways


class _Ways(NamedTuple):
    """Ways of people from points that are too cheap to points that cost less than before."""

    people: IntArray  # (n,)
    start: FloatArray  # (n, p)
    end: FloatArray  # (n, p)

    def take(self, which: IntArray) -> _Ways:
        return _Ways(self.people[which], self.start[which], self.end[which])


def polish(ask: Ask, room: Room, x: FloatArray) -> FloatArray:
    """Make accepted points cheaper as long as that is possible, a number of rounds at most.

    Parameters
    ----------
    ask : Ask
        The model.
    room : Room
        The people, and how far they may go.
    x : ndarray of shape (m, p)
        A point of each that the model accepts.

    Returns
    -------
    ndarray of shape (m, p)
        Points that the model accepts, and that are rows.
    """
    x, going = ask.rows(x, np.arange(len(x))), np.arange(len(x))
    # Whether nothing much of a change can be taken back alone, so that the harder questions are asked.
    hard = np.zeros(len(x), dtype=bool)
    size = max(1, _NUMBERS // x.shape[1] ** 2)
    for _ in range(_ROUNDS):
        if not len(going):
            break
        left = []
        for part in np.array_split(going, -(-len(going) // size)):
            points, improved = _round(ask.take(part), room.take(part), x[part], hard[part])
            x[part[improved]] = points[improved]
            left.append(part[improved | ~hard[part]])
            hard[part] = ~improved
        going = np.concatenate(left)
    return _squeezed(ask, room, x)


def _squeezed(ask: Ask, room: Room, x: FloatArray) -> FloatArray:
    """Take back what is left of the dearest number: less than the least part that was tried."""
    saved = np.where(room.limits.categories, 0.0, np.abs(x - room.x0) * room.limits.weights)
    # A segment may end beyond the range of single columns.
    inside = (room.clipped(x.copy(), np.arange(len(x))) == x).all(axis=1)
    people = np.flatnonzero(saved.any(axis=1) & inside)
    if not len(people):
        return x
    start = _taken_back(room, x, people, saved[people].argmax(axis=1), _EASED[-1])
    less = ask.rows(_shortened(ask, room, _Ways(people, start, x[people]), _LAST), people)
    cheaper = room.cost(less, people) < room.cost(x[people], people)
    x[people[cheaper]] = less[cheaper]
    return x


def _round(ask: Ask, room: Room, x: FloatArray, hard: BoolArray) -> tuple[FloatArray, BoolArray]:
    """Improve points once; return them, and whose are cheaper."""
    owner, column = np.nonzero(x != room.x0)
    easy_ones, numbers = ~hard[owner], ~room.limits.categories[column]
    whole = np.flatnonzero(easy_ones)
    back, of_back, in_back = _taken_back(room, x, owner[whole], column[whole], 1.0), owner[whole], column[whole]
    eased, in_eased = _eased(ask, room, x, owner, column, easy_ones & numbers, hard[owner] & numbers)
    trades = _trades(ask, room, x, hard)
    cuts = [len(back), len(back) + len(in_eased)]
    ends = np.concatenate([back, eased.end, trades.end])
    yes = ask(ends, np.concatenate([of_back, eased.people, trades.people]))
    useless, easy, traded = (np.flatnonzero(part) for part in np.split(yes, cuts))
    easy = easy[_first_of_each(eased.people[easy] * x.shape[1] + in_eased[easy])]
    # What is not needed at all needs not be eased.
    needless = np.isin(eased.people[easy] * x.shape[1] + in_eased[easy], (of_back * x.shape[1] + in_back)[useless])
    easy = easy[~needless]
    traded = traded[~np.isin(trades.people[traded], eased.people[easy])]
    traded = traded[_first_few(trades.people[traded])]
    ways = [eased.take(easy), trades.take(traded)]
    followed = _Ways(*(np.concatenate(parts) for parts in zip(*ways, strict=True)))
    found = np.concatenate([back[useless], _shortened(ask, room, followed)])
    people = np.append(of_back[useless], followed.people)
    columns = np.append(in_back[useless], in_eased[easy])
    found, people = _with_all(ask, room, x, found, people, columns)
    found = ask.rows(found, people)
    cost, before = room.cost(found, people), room.limits.cost(x, room.x0)
    first = best_of_each(people, cost)
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


def _eased(
    ask: Ask, room: Room, x: FloatArray, owner: IntArray, column: IntArray, easy: BoolArray, hard: BoolArray
) -> tuple[_Ways, IntArray]:
    """Take parts of single changes back, the largest parts first; each way begins where more was taken back."""
    ways, columns = [], []
    for which, parts in ((easy, _EASED[:1]), (hard, _EASED[1:])):
        people, column_ = owner[which], column[which]
        start = _taken_back(room, x, people, column_, 1.0 if parts[0] == _EASED[0] else _EASED[0])
        for part in parts:
            # On a grid at least a step is taken back.
            end = ask.rows(_taken_back(room, x, people, column_, part), people, "inward")
            ways.append(_Ways(people, start, end))
            columns.append(column_)
            start = end
    return _Ways(*(np.concatenate(parts) for parts in zip(*ways, strict=True))), np.concatenate(columns)


def _first_of_each(names: IntArray) -> BoolArray:
    """Mark the first mention of every name."""
    first = np.zeros(len(names), dtype=bool)
    first[np.unique(names, return_index=True)[1]] = True
    return first


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


def _trades(ask: Ask, room: Room, x: FloatArray, hard: BoolArray) -> _Ways:
    """Take back one of the dearest changes of a point, and spend nearly the same on another column."""
    x0, weights, numbers = room.x0, room.limits.weights, ~room.limits.categories
    lower, upper = room.box
    saved = np.where(numbers, np.abs(x - x0), x != x0) * weights
    spare = saved - _GAIN * saved.sum(axis=1, keepdims=True)
    rank = np.argsort(np.argsort(-saved, axis=1, kind="stable"), axis=1)
    takes = room.free & numbers & (lower < upper)
    # Where there are more columns than pairs, a change is traded for others only.
    takes &= (x != x0) | (takes.sum(axis=1, keepdims=True) <= _TRADES)
    dearest = np.clip(_TRADES // np.maximum(takes.sum(axis=1, keepdims=True), 1), 1, _DEAREST)
    owner, given = np.nonzero((spare > 0.0) & (rank < dearest) & hard[:, None])
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
    dear = np.flatnonzero(numbers[given] & (rank[people, given] < _NUDGED))
    spent = sign[dear] * _NUDGE * saved.sum(axis=1)[people[dear]]
    nudged = _nudged(room, x, people[dear], given[dear], taken[dear], spent)
    both = zip((people, start, room.clipped(end, people)), nudged, strict=True)
    ways = _Ways(*(np.concatenate(parts) for parts in both))
    # On a grid no more is spent than was saved.
    return ways._replace(end=ask.rows(ways.end, ways.people, "inward"))


def _nudged(room: Room, x: FloatArray, people: IntArray, given: IntArray, taken: IntArray, spent: FloatArray) -> _Ways:
    """Spend a little on a column and save twice as much on another: a tree may turn on a small change."""
    x0, weights, rows = room.x0, room.limits.weights, np.arange(len(people))
    start = x[people]
    start[rows, taken] += spent / weights[taken]
    end = start.copy()
    start[rows, given] = x0[people, given]
    way = x[people, given] - x0[people, given]
    end[rows, given] -= np.sign(way) * np.minimum(2.0 * np.abs(spent) / weights[given], np.abs(way))
    cheaper = np.flatnonzero(2.0 * np.abs(spent) < np.abs(way) * weights[given])
    ways = _Ways(people, room.clipped(start, people), room.clipped(end, people))
    return ways.take(cheaper)


def _first_few(owner: IntArray) -> BoolArray:
    order = np.argsort(owner, kind="stable")
    few = np.zeros(len(owner), dtype=bool)
    few[order] = rank_within(owner[order]) < _BISECTED
    return few


def _shortened(ask: Ask, room: Room, ways: _Ways, width: float = _GAIN) -> FloatArray:
    """Go back from accepted ends towards starts, as far as that is accepted, to a part of the way."""
    people, start, end = ways

    def point(which: IntArray, part: FloatArray) -> FloatArray:
        t = part[:, None]
        moved = end[which] * t + start[which] * (1.0 - t)
        fixed = room.limits.categories | (end[which] == start[which])
        return room.clipped(np.where(fixed, end[which], moved), people[which])

    n = len(people)
    lines = Lines(people, np.zeros(n), point)
    low, high = np.zeros(n), np.ones(n)
    _, high, _ = bisect(ask, lines, low, high, lambda _, low, high: high - low <= width * high, together=_AHEAD)
    return point(np.arange(n), high)
