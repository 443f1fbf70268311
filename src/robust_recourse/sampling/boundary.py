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

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math.limits import Room
from robust_recourse.sampling.asking import Ask, OutOfTime
from robust_recourse.sampling.combining import combine, tells_more
from robust_recourse.sampling.competing import Competition
from robust_recourse.sampling.exchanging import exchange
from robust_recourse.sampling.few import cheapest_few
from robust_recourse.sampling.filling import fill
from robust_recourse.sampling.nearest import nearest_accepted
from robust_recourse.sampling.options import Ladder, ladder_of
from robust_recourse.sampling.polishing import polish
from robust_recourse.sampling.ranking import best_of_each
from robust_recourse.sampling.segments import Axes, Joined, Segments, Switches, ToPoints, nearest_segments

__all__ = ["Boundary", "Look", "find_boundary"]

_PAIRS = 2**20  # segments that are looked at together
_ENDS = 3  # candidates whose changes are taken back


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
    in_time: bool = True  # whether all were searched for before the time was over


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
    ladder = ladder_of(candidates) if look.thorough else []
    found = _led(ask, room, candidates, ladder, look, known)
    left = np.flatnonzero(~found.found)
    if len(left):
        some = None if known is None else known[left]
        try:
            others = _searched(ask.take(left), room.take(left), candidates, ladder, look, some)
            found.x[left], found.found[left] = others.x, others.found
        except OutOfTime:
            if not found.found.any():
                raise
            found = found._replace(in_time=False)
    held = np.flatnonzero(found.found)
    found.x[held] = ask.rows(found.x[held], held)
    return found


def _led(
    ask: Ask, room: Room, candidates: FloatArray, ladder: Ladder, look: Look, known: FloatArray | None
) -> Boundary:
    """Go where the scores of the model lead, from the nearest accepted candidates; nowhere if it says yes or no."""
    every, nowhere = np.arange(len(room)), Boundary(np.full_like(room.x0, np.nan), np.zeros(len(room), dtype=bool))
    if not look.thorough:
        return nowhere
    tells = tells_more(ask, room.x0, every)
    x, found = _or_known(room, *nearest_accepted(ask, room, candidates), known)[:2]
    x[found] = ask.rows(x[found], every[found])
    found[found] = tells[found] | tells_more(ask, x[found], every[found])
    near = _within_range(room, candidates, look)
    for part in _parts(np.flatnonzero(found), x.shape[1]):
        some, question = near.take(part), ask.take(part)
        x[part], found[part] = combine(question, some, ladder, x[part])
        held = np.flatnonzero(found[part])
        try:
            x[part[held]] = _narrowed(question.take(held), some.take(held), x[part[held]], look.resolution)
        except OutOfTime:  # what is found is good enough
            break
    return Boundary(np.where(found[:, None], x, np.nan), found)


def _searched(
    ask: Ask, room: Room, candidates: FloatArray, ladder: Ladder, look: Look, known: FloatArray | None
) -> Boundary:
    """Let segments compete, and improve what wins."""
    found = Boundary(np.full_like(room.x0, np.nan), np.zeros(len(room), dtype=bool))
    missing, first, last = np.arange(len(room)), 0, look.n_neighbors
    while len(missing) and first < len(candidates):
        last = min(last, len(candidates))
        for part in np.array_split(missing, -(-len(missing) * (last - first) // _PAIRS)):
            some = room.take(part)
            alone = _alone(some, look) if first == 0 else []
            segments = Joined([*alone, nearest_segments(some, candidates, first, last)])
            width = sum(segment.cost.shape[1] for segment in alone)
            x, reached = Competition(ask.take(part), segments, alone=width).run(look.resolution)
            found.x[part[reached]], found.found[part[reached]] = x[reached], True
        missing = missing[~found.found[missing]]
        first, last = last, 3 * last
    if known is not None:
        # The row that a point stands for may cost more.
        held = np.flatnonzero(found.found)
        found.x[held] = ask.rows(found.x[held], held)
    found = _or_known(room, found.x, found.found, known)
    for part in _parts(np.flatnonzero(found.found), room.x0.shape[1]):
        try:
            found.x[part] = _improved(ask.take(part), room.take(part), candidates, ladder, found.x[part], look)
        except OutOfTime:  # what is found is good enough
            break
    return found


def _or_known(room: Room, x: FloatArray, found: BoolArray, known: FloatArray | None) -> Boundary:
    """Replace points by known ones that cost less."""
    if known is not None:
        cost, least = (np.nan_to_num(room.limits.cost(points, room.x0), nan=np.inf) for points in (x, known))
        cheaper = least < cost
        x[cheaper], found[cheaper] = known[cheaper], True
    return Boundary(x, found)


def _parts(people: IntArray, width: int) -> Iterator[IntArray]:
    """Yield people who fit in memory together."""
    yield from (part for part in np.array_split(people, -(-len(people) * width // _PAIRS) or 1) if len(part))


def _improved(ask: Ask, room: Room, candidates: FloatArray, ladder: Ladder, x: FloatArray, look: Look) -> FloatArray:
    """Make accepted points cheaper, until they are next to refused ones."""
    x = _with_new_categories(ask, room, x, look)
    near = _within_range(room, candidates, look)
    if look.thorough:
        x = _all_over(ask, near, candidates, ladder, x)
    elif look.polished:
        x = fill(ask, near, polish(ask, near, x))
    return _narrowed(ask, room, x, look.resolution)


def _all_over(ask: Ask, room: Room, candidates: FloatArray, ladder: Ladder, x: FloatArray) -> FloatArray:
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
    better, shorter = Competition(ask.take(switched), axes, some.limits.cost(x[switched], some.x0)).run(look.resolution)
    x[switched[shorter]] = better[shorter]
    return x


def _narrowed(ask: Ask, room: Room, x: FloatArray, resolution: float) -> FloatArray:
    """Follow the segments to accepted points back until they are next to refused ones."""
    segments = ToPoints(room, x)
    cost = segments.cost[:, 0]
    search = Competition(ask, segments, np.nextafter(cost, np.inf))
    search.settle(np.arange(len(room)), cost)
    shorter = search.run(resolution, alone=True)[0]
    # On a grid the row that a shorter way stands for may cost more.
    costs = (room.limits.cost(ask.rows(points, np.arange(len(room))), room.x0) for points in (shorter, x))
    return np.where(np.less_equal(*costs)[:, None], shorter, x)
