"""The points that are certified, as they were given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import FloatArray, IntArray
from robust_recourse._validation import check_matrix
from robust_recourse.result import Recourses
from robust_recourse.tables.foreign import is_frame, to_pandas
from robust_recourse.tables.order import check_order
from robust_recourse.tables.rows import take

__all__ = ["Wanted", "read_points"]


@dataclass(frozen=True, eq=False)
class Wanted:
    """Points to certify; some rows may have none.

    Attributes
    ----------
    labels : Index
        What each row is called.
    reasons : ndarray of str, shape (m,)
        Why a row has no point; empty if it has one.
    table, x0 : DataFrame, ndarray or None
        The points that there are, and their instances.
    person, rank : ndarray of int, shape (m,), or None
        Whose recourse each row is, if a person can have several.
    """

    labels: pd.Index[Any]
    reasons: np.ndarray[Any, np.dtype[np.object_]]
    table: Any
    x0: Any
    person: IntArray | None = None
    rank: IntArray | None = None

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def rows(self) -> IntArray:
        """The rows that have a point."""
        return np.flatnonzero(self.reasons == "")

    def numbers(self) -> FloatArray:
        """Return the points that there are as numbers."""
        return check_matrix(self.table, "points")


def read_points(points: Any, x0: Any) -> Wanted:
    """Read what the user wants to have certified.

    Parameters
    ----------
    points : Recourses, DataFrame or array_like of shape (m, p)
        The points.
    x0 : DataFrame, array_like of shape (m, p) or None
        Their instances.
    """
    if isinstance(points, Recourses):
        return _read_recourses(points, x0)
    if points is None:
        raise TypeError("points must be given: an array, a frame, or Recourses.")
    table = to_pandas(points) if is_frame(points) else np.asarray(points)
    if np.ndim(table) != 2:
        hint = " Write a single point as [x]." if np.ndim(table) == 1 else ""
        raise ValueError(f"points must be two-dimensional (rows, columns), got {np.ndim(table)} dimension(s).{hint}")
    if not len(table):
        raise ValueError("points has no rows.")
    labels = table.index if isinstance(table, pd.DataFrame) else pd.RangeIndex(len(table))
    check_order(table, "points", x0, "x0")
    return Wanted(labels, np.full(len(table), "", dtype=object), table, x0)


def _read_recourses(found: Recourses, x0: Any) -> Wanted:
    if x0 is not None:
        raise TypeError("x0 must be left out when points are Recourses: they have their instances.")
    if not len(found):
        raise ValueError("points has no rows.")
    exists = np.isfinite(found.cost)
    reasons = np.where(exists, "", found.reason)
    rows = np.flatnonzero(exists)
    x = to_pandas(found.x)
    labels = x.index if isinstance(x, pd.DataFrame) else pd.Index(found.person)
    several = bool((found.rank > 1).any())
    return Wanted(
        labels,
        reasons.astype(object),
        take(x, rows),
        take(to_pandas(found.x0), rows),
        found.person if several else None,
        found.rank if several else None,
    )
