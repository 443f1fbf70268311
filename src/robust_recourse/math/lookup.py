r"""Tables of the profiles: the fast path of the worst-case odds.

A profile is solved exactly at the ends and in the middle of every cell of a mesh. The slope is interpolated by the
parabola through these three, and the value by the cubic that this integrates to: a cell may then be as narrow as it
needs to be, which slopes from differences of values would not allow. The mesh is uniform on *pieces*, so that a cell
is found by arithmetic; every distance at which the profile is not smooth ends a piece, and pieces are
refined and halved until the interpolant agrees with the exact profile where its slope is worst in each cell. In units
of :math:`\sigma` the error is at most :data:`TOLERANCE` times :math:`\max(1, |\cdot|)`, in value and in slope, or what
rounding makes of the distance itself, where that is more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from robust_recourse._typing import FloatArray
from robust_recourse.math import profiles
from robust_recourse.math.profiles import Branch, Profile

__all__ = ["TOLERANCE", "ProfileTable", "optimistic_table", "pessimistic_table"]

TOLERANCE = 1e-8
"""Largest relative interpolation error of a table, in value and in slope."""

# The slope of a cell is worst at this part of it; its value, in the middle, is then at most 2.25 times as bad as there.
_PROBE = (3.0 - 3.0**0.5) / 6.0
_ACCEPTED = 0.4 * TOLERANCE
_FIRST_REACH = 4.0
_FEWEST_CELLS, _MOST_CELLS = 32, 1024
_WASTE = 4.0  # times as many cells as with widths of their own, from which on a piece is halved
_SHORTEST_PIECE = 1e-14  # relative: there are hardly other numbers between its nodes
_FEW = 8  # pieces, up to which comparing with each is faster than searching
_BLOCK = 8192
_ROUNDING = 8.0 * float(np.finfo(float).eps)
_KINK = 1e-6  # smallest jump of the slope that is a kink


class _Piece(NamedTuple):
    start: float
    stop: float
    cubic: FloatArray  # (4, n_cells): coefficients in the local coordinate of each cell, constant first

    @property
    def n_cells(self) -> int:
        return int(self.cubic.shape[1])


class ProfileTable:
    """Interpolates a profile in units of the smoothing; grows when a distance leaves it.

    Parameters
    ----------
    branches : sequence of Branch
        The exact profile, smooth from the start of each branch to the start of the next.
    rounding : float
        Distance over which its kinks are rounded off, on both sides: the table is then continuously
        differentiable, also as a function of the point, and above the profile by at most half of it times the
        jump of the slope.
    """

    def __init__(self, branches: Sequence[Branch], rounding: float = 0.0) -> None:
        starts = [branch.start for branch in branches]
        stops = [*starts[1:], max(_FIRST_REACH, 2.0 * starts[-1] + 2.0 * rounding)]
        self._solve_last = branches[-1].solve
        kinks = [after.start for before, after in pairwise(branches) if _jump(before, after) > _KINK]
        tip = branches[0].solve(np.zeros(1)).slope[0] > _KINK
        self.kinked = bool(kinks or tip)
        pieces: list[_Piece] = []
        rounded = []
        if rounding > 0.0:
            rounded = _merge([(max(kink - rounding, 0.5 * kink), kink + rounding) for kink in kinks])
            pieces += [_bridge(branches, low, high) for low, high in rounded]
            if tip:
                pieces.append(_round_tip(branches[0], rounding))
                rounded = [(0.0, rounding), *rounded]
        for branch, stop in zip(branches, stops, strict=True):
            for low, high in _without(branch.start, stop, rounded):
                pieces += _interpolate(branch.solve, low, high)
        self._mesh = _Mesh(sorted(pieces, key=lambda piece: piece.start))

    @property
    def reach(self) -> float:
        """Largest distance that the table covers now."""
        return self._mesh.reach

    @property
    def n_cells(self) -> int:
        """Number of cells of the table now."""
        return self._mesh.n_cells

    def __call__(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return value and slope at the distances `x`, one-dimensional and in units of the smoothing."""
        # Another thread may extend the table meanwhile: one mesh serves the whole call.
        mesh = self._mesh
        if x.size and float(x.max()) >= mesh.reach:
            mesh = self._extend(float(x.max()))
        value, slope = np.empty_like(x), np.empty_like(x)
        for first in range(0, len(x), _BLOCK):
            block = slice(first, first + _BLOCK)
            mesh.evaluate(x[block], value[block], slope[block])
        return value, slope

    def _extend(self, largest: float) -> _Mesh:
        pieces = list(self._mesh.pieces)
        while pieces[-1].stop <= largest:
            pieces += _interpolate(self._solve_last, pieces[-1].stop, 2.0 * pieces[-1].stop)
        self._mesh = mesh = _Mesh(pieces)
        return mesh


