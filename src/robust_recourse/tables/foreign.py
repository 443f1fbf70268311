"""Frames of other libraries: pandas inside, what was given outside.

Nothing is imported here: whoever has a polars frame has imported polars already.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

__all__ = ["is_frame", "native", "to_pandas"]


def is_frame(X: Any) -> bool:
    """Whether `X` is a table with named columns: of pandas, or one that can be turned into such."""
    if hasattr(X, "collect_schema") and not hasattr(X, "to_pandas"):
        raise TypeError(f"A {type(X).__name__} has no rows yet; pass X.collect().")
    return isinstance(X, pd.DataFrame) or callable(getattr(X, "to_pandas", None))


def to_pandas(X: Any) -> Any:
    """Return a frame of another library as one of pandas, and anything else as it is."""
    if isinstance(X, pd.DataFrame) or not is_frame(X):
        return X
    try:
        return X.to_pandas()
    except ImportError as error:
        raise ImportError(
            f"A frame of {_library(X)} is read through pandas, and that needs a package: {error}. "
            "Install it with: pip install 'robust-recourse[polars]'"
        ) from error


def native(X: Any) -> Callable[[pd.DataFrame], Any] | None:
    """Return the function that turns a frame of pandas into one like `X`, of the same library and types.

    There is one for polars only; None: frames of pandas are what comes out. A column whose values do not fit its type
    any more has the type that they need.
    """
    return _Rebuild(type(X), dict(X.schema)) if is_frame(X) and _library(X) == "polars" else None


def _library(X: Any) -> str:
    return type(X).__module__.split(".")[0]


class _Rebuild:
    """Builds frames of polars, column by column."""

    def __init__(self, make: Any, schema: dict[str, Any]) -> None:
        self._make, self._schema = make, schema

    def __call__(self, frame: pd.DataFrame) -> Any:
        return self._make([self._column(frame[name]) for name in frame.columns])

    def _column(self, series: pd.Series) -> Any:
        name, cells = str(series.name), _cells(series)
        for trial in (cells, _whole(cells)):
            try:
                column = self._make({name: trial}, schema={name: self._schema[name]})[name]
            except Exception:  # of polars, whose errors are not known here
                continue
            # In single precision nothing is refused.
            if series.dtype.kind != "f" or column.to_list() == trial:
                return column
        return self._make({name: cells}, strict=False)[name]


def _cells(series: pd.Series) -> list[Any]:
    """Return the values of a column, None where it has none."""
    absent = series.isna().to_numpy()
    return series.tolist() if not absent.any() else series.astype(object).where(~absent, None).tolist()


def _whole(cells: list[Any]) -> list[Any]:
    """Return whole numbers as integers; a column of pandas that has gaps holds floats."""
    return [int(cell) if isinstance(cell, float) and cell.is_integer() else cell for cell in cells]
