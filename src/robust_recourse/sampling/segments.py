"""Segments from instances to where they might be accepted: to candidates, along single columns, single switches."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.spatial.distance import cdist

from robust_recourse._typing import FloatArray, IntArray
from robust_recourse.math.limits import Limits
from robust_recourse.math.projections import weighted_cost

__all__ = ["Axes", "Segments", "Switches", "ToCandidates", "mixed_cost", "nearest_segments", "to_points"]

_DISTANCES = 2**18  # entries of a block of the distance matrix


def mixed_cost(x: FloatArray, x0: FloatArray, limits: Limits) -> FloatArray:
    """Return the cost of every row of `x`: the weighted distance of the numbers, and the price of every switch."""
    return weighted_cost(np.where(limits.categories, x != x0, x - x0), np.zeros(x0.shape[-1]), limits.weights)


class Segments(ABC):
    """Segments from every instance of a batch, the same number of each, numbered instance by instance."""

    x0: FloatArray  # (m, p)
    cost: FloatArray  # (m, K): of their ends
    jump: FloatArray | None = None  # (m, K): of their beginnings, where categories switch; None for 0

    def owner(self, segment: IntArray) -> IntArray:
        """Instances that the segments belong to."""
        owner: IntArray = segment // self.cost.shape[1]
        return owner

    @abstractmethod
    def point(self, segment: IntArray, owner: IntArray, cost: FloatArray) -> FloatArray:
        """Points at the given costs of the segments, at least their jumps; their ends where these cost less."""

    def length(self, points: FloatArray) -> FloatArray:
        """Distances of points from the instances."""
        length: FloatArray = np.sqrt(((points - self.x0) ** 2).sum(axis=1))
        return length

    @abstractmethod
    def take(self, rows: IntArray) -> Segments:
        """Return the segments of some of the instances."""


class Switches(Segments):
    """Switches of a single column to each of the categories that it may have."""

    def __init__(self, x0: FloatArray, limits: Limits) -> None:
        self.x0, self._limits = x0, limits
        columns = np.flatnonzero(limits.categories)
        codes = [np.flatnonzero(limits.targets[k]) for k in columns]  # type: ignore[arg-type]
        self._column = np.repeat(columns, [len(known) for known in codes])
        self._code = np.concatenate([np.zeros(0), *codes]).astype(float)
        self.cost = np.zeros((len(x0), len(self._code)))
        for k in columns:
            mine = self._column == k
            allowed = limits.may_switch(
                int(k), x0[:, k, None], np.broadcast_to(self._code[mine], (len(x0), mine.sum()))
            )
            self.cost[:, mine] = np.where(allowed, limits.weights[k], 0.0)
        self.jump = self.cost

    def take(self, rows: IntArray) -> Switches:
        """Return the switches of some of the instances."""
        return Switches(self.x0[rows], self._limits)

    def point(self, segment: IntArray, owner: IntArray, cost: FloatArray) -> FloatArray:  # noqa: ARG002
        """Points with the switched category."""
        points = self.x0.take(owner, axis=0)
        way = segment % self.cost.shape[1]
        points[np.arange(len(points)), self._column[way]] = self._code[way]
        return points


class Axes(Segments):
    """The segments along single columns, down and up, to the end of a range or as far as the action set lets them.

    They begin at `start`, which has the numbers of the instance and maybe other categories.
    """

    def __init__(self, x0: FloatArray, start: FloatArray, limits: Limits, low: FloatArray, high: FloatArray) -> None:
        lower, upper = limits.box(x0)
        # An instance may lie outside the range: then there is nowhere to go on that side.
        ends = np.clip(np.minimum(low, x0), lower, upper), np.clip(np.maximum(high, x0), lower, upper)
        self._given = (limits, low, high)
        self.x0, self._start, self._weights = x0, start, limits.weights
        numbers = ~limits.categories
        self._ends = np.where(np.tile(numbers, 2), np.concatenate(ends, axis=1), np.tile(x0, 2))
        way = np.abs(self._ends - np.tile(x0, 2)) * np.tile(limits.weights, 2)
        switched = mixed_cost(start, x0, limits)[:, None]
        self.cost = np.where(way > 0.0, way + switched, 0.0)
        if switched.any():
            self.jump = np.where(way > 0.0, switched, 0.0)

    def take(self, rows: IntArray) -> Axes:
        """Return the segments of some of the instances."""
        return Axes(self.x0[rows], self._start[rows], *self._given)

    def point(self, segment: IntArray, owner: IntArray, cost: FloatArray) -> FloatArray:
        """Points at the given costs of the segments; their ends where these cost less."""
        points = self._start.take(owner, axis=0)
        way = segment % self.cost.shape[1]
        column = way % self.x0.shape[1]
        rows = np.arange(len(points))
        start, end = points[rows, column], self._ends[owner, way]
        spent = cost if self.jump is None else cost - self.jump[owner, way]
        move = start + np.sign(end - start) * spent / self._weights[column]
        points[rows, column] = np.where(
            cost < self.cost[owner, way], np.clip(move, np.minimum(start, end), np.maximum(start, end)), end
        )
        return points


class ToCandidates(Segments):
    """The segments to candidates, which are moved into the action set."""

    def __init__(
        self,
        x0: FloatArray,
        candidates: FloatArray,
        limits: Limits,
        index: IntArray,
        cost: FloatArray,
        jump: FloatArray | None = None,
    ) -> None:
        self.x0, self.cost, self.jump = x0, cost, jump
        self._candidates, self._limits, self._index = candidates, limits, index
        self._box = None if limits.unlimited else limits.box(x0)

    def take(self, rows: IntArray) -> ToCandidates:
        """Return the segments of some of the instances."""
        jump = None if self.jump is None else self.jump[rows]
        index = self._index[rows]
        return ToCandidates(self.x0[rows], self._candidates, self._limits, index, self.cost[rows], jump)

    def point(self, segment: IntArray, owner: IntArray, cost: FloatArray) -> FloatArray:
        """Points at the given costs of the segments; their ends where these cost less."""
        start = self.x0.take(owner, axis=0)
        end = self._candidates.take(self._index.ravel().take(segment), axis=0)
        spent, length = cost, self.cost.ravel().take(segment)
        if self.jump is not None:
            codes = _switched(start, end, self._limits)
            jump = self.jump.ravel().take(segment)
            spent, length = cost - jump, length - jump
        # A candidate that moves onto the instance, or only switches, has no length but by rounding.
        part = np.clip(spent / np.where(length > 0.0, length, 1.0), 0.0, 1.0)
        if self._box is not None:
            lower, upper = (bound.take(owner, axis=0) for bound in self._box)
            np.clip(end, lower, upper, out=end)
        same = np.where(end == start, start, np.nan)
        # In this form the ends of a segment are exactly its ends.
        end *= part[:, None]
        start *= (1.0 - part)[:, None]
        end += start
        np.copyto(end, same, where=~np.isnan(same))
        if self._box is not None:
            np.clip(end, lower, upper, out=end)
        if self.jump is not None:
            end[:, self._limits.categories] = codes
        return end


def to_points(x0: FloatArray, ends: FloatArray, limits: Limits) -> ToCandidates:
    """Return one segment for every instance, to a point of its own within the action set."""
    switches = np.where(limits.categories, ends, x0)
    cost, jump = (mixed_cost(points, x0, limits)[:, None] for points in (ends, switches))
    index = np.arange(len(x0))[:, None]
    return ToCandidates(x0, ends, limits, index, cost, jump if limits.categories.any() else None)


def _switched(own: FloatArray, other: FloatArray, limits: Limits) -> FloatArray:
    """Categories of the rows `other` where the rows `own` may switch to them, and their own elsewhere."""
    columns = np.flatnonzero(limits.categories)
    codes = [np.where(limits.may_switch(int(k), own[:, k], other[:, k]), other[:, k], own[:, k]) for k in columns]
    return np.stack(codes, axis=1)


def nearest_segments(x0: FloatArray, candidates: FloatArray, limits: Limits, first: int, last: int) -> ToCandidates:
    """Choose the candidates whose rank in cost, after the move into the action set, is in ``[first, last)``.

    A column that may only rise costs ``w [c - x]_+ = w (|c - x| + c - x) / 2``, so the costs are one L1 distance
    matrix and a term for each side.
    """
    low, high = limits.lower, limits.upper
    ends = np.clip(candidates, low, high)
    both = limits.rises & limits.falls | limits.categories
    scale = np.where(limits.categories, 0.0, np.where(both, limits.weights, 0.5 * limits.weights))
    tilt = np.where(both, 0.0, np.where(limits.rises, scale, -scale))
    scaled_ends, end_tilt, start_tilt = ends * scale, (ends * tilt).sum(axis=1), (x0 * tilt).sum(axis=1)
    index = np.empty((len(x0), last - first), dtype=np.int64)
    cost = np.empty((len(x0), last - first))
    mixed = bool(limits.categories.any())
    jump = np.zeros_like(cost) if mixed else None
    rows = min(max(1, _DISTANCES // len(ends)), len(x0))
    scratch = np.empty((rows, len(ends)))
    for begin in range(0, len(x0), rows):
        block = slice(begin, begin + rows)
        starts = x0[block] * scale
        distances = cdist(starts, scaled_ends, "cityblock", out=scratch[: len(starts)])
        if not both.all():
            distances += end_tilt - start_tilt[block, None]
        switches = _switching_cost(x0[block], candidates, limits) if mixed else None
        if switches is not None:
            distances += switches
        chosen = _cheapest(distances, first, last)
        index[block] = chosen
        flat = chosen + len(ends) * np.arange(len(chosen))[:, None]
        cost[block] = distances.ravel().take(flat)
        if jump is not None and switches is not None:
            jump[block] = switches.ravel().take(flat)
    return ToCandidates(x0, candidates, limits, index, cost, jump)


def _switching_cost(x0: FloatArray, candidates: FloatArray, limits: Limits) -> FloatArray:
    """Price of the switches to the categories of every candidate, of shape (m, N); those not allowed are not made."""
    price = np.zeros((len(x0), len(candidates)))
    for k in np.flatnonzero(limits.categories):
        allowed = limits.may_switch(int(k), x0[:, k, None], candidates[None, :, k])
        np.add(price, limits.weights[k], out=price, where=allowed)
    return price


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
