"""How the columns of a table are measured in a neighbourhood, and where its rows can be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math.limits import Room

__all__ = ["Grid", "Metric", "metric_of"]

_STEPS = 2.0  # within a sampling radius


class Grid(NamedTuple):
    """Where the rows of a table can be."""

    steps: FloatArray  # (p,): of the numbers, in units of cost; 0 if they may be anything
    room: Room  # the people with their own categories, and what they may change, categories too


@dataclass(frozen=True, eq=False)
class Metric:
    """How the columns that vary in a neighbourhood are measured, and which values they have.

    Attributes
    ----------
    stretch : ndarray of shape (d,)
        What one unit of length is in units of cost, for numbers.
    steps : ndarray of shape (d,)
        Steps of the numbers in units of cost, 0 for none.
    codes : tuple of ndarray or None
        For categories: the codes of samples that have another one than the centre; None for numbers.
    switch : float
        Length of a switch.
    """

    stretch: FloatArray
    steps: FloatArray
    codes: tuple[FloatArray | None, ...]
    switch: float

    @property
    def categories(self) -> BoolArray:
        """Which columns hold categories."""
        return np.array([codes is not None for codes in self.codes], dtype=bool)

    def lengths(self, points: FloatArray, centre: FloatArray) -> FloatArray:
        """Return points in the columns that vary as they are measured."""
        return np.where(self.categories, self.switch * (points != centre), points / self.stretch)

    def rows(
        self, drawn: FloatArray, centre: FloatArray, bounds: tuple[FloatArray, FloatArray], chance: FloatArray
    ) -> FloatArray:
        """Turn lengths from the centre into values, of shape (n, d): whole steps and switches, within bounds."""
        away = drawn * self.stretch
        on_grid = self.steps > 0.0
        away[:, on_grid] = np.round(away[:, on_grid] / self.steps[on_grid]) * self.steps[on_grid]
        points = np.clip(centre + away, *bounds)
        for number, k in enumerate(np.flatnonzero(self.categories)):
            codes = self.codes[k]
            switched = np.abs(drawn[:, k]) > 0.5 * self.switch
            assert codes is not None
            others = codes[(chance[:, number] * len(codes)).astype(np.int64)]
            points[:, k] = np.where(switched, others, centre[..., k])
        return points


def metric_of(grid: Grid, person: int, columns: IntArray, centre: FloatArray, radius: float) -> Metric:
    """Say how the columns of a person are measured."""
    limits = grid.room.limits
    codes: list[FloatArray | None] = []
    for k, at in zip(columns.tolist(), centre, strict=True):
        target = limits.targets[k]
        if target is None:
            codes.append(None)
            continue
        known = np.flatnonzero(target).astype(float)
        known = known[grid.room.may_switch(k, np.full(len(known), person), known)]
        known = np.unique(np.append(known, grid.room.x0[person, k]))
        codes.append(known[known != at])
    steps = grid.steps[columns]
    return Metric(np.maximum(1.0, _STEPS * steps / radius), steps, tuple(codes), radius / _STEPS)
