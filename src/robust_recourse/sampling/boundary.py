r"""Search for the cheapest point on the decision boundary.

The candidates of an instance are accepted training rows, moved into its action set. A segment from the instance
to a candidate crosses the boundary at some cost, and the cheapest crossing is wanted. The cost grows linearly
along a segment, so that *"is the point of this segment at cost* :math:`\tau` *accepted?"* decides whether the
segment can beat an incumbent of cost :math:`\tau`: all segments are asked that once, in one batch, and only
those that answer yes are looked at again.

Training rows differ from an instance in all columns at once, and an L1 cost charges for each. The corners of an L1
ball lie on the axes: where the boundary is a hyperplane, the cheapest point on it changes one column only. So the
segments along single columns, up to the ends of the range of the training rows, compete in the end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math.limits import Limits
from robust_recourse.math.projections import weighted_cost
from robust_recourse.sampling.oracle import Oracle

__all__ = ["Boundary", "find_boundary", "nearest_segments"]

_FIRST = 6  # nearest segments whose bisection gives the first incumbent
_PICKS = 3  # contenders bisected in every later round
_SHARES = (32, 128, 512)  # segments that compete before the others do
_COARSE, _FINE = 2.0**-7, 1e-6  # widths of a bracket relative to its cost: to compare segments, and at the end
_MOST_HALVINGS = 60
_ROWS = 8192  # points built at once
_PAIRS = 2**20  # segments that are looked at together
_DISTANCES = 2**18  # entries of a block of the distance matrix


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
) -> Boundary:
    """Find the cheapest boundary point of every instance.

    Parameters
    ----------
    oracle : Oracle
        The model.
    x0 : ndarray of shape (m, p)
        Refused instances in the columns that may change.
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
    if ranges is not None and found.found.any():
        _shorten(oracle, x0, limits, ranges, resolution, found)
    return found


