"""From one type of column to another, without a change of values."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import pandas_dtype

from robust_recourse._typing import BoolArray

__all__ = ["alike", "cast", "decimal_places", "gapped", "holds", "replaced_in", "ungapped"]


def alike(one: Any, other: Any) -> bool:
    """Whether two types are the same, down to the order of categories: their codes depend on it."""
    categories = getattr(one, "categories", None)
    return bool(one == other and (categories is None or categories.equals(other.categories)))


def decimal_places(dtype: Any) -> tuple[int, int] | None:
    """Return how many digits decimal numbers of Arrow have before the point and behind it; None for other types."""
    kept: Any = getattr(dtype, "pyarrow_dtype", None)
    return (kept.precision - kept.scale, kept.scale) if hasattr(kept, "scale") else None


def cast(series: pd.Series, dtype: Any) -> pd.Series:
    """Give a column another type, if that changes no value; categories that the type lacks are added to it."""
    if isinstance(dtype, pd.CategoricalDtype):
        return _categorical(series, dtype)
    if series.dtype == dtype or series.dtype.kind == "c":
        return series
    if isinstance(dtype, pd.PeriodDtype) and series.dtype.kind in "biuf":
        return series  # which pandas would take for years
    # Objects may have other gaps than None, which not every type understands.
    cells = series.where(series.notna(), None) if series.dtype == object else series
    try:
        with np.errstate(invalid="ignore", over="ignore"):
            typed = cells.astype(dtype)
    except (TypeError, ValueError, OverflowError, NotImplementedError):
        return series
    return typed if _same(typed, series) else series


def holds(dtype: Any, values: Sequence[Any]) -> bool:
    """Whether values are of a type, or can be turned into it without a change."""
    if isinstance(dtype, pd.CategoricalDtype):  # some that differ are equal
        return _holds(dtype, values)
    return _held(dtype, tuple(values), tuple(map(type, values)))


@lru_cache(maxsize=1024)
def _held(dtype: Any, values: tuple[Any, ...], _: tuple[type, ...]) -> bool:
    """Say it once of the same values of the same types: True is 1 to a cache."""
    return _holds(dtype, values)


def _holds(dtype: Any, values: Sequence[Any]) -> bool:
    return not len(values) or alike(cast(pd.Series([*values], dtype=object), dtype).dtype, dtype)


def replaced_in(series: pd.Series, changed: BoolArray, values: Any) -> pd.Series:
    """Write values into a column of maybe another type, and keep its type if they fit."""
    cells = series.to_numpy(dtype=object, copy=True)
    cells[changed] = values
    whole = pd.Series(cells, index=series.index, name=series.name, dtype=object)
    typed = cast(whole, series.dtype)
    return typed if typed.dtype != object or series.dtype == object else whole.infer_objects()


def gapped(own: Any, asked: Any = None, values: Sequence[Any] = ()) -> Any:
    """Return the type that a column of recourses has, whatever they are and whoever has none.

    It is the column's own type where that holds a gap and everything that a recourse may say, else the next one that
    does: integers and booleans are nullable, numbers as wide as those of the training rows, categories all that there
    are. A type that does not hold the categories of the training rows, as that of texts some numbers, becomes objects.

    Parameters
    ----------
    own : dtype
        The type that was given.
    asked : dtype, optional
        That of the training rows, if the column holds numbers.
    values : sequence, optional
        The categories of the training rows, if it holds categories.
    """
    if isinstance(own, pd.CategoricalDtype):
        # Numbers that were given as categories may become any number.
        return _all_categories(own, values) if asked is None else gapped(own.categories.dtype, asked)
    if isinstance(own, pd.IntervalDtype) and own.subtype is not None and own.subtype.kind in "iu":
        return pd.IntervalDtype(np.dtype(float), own.closed)
    if not holds(own, values):
        return np.dtype(object)
    kept, wanted = (getattr(dtype, "numpy_dtype", dtype) for dtype in (own, asked))
    if not isinstance(kept, np.dtype) or kept.kind not in "biuf":
        return own
    if wanted == np.dtype(object):
        wanted = np.dtype(float)  # numbers of any type
    wide = np.result_type(kept, wanted) if isinstance(wanted, np.dtype) and wanted.kind in "biuf" else kept
    if not isinstance(own, np.dtype):
        return own if wide == kept else _like_type(own, wide)
    return wide if wide.kind == "f" else _nullable(wide)


def ungapped(table: pd.DataFrame, like: pd.DataFrame | None = None) -> pd.DataFrame:
    """Give integers and booleans that are nullable, but have no gap, the types of `like`, or else plain ones."""
    plain = {}
    for k, dtype in enumerate(table.dtypes):
        own = getattr(dtype, "numpy_dtype", None) if like is None else like.dtypes.iloc[k]
        masked = isinstance(own, np.dtype) and own.kind in "biu" and dtype == gapped(own)
        if masked and table.iloc[:, k].notna().all():
            plain[k] = table.iloc[:, k].astype(own)  # type: ignore[arg-type]
    if not plain:
        return table
    columns = {k: plain.get(k, table.iloc[:, k]) for k in range(table.shape[1])}
    return pd.DataFrame(columns, index=table.index).set_axis(table.columns, axis=1)


def _nullable(dtype: np.dtype[Any]) -> Any:
    name = dtype.name
    return pandas_dtype("boolean" if name == "bool" else name.replace("i", "I", 1).replace("u", "U", 1))


def _like_type(own: Any, wide: np.dtype[Any]) -> Any:
    """Return a nullable type, or one of Arrow if `own` is, of other numbers."""
    if isinstance(own, pd.ArrowDtype):
        return pandas_dtype(f"{wide.name.replace('float64', 'double').replace('float32', 'float')}[pyarrow]")
    return pandas_dtype(wide.name.capitalize()) if wide.kind == "f" else _nullable(wide)


def _all_categories(own: pd.CategoricalDtype, values: Sequence[Any]) -> pd.CategoricalDtype:
    known = own.categories.tolist()
    new = [value for value in values if value not in known]
    if not new:
        return own
    # Those of the training rows know where new ones belong, if they agree on the others.
    agreed = bool(own.ordered) and [value for value in values if value in known] == known
    untyped = object if own.categories.dtype == object else None
    return pd.CategoricalDtype(pd.Index([*values] if agreed else [*known, *new], dtype=untyped), own.ordered)


def _categorical(series: pd.Series, dtype: pd.CategoricalDtype) -> pd.Series:
    if alike(series.dtype, dtype):
        return series
    # By equality of plain values: an index would read texts as dates, and tell True from 1 only at times.
    known = dtype.categories.tolist()
    places = {value: code for code, value in enumerate(known)}
    cells = zip(series.astype(object).tolist(), series.isna().tolist(), strict=True)
    codes = np.array([-1 if gap else places.setdefault(cell, len(places)) for cell, gap in cells], dtype=np.int64)
    if len(places) > len(known):
        untyped = object if dtype.categories.dtype == object else None
        dtype = pd.CategoricalDtype(pd.Index([*places], dtype=untyped), dtype.ordered)
    return pd.Series(pd.Categorical.from_codes(codes, dtype=dtype), index=series.index, name=series.name)


def _same(typed: pd.Series, series: pd.Series) -> bool:
    absent = series.isna().to_numpy()
    if not np.array_equal(absent, typed.isna().to_numpy()):
        return False
    # As plain values of Python, which compare exactly.
    pairs = zip(typed[~absent].tolist(), series[~absent].tolist(), strict=True)
    return all(bool(new == old) for new, old in pairs)