class _Mesh:
    """The cells of a table, laid out for lookups; never changed."""

    def __init__(self, pieces: Sequence[_Piece]) -> None:
        self.pieces, self.reach = pieces, pieces[-1].stop
        cells = np.array([piece.n_cells for piece in pieces])
        self.n_cells = int(cells.sum())
        self._starts = np.array([piece.start for piece in pieces])
        self._per_unit = cells / np.array([piece.stop - piece.start for piece in pieces])
        # Rounding may put the last distance of a piece one past its last cell: there it finds the same cubic again.
        guarded = [np.append(piece.cubic, _next_cell(piece.cubic[:, -1:]), axis=1) for piece in pieces]
        self._offset = np.cumsum(cells + 1) - (cells + 1)
        self._cubic = np.concatenate(guarded, axis=1)

    def evaluate(self, x: FloatArray, value: FloatArray, slope: FloatArray) -> None:
        """Write value and slope at the distances `x`, all within reach."""
        starts = self._starts
        if len(starts) <= _FEW:
            piece = np.zeros(len(x), dtype=np.intp)
            for start in starts[1:]:
                piece += x >= start
        else:
            piece = np.searchsorted(starts, x, side="right") - 1
        per_unit = self._per_unit.take(piece)
        u = (x - starts.take(piece)) * per_unit
        cell = u.astype(np.intp)
        u -= cell
        cell += self._offset.take(piece)
        c0, c1, c2, c3 = (row.take(cell) for row in self._cubic)
        np.multiply(c3, u, out=value)
        value += c2
        value *= u
        value += c1
        value *= u
        value += c0
        c3 *= 3.0
        c3 *= u
        c2 *= 2.0
        c3 += c2
        c3 *= u
        c3 += c1
        np.multiply(c3, per_unit, out=slope)


@lru_cache(maxsize=128)
def optimistic_table(epsilon: float) -> ProfileTable:
    """Return the cached table of the optimistic profile for ``epsilon`` in units of ``sigma``."""
    solve = partial(profiles._optimistic, e=epsilon)
    return ProfileTable([Branch(start, solve) for start in sorted({0.0, epsilon, epsilon + 1.0})])


@lru_cache(maxsize=128)
def pessimistic_table(epsilon: float, p: int, rounding: float = 0.0) -> ProfileTable:
    """Return the cached table of the pessimistic profile for ``epsilon`` in units of ``sigma``."""
    return ProfileTable(profiles.pessimistic_branches(epsilon, p), rounding)


def _jump(before: Branch, after: Branch) -> float:
    """Jump of the slope where one branch takes over from another."""
    at = np.array([after.start])
    return float(after.solve(at).slope[0] - before.solve(at).slope[0])


