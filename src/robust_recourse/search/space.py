"""The rows of a table in the coordinates of the search, and back."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray, Rounding, Rows
from robust_recourse.actions.moves import Moves
from robust_recourse.tables import Table
from robust_recourse.tables.decoded import decoded

__all__ = ["Space"]


@dataclass(frozen=True, eq=False)
class Space:
    """People as *points*: numbers in units of cost, categories as codes, all columns of the table.

    Every point stands for what a person does, as it can be told: within bounds, on the grid of steps, in the types of
    the columns. What becomes of the person are these values and those of the columns that follow.
    The model is only asked about such rows, so that no rounding comes after its answer.

    Attributes
    ----------
    table : Table
        The rows of the people, who are numbered by their place in it.
    moves : Moves
        What may change in them.
    rows : ndarray of int, shape (m,)
        The numbers of these rows in the table that was given.
    """

    table: Table
    moves: Moves
    rows: Rows

    @classmethod
    def of(cls, table: Table, moves: Moves) -> Space:
        """Take all rows of a table."""
        return cls(table, moves, Rows(np.arange(len(table))))

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def points(self) -> FloatArray:
        """The people as they are, of shape (m, p); 0 in columns that never change, which would count in lengths."""
        fixed = np.array([column.kind == "fixed" for column in self.moves.columns])
        return np.where(fixed, 0.0, self.moves.to_points(self.table.values))

    @property
    def steps(self) -> FloatArray:
        """Steps of the numbers in units of cost, of shape (p,); 0 if they may be anything, or have no one length."""
        steps = np.array([column.grid for column in self.moves.columns])
        return np.where(self.moves.linear, steps / self.moves.units, 0.0)

    @property
    def exact(self) -> bool:
        """Whether every point is a row, so that nothing is rounded: the table is an array."""
        return self.table.asked is None

    def take(self, people: IntArray) -> Space:
        """Keep some of the people, in this order; they may repeat."""
        return replace(self, table=self.table.take(people), rows=self.rows_of(people))

    def rows_of(self, people: IntArray) -> Rows:
        """Return the numbers of the rows of people in the table that was given."""
        return Rows(self.rows[people])

    def legal(self, points: FloatArray, people: IntArray, rounding: Rounding = "nearest") -> FloatArray:
        """Return the values, in the units of the table, that points of the people stand for."""
        if self.exact:
            return points
        return self.moves.settle(self._values(points, people), self.table.values[people], rounding)

    def snap(self, points: FloatArray, people: IntArray, rounding: Rounding = "nearest") -> FloatArray:
        """Move points to what they stand for."""
        if self.exact:
            return points
        values = self.legal(points, people, rounding)
        return np.where(values == self.table.values[people], self.points[people], self.moves.to_points(values))

    def consequences(self, values: FloatArray, people: IntArray, *, smoothly: bool = False) -> FloatArray:
        """Return what becomes of people who do something: that, and the columns that follow."""
        return self.moves.consequences(values, self.table.values[people], self.table.missing[people], smoothly=smoothly)

    def decode(self, values: FloatArray, people: IntArray) -> Any:
        """Return what becomes of people who do something, as the model gets it."""
        return self.table.decode(self.consequences(values, people), people)

    def unpacked(self, values: FloatArray, people: IntArray) -> Any:
        """Return the same for a model that is asked about many rows: a frame is only made if it wants one."""
        return decoded(self.table, self.consequences(values, people), people)

    def decode_smoothly(self, points: FloatArray, people: IntArray) -> Any:
        """Return rows for derivatives: nothing is rounded."""
        values = points if self.exact else self._values(points, people)
        return self.table.decode(self.consequences(values, people, smoothly=True), people)

    def keeps_rules(self, values: FloatArray, people: IntArray) -> BoolArray:
        """Whether the rules hold in what becomes of people who do something."""
        return self.moves.keeps_rules(values, self.table.values[people], self.table.missing[people])

    def broken_rule(self, point: FloatArray, person: int) -> str:
        """Return the first rule that does not hold in the row that a point stands for; empty if all do."""
        people = np.array([person])
        values = self.legal(point[None], people)[0]
        return self.moves.broken_rule(values, self.table.values[person], self.table.missing[person])

    def column_costs(self, x: FloatArray, people: IntArray) -> FloatArray:
        """Return what the change of every column costs, of shape (n, p)."""
        values, own, moves = self.legal(x, people), self.table.values[people], self.moves
        change = np.where(moves.numbers, np.abs(moves.to_points(values) - moves.to_points(own)), values != own)
        costs: FloatArray = change * moves.weights
        return costs

    def _values(self, points: FloatArray, people: IntArray) -> FloatArray:
        # A number that did not move keeps its bits.
        return np.where(points == self.points[people], self.table.values[people], self.moves.to_values(points))
