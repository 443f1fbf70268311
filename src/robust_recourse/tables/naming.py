"""Whether the columns of a frame can be told apart, and read."""

from __future__ import annotations

import pandas as pd
from pandas.api import types

__all__ = ["check_columns"]


def check_columns(frame: pd.DataFrame, name: str) -> None:
    """Raise for columns that have no name of their own, and for complex numbers; `name` is what messages call them."""
    if not frame.columns.is_unique:
        raise ValueError(f"{name} has the column {frame.columns[frame.columns.duplicated()][0]!r} twice.")
    for column, dtype in zip(frame.columns, frame.dtypes, strict=True):
        # True is 1 and NaN is not even itself, so neither can be looked up.
        if types.is_bool(column) or (types.is_scalar(column) and pd.isna(column)):
            raise ValueError(f"{name} has a column that is called {column!r}. Give it a text or a number as its name.")
        if types.is_complex_dtype(dtype):
            raise TypeError(
                f"{name}: column {column!r} must hold numbers or categories, got complex numbers. Give their real and "
                "imaginary parts as two columns."
            )
