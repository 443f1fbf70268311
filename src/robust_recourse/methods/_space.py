"""A table in the coordinates of the search, and what is asked about its points."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.actions.moves import Moves, Rounding
from robust_recourse.sampling.oracle import Predict
from robust_recourse.tables import Table

__all__ = ["OutOfTime", "Question", "Space", "check_time"]


class OutOfTime(Exception):  # noqa: N818
    """The time limit has passed; caught where the rows that are left get their status."""


def check_time(deadline: float | None) -> None:
    """Raise if the deadline, in seconds since the epoch, has passed."""
    if deadline is not None and time.time() > deadline:
        raise OutOfTime


@dataclass(frozen=True, eq=False)
class Space:
    """The rows of a table as *points*: numbers in units of cost, categories as codes.

    Every point stands for a row that can be told to a person: within bounds, on the grid of steps, in the types of
    the columns. The model is only asked about such rows, so that no rounding comes after its answer.

    Attributes
    ----------
    table : Table
        The rows.
    moves : Moves
        What may change in them.
    rows : ndarray of int, shape (m,)
        Their numbers in the table that was given, in order.
    """

    table: Table
    moves: Moves
    rows: IntArray

    @cached_property
    def points(self) -> FloatArray:
        """The rows as they are, of shape (m, p); 0 in columns that never change, which would count in lengths."""
        fixed = np.array([column.kind == "fixed" for column in self.moves.columns])
        return np.where(fixed, 0.0, self.table.values / self.moves.units)

    @property
    def exact(self) -> bool:
        """Whether every point is a row, so that nothing is rounded: the table is an array."""
        return self.table.asked is None

    def take(self, rows: IntArray) -> Space:
        """Keep the rows with these numbers, in ascending order."""
        return replace(self, table=self.table.take(self.place(rows)), rows=rows)

    def place(self, rows: IntArray) -> IntArray:
        """Return where the rows with these numbers are."""
        return np.searchsorted(self.rows, rows)

    def legal(self, points: FloatArray, rows: IntArray, rounding: Rounding = "nearest") -> FloatArray:
        """Return the values, in the units of the table, that points of the rows with these numbers stand for."""
        if self.exact:
            return points
        place = self.place(rows)
        own = self.table.values[place]
        return self.moves.settle(self._values(points, place), own, rounding)

    def snap(self, points: FloatArray, rows: IntArray, rounding: Rounding = "nearest") -> FloatArray:
        """Move points to what they stand for."""
        if self.exact:
            return points
        place, values = self.place(rows), self.legal(points, rows, rounding)
        return np.where(values == self.table.values[place], self.points[place], values / self.moves.units)

    def decode(self, points: FloatArray, rows: IntArray) -> Any:
        """Return the rows that points stand for, as the model gets them."""
        return self.table.decode(self.legal(points, rows), self.place(rows))

    def decode_smoothly(self, points: FloatArray, rows: IntArray) -> Any:
        """Return rows for derivatives: nothing is rounded."""
        place = self.place(rows)
        return self.table.decode(points if self.exact else self._values(points, place), place)

    def keeps_rules(self, points: FloatArray, rows: IntArray) -> BoolArray:
        """Whether the rules hold in the rows that points stand for."""
        return self.moves.keeps_rules(self.legal(points, rows), self.table.missing[self.place(rows)])

    def broken_rule(self, point: FloatArray, row: int) -> str:
        """Return the first rule that does not hold in the row that a point stands for."""
        rows = np.array([row])
        return self.moves.broken_rule(self.legal(point[None], rows)[0], self.table.missing[self.place(rows)][0])

    def _values(self, points: FloatArray, place: IntArray) -> FloatArray:
        # A number that did not move keeps its bits.
        return np.where(points == self.points[place], self.table.values[place], points * self.moves.units)


class Question:
    """Whether a point is a recourse: the model accepts the row that it stands for, and the rules hold in it.

    Parameters
    ----------
    predict : Predict
        The model.
    space : Space
        Where the points are.
    deadline : float or None
        When to stop asking, in seconds since the epoch.
    """

    def __init__(self, predict: Predict, space: Space, deadline: float | None = None) -> None:
        self._predict, self._space, self._deadline = predict, space, deadline

    def __call__(self, points: FloatArray, rows: IntArray) -> BoolArray:
        """Return which points are recourses; `rows` are the numbers of their instances."""
        check_time(self._deadline)
        accepted = self._predict(points, rows)
        return accepted & self._space.keeps_rules(points, rows) if self._space.moves.rules else accepted
