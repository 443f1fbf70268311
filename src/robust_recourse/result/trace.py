"""How a search came to its recourse, for figures and worst cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse._validation import check_vector
from robust_recourse.actions.moves import Moves
from robust_recourse.math.adversary import WorstCase, recover
from robust_recourse.math.odds import Scales
from robust_recourse.sampling.neighbourhood import Neighbourhood

__all__ = ["Trace"]


@dataclass(frozen=True, eq=False)
class Trace:
    """How a search came to its recourse: in units of cost, with the columns in the order of the training rows.

    Attributes
    ----------
    x0, x, boundary : ndarray of shape (p,)
        Instance, recourse and boundary point, as what the person does; NaN where there is none.
    moves : Moves
        What may change in the table, and what a point stands for there.
    own : ndarray of shape (p,)
        The instance in the units of the table, with codes of categories.
    missing : ndarray of bool, shape (p,)
        Which of its cells are empty.
    path : ndarray of shape (n_steps + 1, p) or None
        The iterates from the boundary point to the end of the descent.
    neighbourhood : Neighbourhood or None
        The labelled samples; None where none were drawn.
    scales : Scales or None
        Smoothing and ambiguity radii of the odds; None where there are no odds.
    weights : ndarray of shape (p,) or None
        Cost weights of the columns.
    order : ndarray of int, shape (p,), or None
        Where the columns of the table are in the points; None: in the same order.
    """

    x0: FloatArray
    x: FloatArray
    boundary: FloatArray
    moves: Moves
    own: FloatArray
    missing: BoolArray
    path: FloatArray | None = None
    neighbourhood: Neighbourhood | None = None
    scales: Scales | None = None
    weights: FloatArray | None = None
    order: IntArray | None = None

    def became(self, points: FloatArray) -> FloatArray:
        """Return what becomes of the person at points, of shape (n, p): rows in the units of the table, with codes."""
        values = points
        if not self.moves.plain:
            told = self.moves.rounded(self.moves.to_values(points))
            values = np.where(points == self.x0, self.own, told)
        own, missing = np.broadcast_to(self.own, points.shape), np.broadcast_to(self.missing, points.shape)
        return self.moves.consequences(values, own, missing)

    def point(self, row: Any) -> FloatArray:
        """Return a row of the table in units of cost; of a frame only the columns that may change are read."""
        if self.moves.plain:
            return check_vector(row, "at", width=len(self.x))
        cells, order = list(row), np.arange(len(self.x)) if self.order is None else self.order
        if len(cells) != len(order):
            raise ValueError(f"at must have a value for each of the {len(order)} columns, got {len(cells)}.")
        values, read = self.own.copy(), np.zeros(len(order), dtype=bool)
        for k, cell in zip(order, cells, strict=True):
            if self.neighbourhood is not None and self.neighbourhood.numbers[k]:
                values[k], read[k] = check_vector([cell], "at")[0], True
        return np.where(read, self.moves.to_points(values), self.x)

    def worst_case(self, point: FloatArray) -> WorstCase:
        """Recover the worst-case mixtures at a point; they live in the columns that may change."""
        around = self.neighbourhood
        assert around is not None
        assert self.scales is not None
        return recover(around.lengths(point), around.free_samples, around.accepted, *self.scales)
