"""Two tables, row beside row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from robust_recourse.actions.names import Names
from robust_recourse.tables import Schema, to_pandas
from robust_recourse.tables.naming import check_columns
from robust_recourse.tables.shapes import check_table

__all__ = ["paired"]


def paired(schema: Schema | None, before: Any, after: Any) -> tuple[pd.DataFrame, pd.DataFrame, Names]:
    """Return frames with the same columns and the same rows, those of `after`, and the names of the columns."""
    check_table(before, "before")
    check_table(after, "after")
    old, new = to_pandas(before), to_pandas(after)
    framed = isinstance(old, pd.DataFrame)
    if framed != isinstance(new, pd.DataFrame):
        raise TypeError(
            f"before and after must both be frames or both be arrays, got {type(before).__name__} "
            f"and {type(after).__name__}."
        )
    if not framed:
        old, new = _array(old, "before"), _array(new, "after")
    columns: Any = range(old.shape[1]) if not framed else list(old.columns)
    if schema is not None:
        columns = range(len(schema.columns)) if schema.names is None else list(schema.names)
    if not framed or isinstance(columns, range):
        old, new = _relabelled(old, columns, "before"), _relabelled(new, columns, "after")
    names = Names(len(columns) if isinstance(columns, range) else columns)
    old, new = _selected(old, columns, "before"), _selected(new, columns, "after")
    if not framed and len(old) != len(new):
        raise ValueError(f"before has {len(old)} rows, but after has {len(new)}.")
    return _beside(old, new), new, names


def _array(X: Any, name: str) -> pd.DataFrame:
    array = np.asarray(X)
    if array.ndim != 2:
        raise ValueError(f"{name} must be two-dimensional (rows, columns), got {array.ndim} dimension(s).")
    return pd.DataFrame(array)


def _relabelled(frame: pd.DataFrame, columns: Any, name: str) -> pd.DataFrame:
    if frame.shape[1] != len(columns):
        raise ValueError(f"{name} must have {len(columns)} columns, got {frame.shape[1]}.")
    return frame.set_axis(pd.Index(columns, tupleize_cols=False), axis=1)


def _selected(frame: pd.DataFrame, columns: Any, name: str) -> pd.DataFrame:
    check_columns(frame, name)
    lacks = [column for column in columns if column not in frame.columns]
    adds = [column for column in frame.columns if column not in columns]
    if lacks or adds:
        problems = [f"lacks {lacks}"] * bool(lacks) + [f"adds {adds}"] * bool(adds)
        raise ValueError(f"{name} must have the columns {list(columns)}; it {' and '.join(problems)}.")
    return frame.iloc[:, frame.columns.get_indexer(pd.Index(columns, tupleize_cols=False))]


def _beside(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of `old` that belong to those of `new`."""
    if old.index.equals(new.index):
        return old
    if not old.index.is_unique:
        raise ValueError(
            f"before has several rows with the index {old.index[old.index.duplicated()][0]!r}, "
            "so after must have the same index, in the same order."
        )
    places = old.index.get_indexer(new.index)
    if (places < 0).any():
        raise ValueError(f"after has a row {new.index[places < 0][0]!r}, which before has not.")
    return old.iloc[places]
