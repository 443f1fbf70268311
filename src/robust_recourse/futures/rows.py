"""Training data as rows that can be drawn: frames of pandas and polars, arrays, labels of any kind."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import IntArray
from robust_recourse.models.errors import name_rows
from robust_recourse.tables.foreign import is_frame, native, to_pandas
from robust_recourse.tables.order import check_order
from robust_recourse.tables.rows import take

__all__ = ["TrainingData", "append", "read_data", "read_table"]


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
        return _cells(take(self.y, self.examples))

    def take(self, rows: IntArray, codes: IntArray | None = None) -> tuple[Any, Any]:
        """Return copies of some rows and of their labels, with other classes if `codes` are given."""
        if codes is None and self.codes is not None:
            codes = self.codes[rows]
        X, y = take(self.X, rows), take(self.y, rows if codes is None else self.examples[codes])
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
    X = read_table(X, "X")
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
    new = read_table(X_new, "X_new")
    labels = _read_labels(y_new, "y_new", len(new), "X_new")
    X = _stacked(data.X, new)
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


def read_table(X: Any, name: str) -> Any:
    """Return rows as a frame of pandas or polars, or as an array; there must be some."""
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


def _stacked(X: Any, X_new: Any) -> Any:
    """Return the rows of both tables, in the columns and types of the first; categories of the second may be new."""
    if isinstance(X, np.ndarray):
        new = np.asarray(X_new)
        if new.shape[1] != X.shape[1]:
            raise ValueError(f"X_new must have the {X.shape[1]} columns of X, got {new.shape[1]}.")
        return np.concatenate([X, new])
    if _kind(X_new) != _kind(X):
        raise TypeError(f"X_new must be a {_kind(X)} like X, got a {_kind(X_new)}.")
    lacking = [name for name in X.columns if name not in X_new.columns]
    unknown = [name for name in X_new.columns if name not in X.columns]
    if lacking or unknown:
        faults = [("lacks", lacking), ("also has", unknown)]
        said = " and ".join(f"{verb} {', '.join(map(repr, names))}" for verb, names in faults if names)
        raise ValueError(f"X_new must have the columns of X; it {said}.")
    new = X_new[list(X.columns)]
    if isinstance(X, pd.DataFrame):
        joint = _joint_types(X, new)
        return pd.concat([X.astype(joint), new.astype(joint)])
    import polars

    return polars.concat([X, new], how="vertical_relaxed")


def _joint_types(X: pd.DataFrame, new: pd.DataFrame) -> Any:
    """Return types with the categories of both tables; pandas would make texts of columns that differ in them."""
    joint = {}
    for name, old in X.dtypes.items():
        if isinstance(old, pd.CategoricalDtype) and new[name].dtype != old:
            unseen = pd.Index(new[name].dropna().unique()).difference(old.categories)
            joint[name] = pd.CategoricalDtype(old.categories.append(unseen), old.ordered)
    return joint


def _kind(table: Any) -> str:
    return f"{type(table).__module__.split('.')[0]} {type(table).__name__}"
