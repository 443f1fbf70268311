"""Segments that compete: the one that crosses the boundary at the least cost wins."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.sampling.asking import Ask
from robust_recourse.sampling.bisection import Lines, bisect
from robust_recourse.sampling.ranking import best_of_each, rank_within
from robust_recourse.sampling.segments import Segments

__all__ = ["Competition"]

_FIRST = 6  # nearest segments whose bisection gives the first incumbent
_PICKS = 4  # contenders bisected in every later round
_SHARES = (32, 160)  # segments that compete before the others do
_COARSE, _FINE = 2.0**-7, 1e-6  # widths of a bracket relative to its cost: to compare segments, and at the end
_LAST_LOOKS = 20  # at all segments, at most
_ROWS = 8192  # points built at once
_BEYOND = 1e300  # any cost that there is
_PROBED = 12  # segments that are looked at more closely where others cross the boundary more than once
_QUARTERS, _EIGHTHS = np.arange(1, 4) / 4.0, np.arange(1, 8) / 8.0  # of a cost


class Competition:
    """The incumbents of some people, and how they are improved.

    With `known` costs, only what is cheaper is searched. The first segments, `alone`, change one column only.
    """

    def __init__(self, ask: Ask, segments: Segments, known: FloatArray | None = None, alone: int = 0) -> None:
        self._ask, self._segments, self._alone = ask, segments, alone
        m = len(segments.cost)
        self._cost, self._jump = segments.cost.ravel(), segments.jump.ravel()
        self._best = np.full(m, -1)  # segment of the incumbent
        self._low = np.zeros(m)  # costs of a refused and an accepted point of it
        self._high = np.full(m, np.inf) if known is None else known.copy()
        if known is not None:
            self._low = known * (1.0 - _FINE)
        self._refused = np.zeros(len(self._cost))  # the largest cost at which a segment is known to be refused

    def settle(self, people: IntArray, high: FloatArray) -> None:
        """Make the only segments of people incumbents that are accepted at `high`; first ask a little below."""
        low = (1.0 - _COARSE) * high
        low = np.where(low < self._jump, np.minimum(self._jump, high), low)
        yes = self._accepted(people, low) & (low < high)
        self._best, self._high = people.copy(), np.where(yes, low, high)
        self._low = np.where(yes, 0.0, np.where(low < high, low, high))

    def run(self, resolution: float, *, alone: bool = False) -> tuple[FloatArray, BoolArray]:
        """Return the cheapest points found, and for which people there is one; `alone`: nothing competes."""
        if not alone:
            if np.isinf(self._high).any():
                first = self._first_segments()
                self._compete(first, self._cost[first])
                jumps = self._first_jumps()
                self._compete(jumps, self._jump[jumps])
            self._improve_all(resolution)
        self._refine(resolution)
        reached = self._best >= 0
        points = np.full_like(self._segments.room.x0, np.nan)
        points[reached] = self._segments.point(self._best[reached], self._high[reached])
        return points, reached

    def _improve_all(self, resolution: float) -> None:
        # In growing shares: each makes the incumbent good, so that few of the next and larger one can beat it.
        m, width = self._segments.cost.shape
        bounds = [0, *(share for share in _SHARES if share < width), width]
        for begin, end in pairwise(bounds):
            if begin:
                self._refine(resolution)
            ways = np.arange(begin, end)
            self._improve((np.arange(m)[:, None] * width + ways).ravel())
        self._refine(resolution)
        self._look_back()
        # A segment that was refused within an incumbent's bracket may still be cheaper, and has a bracket in turn.
        people = np.arange(m)
        for _ in range(_LAST_LOOKS):
            self._refine(resolution)
            before = self._high.copy()
            self._improve((people[:, None] * width + np.arange(width)).ravel())
            people = np.flatnonzero(self._high < before)
            if not len(people):
                break

    def _improve(self, contenders: IntArray) -> None:
        """Let segments compete with the incumbents until none is left that is cheaper."""
        while len(contenders):
            owner = self._segments.owner(contenders)
            aim = self._aim(owner)
            able = (self._cost[contenders] > 0.0) & (self._refused[contenders] < aim) & np.isfinite(self._high[owner])
            contenders, aim = (
                contenders[able & (contenders != self._best[owner])],
                aim[able & (contenders != self._best[owner])],
            )
            yes = self._accepted(contenders, aim)
            ended = self._cost[contenders] <= aim  # asked at its end: there is no more of it
            self._refused[contenders[~yes]] = np.where(ended, np.inf, aim)[~yes]
            contenders, aim = contenders[yes], aim[yes]
            picked = _spread(self._segments.owner(contenders))
            self._compete(contenders[picked], np.minimum(aim, self._cost[contenders])[picked])
            contenders = contenders[~picked]

    def _aim(self, owner: IntArray) -> FloatArray:
        """Costs that are cheaper than the incumbents for sure."""
        # Of an incumbent that cannot be cheaper, as a switch, its equals are no improvement.
        aim = np.where(self._low < self._high, self._low, (1.0 - _FINE) * self._high)
        return aim[owner]

    def _first_segments(self) -> IntArray:
        """Choose the cheapest segments to candidates whose ends are accepted; ask more and more, and all in the end."""
        width = self._segments.cost.shape[1]
        cost = np.where(np.isinf(self._high)[:, None] & (self._segments.cost > 0.0), self._segments.cost, np.inf)
        # What changes one column only comes last: it is rarely enough.
        if self._alone < width:
            cost[:, : self._alone] = np.where(np.isfinite(cost[:, : self._alone]), _BEYOND, np.inf)
        chosen, missing, first, last = [], np.flatnonzero(np.isinf(self._high)), 0, min(_FIRST, width)
        while len(missing) and first < width:
            nearest = np.argpartition(cost[missing], last - 1, axis=1)[:, :last] if first == 0 else None
            ranked = np.argsort(cost[missing], axis=1, kind="stable")[:, first:last] if nearest is None else nearest
            segments = (ranked + width * missing[:, None]).ravel()
            segments = np.sort(segments[np.isfinite(cost.ravel()[segments])])
            yes = self._accepted(segments, self._cost[segments])
            self._refused[segments[~yes]] = np.inf
            cost.ravel()[segments[~yes]] = -np.inf
            segments = segments[yes]
            owner = self._segments.owner(segments)
            chosen.append(segments[rank_within(owner) < _FIRST])
            missing = np.setdiff1d(missing, owner)
            first, last = last, min(4 * last, width)
        return np.concatenate([np.zeros(0, dtype=np.int64), *chosen])

    def _first_jumps(self) -> IntArray:
        """Choose the cheapest accepted beginnings of segments, switches alone, for people without an accepted end."""
        width = self._segments.cost.shape[1]
        segments = (np.flatnonzero(np.isinf(self._high))[:, None] * width + np.arange(width)).ravel()
        segments = segments[(self._jump[segments] > 0.0) & (self._jump[segments] < self._cost[segments])]
        segments = segments[self._accepted(segments, self._jump[segments])]
        first: IntArray = segments[best_of_each(self._segments.owner(segments), self._jump[segments])]
        return first

    def _lines(self, segments: IntArray) -> Lines:
        return Lines(
            self._segments.owner(segments),
            self._jump[segments],
            lambda which, cost: self._segments.point(segments[which], cost),
        )

    def _compete(self, segments: IntArray, high: FloatArray, low: FloatArray | None = None) -> None:
        """Bisect segments accepted at cost `high`; the cheapest of a person becomes the incumbent if it is cheaper."""
        if not len(segments):
            return
        begin = np.zeros(len(segments)) if low is None else low
        low, high, left = bisect(self._ask, self._lines(segments), begin, high, _coarse, self._high)
        self._refused[segments] = np.maximum(self._refused[segments], low)
        segments, low, high = segments[left], low[left], high[left]
        owner = self._segments.owner(segments)
        order = np.argsort(segments, kind="stable")
        winner = order[best_of_each(owner[order], high[order])]
        winner = winner[high[winner] < self._high[owner[winner]]]
        at = owner[winner]
        self._best[at], self._low[at], self._high[at] = segments[winner], low[winner], high[winner]

    def _refine(self, resolution: float) -> None:
        """Bisect the incumbents until their brackets are fine, relative to their costs and as a distance."""
        people = np.flatnonzero(self._best >= 0)
        if not len(people):
            return
        best = self._best[people]
        away = self._segments.point(best, self._high[people]) - self._segments.room.x0[people]
        way = np.sqrt((away**2).sum(axis=1))

        def fine(which: IntArray, low: FloatArray, high: FloatArray) -> BoolArray:
            # A model that accepts whoever it refused leads to a way of no length.
            share = (high - low) / np.where(high > 0.0, high, 1.0)
            narrow: BoolArray = (share <= _FINE) & (share * way[which] <= resolution)
            return narrow

        lines = self._lines(best)
        self._low[people], self._high[people], _ = bisect(self._ask, lines, self._low[people], self._high[people], fine)

    def _look_back(self) -> None:
        """Look for segments that are accepted earlier, too: those of a tree cross the boundary more than once."""
        people, width = np.flatnonzero(self._best >= 0), self._segments.cost.shape[1]
        people = self._probe(people, np.arange(self._alone), _QUARTERS)
        self._probe(people, np.linspace(self._alone, width - 1, min(_PROBED, width)).astype(np.int64), _EIGHTHS)

    def _probe(self, people: IntArray, ways: IntArray, parts: FloatArray) -> IntArray:
        """Ask about points at parts of the cost of incumbents; return the people for whom that found a cheaper one."""
        others = (people[:, None] * self._segments.cost.shape[1] + ways).ravel()
        segments = np.unique(np.append(self._best[people], others))
        segments = segments[self._cost[segments] > 0.0]
        each, probe = np.repeat(segments, len(parts)), np.tile(parts, len(segments))
        cost = probe * self._high[self._segments.owner(each)]
        useful = (cost < self._cost[each]) & (cost >= self._jump[each])
        each, cost, probe = each[useful], cost[useful], probe[useful]
        yes = self._accepted(each, cost)
        each, cost, probe = each[yes], cost[yes], probe[yes]
        before = self._high.copy()
        low = np.maximum(cost * (1.0 - parts[0] / probe), 0.0)
        self._compete(each, cost, low)
        return np.flatnonzero(self._high < before)

    def _accepted(self, segments: IntArray, cost: FloatArray) -> BoolArray:
        # Below its jump a segment has not begun.
        accepted = cost >= self._jump[segments]
        begun = np.flatnonzero(accepted)
        for first in range(0, len(begun), _ROWS):
            asked = begun[first : first + _ROWS]
            points = self._segments.point(segments[asked], cost[asked])
            accepted[asked] = self._ask(points, self._segments.owner(segments[asked]))
        return accepted


def _coarse(_: IntArray, low: FloatArray, high: FloatArray) -> BoolArray:
    """Whether brackets are narrow enough to compare segments."""
    narrow: BoolArray = high - low <= _COARSE * high
    return narrow


def _spread(owner: IntArray) -> BoolArray:
    """Mark a few contenders of every person, spread over its list."""
    rank, count = rank_within(owner), np.bincount(owner, minlength=1)[owner]
    marked: BoolArray = (rank * _PICKS // count) != ((rank - 1) * _PICKS // count)
    return marked