def _merge(intervals: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Join increasing intervals that overlap."""
    merged = intervals[:1]
    for low, high in intervals[1:]:
        if low <= merged[-1][1]:
            merged[-1] = merged[-1][0], high
        else:
            merged.append((low, high))
    return merged


def _without(start: float, stop: float, rounded: list[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Yield what the rounded intervals leave of an interval."""
    for low, high in rounded:
        if start < low < stop:
            yield start, low
        if low < stop:
            start = max(start, high)
    if start < stop:
        yield start, stop


def _bridge(branches: Sequence[Branch], low: float, high: float) -> _Piece:
    """Lead from one side of a kink to the other by one cubic."""
    value, slope = np.empty(2), np.empty(2)
    for k, x in enumerate((low, high)):
        branch = [branch for branch in branches if branch.start <= x][-1]
        (value[k],), (slope[k],) = branch.solve(np.array([x]))[:2]
    return _Piece(low, high, _hermite(value, slope * (high - low)))


def _round_tip(branch: Branch, rounding: float) -> _Piece:
    """Round off a positive slope at distance 0, the tip of a cone, by a parabola."""
    value, slope = (part[0] for part in branch.solve(np.array([rounding]))[:2])
    bend = 0.5 * slope * rounding
    return _Piece(0.0, rounding, np.array([[value - bend], [0.0], [bend], [0.0]]))


def _interpolate(solve: Callable[[FloatArray], Profile], start: float, stop: float) -> list[_Piece]:
    """Cover an interval with as few cells as the tolerance allows, in halves where these would be too many."""
    n_cells = _FEWEST_CELLS
    while True:
        width = (stop - start) / n_cells
        lefts = start + width * np.arange(n_cells)
        # At its very end a branch may be taken for the end of its curve, whose slope is another.
        exact = solve(np.append(lefts + width * np.array([[0.0], [0.5], [_PROBE]]), np.nextafter(stop, start)))
        value, slope = (part[:-1].reshape(3, n_cells) for part in exact[:2])
        ends = np.append(slope[0], exact.slope[-1]) * width
        piece = _Piece(start, stop, _integrated(value[0], ends[:-1], slope[1] * width, ends[1:]))
        excess = _errors(piece, value[2], slope[2]) / max(_ACCEPTED, _ROUNDING * stop)
        if excess.max() <= 1.0 or stop - start <= _SHORTEST_PIECE * max(stop, 1.0):
            return [piece]
        # The slope, the worse of the two, is of third order.
        needed = 1.1 * excess ** (1.0 / 3.0)
        most = n_cells * max(needed.max(), 1.25)
        if most > min(_MOST_CELLS, _WASTE * n_cells * needed.mean()):
            middle = 0.5 * (start + stop)
            return _interpolate(solve, start, middle) + _interpolate(solve, middle, stop)
        n_cells = int(most) + 1


def _errors(piece: _Piece, value: FloatArray, slope: FloatArray) -> FloatArray:
    """Compare every cell with the exact profile where it is worst."""
    c0, c1, c2, c3 = piece.cubic
    found = ((c3 * _PROBE + c2) * _PROBE + c1) * _PROBE + c0
    steep = ((3.0 * c3 * _PROBE + 2.0 * c2) * _PROBE + c1) * piece.n_cells / (piece.stop - piece.start)
    pairs = (found, value), (steep, slope)
    errors: FloatArray = np.max([np.abs(a - b) / np.maximum(1.0, np.abs(b)) for a, b in pairs], axis=0)
    return errors


def _next_cell(cubic: FloatArray) -> FloatArray:
    """Coefficients of the same cubics in the coordinate of the next cell."""
    c0, c1, c2, c3 = cubic
    return np.stack([c0 + c1 + c2 + c3, c1 + 2.0 * c2 + 3.0 * c3, c2 + 3.0 * c3, c3])


def _integrated(value: FloatArray, first: FloatArray, middle: FloatArray, last: FloatArray) -> FloatArray:
    """Coefficients, constant first, of the cubics on unit cells: values at their left, slopes at three places."""
    return np.stack(
        [value, first, 2.0 * middle - 1.5 * first - 0.5 * last, (2.0 * first - 4.0 * middle + 2.0 * last) / 3.0]
    )


def _hermite(value: FloatArray, slope: FloatArray) -> FloatArray:
    """Coefficients, constant first, of the cubics on unit cells with these values and slopes at their ends."""
    rise = np.diff(value)
    first, second = slope[:-1], slope[1:]
    return np.stack([value[:-1], first, 3.0 * rise - 2.0 * first - second, first + second - 2.0 * rise])
