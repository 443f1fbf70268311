"""Tables as values: some of their rows, several as one, and whether two are the same to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import IntArray
from robust_recourse.tables.types import alike

__all__ = ["row_reader", "same_array", "same_column", "same_index", "same_table", "same_value", "stack", "take"]


def take(table: Any, rows: IntArray) -> Any:
    """Return some rows of a table, in this order."""
    return table.iloc[rows] if isinstance(table, pd.DataFrame) else table[rows]


def stack(tables: Sequence[Any]) -> Any:
    """Return tables of the same kind and columns as one."""
    first = tables[0]
    if isinstance(first, np.ndarray):
        return np.concatenate(tables)
    if isinstance(first, pd.DataFrame):
        return pd.concat(tables)
    return reduce(lambda above, below: above.vstack(below), tables)


def row_reader(table: Any) -> Callable[[int], Any]:
    """Return the function of a position that returns the row there.

    It is a vector of an array, else a Series of pandas in which every value keeps its type.
    """
    if isinstance(table, np.ndarray):
        return lambda i: table[i].copy()
    if not isinstance(table, pd.DataFrame):
        return lambda i: pd.Series(list(table.row(i)), index=table.columns, name=i, dtype=object)
    dtypes = list(table.dtypes)
    if dtypes and all(alike(dtype, dtypes[0]) for dtype in dtypes):
        return lambda i: table.iloc[i]
    arrays = [table.iloc[:, k].array for k in range(table.shape[1])]

    def read(i: int) -> pd.Series[Any]:
        cells = np.empty(len(arrays), dtype=object)
        cells[:] = [array[i] for array in arrays]
        return pd.Series(cells, index=table.columns, name=table.index[i], dtype=object)

    return read


def same_table(one: Any, other: Any) -> bool:
    """Whether two tables have the same cells, types, names and labels."""
    if type(one) is not type(other) or one.shape != other.shape:
        return False
    if isinstance(one, np.ndarray):
        return same_array(one, other)
    if not isinstance(one, pd.DataFrame):
        return bool(one.schema == other.schema and one.equals(other))
    return (
        same_index(one.columns, other.columns)
        and same_index(one.index, other.index)
        and all(same_column(one.iloc[:, k], other.iloc[:, k]) for k in range(one.shape[1]))
    )


def same_index(one: pd.Index[Any], other: pd.Index[Any]) -> bool:
    """Whether two indices have the same labels, types and names; a range is as good as the numbers in it."""
    if one.nlevels != other.nlevels or not same_value(tuple(one.names), tuple(other.names)):
        return False
    return all(
        same_column(one.get_level_values(level).to_series(), other.get_level_values(level).to_series())
        for level in range(one.nlevels)
    )


def same_column(one: pd.Series[Any], other: pd.Series[Any]) -> bool:
    """Whether two columns have the same type and cells."""
    if len(one) != len(other) or not alike(one.dtype, other.dtype):
        return False
    if isinstance(one.dtype, pd.CategoricalDtype):
        return np.array_equal(one.cat.codes.to_numpy(), other.cat.codes.to_numpy())
    if isinstance(one.dtype, np.dtype) and one.dtype.kind != "O":
        return same_array(one.to_numpy(), other.to_numpy())
    pairs = zip(one.astype(object).tolist(), other.astype(object).tolist(), strict=True)
    return all(same_value(*pair) for pair in pairs)


def same_array(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Whether two arrays have the same type, shape and bits; one NaN is as good as another."""
    if one.dtype != other.dtype or one.shape != other.shape:
        return False
    if one.dtype.kind == "O":
        return all(same_value(*pair) for pair in zip(one.ravel().tolist(), other.ravel().tolist(), strict=True))
    if one.dtype.kind == "f":
        alike_numbers = (one == other) & (np.signbit(one) == np.signbit(other))
        return bool((alike_numbers | (np.isnan(one) & np.isnan(other))).all())
    if one.dtype.kind in "Mm":
        return np.array_equal(one.view(np.int64), other.view(np.int64))
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "c")


def same_value(one: Any, other: Any) -> bool:
    """Whether two cells are the same, with their types; all that is missing in the same way is the same."""
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(same_value(*pair) for pair in zip(one, other, strict=True))
    if isinstance(one, float | np.floating):
        return bool((one == other and np.signbit(one) == np.signbit(other)) or (one != one and other != other))
    if one is other:
        return True
    try:
        return bool(one == other or (one != one and other != other))
    except (TypeError, ValueError):
        return False
