"""How a search came to its recourse, for figures and worst cases."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robust_recourse._typing import FloatArray, IntArray
from robust_recourse._validation import check_vector
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
        Instance, recourse and boundary point; NaN where there is none.
    path : ndarray of shape (n_steps + 1, p) or None
        The iterates from the boundary point to the end of the descent.
    neighbourhood : Neighbourhood or None
        The labelled samples; None where none were drawn.
    scales : Scales or None
        Smoothing and ambiguity radii of the odds; None where there are no odds.
    weights : ndarray of shape (p,) or None
        Cost weights of the columns.
    unit : ndarray of shape (p,) or None
        A number times `unit` is in the units of the table, NaN for columns without numbers or with costs
        of their own; None: it already is.
    grid : ndarray of shape (p,) or None
        What numbers that are told are multiples of, in the units of the table; 0: they may be anything.
    order : ndarray of int, shape (p,), or None
        Where the columns of the table are in the points; None: in the same order.
    """

    x0: FloatArray
    x: FloatArray
    boundary: FloatArray
    path: FloatArray | None = None
    neighbourhood: Neighbourhood | None = None
    scales: Scales | None = None
    weights: FloatArray | None = None
    unit: FloatArray | None = None
    grid: FloatArray | None = None
    order: IntArray | None = None

    def point(self, row: Any) -> FloatArray:
        """Return a row of the table in units of cost; of a frame only the columns that may change are read."""
        if self.unit is None:
            return check_vector(row, "at", width=len(self.x))
        cells, order = list(row), np.arange(len(self.x)) if self.order is None else self.order
        if len(cells) != len(order):
            raise ValueError(f"at must have a value for each of the {len(order)} columns, got {len(cells)}.")
        point = self.x.copy()
        for k, cell in zip(order, cells, strict=True):
            if self.neighbourhood is not None and self.neighbourhood.numbers[k]:
                if np.isnan(self.unit[k]):
                    raise ValueError("at cannot be given where a column has a cost of its own, in actions.cost.")
                point[k] = check_vector([cell], "at")[0] / self.unit[k]
        return point

    def worst_case(self, point: FloatArray) -> WorstCase:
        """Recover the worst-case mixtures at a point; they live in the columns that may change."""
        around = self.neighbourhood
        assert around is not None
        assert self.scales is not None
        return recover(around.lengths(point), around.free_samples, around.accepted, *self.scales)
