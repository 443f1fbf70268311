"""What the axis of one column shows: numbers of the table, or categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from robust_recourse._typing import FloatArray
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
        A coordinate times it is a number of the table.
    writer : Writer
        What writes the numbers of the column.
    """

    unit: float
    writer: Writer

    @property
    def label(self) -> str:
        """What is added to the name of the column: the unit, if the ticks do not have it."""
        return f" ({self.writer.unit})" if self.writer.unit and not self._in_ticks else ""

    @property
    def _in_ticks(self) -> bool:
        return self.writer.dates or self.writer.unit == FRACTION

    def text(self, number: float) -> str:
        """Write a round number of the table."""
        plain = Writer(self.writer.unit if self._in_ticks else "")
        return plain.text(float(f"{number:.12g}"))


@dataclass(frozen=True)
class Categories:
    """An axis of the categories that a person has: as it is, at the boundary point, and with the recourse.

    Attributes
    ----------
    codes : ndarray of shape (n,)
        Their codes, rising; they stand at 0, 1 and so on.
    values : tuple
        The categories as the table has them.
    words : tuple of str
        What people call them.
    """

    codes: FloatArray
    values: tuple[Any, ...]
    words: tuple[str, ...]

    def place(self, codes: FloatArray) -> FloatArray:
        """Return where codes stand."""
        return np.searchsorted(self.codes, codes).astype(float)

    def at(self, places: FloatArray) -> FloatArray:
        """Return the codes that stand nearest to places."""
        return np.asarray(self.codes[np.clip(np.round(places), 0, len(self.codes) - 1).astype(np.int64)])


Axis: TypeAlias = Numbers | Categories
