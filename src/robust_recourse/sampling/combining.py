r"""From scores of single changes to cheap accepted points that change several columns.

A model that says how sure it is tells more than yes and no. Let :math:`s` be its score, positive where it accepts.
From a base point :math:`b` all changes of single columns are scored: an option :math:`o` adds :math:`\Delta s_o` to the
score and :math:`\Delta c_o` to the cost. If the model were a sum over columns, the cheapest accepted point would solve

.. math:: \min \sum_{o} \Delta c_o z_o \quad \text{such that} \quad s(b) + \sum_o \Delta s_o z_o \ge 0,

with at most one option of each column, :math:`z_o \in \{0, 1\}`: a knapsack with choices. Solutions of two kinds are
tried: the cheapest pairs of options, and, for several prices :math:`\lambda`, the set that takes of every column what
minimises :math:`\Delta c_o - \lambda \Delta s_o`, which is optimal for its own score. Models are no sums, so the model
is asked about each. What it accepts is polished. What it refuses has a score, too, and where that is nearly enough for
what it costs, the next round starts from there, as from the best points so far. The first bases are the person and the
point that is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math.limits import Room
from robust_recourse.sampling.asking import Ask, OutOfTime
from robust_recourse.sampling.few import LESS
from robust_recourse.sampling.options import ROUNDED, Ladder, options_of
from robust_recourse.sampling.polishing import polish
from robust_recourse.sampling.ranking import best_of_each, rank_within

__all__ = ["combine", "tells_more"]

_CYCLES, _ROUNDS = 2, 3  # at most
_BASES = 3  # of a person in a round: so many that are accepted, and so many that are refused
_OPTIONS, _FEWEST, _MOST = 300, 8, 20  # of a base; and values of a number on either side of the person's own
_PARTS = np.arange(1, 8) / 8.0  # of a change that are kept, and of the way from one option to the next
_SURE = 16.0  # scores beyond are all the same
_DECIMALS = 9  # of a score: the last bits depend on what else is in a batch
_SINGLES, _PAIRS, _PRICES = 6, 40, 24  # sets of options of a base that are asked about
_COLUMNS = 12  # that are looked at after the first round: those that help most
_NUMBERS = 2**23  # in the points that are scored together


class _Options(NamedTuple):
    """Changes of single columns of bases, sorted by these."""

    base: IntArray  # (n,)
    column: IntArray  # (n,)
    value: FloatArray  # (n,)
    cost: FloatArray  # (n,): added to that of the base
    score: FloatArray  # (n,): the same

    def take(self, which: IntArray) -> _Options:
        return _Options(self.base[which], self.column[which], self.value[which], self.cost[which], self.score[which])


class _Points(NamedTuple):
    """Points of people, sorted by person."""

    x: FloatArray  # (n, p)
    owner: IntArray  # (n,)

    def take(self, which: IntArray | BoolArray) -> _Points:
        return _Points(self.x[which], self.owner[which])

    def names(self) -> list[bytes]:
        """Return something that tells points apart."""
        return [row.tobytes() for row in np.column_stack([self.owner, self.x + 0.0])]


class _Tried(NamedTuple):
    """What follows from bases of people."""

    silent: IntArray  # people whose scores are two values, yes and no
    lack: FloatArray  # (m,): how far the bases of people are from being accepted, at most
    gain: FloatArray  # (m, p): the most that a unit of cost in a column adds to the score of a base
    accepted: _Points
    refused: _Points
    score: FloatArray  # of the refused points


def combine(ask: Ask, room: Room, ladder: Ladder, x: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Replace points by cheaper ones that the scores of single changes lead to, where there are any.

    Parameters
    ----------
    ask : Ask
        The model.
    room : Room
        The people, and how far they may go.
    ladder : Ladder
        Values of the columns.
    x : ndarray of shape (m, p)
        A point of each that the model accepts, and that is a row.

    Returns
    -------
    x : ndarray of shape (m, p)
        Points that the model accepts, and that are rows; what was known where nothing is cheaper.
    scored : ndarray of bool, shape (m,)
        Of whom the model says how sure it is. The others keep their points.
    """
    x, scored = x.copy(), np.ones(len(x), dtype=bool)
    size = max(1, _NUMBERS // (2 * _BASES * _OPTIONS * x.shape[1]))
    for part in np.array_split(np.arange(len(x)), -(-len(x) // size) or 1):
        x[part], scored[part] = _in_cycles(ask.take(part), room.take(part), ladder, x[part])
    return x, scored


def tells_more(ask: Ask, points: FloatArray, people: IntArray) -> BoolArray:
    """Return of which points the model says how sure it is, and not only yes or no."""
    score = ask.scores(points, people)
    more: BoolArray = np.zeros(len(points), dtype=bool) if score is None else np.abs(score) < _SURE
    return more


def _in_cycles(ask: Ask, room: Room, ladder: Ladder, x: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Go through all rounds again with what they found: with less to spend, options are closer to each other."""
    found, scored = _in_rounds(ask, room, ladder, x)
    for _ in range(1, _CYCLES):
        every = np.arange(len(x))
        going = np.flatnonzero(scored & (room.cost(found, every) < room.cost(x, every) * (1.0 - LESS)))
        if not len(going):
            break
        x = found.copy()
        found[going] = _in_rounds(ask.take(going), room.take(going), ladder, x[going])[0]
    return found, scored


def _in_rounds(ask: Ask, room: Room, ladder: Ladder, x: FloatArray) -> tuple[FloatArray, BoolArray]:
    every, given, scored = np.arange(len(x)), x, np.ones(len(x), dtype=bool)
    bases, known = _joined(_Points(room.x0, every), _Points(x, every)), _Points(x, every)
    lack, gain, seen, some = np.zeros(len(x)), np.zeros(x.shape), set[bytes](), room
    for _ in range(_ROUNDS):
        if not len(bases.x):
            break
        seen.update(bases.names())
        before = room.cost(x, every)
        try:
            tried = _tried(ask, some, ladder, bases, before)
        except OutOfTime:  # what is found is good enough
            break
        scored[tried.silent] = False
        lack, gain = np.maximum(lack, tried.lack), np.maximum(gain, tried.gain)
        some = Room(room.limits, room.x0, room.free & _largest(gain, _COLUMNS))
        known = _joined(known, tried.accepted)
        known = known.take(_first_sets(room, known, room.cost(*known), known.owner, _BASES))
        x = known.x[np.unique(known.owner, return_index=True)[1]]
        cost = room.cost(x, every)
        better = known.take((cost < before * (1.0 - LESS))[known.owner])
        bases = _joined(better, _promising(room, tried, cost, lack))
        new = np.array([name not in seen for name in bases.names()], dtype=bool)
        bases = bases.take(new & scored[bases.owner])
    with suppress(OutOfTime):
        known = known._replace(x=polish(ask.take(known.owner), room.take(known.owner), known.x))
    x = known.x[best_of_each(known.owner, room.cost(*known))]
    return np.where(scored[:, None], x, given), scored


def _largest(values: FloatArray, n: int) -> BoolArray:
    """Mark the n largest values of every row, of equal ones the first."""
    rank = np.argsort(np.argsort(-values, axis=1, kind="stable"), axis=1)
    return np.asarray(rank < n)


def _joined(some: _Points, others: _Points) -> _Points:
    both = _Points(np.concatenate([some.x, others.x]), np.append(some.owner, others.owner))
    return both.take(np.argsort(both.owner, kind="stable"))


def _first_sets(room: Room, points: _Points, value: FloatArray, group: IntArray, most: int) -> IntArray:
    """Return the places of the points with the least values of each group, of the same columns of a person only one."""
    order = np.lexsort((np.arange(len(value)), value, group))
    sets = np.column_stack([points.owner, points.x != room.x0[points.owner]])[order]
    first = np.sort(np.unique(sets, axis=0, return_index=True)[1])
    chosen: IntArray = order[first[rank_within(group[order[first]]) < most]]
    return chosen


def _promising(room: Room, tried: _Tried, cost: FloatArray, lack: FloatArray) -> _Points:
    """Return refused points that would be cheaper in the end, if the rest had the price of the best point."""
    owner = tried.refused.owner
    price = cost / np.maximum(lack, LESS)
    value = room.cost(*tried.refused) - price[owner] * tried.score
    able = np.flatnonzero(value < cost[owner])
    some = tried.refused.take(able)
    return some.take(_first_sets(room, some, value[able], some.owner, _BASES))


def _tried(ask: Ask, room: Room, ladder: Ladder, bases: _Points, best: FloatArray) -> _Tried:
    """Combine options of bases to points that cost less than the best so far."""
    n, limit = len(bases.x), best * (1.0 - LESS)
    base, column, value = _values(ask, room, ladder, bases, limit)
    points = np.concatenate([bases.x, bases.x[base]])
    points[np.arange(n, len(points)), column] = value
    people = np.append(bases.owner, bases.owner[base])
    score = _scores(ask, points, people)
    cost = room.cost(points, people)
    at, spent = score[:n], cost[:n]
    options = _Options(base, column, value, cost[n:] - spent[base], score[n:] - at[base])
    begin = np.searchsorted(base, np.arange(n + 1))
    # From the person itself; a point far from others may have neighbours that are all alike.
    own = np.flatnonzero(spent == 0.0)
    silent = own[[len(np.unique(score[n + begin[b] : n + begin[b + 1]])) < 3 for b in own]]
    able = _undominated(options)
    able = _undominated(_with_closer(ask, room, bases, able, at, spent))
    begin = np.searchsorted(able.base, np.arange(n + 1))
    chosen, of = [base[:0]], [base[:0]]
    for b, owner in enumerate(bases.owner):
        mine = able.take(np.arange(begin[b], begin[b + 1]))
        sets = [begin[b] + places for places in _chosen(mine, float(at[b]), float(limit[owner] - spent[b]))]
        chosen += sets
        of.append(np.full(len(sets), b))
    whose, places = np.concatenate(of), np.concatenate(chosen)
    combined, rows = bases.x[whose], np.repeat(np.arange(len(whose)), list(map(len, chosen[1:])))
    combined[rows, able.column[places]] = able.value[places]
    lack, gain = np.zeros(len(room)), np.zeros(room.x0.shape)
    np.maximum.at(lack, bases.owner, -at)
    helps = np.flatnonzero((options.cost > 0.0) & (options.score > 0.0))
    np.maximum.at(gain, (bases.owner[base[helps]], column[helps]), options.score[helps] / options.cost[helps])
    combined = ask.rows(combined, bases.owner[whose], "inward")
    cost = room.cost(combined, bases.owner[whose])
    fits = np.flatnonzero((cost > 0.0) & (cost <= limit[bases.owner[whose]] * ROUNDED))
    found = _Points(combined[fits], bases.owner[whose[fits]])
    score = _scores(ask, *found)
    # What is enough, zero or the next number, is known to whoever is asked.
    yes = np.flatnonzero(score >= 0.0)
    yes = yes[ask(*found.take(yes))]
    no = np.setdiff1d(np.flatnonzero((score <= 0.0) & (score > -_SURE)), yes)
    return _Tried(bases.owner[silent], lack, gain, found.take(yes), found.take(no), score[no])


def _scores(ask: Ask, points: FloatArray, people: IntArray) -> FloatArray:
    score = ask.scores(points, people)
    assert score is not None
    bounded: FloatArray = np.clip(score, -_SURE, _SURE)
    return bounded.round(_DECIMALS)


def _values(
    ask: Ask, room: Room, ladder: Ladder, bases: _Points, limit: FloatArray
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return bases, columns and values of options: on the ladder, and what changed taken back, at least in parts."""
    ask, room, limit = ask.take(bases.owner), room.take(bases.owner), limit[bases.owner]
    # As fine as it can be with so many columns, by person: nobody's answer depends on who else is there.
    n = np.clip(_OPTIONS // np.maximum(2 * room.free.sum(axis=1), 1), _FEWEST, _MOST)
    found = []
    for fineness in np.unique(n):
        some = np.flatnonzero(n == fineness)
        options = options_of(ask.take(some), room.take(some), ladder, limit[some], int(fineness))
        found.append((some[options.owner], options.column, options.value))
    who, changed = np.nonzero(bases.x != room.x0)
    found.append((who, changed, room.x0[who, changed]))
    numbers = np.flatnonzero(~room.limits.categories[changed])
    whose, which = np.tile(who[numbers], len(_PARTS)), np.tile(changed[numbers], len(_PARTS))
    part = np.repeat(_PARTS, len(numbers))
    between, rows = room.x0[whose], np.arange(len(whose))
    between[rows, which] = part * bases.x[whose, which] + (1.0 - part) * room.x0[whose, which]
    found.append((whose, which, ask.rows(between, whose, "inward")[rows, which]))
    base, column, value = (np.concatenate(parts) for parts in zip(*found, strict=True))
    order = np.lexsort((value, column, base))
    return base[order], column[order], value[order]


def _with_closer(
    ask: Ask, room: Room, bases: _Points, options: _Options, at: FloatArray, spent: FloatArray
) -> _Options:
    """Add options between those of a number and the next cheaper ones: models of trees climb in steps.

    The options are undominated; `at` and `spent` are the scores and costs of the bases.
    """
    base, column, value = options.base, options.column, options.value
    person, own = bases.owner[base], bases.x[base, column]
    start = room.x0[person, column]
    follows = np.append(False, (base[1:] == base[:-1]) & (column[1:] == column[:-1]))[: len(base)]
    cheaper = np.where(follows, np.roll(value, 1), own)
    # A column has options on both sides of the person.
    cheaper = np.where((cheaper - start) * (value - start) < 0.0, own, cheaper)
    between = np.flatnonzero(~room.limits.categories[column] & (options.cost > 0.0))
    which, part = np.repeat(between, len(_PARTS)), np.tile(_PARTS, len(between))
    points, rows, on = bases.x[base[which]], np.arange(len(which)), column[which]
    points[rows, on] = cheaper[which] + part * (value[which] - cheaper[which])
    points = ask.rows(points, person[which], "inward")
    found = points[rows, on]
    new = (found != value[which]) & (found != cheaper[which]) & (found != own[which])
    which, points, found = which[new], points[new], found[new]
    score, cost = _scores(ask, points, person[which]), room.cost(points, person[which])
    more = base[which], column[which], found, cost - spent[base[which]], score - at[base[which]]
    return _Options(*(np.concatenate(both) for both in zip(options, more, strict=True)))


def _undominated(options: _Options) -> _Options:
    """Keep of every column the options of which none is better that costs no more, nor is doing nothing."""
    options = options.take(np.lexsort((-options.score, options.cost, options.column, options.base)))
    # Scores by rank, those of every further column above all before, so that a running maximum stays within a column.
    new = np.diff(options.base, prepend=-1) | np.diff(options.column, prepend=-1)
    rank = np.unique(options.score, return_inverse=True)[1] + np.cumsum(new != 0) * len(new)
    best = np.maximum.accumulate(rank)
    better = np.append(True, rank[1:] > best[:-1])[: len(rank)]
    return options.take(np.flatnonzero(better & ((options.cost < 0.0) | (options.score > 0.0))))


def _chosen(options: _Options, at: float, most: float) -> Iterator[IntArray]:
    """Yield sets of options that cost at most `most`; if scores add up to that `at` the base, these are the best."""
    column, cost, score = options.column, options.cost, options.score
    one = np.flatnonzero((at + score >= 0.0) & (cost <= most))
    yield from one[np.argsort(cost[one], kind="stable")[:_SINGLES], None]
    first, other = np.nonzero((column[:, None] < column) & (cost[:, None] + cost <= most))
    # Models are no sums: those that fall short by little may do.
    short = np.maximum(-(at + score[first] + score[other]), 0.0)
    order = np.lexsort((cost[first] + cost[other], short))[:_PAIRS]
    yield from np.column_stack([first[order], other[order]])
    yield from _priced(options, most)


def _priced(options: _Options, most: float) -> Iterator[IntArray]:
    """Yield the sets of several options that are best at some prices of a score."""
    column, cost, score = options.column, options.cost, options.score
    useful = (score != 0.0) & (cost != 0.0)
    if not useful.any():
        return
    ratios = np.sort(np.abs(cost[useful] / score[useful]))
    prices = ratios[np.linspace(0, len(ratios) - 1, _PRICES).astype(np.int64)]
    value = cost - prices[:, None] * score
    first = np.flatnonzero(np.diff(column, prepend=-1))
    n = np.diff(np.append(first, len(column)))[:, None]
    each = first[:, None] + np.minimum(np.arange(n.max()), n - 1)  # (columns, options): the last one fills up
    best = each[np.arange(len(each)), value[:, each].argmin(axis=2)]
    best = np.where(np.take_along_axis(value, best, axis=1) < 0.0, best, -1)
    best = np.array(list({row.tobytes(): row for row in best}.values()))
    taken = best >= 0
    able = (taken.sum(axis=1) > 1) & (np.where(taken, cost[best], 0.0).sum(axis=1) <= most)
    for places, some in zip(best[able], taken[able], strict=True):
        yield places[some]
