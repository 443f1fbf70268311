"""What the methods share that sample around a boundary point."""

from __future__ import annotations

from typing import Literal, Protocol

from robust_recourse._typing import FloatArray
from robust_recourse._validation import check_choice, check_flag, check_integer, check_real
from robust_recourse.actions.moves import Moves
from robust_recourse.math.limits import Limits
from robust_recourse.sampling.boundary import Look
from robust_recourse.sampling.diameter import diameter

__all__ = ["LONGEST", "SHORTEST", "Local", "check_sampling", "learn_sampling", "look_from"]

SHORTEST, LONGEST = 1e-100, 1e100  # of the lengths that are given, so that their squares and ratios are numbers

_MOST_SAMPLES = 1_000_000  # of one person, so that they fit in memory
_RADIUS = {True: 0.2, False: 2.0}  # of arrays and of frames, in units of cost
_RESOLUTION = 0.01  # of the boundary point, in sampling radii


class Local(Protocol):
    """A method that searches the boundary and draws samples within a radius of it."""

    n_neighbors: int
    n_samples: int
    sampling_radius: float | None
    radius_unit: Literal["absolute", "diameter"]
    axes: bool
    limits_: Limits
    moves_: Moves
    lowest_: FloatArray
    highest_: FloatArray
    radius_: float


def check_sampling(method: Local) -> None:
    """Raise for parameters of the search and of the samples that are out of range."""
    check_integer(method.n_neighbors, "n_neighbors", minimum=1)
    check_integer(method.n_samples, "n_samples", minimum=2)
    check_real(method.n_samples, "n_samples", maximum=_MOST_SAMPLES)
    if method.sampling_radius is not None:
        check_real(method.sampling_radius, "sampling_radius", minimum=0.0, strict=True, maximum=LONGEST)
    check_choice(method.radius_unit, "radius_unit", ("absolute", "diameter"))
    check_flag(method.axes, "axes")


def learn_sampling(method: Local, points: FloatArray) -> None:
    """Learn the range of the training rows, and the sampling radius as a length."""
    method.lowest_, method.highest_ = points.min(axis=0), points.max(axis=0)
    default = _RADIUS[method.moves_.plain]
    method.radius_ = default if method.sampling_radius is None else float(method.sampling_radius)
    if method.radius_unit == "diameter":
        mutable = (method.limits_.rises | method.limits_.falls) & method.moves_.numbers
        across = diameter(points[:, mutable]) if mutable.any() else 0.0
        if across == 0.0:
            raise ValueError("X has diameter 0 in the columns that may change; use radius_unit='absolute'.")
        method.radius_ *= across
    check_real(method.radius_, "the sampling radius", minimum=SHORTEST, maximum=LONGEST)


def look_from(method: Local) -> Look:
    """Return how such a method looks for boundary points."""
    ranges = (method.lowest_, method.highest_) if method.axes else None
    thorough = method.axes and not method.moves_.plain
    return Look(method.n_neighbors, _RESOLUTION * method.radius_, ranges, method.axes, thorough)
