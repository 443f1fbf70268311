"""One table on top of another, in the columns and types of the first."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

__all__ = ["stacked"]


def stacked(X: Any, X_new: Any) -> Any:
    """Return a table with the rows of both.

    Parameters
    ----------
    X : DataFrame or ndarray
        Decides about the columns, and about what the table is.
    X_new : DataFrame or ndarray
        May have the columns of `X` in another order. Its categories may be new.
    """
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
