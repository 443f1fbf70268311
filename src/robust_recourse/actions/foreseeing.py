"""What cells become because of others, found in the plainest way; the search has its own."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, Protocol

__all__ = ["UNKNOWN", "Cells", "finite", "followed", "moved", "multiple"]

UNKNOWN: Any = type("_Unknown", (), {"__repr__": lambda _: "unknown"})()
"""What a cell becomes that follows a value of which nobody said what follows."""


class Cells(Protocol):
    """A column before and after a change."""

    old: list[Any]
    new: list[Any]
    lost: list[bool]
    gone: list[bool]

    def differs(self, row: int) -> bool:
        """Whether a cell is not what it was."""
        ...


def followed(column: Cells, leader: Cells, pairs: Mapping[Any, Any]) -> list[Any]:
    """Return what a column is that follows another: its own value where that one keeps its."""
    found = list(column.old)
    for row in range(len(found)):
        if leader.differs(row) and not leader.gone[row] and not column.lost[row]:
            try:
                found[row] = pairs.get(leader.new[row], UNKNOWN)
            except TypeError:  # what cannot be looked up was never seen
                found[row] = UNKNOWN
    return found


def moved(column: Cells, sources: Sequence[tuple[Cells, float]], step: float, precision: type[Any]) -> list[Any]:
    """Return what a column of numbers is that others move, if nobody else does.

    Parameters
    ----------
    column : Cells
        The column.
    sources : sequence of (Cells, float)
        The columns that move it, and by how much for each 1 of theirs.
    step : float
        What it is rounded to, 0 if it may be anything; it never goes against what moves it.
    precision : type
        The type of the floats that it holds.
    """
    found = list(column.old)
    for row, own in enumerate(column.old):
        shift = 0.0
        for source, rate in sources:
            if finite(source.old[row]) and finite(source.new[row]):
                shift = shift + rate * (float(source.new[row]) - float(source.old[row]))
        if shift != 0.0 and finite(own):
            reached = float(own) + shift
            reached = float(precision(multiple(round(reached / step), step) if step else reached))
            found[row] = max(reached, own) if shift > 0.0 else min(reached, own)
    return found


def finite(cell: Any) -> bool:
    """Whether a cell is a number that a float can hold."""
    try:
        return isinstance(cell, Real) and math.isfinite(cell)
    except OverflowError:  # a whole number of more than 308 digits
        return False


def multiple(count: int, step: float) -> float:
    """Return a multiple of a step, with the digits that the step has."""
    digits = max(0, -int(Decimal(repr(float(step))).normalize().as_tuple().exponent))
    return round(count * step, digits)
