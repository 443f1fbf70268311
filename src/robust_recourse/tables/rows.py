"""Rows of tables, whatever these are."""

from __future__ import annotations

from typing import Any

import pandas as pd

from robust_recourse._typing import IntArray

__all__ = ["take"]


def take(table: Any, rows: IntArray) -> Any:
    """Return a copy of some rows, by position, of a frame or a column of pandas or polars, or of an array."""
    # Unlike iloc, take does not warn later that the copy is one.
    return table.take(rows) if isinstance(table, pd.DataFrame | pd.Series) else table[rows]
