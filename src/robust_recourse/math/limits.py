"""What may change, as arrays: bounds, directions and weights of the columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray

__all__ = ["Limits", "Room"]


@dataclass(frozen=True)
class Limits:
    """Limits of every column, common to all instances.

    Attributes
    ----------
    lower, upper : ndarray of shape (p,)
        Bounds, infinite where there is none.
    rises, falls : ndarray of bool, shape (p,)
        Whether the column may go up, and whether it may go down.
    weights : ndarray of shape (p,)
        Positive cost weights.
    targets : tuple of ndarray of bool, or None for each column
        Of columns of categories: which codes they may switch to. None for columns of numbers.
    never : tuple of ndarray of bool, or None for each column
        Switches that are forbidden, from the code of a row to that of a column; None where there are none.
    """

    lower: FloatArray
    upper: FloatArray
    rises: BoolArray
    falls: BoolArray
    weights: FloatArray
    targets: tuple[BoolArray | None, ...] = field(default=())
    never: tuple[BoolArray | None, ...] = field(default=())

    def __post_init__(self) -> None:
        for name in ("targets", "never"):
            if not getattr(self, name):
                object.__setattr__(self, name, (None,) * len(self.lower))

    def take(self, columns: BoolArray) -> Limits:
        """Keep the selected columns."""
        arrays = {name: getattr(self, name)[columns] for name in ("lower", "upper", "rises", "falls", "weights")}
        targets, never = (tuple(known[k] for k in np.flatnonzero(columns)) for known in (self.targets, self.never))
        return replace(self, **arrays, targets=targets, never=never)

    @property
    def categories(self) -> BoolArray:
        """Which columns hold categories."""
        return np.array([target is not None for target in self.targets], dtype=bool)

    def cost(self, x: FloatArray, x0: FloatArray) -> FloatArray:
        """Return the cost of every row of `x`: the weighted distance of the numbers, and the price of every switch."""
        change = np.where(self.categories, x != x0, np.abs(x - x0))
        cost: FloatArray = (change * self.weights).sum(axis=-1)
        return cost

    def without_codes(self, x0: FloatArray) -> FloatArray:
        """Return instances with 0 for codes of categories: these are names, and no draw shall depend on them."""
        return np.where(self.categories, 0.0, x0)

    def box(self, x0: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the bounds of every instance, with the directions turned into bounds at the instance itself.

        They always hold the instance: one beyond the bounds may stay where it is.
        """
        lower, upper = self.reach(x0)
        return np.where(self.falls, lower, x0), np.where(self.rises, upper, x0)

    def reach(self, x0: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the bounds of every instance without the directions, wide enough for the instance itself."""
        return np.minimum(self.lower, x0), np.maximum(self.upper, x0)

    def holds(self, x0: FloatArray) -> BoolArray:
        """Whether each instance lies within the bounds of the columns that may change."""
        inside = (self.lower <= x0) & (x0 <= self.upper)
        return np.asarray((inside | ~(self.rises | self.falls)).all(axis=1))

    def may_switch(self, column: int, own: FloatArray, code: FloatArray) -> BoolArray:
        """Whether an instance with the category `own` may switch to `code`; negative codes are no known category."""
        target = self.targets[column]
        if target is None:
            raise ValueError(f"column {column} holds no categories")
        known, never = np.append(target, False), self.never[column]  # the last entry is where negative codes point
        at, to = np.maximum(own, -1.0).astype(np.int64), np.maximum(code, -1.0).astype(np.int64)
        allowed = known[to] & (code != own)
        if never is not None:
            allowed = allowed & ~np.pad(never, (0, 1))[at, to]
        if not self.falls[column]:
            allowed = allowed & (code > own) & (own >= 0.0)
        if not self.rises[column]:
            allowed = allowed & (code < own)
        return np.asarray(allowed)


@dataclass(frozen=True, eq=False)
class Room:
    """How far each of some people may go: the limits of the columns, and which of them each person may change.

    Attributes
    ----------
    limits : Limits
        The limits of the columns.
    x0 : ndarray of shape (m, p)
        The people.
    free : ndarray of bool, shape (m, p)
        The columns that each may change, numbers or categories.
    """

    limits: Limits
    x0: FloatArray
    free: BoolArray

    @cached_property
    def box(self) -> tuple[FloatArray, FloatArray]:
        """Bounds of the numbers, of shape (m, p): the person's own value where they may not change."""
        numbers = self.free & ~self.limits.categories
        lower, upper = self.limits.box(self.x0)
        return np.where(numbers, lower, self.x0), np.where(numbers, upper, self.x0)

    @cached_property
    def _unlimited(self) -> bool:
        return bool((np.isneginf(self.box[0]) & np.isposinf(self.box[1])).all())

    def __len__(self) -> int:
        return len(self.x0)

    def clipped(self, points: FloatArray, people: IntArray) -> FloatArray:
        """Move the numbers of points of the people into their bounds, in place."""
        if not self._unlimited:
            lower, upper = (side.take(people, axis=0) for side in self.box)
            np.clip(points, lower, upper, out=points, where=~self.limits.categories)
        return points

    def take(self, people: IntArray | BoolArray) -> Room:
        """Keep some of the people."""
        return Room(self.limits, self.x0[people], self.free[people])

    def cost(self, x: FloatArray, people: IntArray) -> FloatArray:
        """Return what points of the people cost them."""
        return self.limits.cost(x, self.x0[people])

    def may_switch(self, column: int, people: IntArray, code: FloatArray) -> BoolArray:
        """Whether the people may switch a column to the categories `code`."""
        own, free = self.x0[people, column], self.free[people, column]
        return np.asarray(self.limits.may_switch(column, own, code) & free)
