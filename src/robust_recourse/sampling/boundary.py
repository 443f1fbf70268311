r"""Search for the cheapest point on the decision boundary.

The candidates of an instance are accepted training rows, moved into its action set. A segment from the instance
to a candidate crosses the boundary at some cost, and the cheapest crossing is wanted. The cost grows linearly
along a segment, so that *"is the point of this segment at cost* :math:`\tau` *accepted?"* decides whether the
segment can beat an incumbent of cost :math:`\tau`: all segments are asked that once, in one batch, and only
those that answer yes are looked at again.

Training rows differ from an instance in all columns at once, and an L1 cost charges for each. The corners of an L1
ball lie on the axes: where the boundary is a hyperplane, the cheapest point on it changes one column only. So the
segments along single columns, up to the ends of the range of the training rows, compete in the end.

Columns of categories have no segments: they switch, all at once, where a segment begins, and what that costs is the
*jump* of the segment. Switches of a single column compete, too, as segments that are a jump and nothing else.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math.limits import Limits
from robust_recourse.sampling.oracle import Oracle
from robust_recourse.sampling.segments import Axes, Segments, Switches, mixed_cost, nearest_segments, to_points

__all__ = ["Boundary", "find_boundary"]

_FIRST = 6  # nearest segments whose bisection gives the first incumbent
_PICKS = 3  # contenders bisected in every later round
_SHARES = (32, 128, 512)  # segments that compete before the others do
_COARSE, _FINE = 2.0**-7, 1e-6  # widths of a bracket relative to its cost: to compare segments, and at the end
_MOST_HALVINGS = 60
_ROWS = 8192  # points built at once
_PAIRS = 2**20  # segments that are looked at together
_THINNINGS = 3  # times that changes are taken back
_NUMBERS = 2**23  # in the points of these questions that are held together


class Boundary(NamedTuple):
    """Boundary points, on the favourable side, of many instances."""

    x: FloatArray  # (m, p), NaN where there is none
    found: BoolArray  # (m,)


def find_boundary(
    oracle: Oracle,
    x0: FloatArray,
    candidates: FloatArray,
    limits: Limits,
    n_neighbors: int,
    resolution: float,
    ranges: tuple[FloatArray, FloatArray] | None = None,
    *,
    thin: bool = False,
) -> Boundary:
    """Find the cheapest boundary point of every instance.

    Parameters
    ----------
    oracle : Oracle
        The model.
    x0 : ndarray of shape (m, p)
        Refused instances in the columns that may change: numbers, and codes of categories.
    candidates : ndarray of shape (N, p)
        Accepted training rows in the same columns.
    limits : Limits
        The action set in the same columns.
    n_neighbors : int
        Number of segments tried for every instance: those to the candidates that are cheapest once moved into
        the action set. If none of their ends is accepted, the next cheapest follow, twice as many each time.
    resolution : float
        Largest distance of a boundary point from a refused point of the same segment.
    ranges : tuple of ndarray of shape (p,), optional
        Smallest and largest value that a column may reach when it changes alone. None: no column does.
    thin : bool
        Whether changes that do not help are taken back, as far as that makes the point cheaper.

    Returns
    -------
    Boundary
        Points that the model accepts, within the resolution, and a millionth of the way, of a refused point.
    """
    found = Boundary(np.full_like(x0, np.nan), np.zeros(len(x0), dtype=bool))
    missing = np.arange(len(x0))
    first, last = 0, n_neighbors
    while len(missing) and first < len(candidates):
        last = min(last, len(candidates))
        for part in np.array_split(missing, -(-len(missing) * (last - first) // _PAIRS)):
            segments = nearest_segments(x0[part], candidates, limits, first, last)
            points, reached = _Search(oracle, segments, part).run(resolution)
            found.x[part[reached]] = points[reached]
            found.found[part[reached]] = True
        missing = missing[~found.found[missing]]
        first, last = last, 3 * last
    every = np.arange(len(x0))
    if limits.categories.any():
        _shorten(oracle, Switches(x0, limits), every, limits, resolution, found)
    if ranges is not None:
        _shorten(oracle, Axes(x0, x0, limits, *ranges), every, limits, resolution, found)
        # Again with the categories of the best point so far, where these are others.
        start = np.where(limits.categories & found.found[:, None], found.x, x0)
        switched = np.flatnonzero((start != x0).any(axis=1))
        _shorten(oracle, Axes(x0, start, limits, *ranges), switched, limits, resolution, found)
    thinner = every[found.found]
    for _ in range(_THINNINGS if thin else 0):
        ends, thinner = _thinned(oracle, x0, limits, found, thinner)
        _shorten(oracle, to_points(x0, ends, limits), thinner, limits, resolution, found)
    return found


def _thinned(
    oracle: Oracle, x0: FloatArray, limits: Limits, found: Boundary, rows: IntArray
) -> tuple[FloatArray, IntArray]:
    """Take back changes of `rows` that do not help; return accepted points, and the instances that have new ones.

    A segment to a candidate changes every column, be it for better or worse. On the boundary a question for each column
    tells which: where the point is still accepted without a change, that change does not help.
    """
    ends, new = found.x.copy(), np.zeros(len(x0), dtype=bool)
    rows = rows[(found.x[rows] != x0[rows]).sum(axis=1) > 1]
    for part in np.array_split(rows, -(-len(rows) * x0.shape[1] ** 2 // _NUMBERS) or 1):
        owner, column = np.nonzero(found.x[part] != x0[part])
        trials = found.x[part[owner]]
        trials[np.arange(len(owner)), column] = x0[part[owner], column]
        useless = np.flatnonzero(oracle(trials.copy(), part[owner]))
        thin = found.x[part]
        thin[owner[useless], column[useless]] = x0[part[owner[useless]], column[useless]]
        fewer = np.unique(owner[useless])
        together = oracle(thin[fewer], part[fewer])
        ends[part[fewer[together]]] = thin[fewer[together]]
        # What can be taken back alone may be needed without the others: then only the dearest is.
        cost = mixed_cost(trials[useless], x0[part[owner[useless]]], limits)
        for i in fewer[~together]:
            mine = np.flatnonzero(owner[useless] == i)
            ends[part[i]] = trials[useless[mine[cost[mine].argmin()]]]
        new[part[fewer]] = True
    return ends, np.flatnonzero(new)


def _shorten(
    oracle: Oracle, segments: Segments, rows: IntArray, limits: Limits, resolution: float, found: Boundary
) -> None:
    """Replace boundary points by cheaper ones on other segments, where there are some."""
    x0 = segments.x0
    if not len(rows) or not segments.cost[rows].any():
        return
    for part in np.array_split(rows, -(-segments.cost[rows].size // _PAIRS)):
        cost = np.where(found.found[part], mixed_cost(found.x[part], x0[part], limits), np.inf)
        points, shorter = _Search(oracle, segments.take(part), part, most=cost).run(resolution)
        found.x[part[shorter]], found.found[part[shorter]] = points[shorter], True


class _Search:
    """The incumbents of a batch of instances, and how they are improved.

    With `most`, only what is cheaper than these costs is searched, by more than the coarse bracket.
    """

    def __init__(self, oracle: Oracle, segments: Segments, owners: IntArray, most: FloatArray | None = None) -> None:
        self._oracle, self._segments, self._owners = oracle, segments, owners
        m = len(segments.cost)
        self._best = np.full(m, -1)  # segment of the incumbent
        self._low, self._high = np.zeros(m), np.full(m, np.inf)  # costs of a refused and an accepted point of it
        if most is not None:
            self._low, self._high = (1.0 - _COARSE) * most, most.copy()

    def run(self, resolution: float) -> tuple[FloatArray, BoolArray]:
        """Return the cheapest points found, and for which instances there is one."""
        open_segments = self._segments.cost > 0.0
        if np.isinf(self._high).any():
            first = self._first_segments()
            self._bisect(first, self._segments.cost.ravel()[first])
            open_segments.ravel()[first] = False
        open_segments &= np.isfinite(self._high)[:, None]
        # In growing shares: each makes the incumbent good, so that few of the next and larger one can beat it.
        width = open_segments.shape[1]
        bounds = [0, *(share for share in _SHARES if share < width), width]
        for begin, end in pairwise(bounds):
            owner, k = np.nonzero(open_segments[:, begin:end])
            self._improve(owner * width + k + begin)
        reached = self._best >= 0
        rows = np.flatnonzero(reached)
        points = np.full(self._segments.x0.shape, np.nan)
        points[rows] = self._segments.point(self._best[rows], rows, self._high[rows])
        way = self._segments.length(points)
        wide = rows
        for _ in range(_MOST_HALVINGS):
            share = 1.0 - self._low[wide] / self._high[wide]
            wide = wide[(share > _FINE) | (share * way[wide] > resolution)]
            if not len(wide):
                break
            self._low[wide], self._high[wide] = self._halve(self._best[wide], self._low[wide], self._high[wide])
        points[rows] = self._segments.point(self._best[rows], rows, self._high[rows])
        return points, reached

    def _improve(self, contenders: IntArray) -> None:
        """Let segments compete with the incumbents until none is left that is cheaper."""
        cost = self._segments.cost.ravel()
        while len(contenders):
            # Cheaper than the incumbent for sure: accepted at a cost at which the incumbent's segment is not.
            contenders = contenders[self._accepted(contenders, self._low[self._segments.owner(contenders)])]
            picked = _spread(self._segments.owner(contenders))
            picks = contenders[picked]
            self._bisect(picks, np.minimum(self._low[self._segments.owner(picks)], cost[picks]))
            contenders = contenders[~picked]

    def _first_segments(self) -> IntArray:
        """Choose the cheapest segments whose ends are accepted; ask for all ends where none of the first few is."""
        needed = (self._segments.cost > 0.0) & np.isinf(self._high)[:, None]
        cost = np.where(needed, self._segments.cost, np.inf)
        m, width = cost.shape
        few = min(_FIRST, width)
        nearest = np.argpartition(cost, few - 1, axis=1)[:, :few]
        segments: IntArray = (nearest + width * np.arange(m)[:, None]).ravel()
        cost = cost.ravel()
        segments = segments[np.isfinite(cost[segments])]
        segments = segments[self._accepted(segments, cost[segments])]
        without = np.isinf(self._high)
        without[self._segments.owner(segments)] = False
        if without.any():
            more = np.flatnonzero(np.isfinite(cost) & np.repeat(without, width))
            more = more[self._accepted(more, cost[more])]
            more = more[np.lexsort((more, cost[more], self._segments.owner(more)))]
            segments = np.append(segments, more[_rank_within(self._segments.owner(more)) < few])
        return segments

    def _bisect(self, segments: IntArray, high: FloatArray) -> None:
        """Bisect segments accepted at cost `high`, dropping those beaten by another of the same instance."""
        low, floor = np.zeros(len(segments)), self._high.copy()
        low = np.where(high <= self._jump(segments), high, low)
        owner = self._segments.owner(segments)
        for _ in range(_MOST_HALVINGS):
            np.minimum.at(floor, owner, high)
            alive = (low < floor[owner]) | (high <= floor[owner])
            segments, owner, low, high = segments[alive], owner[alive], low[alive], high[alive]
            wide = np.flatnonzero(high - low > _COARSE * high)
            if not len(wide):
                break
            low[wide], high[wide] = self._halve(segments[wide], low[wide], high[wide])
        order = np.lexsort((segments, high, owner))
        winner = order[_rank_within(owner[order]) == 0]
        winner = winner[high[winner] < self._high[owner[winner]]]
        at = owner[winner]
        self._best[at], self._low[at], self._high[at] = segments[winner], low[winner], high[winner]

    def _halve(self, segments: IntArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Halve the brackets of segments; nothing on a segment is cheaper than its jump."""
        jump = self._jump(segments)
        middle = np.maximum(0.5 * (low + high), np.minimum(jump, high))
        yes = self._accepted(segments, middle)
        low, high = np.where(yes, low, middle), np.where(yes, middle, high)
        return np.where(high <= jump, high, low), high

    def _jump(self, segments: IntArray) -> FloatArray:
        jump = self._segments.jump
        return np.zeros(len(segments)) if jump is None else jump.ravel().take(segments)

    def _accepted(self, segments: IntArray, cost: FloatArray) -> BoolArray:
        # Below its jump a segment has not begun.
        accepted = cost >= self._jump(segments)
        begun = np.flatnonzero(accepted)
        for first in range(0, len(begun), _ROWS):
            asked = begun[first : first + _ROWS]
            owner = self._segments.owner(segments[asked])
            points = self._segments.point(segments[asked], owner, cost[asked])
            accepted[asked] = self._oracle(points, self._owners[owner])
        return accepted


def _spread(owner: IntArray) -> BoolArray:
    """Mark a few contenders of every instance, spread over its list."""
    rank, count = _rank_within(owner), np.bincount(owner, minlength=1)[owner]
    marked: BoolArray = (rank * _PICKS // count) != ((rank - 1) * _PICKS // count)
    return marked


def _rank_within(sorted_groups: IntArray) -> IntArray:
    """Position of every entry within its run of equal entries."""
    starts = np.flatnonzero(np.diff(sorted_groups, prepend=-1))
    lengths = np.diff(np.append(starts, len(sorted_groups)))
    return np.arange(len(sorted_groups)) - np.repeat(starts, lengths)