def _shorten(
    oracle: Oracle,
    x0: FloatArray,
    limits: Limits,
    ranges: tuple[FloatArray, FloatArray],
    resolution: float,
    found: Boundary,
) -> None:
    """Replace boundary points by cheaper ones that change a single column, where there are some."""
    reached = np.flatnonzero(found.found)
    for part in np.array_split(reached, -(-2 * len(reached) * x0.shape[1] // _PAIRS)):
        segments = _Axes(x0[part], limits, *ranges)
        cost = weighted_cost(found.x[part], x0[part], limits.weights)
        points, shorter = _Search(oracle, segments, part, most=cost).run(resolution)
        found.x[part[shorter]] = points[shorter]


class _Segments(ABC):
    """Segments from every instance of a batch, the same number of each, numbered instance by instance."""

    x0: FloatArray  # (m, p)
    cost: FloatArray  # (m, K): of their ends

    def owner(self, segment: IntArray) -> IntArray:
        """Instances that the segments belong to."""
        owner: IntArray = segment // self.cost.shape[1]
        return owner

    @abstractmethod
    def point(self, segment: IntArray, owner: IntArray, cost: FloatArray) -> FloatArray:
        """Points at the given costs of the segments; their ends where these cost less."""


class _Axes(_Segments):
    """The segments along single columns, down and up, to the end of a range or as far as the action set lets them."""

    def __init__(self, x0: FloatArray, limits: Limits, low: FloatArray, high: FloatArray) -> None:
        lower, upper = limits.box(x0)
        # An instance may lie outside the range: then there is nowhere to go on that side.
        ends = np.clip(np.minimum(low, x0), lower, upper), np.clip(np.maximum(high, x0), lower, upper)
        self.x0, self._ends, self._weights = x0, np.concatenate(ends, axis=1), limits.weights
        self.cost = np.abs(self._ends - np.tile(x0, 2)) * np.tile(limits.weights, 2)

    def point(self, segment: IntArray, owner: IntArray, cost: FloatArray) -> FloatArray:
        """Points at the given costs of the segments; their ends where these cost less."""
        points = self.x0.take(owner, axis=0)
        way = segment % self.cost.shape[1]
        column = way % self.x0.shape[1]
        rows = np.arange(len(points))
        start, end = points[rows, column], self._ends[owner, way]
        move = start + np.sign(end - start) * cost / self._weights[column]
        points[rows, column] = np.where(
            cost < self.cost[owner, way], np.clip(move, np.minimum(start, end), np.maximum(start, end)), end
        )
        return points


class _ToCandidates(_Segments):
    """The segments to candidates, which are moved into the action set."""

    def __init__(
        self, x0: FloatArray, candidates: FloatArray, limits: Limits, index: IntArray, cost: FloatArray
    ) -> None:
        self.x0, self.cost = x0, cost
        self._candidates, self._index = candidates, index.ravel()
        self._box = None if limits.unlimited else limits.box(x0)

    def point(self, segment: IntArray, owner: IntArray, cost: FloatArray) -> FloatArray:
        """Points at the given costs of the segments; their ends where these cost less."""
        start = self.x0.take(owner, axis=0)
        end = self._candidates.take(self._index.take(segment), axis=0)
        part = np.minimum(cost / self.cost.ravel().take(segment), 1.0)
        if self._box is not None:
            lower, upper = (bound.take(owner, axis=0) for bound in self._box)
            np.clip(end, lower, upper, out=end)
        # In this form the ends of a segment are exactly its ends.
        end *= part[:, None]
        start *= (1.0 - part)[:, None]
        end += start
        if self._box is not None:
            np.clip(end, lower, upper, out=end)
        return end


def nearest_segments(x0: FloatArray, candidates: FloatArray, limits: Limits, first: int, last: int) -> _ToCandidates:
    """Choose the candidates whose rank in cost, after the move into the action set, is in ``[first, last)``.

    A column that may only rise costs ``w [c - x]_+ = w (|c - x| + c - x) / 2``, so the costs are one L1 distance
    matrix and a term for each side.
    """
    ends = np.clip(candidates, limits.lower, limits.upper)
    both = limits.rises & limits.falls
    scale = np.where(both, limits.weights, 0.5 * limits.weights)
    tilt = np.where(both, 0.0, np.where(limits.rises, scale, -scale))
    scaled_ends, end_tilt, start_tilt = ends * scale, (ends * tilt).sum(axis=1), (x0 * tilt).sum(axis=1)
    index = np.empty((len(x0), last - first), dtype=np.int64)
    cost = np.empty((len(x0), last - first))
    rows = min(max(1, _DISTANCES // len(ends)), len(x0))
    scratch = np.empty((rows, len(ends)))
    for begin in range(0, len(x0), rows):
        block = slice(begin, begin + rows)
        starts = x0[block] * scale
        distances = cdist(starts, scaled_ends, "cityblock", out=scratch[: len(starts)])
        if not both.all():
            distances += end_tilt - start_tilt[block, None]
        chosen = _cheapest(distances, first, last)
        index[block] = chosen
        flat = chosen + len(ends) * np.arange(len(chosen))[:, None]
        cost[block] = distances.ravel().take(flat)
    return _ToCandidates(x0, candidates, limits, index, cost)


def _cheapest(distances: FloatArray, first: int, last: int) -> IntArray:
    """Columns of the entries whose rank in their row is in ``[first, last)``; of equal ones the first come first."""
    if first == 0 and last == distances.shape[1]:
        return np.broadcast_to(np.arange(last), distances.shape)
    if first:
        return np.argsort(distances, axis=1, kind="stable")[:, first:last]
    chosen = np.argpartition(distances, last - 1, axis=1)[:, :last]
    # A partition splits ties at its border as it likes, and then later ranks would not be the rest.
    border = distances[np.arange(len(distances)), chosen[:, -1]]
    tied = np.flatnonzero((distances <= border[:, None]).sum(axis=1) > last)
    chosen[tied] = np.argsort(distances[tied], axis=1, kind="stable")[:, :last]
    return chosen


class _Search:
    """The incumbents of a batch of instances, and how they are improved.

    With `most`, only what is cheaper than these costs is searched, by more than the coarse bracket.
    """

    def __init__(self, oracle: Oracle, segments: _Segments, owners: IntArray, most: FloatArray | None = None) -> None:
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
        way = np.sqrt(((points - self._segments.x0) ** 2).sum(axis=1))
        wide = rows
        for _ in range(_MOST_HALVINGS):
            share = 1.0 - self._low[wide] / self._high[wide]
            wide = wide[(share > _FINE) | (share * way[wide] > resolution)]
            if not len(wide):
                break
            middle = 0.5 * (self._low[wide] + self._high[wide])
            yes = self._accepted(self._best[wide], middle)
            self._high[wide[yes]], self._low[wide[~yes]] = middle[yes], middle[~yes]
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
        cost = np.where(self._segments.cost > 0.0, self._segments.cost, np.inf)
        m, width = cost.shape
        few = min(_FIRST, width)
        nearest = np.argpartition(cost, few - 1, axis=1)[:, :few]
        segments: IntArray = (nearest + width * np.arange(m)[:, None]).ravel()
        cost = cost.ravel()
        segments = segments[np.isfinite(cost[segments])]
        segments = segments[self._accepted(segments, cost[segments])]
        without = np.ones(m, dtype=bool)
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
        owner = self._segments.owner(segments)
        for _ in range(_MOST_HALVINGS):
            np.minimum.at(floor, owner, high)
            alive = low < floor[owner]
            segments, owner, low, high = segments[alive], owner[alive], low[alive], high[alive]
            wide = np.flatnonzero(high - low > _COARSE * high)
            if not len(wide):
                break
            middle = 0.5 * (low[wide] + high[wide])
            yes = self._accepted(segments[wide], middle)
            high[wide[yes]], low[wide[~yes]] = middle[yes], middle[~yes]
        order = np.lexsort((segments, high, owner))
        winner = order[_rank_within(owner[order]) == 0]
        winner = winner[high[winner] < self._high[owner[winner]]]
        at = owner[winner]
        self._best[at], self._low[at], self._high[at] = segments[winner], low[winner], high[winner]

    def _accepted(self, segments: IntArray, cost: FloatArray) -> BoolArray:
        accepted = np.empty(len(segments), dtype=bool)
        for first in range(0, len(segments), _ROWS):
            block = slice(first, first + _ROWS)
            owner = self._segments.owner(segments[block])
            points = self._segments.point(segments[block], owner, cost[block])
            accepted[block] = self._oracle(points, self._owners[owner])
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
