"""The columns of a table as cells that people can read in JSON, and back to the last bit.

A cell is written as :func:`json_value` writes it. What would not be read as the same value (a NaN in a column of
objects, the text "1" beside a number) stands beside the cells a second time, exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import BoolArray
from robust_recourse.notices.values import json_value
from robust_recourse.tables.plain import KINDS, Kind, decode, encode
from robust_recourse.tables.values import same_column, same_value

__all__ = ["Exact", "from_plain", "read_column", "to_plain", "write_column"]

Exact = list[list[Any]]
"""Pairs of a row and its exact value, as plain data."""


def to_plain(value: Any, kinds: Iterable[Kind] = KINDS) -> Any:
    """Return any value of known kinds as data for JSON; raises TypeError for what cannot be read back."""
    arrays: list[Any] = []
    data = encode(value, kinds, arrays)
    return [data, [[array.dtype.str, array.tolist()] for array in arrays]] if arrays else [data]


def from_plain(data: Any, kinds: Iterable[Kind] = KINDS) -> Any:
    """Return the value that `to_plain` wrote."""
    arrays = [np.array(values, dtype=dtype) for dtype, values in data[1]] if len(data) > 1 else []
    return decode(data[0], kinds, arrays)


def write_column(series: pd.Series[Any], shown: BoolArray) -> tuple[list[Any], Exact]:
    """Return the cells of a column, None in rows that are not `shown`, and the values that they do not tell exactly."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype) and (dtype == np.float64 or (dtype.kind in "biu" and shown.all())):
        return _write_numbers(series.to_numpy(), shown)
    cells = [json_value(value) if told else None for value, told in zip(series.array, shown, strict=True)]
    try:
        back = _read(cells, series.dtype)
        told = [same_value(*pair) for pair in zip(_values(back), _values(series), strict=True)]
    except Exception:  # of pandas or pyarrow, about a type that is unusual
        told = [False] * len(cells)
    exact = [[i, to_plain(value)] for i, value in enumerate(_values(series)) if not told[i]]
    if not same_column(read_column(cells, exact, series.dtype), series):
        raise TypeError(f"column {series.name!r} has the type {series.dtype}, which cannot be stored.")
    return cells, exact


def _write_numbers(numbers: np.ndarray[Any, Any], shown: BoolArray) -> tuple[list[Any], Exact]:
    """Write numbers and booleans of which Python has the very same: there is nothing to check, cell by cell."""
    cells: list[Any] = numbers.tolist()
    if numbers.dtype != np.float64:
        return cells, []
    for i in np.flatnonzero(~(shown & np.isfinite(numbers))):
        cells[i] = json_value(cells[i]) if shown[i] else None
    return cells, [[int(i), to_plain(float(numbers[i]))] for i in np.flatnonzero(~shown & ~np.isnan(numbers))]


def read_column(cells: list[Any], exact: Exact, dtype: Any) -> pd.Series[Any]:
    """Return the column that `write_column` wrote.

    Raises
    ------
    ValueError
        If a cell is none of its type.
    """
    if not exact:
        return _read(cells, dtype)
    values = np.empty(len(cells), dtype=object)
    if len(exact) < len(cells):
        values[:] = _values(_read(cells, dtype))
    for i, data in exact:
        values[i] = from_plain(data)
    return pd.Series(values, dtype=object).astype(dtype)


def _values(series: pd.Series[Any]) -> list[Any]:
    return series.astype(object).tolist()


def _read(cells: list[Any], dtype: Any) -> pd.Series[Any]:
    if isinstance(dtype, pd.CategoricalDtype):
        return _read_categories(cells, dtype)
    if isinstance(dtype, pd.DatetimeTZDtype):
        utc = [None if cell is None else pd.Timestamp(cell).tz_convert(None) for cell in cells]
        naive = _read(utc, np.dtype(f"M8[{dtype.unit}]"))
        return pd.Series(pd.DatetimeIndex(naive, tz="UTC")).astype(dtype)
    kind = getattr(getattr(dtype, "numpy_dtype", dtype), "kind", "O")
    if isinstance(dtype, np.dtype) and kind == "f":
        plain = np.asarray(cells)
        if plain.dtype == np.float64:
            return pd.Series(plain.astype(dtype))
    if kind == "f":
        cells = [float(cell) if isinstance(cell, str) else cell for cell in cells]
    if not isinstance(dtype, np.dtype):
        return pd.Series(pd.array(cells, dtype=dtype))
    if kind in "iub":
        wanted = bool if kind == "b" else int
        wrong = next((cell for cell in cells if type(cell) is not wanted), None)
        if wrong is not None or None in cells:
            raise ValueError(f"{wrong!r} is no value of the type {dtype}")
    elif kind == "f":
        return pd.Series(np.array([np.nan if cell is None else cell for cell in cells], dtype=float).astype(dtype))
    elif kind == "M":
        cells = [np.datetime64("NaT") if cell is None else pd.Timestamp(cell).asm8 for cell in cells]
    values = np.empty(len(cells), dtype=object)
    values[:] = cells
    return pd.Series(values if kind == "O" else values.astype(dtype), dtype=dtype)


def _read_categories(cells: list[Any], dtype: pd.CategoricalDtype) -> pd.Series[Any]:
    # True and 1 are equal, and two categories.
    written = [json_value(value) for value in dtype.categories]
    places = {(type(value), value): code for code, value in enumerate(written) if not isinstance(value, list)}
    codes = [-1 if cell is None else places.get((type(cell), cell), -2) for cell in cells]
    if -2 in codes:
        raise ValueError(f"{cells[codes.index(-2)]!r} is none of the categories {written}")
    return pd.Series(pd.Categorical.from_codes(np.array(codes, dtype=np.int64), dtype=dtype))
