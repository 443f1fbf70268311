"""What is no table: a row, a column, a dict or a list, answered with what to pass instead."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["check_table"]


def check_table(X: Any, name: str, columns: pd.Index | None = None, *, framed: bool = False) -> None:
    """Raise for one row, one column, a dict or dicts, which are no table.

    Parameters
    ----------
    X : object
        What was passed.
    name : str
        What messages call it.
    columns : Index, optional
        The columns of the training rows, if they are known and have names.
    framed : bool
        Whether only a frame has what these columns hold.

    Raises
    ------
    TypeError, ValueError
        The latter for a row that is a list of numbers.
    """
    kind = type(X).__name__
    if isinstance(X, str | bytes | os.PathLike):
        raise TypeError(f"{name} must be a table, got {kind}. Read the file first, such as with pd.read_csv.")
    if isinstance(X, pd.Series):
        raise TypeError(_of_series(X, name, columns))
    if all(callable(getattr(X, method, None)) for method in ("to_frame", "to_pandas")) and not hasattr(X, "columns"):
        raise TypeError(f"{name} is one column (a Series of {_library(X)}). Pass a table, such as {name}.to_frame().")
    if isinstance(X, Mapping):
        if all(map(_is_cell, X.values())):
            raise TypeError(f"{name} is one row (a {kind}). Pass pd.DataFrame([{name}]), a table with one row.")
        raise TypeError(f"{name} is a {kind}. Pass pd.DataFrame({name}).")
    if isinstance(X, list | tuple) and X and all(isinstance(row, Mapping) for row in X):
        raise TypeError(f"{name} is a {kind} of rows that are dicts. Pass pd.DataFrame({name}).")
    if _is_flat(X):
        if framed:
            what = "an array" if isinstance(X, np.ndarray) else f"a {kind}"
            raise TypeError(
                f"{name} is one row without names ({what}). Pass pd.DataFrame([{name}], columns=...) with the names of "
                "the training columns."
            )
        if not isinstance(X, np.ndarray):
            raise ValueError(f"{name} is one row (a {kind}). Pass [{name}], a table with one row.")


def _of_series(X: pd.Series, name: str, columns: pd.Index | None) -> str:
    """Tell a row from a column by its labels, where the columns are known."""
    row = f"{name}.iloc[[0]] in place of {name}.iloc[0]"
    if columns is None:
        return f"{name} is a Series. Pass a table: {name}.to_frame() for one column, or for one row {row}."
    if X.index.nlevels == columns.nlevels and X.index.isin(columns).any():
        return f"{name} is one row (a Series). Pass a table with one row, such as {row}."
    return f"{name} is one column (a Series). Pass a table with all columns of the training rows."


def _is_flat(X: Any) -> bool:
    if isinstance(X, np.ndarray):
        return X.ndim == 1
    return isinstance(X, list | tuple) and bool(X) and all(map(_is_cell, X))


def _is_cell(value: Any) -> bool:
    return isinstance(value, str | bytes) or not hasattr(value, "__len__")


def _library(X: Any) -> str:
    return type(X).__module__.split(".")[0]
