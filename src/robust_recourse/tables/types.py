"""From one type of column to another, without a change of values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import BoolArray

__all__ = ["alike", "cast", "replaced_in"]


def alike(one: Any, other: Any) -> bool:
    """Whether two types are the same, down to the order of categories: their codes depend on it."""
    categories = getattr(one, "categories", None)
    return bool(one == other and (categories is None or categories.equals(other.categories)))


def cast(series: pd.Series, dtype: Any) -> pd.Series:
    """Give a column another type, if that changes no value; categories that the type lacks are added to it."""
    if isinstance(dtype, pd.CategoricalDtype):
        return _categorical(series, dtype)
    if series.dtype == dtype or series.dtype.kind == "c":
        return series
    # Objects may have other gaps than None, which not every type understands.
    cells = series.where(series.notna(), None) if series.dtype == object else series
    try:
        with np.errstate(invalid="ignore", over="ignore"):
            typed = cells.astype(dtype)
    except (TypeError, ValueError, OverflowError):
        return series
    return typed if _same(typed, series) else series


def replaced_in(series: pd.Series, changed: BoolArray, values: Any) -> pd.Series:
    """Write values into a column of maybe another type, and keep its type if they fit."""
    cells = series.to_numpy(dtype=object, copy=True)
    cells[changed] = values
    whole = pd.Series(cells, index=series.index, name=series.name, dtype=object)
    typed = cast(whole, series.dtype)
    return typed if typed.dtype != object or series.dtype == object else whole.infer_objects()


def _categorical(series: pd.Series, dtype: pd.CategoricalDtype) -> pd.Series:
    if alike(series.dtype, dtype):
        return series
    known = dtype.categories
    cells = series.astype(object)
    new = [value for value in dict.fromkeys(cells[series.notna().to_numpy()].tolist()) if value not in known]
    if new:
        untyped = object if known.dtype == object else None
        dtype = pd.CategoricalDtype(pd.Index([*known.tolist(), *new], dtype=untyped), dtype.ordered)
    return pd.Series(pd.Categorical(cells, dtype=dtype), index=series.index, name=series.name)


def _same(typed: pd.Series, series: pd.Series) -> bool:
    absent = series.isna().to_numpy()
    if not np.array_equal(absent, typed.isna().to_numpy()):
        return False
    # As plain values of Python, which compare exactly.
    pairs = zip(typed[~absent].tolist(), series[~absent].tolist(), strict=True)
    return all(bool(new == old) for new, old in pairs)
