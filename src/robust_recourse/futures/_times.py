"""Rows in the order of time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import IntArray
from robust_recourse.models.errors import name_rows
from robust_recourse.tables.foreign import is_frame

__all__ = ["places_in_time"]

_NUMBERS = ("integer", "floating", "mixed-integer-float", "decimal", "timedelta", "timedelta64")
_DATES = ("date", "datetime", "datetime64", "period")


def places_in_time(time: Any, X: Any) -> IntArray:
    """Return a number for every row of `X`, larger for later rows and the same for rows of the same time.

    Parameters
    ----------
    time : array_like of shape (n,), or column
        Numbers or dates, or which column of `X` holds them.
    X : DataFrame or ndarray of shape (n, p)
        The rows.
    """
    named = isinstance(time, str) or np.ndim(time) == 0
    values = _column(X, time) if named else time
    source = f"column {time!r} of X" if named else "time"
    of_pandas = isinstance(values, pd.Series | pd.Index | pd.api.extensions.ExtensionArray)
    series = pd.Series(values if of_pandas else np.asarray(values))
    if len(series) != len(X):
        raise ValueError(f"Temporal: time must have one value for each of the {len(X)} rows of X, got {len(series)}.")
    missing = np.flatnonzero(series.isna().to_numpy())
    if len(missing):
        raise ValueError(f"Temporal: {source} has no time in {name_rows(missing)}. Fill it in, or leave the rows out.")
    kind = pd.api.types.infer_dtype(series)
    if kind not in (*_NUMBERS, *_DATES) and not (isinstance(series.dtype, pd.CategoricalDtype) and series.cat.ordered):
        raise TypeError(
            f"Temporal: {source} must hold numbers or dates, got {series.iloc[0]!r} ({kind}). pandas.to_datetime reads "
            "dates from texts."
        )
    if series.nunique() < 2:
        raise ValueError(f"Temporal: {source} is {series.iloc[0]} in every row, so that no row is older than others.")
    if isinstance(series.dtype, pd.CategoricalDtype):
        return np.asarray(series.cat.codes, dtype=np.int64)
    return np.asarray(pd.factorize(series, sort=True)[0], dtype=np.int64)


def _column(X: Any, name: Any) -> Any:
    if is_frame(X):
        if name not in X.columns:
            raise ValueError(f"Temporal: X has no column {name!r}. Its columns are {', '.join(map(repr, X.columns))}.")
        return X[name]
    if not isinstance(name, int | np.integer) or isinstance(name, bool):
        raise ValueError(f"Temporal: X is an array, its columns have no names such as {name!r}. Give the number.")
    if not -X.shape[1] <= name < X.shape[1]:
        raise ValueError(f"Temporal: X has no column {name}. Its columns are 0 to {X.shape[1] - 1}.")
    return X[:, name]
