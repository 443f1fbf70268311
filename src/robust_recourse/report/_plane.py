"""The plane that a figure shows: two directions through the boundary point, or a line where one column may change."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pandas as pd

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse.report._axis import Axis, Categories, Numbers
from robust_recourse.report._traces import may_change, trace_of, way_of
from robust_recourse.result import Recourse, Trace
from robust_recourse.sampling.neighbourhood import Neighbourhood

__all__ = ["Names", "Plane", "choose_plane"]

Names = Sequence[Hashable] | pd.Index

_ALIKE = 0.01  # in sampling radii: directions that differ by less from the plane so far do not span another one
_BAND = 0.4  # how far the samples of a category spread around it
_PARALLEL = 1e-8  # the same for the directions that the user gave, in their own lengths


@dataclass(frozen=True)
class Plane:
    """A plane, or a line, with coordinates.

    Attributes
    ----------
    origin : ndarray of shape (p,)
        The boundary point.
    basis : ndarray of shape (k, p)
        Orthonormal rows, two for a plane and one for a line.
    offset : ndarray of shape (k,)
        Coordinates of the origin.
    labels : tuple of str
        What the axes are.
    whole : bool
        Whether every column that may change is shown, so that nothing is lost by projecting.
    axes : tuple of Axis
        What the axes show, if they are columns of a table; empty if they show the coordinates.
    bounds : tuple of pairs of float
        Least and largest coordinate that can be, if the axes are columns; empty if that is not known.
    """

    origin: FloatArray
    basis: FloatArray
    offset: FloatArray
    labels: tuple[str, ...]
    whole: bool
    axes: tuple[Axis, ...] = ()
    bounds: tuple[tuple[float, float], ...] = ()

    @property
    def categories(self) -> list[tuple[int, Categories]]:
        """The axes that show categories, with their numbers."""
        return [(k, axis) for k, axis in enumerate(self.axes) if isinstance(axis, Categories)]

    @property
    def is_line(self) -> bool:
        """Whether there is one direction only."""
        return len(self.basis) == 1

    def project(self, points: FloatArray) -> FloatArray:
        """Return the coordinates, of shape (..., k), of the orthogonal projections of points."""
        coordinates: FloatArray = (points - self.origin) @ self.basis.T + self.offset
        for k, axis in self.categories:
            coordinates[..., k] = axis.place(coordinates[..., k])
        return coordinates

    def project_spread(self, directions: FloatArray, along: FloatArray, across: FloatArray) -> FloatArray:
        """Return the covariances, of shape (n, k, k), of projected Gaussians.

        They have standard deviations `along` their unit `directions`, of shape (n, p), and `across` them.
        """
        shadows = directions @ self.basis.T
        outer = shadows[:, :, None] * shadows[:, None, :]
        isotropic = across[:, None, None] ** 2 * (self.basis @ self.basis.T)
        matrices: FloatArray = isotropic + (along**2 - across**2)[:, None, None] * outer
        return matrices

    def spots(self, points: FloatArray, heights: FloatArray | None = None) -> FloatArray:
        """Return where points are drawn, of shape (n, 2): on a line, and around a category, at `heights`, or at 0."""
        at = self.project(points)
        if not self.is_line:
            for k, _ in self.categories:
                # Where both axes show categories, samples must not lie on a diagonal.
                spread = np.zeros(1) if heights is None else np.random.default_rng(k).permutation(heights)
                at[:, k] += _BAND * spread
            return at
        return np.column_stack([at, np.zeros(len(at)) if heights is None else heights])

    def embed(self, coordinates: FloatArray) -> FloatArray:
        """Return the points of the plane, of shape (..., p), that have these coordinates."""
        for k, axis in self.categories:
            coordinates = coordinates.copy()
            coordinates[..., k] = axis.at(coordinates[..., k])
        points: FloatArray = self.origin + (coordinates - self.offset) @ self.basis
        return points

    def within(self, around: Neighbourhood) -> Plane:
        """Return the same plane in the columns that vary in a neighbourhood, as these are measured there."""
        free, stretch = around.free, around.stretch
        return replace(self, origin=self.origin[free] / stretch, basis=self.basis[:, free] * stretch)

    def shows(self, points: FloatArray) -> BoolArray:
        """Which points have categories that the axes have."""
        shown = np.ones(len(points), dtype=bool)
        for k, axis in self.categories:
            shown &= np.isin(points[:, int(self.basis[k].argmax())], axis.codes)
        return shown


def choose_plane(
    recourse: Recourse,
    directions: Any = None,
    columns: Names | None = None,
    *,
    show: Literal["way", "neighbourhood"] = "neighbourhood",
) -> Plane:
    """Choose the plane through the boundary point that a figure shows.

    Parameters
    ----------
    recourse : Recourse
        A recourse with a neighbourhood.
    directions : pair of columns, array_like of shape (2, p) or None
        What spans the plane. None for the two columns of a frame whose changes cost most, and where fewer change for
        those in which accepted and refused samples differ most; categories count to show the way. Of an array, None
        for the columns that may change if they are at most two. If they are more, it is the plane of refused point,
        boundary point and recourse to show the way; and that of the boundary point, the recourse and the way between
        the centres of the two classes to show the neighbourhood.
    columns : sequence of names, optional
        Names of all columns; those of a frame are known.
    show : {"way", "neighbourhood"}
        What the plane is for.
    """
    trace, around = way_of(recourse) if show == "way" else trace_of(recourse)
    origin = around.centre
    p = len(origin)
    names = _names(trace, recourse, columns)
    table = _Table(recourse, names, show)
    free, choices = table.shown(), np.flatnonzero(table.choices)
    if directions is not None:
        if len(choices) == 1:
            raise ValueError(
                f"directions: only {_name(choices[0], names)} can be shown, so there is no plane to choose. "
                "Leave them None."
            )
        pair = _two(directions)
        if not _are_vectors(pair, names):
            places = [_position(entry, names, p) for entry in pair]
            return table.plane(origin, places)
        basis = _orthonormal(pair, around.numbers, names)
        labels = (
            "distance from the boundary point along the first direction",
            "along the second direction, as far as it is orthogonal to the first",
        )
        return Plane(origin, basis, np.zeros(2), labels, len(free) == 2)
    if len(free) <= 2 or not trace.moves.plain:
        return table.plane(origin, free[:2])
    basis, chosen = _first_two(_candidates(trace, around, names, show), around)
    anchor = trace.x0 if show == "way" else origin
    labels = (f"along the line {chosen[0]}", f"across that line, {chosen[1]}")
    return Plane(origin, basis, basis @ (origin - anchor), labels, False)


def _names(trace: Trace, recourse: Recourse, columns: Names | None) -> list[Hashable] | None:
    """Return the names of the columns in the order of the points; None for those of an array that nobody named."""
    p = len(trace.x)
    if columns is None and not isinstance(recourse.x, pd.Series):
        return None
    given = list(recourse.x.index if columns is None else columns)
    if len(given) != p:
        raise ValueError(f"columns must name all {p} columns, got {len(given)} names.")
    order = range(p) if trace.order is None else trace.order
    return [name for _, name in sorted(zip(order, given, strict=True), key=lambda pair: pair[0])]


class _Table:
    """The columns of a recourse as the axes of a plane: the dearest changes first, if it is of a frame."""

    def __init__(self, recourse: Recourse, names: list[Hashable] | None, show: str) -> None:
        self._recourse, self._names, self._way = recourse, names, show == "way"
        self._trace, self._around = way_of(recourse) if self._way else trace_of(recourse)
        moves, self._free = self._trace.moves, self._around.numbers
        self._order = np.arange(len(self._free)) if self._trace.order is None else self._trace.order
        switched = np.zeros(len(self._free), dtype=bool)
        if self._way:
            switched = (self._trace.x != self._trace.x0) | (self._around.centre != self._trace.x0)
        self._shown = self._free | (switched & ~moves.numbers)
        self.choices = self._shown | self._around.free | may_change(self._trace) if self._way else self._shown
        """The columns that may be named."""

    def shown(self) -> list[int]:
        """Return the columns that are shown, in the order of their places or, of a frame, of their costs."""
        numbers = self._trace.moves.numbers
        places = [int(place) for place in np.flatnonzero(self._shown)]
        if len(places) == 1 and not numbers[places[0]]:
            places += [int(place) for place in np.flatnonzero(self.choices & ~self._shown)]
        if self._trace.moves.plain or not len(self._recourse.column_costs):
            return places
        costs = self._recourse.column_costs[np.argsort(self._order)]
        stays, apart = self._trace.x == self._trace.x0, np.abs(_between_classes(self._around))
        return sorted(places, key=lambda place: (-costs[place], stays[place], -apart[place]))

    def plane(self, origin: FloatArray, places: list[int]) -> Plane:
        """Return the plane of one or two columns, whose coordinates are their values."""
        for place in places:
            if not self.choices[place]:
                raise ValueError(f"directions: {self._why_not(place)} {_choices(self.choices, self._names)}")
        if len(set(places)) < len(places):
            raise ValueError(f"directions must be two different columns, got {_name(places[0], self._names)} twice.")
        axes = () if self._trace.moves.plain else tuple(self._axis(place) for place in places)
        labels = [_name(place, self._names, quote=False) for place in places]
        return Plane(
            origin,
            _units(places, len(origin)),
            origin[places],
            tuple(f"{label}{axis.label}" for label, axis in zip(labels, axes, strict=True)) if axes else tuple(labels),
            set(np.flatnonzero(self._shown)) <= set(places),
            axes,
            self._bounds(places),
        )

    def _why_not(self, place: int) -> str:
        name, moves = _name(place, self._names), self._trace.moves
        followed = [rule.text for rule in moves.followers if rule.column == place]
        if followed:
            return f"nobody changes {name} here, it only follows ({followed[0]})."
        if not self._way and not moves.numbers[place]:
            return f"the axes of this figure are numbers, and {name} holds none."
        return f"nothing varies in {name} here."

    def _bounds(self, places: list[int]) -> tuple[tuple[float, float], ...]:
        """Return between which values columns are, as far as that is known."""
        low, high = np.full((2, len(self._free)), [[-np.inf], [np.inf]])
        if not self._trace.moves.plain:
            low, high = self._trace.moves.limits().box(self._trace.x0)
        if self._around.bounds is not None:
            low[self._around.free], high[self._around.free] = self._around.bounds
        return tuple((float(low[place]), float(high[place])) for place in places)

    def _axis(self, place: int) -> Axis:
        moves, row = self._trace.moves, self._recourse.x0
        column, cell = moves.columns[place], int(np.flatnonzero(self._order == place)[0])
        writer = self._recourse.columns.writer(row.index[cell])
        if column.kind == "number":
            moved = any(rule.column == place for rule in moves.followers)
            return Numbers(column.unit, writer, column.effort, moved)
        own = self._trace.x0[place]
        codes = self._codes(place)
        values = [row.iloc[cell] if code == own else column.values[int(code)] for code in codes]
        return Categories(codes, tuple(map(writer.text, values)))

    def _codes(self, place: int) -> FloatArray:
        """Return the categories on the way; where that is one, those of the samples; and then all that there may be."""
        trace, limits = self._trace, self._trace.moves.limits()
        codes = np.unique([trace.x0[place], self._around.centre[place], trace.x[place]])
        if len(codes) == 1:
            codes = np.unique(np.append(codes, self._around.samples[:, place]))
        if len(codes) == 1:
            known = np.arange(len(trace.moves.columns[place].values), dtype=float)
            may = limits.may_switch(place, np.full(len(known), trace.x0[place]), known)
            codes = np.unique(np.append(codes, known[may]))
        return codes


def _candidates(
    trace: Trace, around: Neighbourhood, names: list[Hashable] | None, show: str
) -> Iterator[tuple[FloatArray, str]]:
    """Yield directions and their names, the best first; at last all columns, so that two always span a plane."""
    if show == "way":
        yield trace.x - trace.x0, "from the refused point to the recourse"
        yield around.centre - trace.x0, "towards the boundary point"
    else:
        yield trace.x - around.centre, "from the boundary point to the recourse"
    yield _between_classes(around), "towards the accepted samples"
    for column in map(int, np.flatnonzero(around.numbers)):
        yield around.radius * _units([column], len(around.numbers))[0], f"in the direction of {_name(column, names)}"


def _between_classes(around: Neighbourhood) -> FloatArray:
    """Return the way from the mean of the refused samples to that of the accepted ones; 0 if there is one class."""
    accepted, samples = around.accepted, around.samples
    if accepted.all() or not accepted.any():
        return np.zeros(samples.shape[1])
    way: FloatArray = samples[accepted].mean(axis=0) - samples[~accepted].mean(axis=0)
    return way


def _first_two(candidates: Iterator[tuple[FloatArray, str]], around: Neighbourhood) -> tuple[FloatArray, list[str]]:
    """Orthonormalise the first two candidates that span a plane."""
    basis: list[FloatArray] = []
    chosen: list[str] = []
    for candidate, name in candidates:
        vector = np.where(around.numbers, candidate, 0.0)  # rounding apart it is so already
        rest = vector - sum((vector @ unit) * unit for unit in basis)
        length = float(np.linalg.norm(rest))
        if length > _ALIKE * around.radius:
            basis.append(rest / length)
            chosen.append(name)
        if len(basis) == 2:
            break
    return np.array(basis), chosen


def _units(places: Sequence[int], p: int) -> FloatArray:
    """Return the unit vectors of some columns."""
    units = np.zeros((len(places), p))
    units[np.arange(len(places)), places] = 1.0
    return units


def _two(directions: Any) -> list[Any]:
    shape = "a pair of columns, or an array of shape (2, p) with a direction in each row"
    if isinstance(directions, str) or not hasattr(directions, "__len__"):
        raise ValueError(f"directions must be {shape}, got {directions!r}.")
    if len(directions) != 2:
        raise ValueError(f"directions must be {shape}, got {len(directions)} entries.")
    return list(directions)


def _are_vectors(pair: list[Any], names: list[Hashable] | None) -> bool:
    """Tell directions from columns; a name may be a tuple too."""
    if names is not None and all(isinstance(entry, Hashable) and entry in names for entry in pair):
        return False
    return any(np.ndim(entry) > 0 for entry in pair)


def _position(entry: Any, names: list[Hashable] | None, p: int) -> int:
    """Find a column by its name, or by its number unless numbers are names."""
    if names is not None and entry in names:
        if names.count(entry) > 1:
            raise ValueError(f"directions: {names.count(entry)} columns are named {entry!r}. Give their numbers.")
        return names.index(entry)
    if isinstance(entry, int | np.integer) and not isinstance(entry, bool):
        if -p <= entry < p:
            return int(entry) % p
        raise ValueError(f"directions: there is no column {entry}, the columns are 0 to {p - 1}.")
    known = "Pass their names as columns." if names is None else f"The columns are {', '.join(map(repr, names))}."
    raise ValueError(f"directions names column {entry!r}, which is not known. {known}")


def _orthonormal(pair: list[Any], free: BoolArray, names: list[Hashable] | None) -> FloatArray:
    """Orthonormalise the user's directions, the first keeping its direction."""
    try:
        vectors = np.array(pair, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"directions must be two columns or an array of shape (2, {len(free)}): {error}.") from error
    if vectors.shape != (2, len(free)):
        raise ValueError(f"directions must be two columns or an array of shape (2, {len(free)}), not {vectors.shape}.")
    if not np.isfinite(vectors).all():
        raise ValueError("directions must be finite.")
    fixed = np.flatnonzero((vectors != 0.0).any(axis=0) & ~free)
    if len(fixed):
        raise ValueError(
            f"directions: {_name(fixed[0], names)} may not change, its entries must be 0. {_choices(free, names)}"
        )
    lengths = np.linalg.norm(vectors, axis=1)
    if not lengths.all():
        raise ValueError(f"directions must not be zero, row {int(np.argmin(lengths))} is.")
    first, second = vectors / lengths[:, None]
    rest = second - (second @ first) * first
    if np.linalg.norm(rest) <= _PARALLEL:
        raise ValueError("directions must span a plane, but they are parallel. Turn one of them.")
    return np.array([first, rest / np.linalg.norm(rest)])


def _choices(free: BoolArray, names: list[Hashable] | None) -> str:
    listed = ", ".join(_name(place, names) for place in np.flatnonzero(free)[:10])
    more = ", ..." if int(free.sum()) > 10 else ""
    return f"The columns that can be shown are {listed}{more}."


def _name(place: int, names: list[Hashable] | None, *, quote: bool = True) -> str:
    if names is None:
        return f"column {place}"
    return repr(names[place]) if quote else str(names[place])
