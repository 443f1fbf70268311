"""What the methods share that sample around a boundary point."""

from __future__ import annotations

from typing import Literal

import numpy as np

from robust_recourse._typing import FloatArray
from robust_recourse._validation import check_choice, check_flag, check_integer, check_real
from robust_recourse.methods._base import Chunk, RecourseMethod
from robust_recourse.sampling.boundary import Boundary, find_boundary
from robust_recourse.sampling.diameter import diameter
from robust_recourse.sampling.oracle import Oracle

__all__ = ["LONGEST", "SHORTEST", "LocalMethod"]

SHORTEST, LONGEST = 1e-100, 1e100  # of the lengths that are given, so that their squares and ratios are numbers

_RESOLUTION = 0.01  # of the boundary point, in sampling radii


class LocalMethod(RecourseMethod):
    """Base of the methods that search the boundary and draw samples within a radius of it."""

    n_neighbors: int
    n_samples: int
    sampling_radius: float
    radius_unit: Literal["absolute", "diameter"]
    axes: bool

    def _check_sampling(self) -> None:
        """Raise for parameters of the search and of the samples that are out of range."""
        check_integer(self.n_neighbors, "n_neighbors", minimum=1)
        check_integer(self.n_samples, "n_samples", minimum=2)
        check_real(self.sampling_radius, "sampling_radius", minimum=0.0, strict=True, maximum=LONGEST)
        check_choice(self.radius_unit, "radius_unit", ("absolute", "diameter"))
        check_flag(self.axes, "axes")

    def _learn_sampling(self, table: FloatArray) -> None:
        """Learn the range of the training rows, and the sampling radius as a length."""
        self.lowest_, self.highest_ = table.min(axis=0), table.max(axis=0)
        self.radius_ = float(self.sampling_radius)
        if self.radius_unit == "diameter":
            mutable = self.limits_.rises | self.limits_.falls
            across = diameter(table[:, mutable]) if mutable.any() else 0.0
            if across == 0.0:
                raise ValueError("X has diameter 0 in the columns that may change; use radius_unit='absolute'.")
            self.radius_ *= across
        check_real(self.radius_, "the sampling radius", minimum=SHORTEST, maximum=LONGEST)

    def _boundary(self, oracle: Oracle, chunk: Chunk) -> Boundary:
        """Find the boundary points of a chunk, in the columns that may change."""
        free = chunk.free
        # A selection of columns is laid out by columns, and sums over a row would then depend on the batch.
        points, candidates = (np.ascontiguousarray(rows[:, free]) for rows in (chunk.x0, self.candidates_))
        ranges = (self.lowest_[free], self.highest_[free]) if self.axes else None
        resolution = _RESOLUTION * self.radius_
        return find_boundary(oracle, points, candidates, self.limits_.take(free), self.n_neighbors, resolution, ranges)
