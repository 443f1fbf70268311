"""Training data as rows that can be drawn: frames of pandas and polars, arrays, labels of any kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import IntArray
from robust_recourse.futures._stacking import stacked
from robust_recourse.models.errors import name_rows
from robust_recourse.tables.foreign import is_frame, native, to_pandas
from robust_recourse.tables.order import check_order

__all__ = ["TrainingData", "append", "read_data"]


@dataclass(frozen=True, eq=False)
class TrainingData:
    """A table and its labels, of which every future model gets some rows.

    Attributes
    ----------
    X : DataFrame or ndarray of shape (n, p)
        Rows.
    y : Series or ndarray
        Labels as they were given.
    codes : ndarray of int, shape (n,), or None
        The class of every row; None if `y` holds numbers to regress on, one for every row.
    examples : ndarray of int
        Where `y` has a label of every class. Labels are copied from there, so they keep their type.
    times : ndarray of int, shape (n,), or None
        The place of every row in time, if that is known.
    n_present : int
        How many rows, the first, there are today; the others arrive.
    """

    X: Any
    y: Any
    codes: IntArray | None
    examples: IntArray
    times: IntArray | None = None
    n_present: int = 0

    def __len__(self) -> int:
        return len(self.X)

    @property
    def classes(self) -> list[Any]:
        """The labels that there are, in the order of their codes."""
        return _cells(_take(self.y, self.examples))

    def take(self, rows: IntArray, codes: IntArray | None = None) -> tuple[Any, Any]:
        """Return copies of some rows and of their labels, with other classes if `codes` are given."""
        if codes is None and self.codes is not None:
            codes = self.codes[rows]
        X, y = _take(self.X, rows), _take(self.y, rows if codes is None else self.examples[codes])
        if isinstance(y, pd.Series):
            # Whoever puts rows and labels together by their index gets those that belong together.
            y.index = X.index if isinstance(X, pd.DataFrame) else pd.RangeIndex(len(y))
        return X, y


def read_data(X: Any, y: Any, *, regression: bool = False) -> TrainingData:
    """Check a table and its labels.

    Parameters
    ----------
    X : DataFrame or array_like of shape (n, p)
        Rows.
    y : array_like of shape (n,)
        Labels of any kind. Fractions are numbers to regress on.
    regression : bool
        Whether all numbers are.
    """
    X = _read_table(X, "X")
    check_order(y, "y", X, "X")
    y = _read_labels(y, "y", len(X), "X")
    if regression or _fractions(y):
        return TrainingData(X, y, None, np.empty(0, dtype=np.int64))
    codes = np.asarray(pd.factorize(pd.Series(_cells(y), dtype=object))[0], dtype=np.int64)
    examples = np.unique(codes, return_index=True)[1]
    if len(examples) < 2:
        raise ValueError(f"y must have at least two classes, got {_cells(y)[0]!r} in every row.")
    return TrainingData(X, y, codes, examples)


def append(data: TrainingData, X_new: Any, y_new: Any) -> TrainingData:
    """Return the data with further rows at the end; the labels of these must be known."""
    new = _read_table(X_new, "X_new")
    labels = _read_labels(y_new, "y_new", len(new), "X_new")
    X = stacked(data.X, new)
    data = replace(data, n_present=len(data))
    if data.codes is None:
        return replace(data, X=X, y=np.concatenate([np.asarray(data.y), np.asarray(labels)]))
    classes = data.classes
    known = {label: code for code, label in enumerate(classes)}
    codes = np.array([known.get(label, -1) for label in _cells(labels)], dtype=np.int64)
    if (codes < 0).any():
        place = int(np.argmin(codes))
        raise ValueError(
            f"y_new must have labels of y ({', '.join(map(repr, classes))}), got {_cells(labels)[place]!r} in row "
            f"{place}."
        )
    return replace(data, X=X, codes=np.concatenate([data.codes, codes]))


def _take(table: Any, rows: IntArray) -> Any:
    """Return a copy of some rows of a frame, a column or an array."""
    # Unlike iloc, take does not warn later that the copy is one.
    return table.take(rows) if isinstance(table, pd.DataFrame | pd.Series) else table[rows]


def _read_table(X: Any, name: str) -> Any:
    table = X if is_frame(X) else np.asarray(X)
    if len(table.shape) != 2:
        raise ValueError(f"{name} must be two-dimensional (rows, columns), got {len(table.shape)} dimension(s).")
    if native(table) is None:
        table = to_pandas(table)
    if not len(table):
        raise ValueError(f"{name} has no rows.")
    return table


def _read_labels(y: Any, name: str, n: int, rows: str) -> Any:
    # A column of pandas or polars stays what it is.
    labels = y if type(y).__module__.split(".")[0] in ("pandas", "polars") and hasattr(y, "name") else np.asarray(y)
    if len(labels.shape) != 1:
        raise ValueError(
            f"{name} must be one-dimensional, one label for every row, got {len(labels.shape)} dimension(s)."
        )
    if len(labels) != n:
        raise ValueError(f"{name} must have one label for each of the {n} rows of {rows}, got {len(labels)}.")
    # Of a list, not of its array: among texts what is missing becomes a text.
    cells = list(y) if isinstance(y, list | tuple) else _cells(labels)
    missing = np.flatnonzero(np.asarray(pd.isna(pd.Series(cells, dtype=object))))
    if len(missing):
        raise ValueError(f"{name} has no label in {name_rows(missing)}. Leave rows without a label out.")
    return labels


def _cells(labels: Any) -> list[Any]:
    """Return labels as plain values."""
    return labels.tolist() if isinstance(labels, np.ndarray | pd.Series) else list(labels)


def _fractions(y: Any) -> bool:
    numbers = np.asarray(y)
    return numbers.dtype.kind == "f" and bool((numbers != np.rint(numbers)).any())
