"""Refused rows that are explained together."""

from __future__ import annotations

from typing import NamedTuple

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.methods._space import Space

__all__ = ["Chunk"]


class Chunk(NamedTuple):
    """Refused rows that may change the same columns, in units of cost.

    Where categories have been switched, the instances have the new ones and the boundary is known.
    """

    rows: IntArray  # numbers of the rows in the table
    x0: FloatArray  # (m, p), all columns
    free: BoolArray  # (p,): the columns that may change
    space: Space
    deadline: float | None = None  # when to stop, in seconds since the epoch
    centres: FloatArray | None = None  # (m, p_free): boundary points
    at_once: BoolArray | None = None  # (m,): which instances are accepted as they are now

    def take(self, part: BoolArray | IntArray) -> Chunk:
        """Keep some of the rows."""
        centres = None if self.centres is None else self.centres[part]
        at_once = None if self.at_once is None else self.at_once[part]
        return self._replace(rows=self.rows[part], x0=self.x0[part], centres=centres, at_once=at_once)
