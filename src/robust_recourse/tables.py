"""Tables in and out: frames of continuous columns and plain arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import FloatArray
from robust_recourse._validation import check_matrix

__all__ = ["like", "read_table"]


def read_table(X: Any, name: str, *, width: int | None = None, columns: pd.Index | None = None) -> FloatArray:
    """Return the numbers of a frame or an array, in the order of `columns` if both are frames.

    Parameters
    ----------
    X : DataFrame or array_like
        The table. Every column is continuous.
    name : str
        What messages call it.
    width : int, optional
        Number of columns it must have.
    columns : Index, optional
        Columns that a frame must have; it may have them in another order.
    """
    if not isinstance(X, pd.DataFrame):
        return check_matrix(X, name, width=width)
    if columns is not None:
        missing, unknown = columns.difference(X.columns), X.columns.difference(columns)
        if len(missing) or len(unknown):
            problems = [f"lacks {list(missing)}"] * bool(len(missing)) + [f"adds {list(unknown)}"] * bool(len(unknown))
            raise ValueError(f"{name} must have the columns seen in fit; it {' and '.join(problems)}.")
        X = X[columns]
    if not X.columns.is_unique:
        raise ValueError(f"{name} has the column {X.columns[X.columns.duplicated()][0]!r} twice.")
    for column, dtype in X.dtypes.items():
        if not (pd.api.types.is_float_dtype(dtype) and isinstance(dtype, np.dtype)):
            raise TypeError(
                f"{name}: column {column!r} has dtype {dtype}, but only continuous float columns are supported. "
                "Convert it with .astype(float) if fractional values make sense for it."
            )
    return check_matrix(X.to_numpy(dtype=float), name, width=width)


def like(values: FloatArray, X: Any, columns: pd.Index | None) -> Any:
    """Return `values` as a frame with the index and the columns of `X` if that is one, else as they are."""
    if not isinstance(X, pd.DataFrame):
        return values
    frame = pd.DataFrame(values, columns=X.columns if columns is None else columns, index=X.index)
    return frame[X.columns]
