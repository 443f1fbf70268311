"""What the methods share that sample around a boundary point."""

from __future__ import annotations

from typing import Literal

import numpy as np

from robust_recourse._typing import FloatArray
from robust_recourse._validation import check_choice, check_flag, check_integer, check_real
from robust_recourse.methods._base import Chunk, RecourseMethod
from robust_recourse.sampling.boundary import Boundary
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
            mutable = (self.limits_.rises | self.limits_.falls) & self.moves_.numbers
            across = diameter(table[:, mutable]) if mutable.any() else 0.0
            if across == 0.0:
                raise ValueError("X has diameter 0 in the columns that may change; use radius_unit='absolute'.")
            self.radius_ *= across
        check_real(self.radius_, "the sampling radius", minimum=SHORTEST, maximum=LONGEST)

    def _looking(self) -> tuple[int, float, tuple[FloatArray, FloatArray] | None]:
        ranges = (self.lowest_, self.highest_) if self.axes else None
        return self.n_neighbors, _RESOLUTION * self.radius_, ranges

    def _boundary(self, oracle: Oracle, chunk: Chunk) -> Boundary:
        """Find the boundary points of a chunk, in the columns that may change, if they are not known."""
        if chunk.centres is not None:
            return Boundary(chunk.centres, np.ones(len(chunk.rows), dtype=bool))
        return self._find_boundary(oracle, chunk.x0, chunk.free)
