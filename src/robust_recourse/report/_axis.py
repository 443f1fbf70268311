"""What the axis of one column shows: numbers of the table, or categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from robust_recourse._typing import FloatArray
from robust_recourse.math.piecewise import piecewise_linear
from robust_recourse.notices.writing import FRACTION, Writer

__all__ = ["Axis", "Categories", "Numbers", "Ticks"]

Ticks: TypeAlias = tuple[Sequence[float], Sequence[str]]
"""Where an axis has ticks, and what stands there."""


@dataclass(frozen=True)
class Numbers:
    """An axis of numbers in units of cost, with ticks in the units of the table.

    Attributes
    ----------
    unit : float
        A coordinate times it is a number of the table, unless there is an effort.
    writer : Writer
        What writes the numbers of the column.
    effort : tuple of pairs
        Numbers of the table and the coordinates where they stand, if they are not as dear everywhere.
    moved : bool
        Whether others move the column, beyond what the person does to it.
    """

    unit: float
    writer: Writer
    effort: tuple[tuple[float, float], ...] = ()
    moved: bool = False

    @property
    def label(self) -> str:
        """What is added to the name of the column: the unit, if the ticks do not have it, and who changes it."""
        unit = f" ({self.writer.unit})" if self.writer.unit and not self._in_ticks else ""
        return unit + (", as the person changes it" if self.moved else "")

    def place(self, numbers: FloatArray) -> FloatArray:
        """Return where numbers of the table stand."""
        if not self.effort:
            return np.asarray(numbers / self.unit)
        known, effort = np.array(self.effort).T
        return piecewise_linear(numbers, known, effort)

    def at(self, places: FloatArray) -> FloatArray:
        """Return the numbers of the table that stand at places."""
        if not self.effort:
            return np.asarray(places * self.unit)
        known, effort = np.array(self.effort).T
        return piecewise_linear(places, effort, known)

    @property
    def _in_ticks(self) -> bool:
        return self.writer.dates or self.writer.unit == FRACTION

    def text(self, number: float) -> str:
        """Write a round number of the table."""
        plain = Writer(self.writer.unit if self._in_ticks else "")
        return plain.text(float(f"{number:.12g}"))


@dataclass(frozen=True)
class Categories:
    """An axis of categories.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Their codes, rising; they stand at 0, 1 and so on.
    words : tuple of str
        What people call them.
    """

    codes: FloatArray
    words: tuple[str, ...]

    label = ""

    def place(self, codes: FloatArray) -> FloatArray:
        """Return where codes stand."""
        return np.searchsorted(self.codes, codes).astype(float)

    def at(self, places: FloatArray) -> FloatArray:
        """Return the codes that stand nearest to places."""
        return np.asarray(self.codes[np.clip(np.round(places), 0, len(self.codes) - 1).astype(np.int64)])


Axis: TypeAlias = Numbers | Categories
