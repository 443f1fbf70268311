"""Segments from people to where they might be accepted: to candidates, along single columns, single switches.

Categories switch where a segment begins, and what that costs is its *jump*; the numbers then move along it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import cdist

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math.limits import Limits, Room

__all__ = ["Axes", "Joined", "Segments", "Switches", "ToCandidates", "ToPoints", "nearest_segments"]

_DISTANCES = 2**18  # entries of a block of the distance matrix
_SOME, _AMPLE = 16, 1.3  # every so many of them tell where the cheapest end, and how much more is taken


class Segments(ABC):
    """Segments from every person, the same number of each, numbered person by person; one without a cost is none."""

    room: Room
    cost: FloatArray  # (m, K): of their ends
    jump: FloatArray  # (m, K): of their beginnings

    def owner(self, segment: IntArray) -> IntArray:
        """People that the segments belong to."""
        owner: IntArray = segment // self.cost.shape[1]
        return owner

    @abstractmethod
    def ends(self, owner: IntArray, way: IntArray) -> FloatArray:
        """Return the ends of the segments number `way` of their owners."""

    def point(self, segment: IntArray, cost: FloatArray) -> FloatArray:
        """Points at the given costs of the segments, at least their jumps; their ends where these cost less."""
        owner = self.owner(segment)
        start, end = self.room.x0.take(owner, axis=0), self.ends(owner, segment % self.cost.shape[1])
        jump = self.jump.ravel().take(segment)
        length = self.cost.ravel().take(segment) - jump
        # An end that only switches has no length but by rounding.
        part = np.clip((cost - jump) / np.where(length > 0.0, length, 1.0), 0.0, 1.0)[:, None]
        kept = end == start
        kept |= self.room.limits.categories
        # In this form the ends of a segment are exactly its ends.
        points = end * part
        start *= 1.0 - part
        points += start
        np.copyto(points, end, where=kept)
        return self.room.clipped(points, owner)


class Joined(Segments):
    """Several kinds of segments of the same people, one after the other."""

    def __init__(self, parts: Sequence[Segments]) -> None:
        self._parts, self.room = parts, parts[0].room
        self.cost = np.concatenate([part.cost for part in parts], axis=1)
        self.jump = np.concatenate([part.jump for part in parts], axis=1)
        self._first = np.cumsum([0, *(part.cost.shape[1] for part in parts)])

    def ends(self, owner: IntArray, way: IntArray) -> FloatArray:
        """Return the ends of the segments number `way` of their owners."""
        kind = np.searchsorted(self._first, way, side="right") - 1
        ends = np.empty((len(way), self.room.x0.shape[1]))
        for k, part in enumerate(self._parts):
            mine = kind == k
            if mine.all():
                return part.ends(owner, way - self._first[k])
            if mine.any():
                ends[mine] = part.ends(owner[mine], way[mine] - self._first[k])
        return ends


class Switches(Segments):
    """Switches of a single column to each of the categories that it may have."""

    def __init__(self, room: Room) -> None:
        self.room, limits = room, room.limits
        columns = np.flatnonzero(limits.categories)
        codes = [np.flatnonzero(limits.targets[k]) for k in columns]  # type: ignore[arg-type]
        self._column = np.repeat(columns, [len(known) for known in codes])
        self._code = np.concatenate([np.zeros(0), *codes]).astype(float)
        self.cost = np.zeros((len(room), len(self._code)))
        every = np.arange(len(room))
        for way, (k, code) in enumerate(zip(self._column, self._code, strict=True)):
            self.cost[:, way] = np.where(room.may_switch(int(k), every, code), limits.weights[k], 0.0)
        self.jump = self.cost

    def ends(self, owner: IntArray, way: IntArray) -> FloatArray:
        """Return the people with the switched category."""
        ends = self.room.x0.take(owner, axis=0)
        ends[np.arange(len(ends)), self._column[way]] = self._code[way]
        return ends


class Axes(Segments):
    """The segments along single columns, down and up, to the end of a range or as far as the action set lets them.

    They begin at `start`, which has the numbers of the person and maybe other categories.
    """

    def __init__(self, room: Room, start: FloatArray, low: FloatArray, high: FloatArray) -> None:
        self._given, self.room, self._start = (low, high), room, start
        x0, limits, (lower, upper) = room.x0, room.limits, room.box
        # A person may be outside the range: then there is nowhere to go on that side.
        down, up = np.clip(np.minimum(low, x0), lower, upper), np.clip(np.maximum(high, x0), lower, upper)
        self._ends = np.concatenate([down, up], axis=1)
        way = np.abs(self._ends - np.tile(x0, 2)) * np.tile(limits.weights, 2)
        switched = limits.cost(start, x0)[:, None]
        moves = (way > 0.0) & np.tile(~limits.categories, 2)
        self.cost, self.jump = np.where(moves, way + switched, 0.0), np.where(moves, switched, 0.0)

    def ends(self, owner: IntArray, way: IntArray) -> FloatArray:
        """Return the people with one column at the end of its range."""
        ends = self._start.take(owner, axis=0)
        ends[np.arange(len(ends)), way % ends.shape[1]] = self._ends[owner, way]
        return ends


class ToPoints(Segments):
    """One segment for every person, to a point of its own within the action set."""

    def __init__(self, room: Room, points: FloatArray) -> None:
        self.room, self._points = room, points
        switched = np.where(room.limits.categories, points, room.x0)
        self.cost, self.jump = (room.limits.cost(to, room.x0)[:, None] for to in (points, switched))

    def ends(self, owner: IntArray, way: IntArray) -> FloatArray:  # noqa: ARG002
        """Return the points."""
        return self._points.take(owner, axis=0)


class ToCandidates(Segments):
    """The segments to candidates, which are moved into the action set."""

    def __init__(self, room: Room, candidates: FloatArray, index: IntArray, cost: FloatArray, jump: FloatArray) -> None:
        self.room, self.cost, self.jump = room, cost, jump
        self._candidates, self._index = candidates, index

    def ends(self, owner: IntArray, way: IntArray) -> FloatArray:
        """Return the candidates as far as their owners may become like them."""
        ends = self._candidates.take(self._index[owner, way], axis=0)
        for k in np.flatnonzero(self.room.limits.categories):
            allowed = self.room.may_switch(int(k), owner, ends[:, k])
            ends[:, k] = np.where(allowed, ends[:, k], self.room.x0[owner, k])
        return self.room.clipped(ends, owner)


def nearest_segments(room: Room, candidates: FloatArray, first: int, last: int) -> ToCandidates:
    """Choose the candidates whose rank in cost, after the move into the action set, is in ``[first, last)``.

    The costs to all candidates are one matrix for the people who may change the same columns.
    """
    shape = (len(room), last - first)
    index, cost, jump = np.empty(shape, dtype=np.int64), np.empty(shape), np.zeros(shape)
    kinds, kind = np.unique(room.free, axis=0, return_inverse=True)
    order = np.argsort(kind.ravel(), kind="stable")
    bounds = np.searchsorted(kind.ravel()[order], np.arange(len(kinds) + 1))
    for free, begin, end in zip(kinds, bounds, bounds[1:], strict=False):
        people = order[begin:end]
        part = room.limits.take(free)
        known = np.ascontiguousarray(candidates[:, free])
        own = np.ascontiguousarray(room.x0[np.ix_(people, np.flatnonzero(free))])
        index[people], cost[people], jump[people] = _nearest(own, known, part, first, last)
    return ToCandidates(room, candidates, index, cost, jump)


def _nearest(
    x0: FloatArray, candidates: FloatArray, limits: Limits, first: int, last: int
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return numbers, costs and jumps of the chosen candidates, of people who may change all these columns.

    A column that may only rise costs ``w [c - x]_+ = w (|c - x| + c - x) / 2``, so the costs are one L1 distance
    matrix and a term for each side.
    """
    categories = limits.categories
    ends = np.clip(candidates, limits.lower, limits.upper)
    both = limits.rises & limits.falls | categories
    scale = np.where(categories, 0.0, np.where(both, limits.weights, 0.5 * limits.weights))
    tilt = np.where(both, 0.0, np.where(limits.rises, scale, -scale))
    scaled_ends, end_tilt, start_tilt = ends * scale, (ends * tilt).sum(axis=1), (x0 * tilt).sum(axis=1)
    shape = (len(x0), last - first)
    index, cost, jump = np.empty(shape, dtype=np.int64), np.empty(shape), np.zeros(shape)
    rows = min(max(1, _DISTANCES // len(ends)), len(x0))
    scratch = np.empty((rows, len(ends)))
    for begin in range(0, len(x0), rows):
        block = slice(begin, begin + rows)
        starts = x0[block] * scale
        distances = cdist(starts, scaled_ends, "cityblock", out=scratch[: len(starts)])
        if not both.all():
            distances += end_tilt - start_tilt[block, None]
        switches = _switching_cost(x0[block], candidates, limits) if categories.any() else None
        if switches is not None:
            distances += switches
        chosen = _cheapest(distances, first, last)
        index[block] = chosen
        flat = chosen + len(ends) * np.arange(len(chosen))[:, None]
        cost[block] = distances.ravel().take(flat)
        if switches is not None:
            jump[block] = switches.ravel().take(flat)
    return index, cost, jump


def _switching_cost(x0: FloatArray, candidates: FloatArray, limits: Limits) -> FloatArray:
    """Price of the switches to the categories of every candidate, of shape (m, N); those not allowed are not made."""
    price = np.zeros((len(x0), len(candidates)))
    for k in np.flatnonzero(limits.categories):
        allowed: BoolArray = limits.may_switch(int(k), x0[:, k, None], candidates[None, :, k])
        np.add(price, limits.weights[k], out=price, where=allowed)
    return price


def _cheapest(distances: FloatArray, first: int, last: int) -> IntArray:
    """Columns of the entries whose rank in their row is in ``[first, last)``; of equal ones the first come first."""
    if first == 0 and last == distances.shape[1]:
        return np.broadcast_to(np.arange(last), distances.shape)
    if first:
        return np.argsort(distances, axis=1, kind="stable")[:, first:last]
    # Most entries are far too large: what some of them say about the border saves sorting the others.
    some = distances[:, ::_SOME]
    rank = min(int(_AMPLE * last / _SOME) + _SOME, some.shape[1] - 1)
    border = np.partition(some, rank, axis=1)[:, rank]
    chosen = np.empty((len(distances), last), dtype=np.int64)
    for row, (own, most) in enumerate(zip(distances, border, strict=True)):
        small = np.flatnonzero(own <= most)
        if len(small) < last:
            small = np.arange(len(own))
        chosen[row] = small[_smallest(own[small], last)]
    return chosen


def _smallest(values: FloatArray, n: int) -> IntArray:
    if n == len(values):
        return np.arange(n)
    chosen = np.argpartition(values, n - 1)[:n]
    # A partition splits ties at its border as it likes, and then later ranks would not be the rest.
    tied = (values <= values[chosen[-1]]).sum() > n
    return np.argsort(values, kind="stable")[:n] if tied else chosen
