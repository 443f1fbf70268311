r"""Search for the cheapest point on the decision boundary.

The candidates of a person are accepted training rows, moved into its action set. A segment from the person to a
candidate crosses the boundary at some cost, and the cheapest crossing is wanted. The cost grows linearly along a
segment, so that *"is the point of this segment at cost* :math:`\tau` *accepted?"* decides whether the segment can beat
an incumbent of cost :math:`\tau`: all segments are asked that once, in one batch, and only those that answer yes are
looked at again.

Training rows differ from a person in all columns at once, and an L1 cost charges for each. The corners of an L1 ball
lie on the axes: where the boundary is a hyperplane, the cheapest point on it changes one column only. So the segments
along single columns, up to the ends of the range of the training rows, compete, too, and so do switches of single
categories. What wins is polished, see :mod:`robust_recourse.sampling.polishing`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math.limits import Room
from robust_recourse.sampling.asking import Ask, OutOfTime
from robust_recourse.sampling.bisection import Lines, bisect
from robust_recourse.sampling.exchanging import exchange
from robust_recourse.sampling.few import cheapest_few
from robust_recourse.sampling.filling import fill
from robust_recourse.sampling.options import Ladder, ladder_of
from robust_recourse.sampling.polishing import polish
from robust_recourse.sampling.ranking import best_of_each, rank_within
from robust_recourse.sampling.segments import Axes, Joined, Segments, Switches, ToPoints, nearest_segments

__all__ = ["Boundary", "Look", "find_boundary"]

_FIRST = 6  # nearest segments whose bisection gives the first incumbent
_PICKS = 4  # contenders bisected in every later round
_SHARES = (32, 160)  # segments that compete before the others do
_COARSE, _FINE = 2.0**-7, 1e-6  # widths of a bracket relative to its cost: to compare segments, and at the end
_LAST_LOOKS = 20  # at all segments, at most
_PAIRS = 2**20  # segments that are looked at together
_ROWS = 8192  # points built at once
_ENDS = 3  # candidates whose changes are taken back
_BEYOND = 1e300  # any cost that there is
_PROBED = 12  # segments that are looked at more closely where others cross the boundary more than once
_QUARTERS, _EIGHTHS = np.arange(1, 4) / 4.0, np.arange(1, 8) / 8.0  # of a cost


class Look(NamedTuple):
    """How to look for a boundary."""

    n_neighbors: int  # candidates towards which it is searched; if none is reached, the next ones follow
    resolution: float  # largest distance of a boundary point from a refused point of the same segment
    ranges: tuple[FloatArray, FloatArray] | None = None  # how far a column may go alone, (p,) each; None: nowhere
    polished: bool = True  # whether changes are taken back and traded in the end
    thorough: bool = False  # whether small sets of columns are tried, too, and changes of candidates taken back


class Boundary(NamedTuple):
    """Boundary points, on the favourable side, of many people."""

    x: FloatArray  # (m, p), NaN where there is none
    found: BoolArray  # (m,)


def find_boundary(
    ask: Ask, room: Room, candidates: FloatArray, look: Look, known: FloatArray | None = None
) -> Boundary:
    """Find the cheapest boundary point of every person.

    Parameters
    ----------
    ask : Ask
        The model.
    room : Room
        The refused people, in units of cost, and how far they may go.
    candidates : ndarray of shape (N, p)
        Accepted training rows.
    look : Look
        Where to look, and how closely.
    known : ndarray of shape (m, p), optional
        Accepted points of the people within their room, from elsewhere: boundary points cost no more.

    Returns
    -------
    Boundary
        Points that the model accepts, within the resolution, and a millionth of the way, of a refused point; where
        rows are on a grid, the points of rows.
    """
    found = Boundary(np.full_like(room.x0, np.nan), np.zeros(len(room), dtype=bool))
    missing, first, last = np.arange(len(room)), 0, look.n_neighbors
    while len(missing) and first < len(candidates):
        last = min(last, len(candidates))
        for part in np.array_split(missing, -(-len(missing) * (last - first) // _PAIRS)):
            some = room.take(part)
            alone = _alone(some, look) if first == 0 else []
            segments = Joined([*alone, nearest_segments(some, candidates, first, last)])
            width = sum(segment.cost.shape[1] for segment in alone)
            x, reached = _Search(ask.take(part), segments, alone=width).run(look.resolution)
            found.x[part[reached]], found.found[part[reached]] = x[reached], True
        missing = missing[~found.found[missing]]
        first, last = last, 3 * last
    if known is not None:
        # The row that a point stands for may cost more.
        held = np.flatnonzero(found.found)
        found.x[held] = ask.rows(found.x[held], held)
        cost, least = (np.nan_to_num(room.limits.cost(x, room.x0), nan=np.inf) for x in (found.x, known))
        cheaper = least < cost
        found.x[cheaper], found.found[cheaper] = known[cheaper], True
    held, ladder = np.flatnonzero(found.found), ladder_of(candidates) if look.thorough else []
    for part in np.array_split(held, -(-len(held) * room.x0.shape[1] // _PAIRS) or 1):
        if len(part):
            some, question = room.take(part), ask.take(part)
            try:
                found.x[part] = _improved(question, some, candidates, ladder, found.x[part], look)
            except OutOfTime:  # what is found is good enough
                break
    found.x[held] = ask.rows(found.x[held], held)
    return found


def _improved(ask: Ask, room: Room, candidates: FloatArray, ladder: Ladder, x: FloatArray, look: Look) -> FloatArray:
    """Make accepted points cheaper, until they are next to refused ones."""
    x = _with_new_categories(ask, room, x, look)
    near = _within_range(room, candidates, look)
    if look.thorough:
        x = _thoroughly(ask, near, candidates, ladder, x)
    elif look.polished:
        x = fill(ask, near, polish(ask, near, x))
    return _narrowed(ask, room, x, look.resolution)


def _thoroughly(ask: Ask, room: Room, candidates: FloatArray, ladder: Ladder, x: FloatArray) -> FloatArray:
    """Take changes back, also those of candidates, and look for points with few changes that cost less."""
    m, n = len(room), min(_ENDS, len(candidates))
    ends = nearest_segments(room, candidates, 0, n)
    owner = np.repeat(np.arange(m), n)
    points = ends.point(np.arange(m * n), ends.cost.ravel())
    accepted = np.flatnonzero(ends.cost.ravel() > 0.0)
    accepted = accepted[ask(points[accepted], owner[accepted])]
    points, owner = np.concatenate([x, points[accepted]]), np.append(np.arange(m), owner[accepted])
    points = polish(ask.take(owner), room.take(owner), points)
    x = points[best_of_each(owner, room.cost(points, owner))]
    few = exchange(ask, room, cheapest_few(ask, room, ladder, x))
    found = np.flatnonzero((few != x).any(axis=1))
    few[found] = polish(ask.take(found), room.take(found), few[found])
    return fill(ask, room, few)


def _alone(room: Room, look: Look) -> list[Segments]:
    """Return the segments that change one column only."""
    switches: list[Segments] = [Switches(room)] if room.limits.categories.any() else []
    return switches if look.ranges is None else [*switches, Axes(room, room.x0, *look.ranges)]


def _within_range(room: Room, candidates: FloatArray, look: Look) -> Room:
    """Let numbers go no further than the training rows do, where the limits would."""
    limits = room.limits
    low, high = look.ranges or (candidates.min(axis=0), candidates.max(axis=0))
    lower, upper = (np.clip(side, limits.lower, limits.upper) for side in (low, high))
    return Room(replace(limits, lower=lower, upper=upper), room.x0, room.free)


def _with_new_categories(ask: Ask, room: Room, x: FloatArray, look: Look) -> FloatArray:
    """Look along single columns again with the categories of the best points so far, where these are others."""
    start = np.where(room.limits.categories, x, room.x0)
    switched = np.flatnonzero((start != room.x0).any(axis=1))
    if look.ranges is None or not len(switched):
        return x
    some, x = room.take(switched), x.copy()
    axes = Axes(some, start[switched], *look.ranges)
    better, shorter = _Search(ask.take(switched), axes, some.limits.cost(x[switched], some.x0)).run(look.resolution)
    x[switched[shorter]] = better[shorter]
    return x


def _narrowed(ask: Ask, room: Room, x: FloatArray, resolution: float) -> FloatArray:
    """Follow the segments to accepted points back until they are next to refused ones."""
    segments = ToPoints(room, x)
    cost = segments.cost[:, 0]
    search = _Search(ask, segments, np.nextafter(cost, np.inf))
    search.settle(np.arange(len(room)), cost)
    shorter = search.run(resolution, alone=True)[0]
    # On a grid the row that a shorter way stands for may cost more.
    costs = (room.limits.cost(ask.rows(points, np.arange(len(room))), room.x0) for points in (shorter, x))
    return np.where(np.less_equal(*costs)[:, None], shorter, x)


class _Search:
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
