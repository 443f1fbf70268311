"""What part of a plane a panel shows, and what is drawn in it: grids, decision regions, a readable choice of points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from scipy.ndimage import binary_dilation

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.report._plane import Plane

__all__ = ["Window", "evenly", "extent", "jitter", "window_around"]

_Side: TypeAlias = tuple[float, float]

_COARSE, _FINER = 80, 8  # cells of a window across, and of such a cell
_MARGIN = 0.12  # around what a window must hold
_LEAST = 0.1  # units of cost that a window shows
_AROUND = 1.0  # the same on both sides of the only value that there is


class Window(NamedTuple):
    """The part of a plane that a panel shows."""

    x: _Side
    y: _Side

    def grid(self, plane: Plane, cells: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return abscissae, ordinates and the points, of shape (rows, columns, p), where they meet."""
        u, v = np.linspace(*self.x, cells + 1), np.linspace(*self.y, 2 if plane.is_line else cells + 1)
        both = np.stack(np.meshgrid(u, v), axis=-1)
        return u, v, plane.embed(both[..., : len(plane.basis)])

    def paint(
        self, plane: Plane, accepts: Callable[[FloatArray], BoolArray]
    ) -> tuple[FloatArray, FloatArray, BoolArray]:
        """Label a fine grid; ask only about a coarse one, and about the coarse cells that hold both labels."""
        if plane.is_line:
            u, v, points = self.grid(plane, _COARSE * _FINER)
            return u, v, np.repeat(accepts(points[0])[None], 2, axis=0)
        points = self.grid(plane, _COARSE)[2]
        known = accepts(points.reshape(-1, points.shape[-1])).reshape(points.shape[:2])
        corners = np.stack([known[:-1, :-1], known[1:, :-1], known[:-1, 1:], known[1:, 1:]])
        mixed = np.asarray(corners.any(axis=0) & ~corners.all(axis=0))
        mixed = binary_dilation(mixed, np.ones((3, 3), dtype=bool))
        cell = np.minimum(np.arange(_COARSE * _FINER + 1) // _FINER, _COARSE - 1)
        node = (np.arange(_COARSE * _FINER + 1) + _FINER // 2) // _FINER
        labels, ask = known[np.ix_(node, node)], mixed[np.ix_(cell, cell)]
        u, v = (np.linspace(*side, _COARSE * _FINER + 1) for side in self)
        if ask.any():
            rows, across = np.nonzero(ask)
            labels[ask] = accepts(plane.embed(np.column_stack([u[across], v[rows]])))
        return u, v, labels


def window_around(spots: FloatArray, plane: Plane, shape: float, *, every: bool = True) -> Window:
    """Return a window, `shape` times as wide as high, with all spots and a margin; a line has heights -1 to 1.

    With categories on an axis, `every` one or those of the spots, lengths along the two do not compare, and each is as
    long as it needs to be. A
    window that is larger than the spots shows values that can be, as far as these are known.
    """
    low, high = spots.min(axis=0), spots.max(axis=0)
    for k in range(len(plane.basis)):
        if low[k] == high[k]:
            low[k], high[k] = _beside(low[k], plane.bounds[k] if plane.bounds else (-np.inf, np.inf))
    if plane.categories:
        margin = 0.5 * _MARGIN * np.maximum(high - low, _LEAST)
        low, high = low - margin, high + margin
        for k, axis in plane.categories:
            places = np.arange(len(axis.codes)) if every else np.round(spots[:, k])
            low[k], high[k] = places.min() - 0.5, places.max() + 0.5
        return Window((low[0], high[0]), (low[1], high[1]))
    centre, half = (low + high) / 2.0, (1.0 + _MARGIN) * (high - low) / 2.0
    across = half[0] if plane.is_line else max(half[0], shape * half[1])
    sizes = np.array([across, across / shape])
    sides = [
        _possible((centre[k] - sizes[k], centre[k] + sizes[k]), (centre[k] - half[k], centre[k] + half[k]), bounds)
        for k, bounds in enumerate(plane.bounds or [(-np.inf, np.inf)] * 2)
    ]
    return Window(sides[0], (-1.0, 1.0) if plane.is_line else sides[1])


def _beside(place: float, bounds: _Side) -> _Side:
    """Return what is shown of an axis on which everything stands at one place: as much as can be."""
    return min(max(place - _AROUND, bounds[0]), place), max(min(place + _AROUND, bounds[1]), place)


def _possible(side: _Side, held: _Side, bounds: _Side) -> _Side:
    """Move a side of a window off values beyond bounds, as far as it still holds what it must."""
    first, last = min(held[0], bounds[0]), max(held[1], bounds[1])
    if last - first <= side[1] - side[0]:
        shift = (first + last - side[0] - side[1]) / 2.0
    else:
        shift = max(first - side[0], 0.0) + min(last - side[1], 0.0)
    return side[0] + shift, side[1] + shift


def evenly(groups: Sequence[FloatArray], n: int) -> list[IntArray]:
    """Choose at most `n` of the points in two groups, half of each if there are enough, spread evenly.

    On a line that is by rank; in a plane the groups take turns, each with its point farthest from all chosen ones.
    """
    sizes = [len(group) for group in groups]
    counts = [min(sizes[0], n - min(sizes[1], n // 2)), 0]
    counts[1] = min(sizes[1], n - counts[0])
    if groups[0].shape[1] == 1:
        ranks = [np.linspace(0, size - 1, count).round().astype(int) for size, count in zip(sizes, counts, strict=True)]
        return [np.argsort(group[:, 0], kind="stable")[rank] for group, rank in zip(groups, ranks, strict=True)]
    points, owner = np.concatenate(groups), np.repeat([0, 1], sizes)
    room = -((points - points.mean(axis=0)) ** 2).sum(axis=1)
    chosen: list[int] = []
    for turn in range(2 * max(counts)):
        if turn // 2 < counts[turn % 2]:
            chosen.append(int(np.argmax(np.where(owner == turn % 2, room, -np.inf))))
            distance = ((points - points[chosen[-1]]) ** 2).sum(axis=1)
            room = distance if len(chosen) == 1 else np.minimum(room, distance)
    order = np.array(chosen)
    return [order[owner[order] == 0], order[owner[order] == 1] - sizes[0]]


def extent(spots: FloatArray, plane: Plane) -> float:
    """Return how far spots extend along the longer axis; heights on a line, and around categories, do not count."""
    extents = np.ptp(spots[:, : len(plane.basis)], axis=0)
    for k, _ in plane.categories:
        extents[k] = 0.0
    return float(extents.max())


def jitter(n: int) -> FloatArray:
    """Return `n` heights for the samples of a line, spread over its strip evenly and in no order."""
    return np.array([1.5 * (i * 0.6180339887 % 1.0) - 0.75 for i in range(1, n + 1)])
