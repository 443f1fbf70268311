"""Where the labelled samples come from by which points are judged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.sampling.neighbourhood import Neighbourhood

__all__ = ["Around", "Drawn", "Given", "Local", "Surroundings", "check_samples", "unlike"]

_AT_ONCE = 2**22  # distances that are held together: 32 MiB
_BLOCK = 2**17  # numbers in the samples of a block: 1 MiB
_SAME = 1e-9  # difference up to which a number did not change


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


class Surroundings(Protocol):
    """The points of some rows, each with labelled samples of both classes."""

    def batches(self) -> Iterator[Around]:
        """Yield the distances of all rows that have samples, a bounded number at a time."""
        ...

    def local(self, row: int) -> Local:
        """Return copies of the point and of the samples of a row."""
        ...


@dataclass(frozen=True, eq=False)
class Given:
    """Samples that were given.

    Attributes
    ----------
    rows : ndarray of int, shape (m,)
        The rows of the points, in ascending order.
    points : ndarray of shape (m, p)
        The points.
    samples : ndarray of shape (n, p) or (m, n, p)
        Samples common to all points, or own ones of each.
    accepted : ndarray of bool, shape (n,) or (m, n)
        Their labels.
    """

    rows: IntArray
    points: FloatArray
    samples: FloatArray
    accepted: BoolArray

    def batches(self) -> Iterator[Around]:
        """Yield the distances of all rows."""
        n, p = self.samples.shape[-2:]
        size = max(1, _AT_ONCE // n)
        for first in range(0, len(self.rows), size):
            part = slice(first, first + size)
            rows, points = self.rows[part], self.points[part]
            samples = self.samples if self.samples.ndim == 2 else self.samples[part]
            accepted = self.accepted if self.accepted.ndim == 1 else self.accepted[part]
            yield Around(rows, _distances(points, samples), np.broadcast_to(accepted, (len(rows), n)), p)

    def local(self, row: int) -> Local:
        """Return the point and the samples of a row."""
        i = int(np.searchsorted(self.rows, row))
        samples = self.samples if self.samples.ndim == 2 else self.samples[i]
        accepted = self.accepted if self.accepted.ndim == 1 else self.accepted[i]
        return Local(self.points[i].copy(), samples.copy(), accepted.copy())


@dataclass(frozen=True, eq=False)
class Drawn:
    """Neighbourhoods that a method drew; samples are drawn again when they are needed.

    Attributes
    ----------
    points : mapping of int to ndarray
        The points by row, with all columns, in the coordinates of the search.
    neighbourhoods : mapping of int to Neighbourhood
        Their neighbourhoods.
    """

    points: Mapping[int, FloatArray]
    neighbourhoods: Mapping[int, Neighbourhood]

    def batches(self) -> Iterator[Around]:
        """Yield the distances of all rows, those with as many samples and columns together."""
        shapes: dict[tuple[int, int], list[int]] = {}
        for row, around in self.neighbourhoods.items():
            shapes.setdefault((len(around.accepted), int(around.free.sum())), []).append(row)
        for (n, p), rows in shapes.items():
            size = max(1, _AT_ONCE // n)
            for first in range(0, len(rows), size):
                part = rows[first : first + size]
                distances, accepted = np.empty((len(part), n)), np.empty((len(part), n), dtype=bool)
                for i, row in enumerate(part):
                    point, samples, accepted[i] = self.local(row)
                    distances[i] = _distances(point[None], samples)[0]
                yield Around(np.array(part), distances, accepted, p)

    def local(self, row: int) -> Local:
        """Return the point and the samples of a row."""
        around = self.neighbourhoods[row]
        return Local(self.points[row][around.free], around.free_samples, around.accepted.copy())


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


def _distances(points: FloatArray, samples: FloatArray) -> FloatArray:
    """Return the distances of points from common samples, (n, p), or from those of each, (m, n, p)."""
    n, p = samples.shape[-2:]
    distances = np.empty((len(points), n))
    size = max(1, _BLOCK // (n * p))
    for first in range(0, len(points), size):
        part = slice(first, first + size)
        # A distance beyond the range of floating point is infinite.
        with np.errstate(over="ignore"):
            away = points[part, None, :] - (samples if samples.ndim == 2 else samples[part])
            np.sqrt(np.einsum("mnp,mnp->mn", away, away), out=distances[part])
    return distances


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
