"""Where the labelled samples come from by which points are judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math.odds import Scales
from robust_recourse.sampling.neighbourhood import Neighbourhood

__all__ = ["Around", "Given", "HasNeighbourhoods", "Local", "Surroundings", "check_samples", "unlike"]

_AT_ONCE = 2**22  # distances that are held together: 32 MiB
_SAME = 1e-9  # difference up to which a number did not change


@runtime_checkable
class HasNeighbourhoods(Protocol):
    """A fitted method that draws labelled samples around people, in which points can be judged."""

    def to_points(self, X: Any, name: str) -> FloatArray:
        """Return rows, which messages call `name`, in the coordinates of the samples."""

    def neighbourhoods_of(self, x0: Any, points: Any) -> Sequence[Neighbourhood | str]:
        """Return a neighbourhood for every instance and its point, or a sentence that says why there is none."""

    def scales_at(self, radius: float) -> Scales:
        """Return smoothing and ambiguity radii that belong to a sampling radius."""


class Local(NamedTuple):
    """A point and its labelled samples, in the columns that may change."""

    point: FloatArray
    samples: FloatArray
    accepted: BoolArray


class Around(NamedTuple):
    """Distances of some rows from their samples."""

    rows: IntArray
    distances: FloatArray  # (len(rows), n)
    accepted: BoolArray  # (len(rows), n)
    p: int


class Given(NamedTuple):
    """Samples that were given."""

    free_samples: FloatArray  # (n, p)
    accepted: BoolArray  # (n,)


@dataclass(frozen=True, eq=False)
class Surroundings:
    """The points of some rows, each with labelled samples of both classes.

    Attributes
    ----------
    points : mapping of int to ndarray
        The points by row, in the columns in which their samples vary.
    around : mapping of int to Neighbourhood or Given
        Their samples. Those of a neighbourhood are drawn again whenever they are needed.
    """

    points: Mapping[int, FloatArray]
    around: Mapping[int, Neighbourhood | Given]

    def batches(self) -> Iterator[Around]:
        """Yield the distances of all rows, those with as many samples and columns together, a bounded number."""
        shapes: dict[tuple[int, int], list[int]] = {}
        for row, point in self.points.items():
            shapes.setdefault((len(self.around[row].accepted), len(point)), []).append(row)
        for (n, p), rows in shapes.items():
            size = max(1, _AT_ONCE // n)
            for first in range(0, len(rows), size):
                part = rows[first : first + size]
                distances, accepted = np.empty((len(part), n)), np.empty((len(part), n), dtype=bool)
                # A distance beyond the range of floating point is infinite.
                with np.errstate(over="ignore"):
                    for i, row in enumerate(part):
                        away = self.points[row] - self.around[row].free_samples
                        distances[i], accepted[i] = np.einsum("np,np->n", away, away), self.around[row].accepted
                yield Around(np.array(part), np.sqrt(distances, out=distances), accepted, p)

    def local(self, row: int) -> Local:
        """Return copies of the point and of the samples of a row."""
        around = self.around[row]
        return Local(self.points[row].copy(), np.array(around.free_samples), around.accepted.copy())


def unlike(point: FloatArray, around: Neighbourhood) -> str:
    """Say why a point cannot be judged in a neighbourhood; nothing if it can."""
    if around.accepted.all() or not around.accepted.any():
        does = "accepts" if around.accepted.all() else "refuses"
        return f"The model {does} all samples of the neighbourhood, so that there are no odds: use a larger radius."
    apart = ~around.free & ~np.isclose(point, around.centre, rtol=_SAME, atol=_SAME)
    if apart.any():
        columns = ", ".join(map(str, np.flatnonzero(apart)))
        return f"The point changes what does not vary in its neighbourhood (columns, from 0: {columns})."
    return ""


def check_samples(samples: Any, labels: Any, m: int, width: int) -> tuple[FloatArray, BoolArray]:
    """Return the samples of `m` points with `width` columns, and which of them are accepted; both classes occur."""
    try:
        array = np.array(samples, dtype=float, order="C")
    except (TypeError, ValueError) as error:
        raise TypeError(f"samples must be numeric: {error}.") from error
    if array.ndim not in {2, 3} or 0 in array.shape:
        raise ValueError(
            f"samples must have shape (n, p), common to all points, or (m, n, p), own ones of each; got {array.shape}."
        )
    if array.shape[-1] != width:
        raise ValueError(f"samples must have {width} columns, as points have, got {array.shape[-1]}.")
    if array.ndim == 3 and len(array) != m:
        raise ValueError(f"samples must have one set for each of the {m} points, got {len(array)}.")
    if not np.isfinite(array).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"samples must be finite, got {array[place]} at index {place}.")
    given = np.asarray(labels)
    shapes = [array.shape[:-1]] if array.ndim == 2 else [array.shape[1:-1], array.shape[:-1]]
    if given.shape not in shapes:
        raise ValueError(f"labels must have shape {' or '.join(map(str, shapes))}, as samples have, got {given.shape}.")
    accepted = given == 1
    known = accepted | (given == 0)
    if not known.all():
        place = tuple(int(i) for i in np.argwhere(~known)[0])
        raise ValueError(f"labels must be 0 (refused) or 1 (accepted), got {given[place]!r} at index {place}.")
    rows = np.atleast_2d(accepted)
    one_class = np.flatnonzero(rows.all(axis=1) | ~rows.any(axis=1))
    if one_class.size:
        where = f" in row {one_class[0]}" if given.ndim == 2 else ""
        only = int(rows[one_class[0], 0])
        raise ValueError(f"labels must hold both classes, got only {only}{where}: the odds are not defined.")
    return array, accepted
