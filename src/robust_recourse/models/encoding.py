"""What a pipeline makes of the columns of a table, found out by trying."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray

__all__ = ["Encode", "Ends", "Made", "borders", "encodes_one_by_one", "made_of", "split_off"]

Encode = Callable[[FloatArray], FloatArray]
"""Encodes rows of one person, given as numbers and codes."""

_ONE_BY_ONE = {
    "MaxAbsScaler",
    "MinMaxScaler",
    "OneHotEncoder",
    "OrdinalEncoder",
    "RobustScaler",
    "SimpleImputer",
    "StandardScaler",
}
_PARTS = 16  # into which a bracket is cut at once
_ROUNDS = 20  # a bracket of adjacent numbers is reached before


def split_off(model: Any) -> tuple[Callable[[Any], FloatArray], Any]:
    """Return what encodes rows for the last step of a pipeline, and that step; of other models nothing and itself."""
    steps = getattr(model, "steps", None)
    if not steps or len(steps) < 2:
        return _dense, model
    return lambda X: _dense(model[:-1].transform(X)), steps[-1][1]


def encodes_one_by_one(model: Any) -> bool:
    """Whether what comes before the last step of a pipeline makes every encoded column of one column, for sure.

    It is a pipeline or column transformer, or several, of scalers, encoders of categories and imputers that look at one
    column each. A subclass may do anything, and so may a pipeline's. Of other models nothing comes before.
    """
    if not hasattr(model, "steps"):
        return True
    return _kind(model) == "Pipeline" and all(_one_by_one(step) for _, step in model.steps[:-1])


def _one_by_one(step: Any) -> bool:
    if step is None or isinstance(step, str):  # "passthrough" or "drop"
        return True
    match _kind(step):
        case "Pipeline":
            return all(_one_by_one(part) for _, part in step.steps)
        case "ColumnTransformer":
            return all(_one_by_one(part) for _, part, _ in step.transformers_)
        case "FunctionTransformer":
            return step.func is None
        case kind:
            return kind in _ONE_BY_ONE


def _kind(step: Any) -> str:
    """Return the name of a class of scikit-learn: to import them all takes time."""
    return type(step).__name__ if type(step).__module__.startswith("sklearn.") else ""


def _dense(X: Any) -> FloatArray:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)


class Made(NamedTuple):
    """Encoded columns that a column makes, what its values become there, and whether they rise, fall or do neither."""

    columns: IntArray  # (f,)
    encoded: FloatArray  # (n, f)
    sign: IntArray  # (f,): 1, -1, or 0


def made_of(encode: Encode, row: FloatArray, column: int, values: FloatArray) -> Made:
    """Try some values, in rising order, of a column in a row."""
    rows = np.tile(row, (len(values) + 1, 1))
    rows[1:, column] = values
    encoded = encode(rows)
    same = (encoded == encoded[0]) | (np.isnan(encoded) & np.isnan(encoded[0]))
    columns = np.flatnonzero(~same.all(axis=0))
    tried = encoded[1:, columns]
    steps = np.diff(tried, axis=0)
    sign = np.where((steps >= 0.0).all(axis=0), 1, np.where((steps <= 0.0).all(axis=0), -1, 0))
    return Made(columns, tried, sign)


class Ends(NamedTuple):
    """Conditions on what is made of columns: an encoded column is to be at least, or at most, so much."""

    made: IntArray  # (n,): encoded columns
    column: IntArray  # (n,): of what they are made
    end: FloatArray  # (n,)
    least: BoolArray  # (n,): at least, else at most
    inside: FloatArray  # (n,): the ends of the ranges of the columns towards which they hold, if at all
    outside: FloatArray  # (n,)


def borders(encode: Encode, rows: FloatArray, ends: Ends) -> FloatArray:
    """Return the last values of columns at which conditions hold, going from `inside` to `outside`.

    Infinite, towards `outside`, where they hold there, too; NaN where they do not hold at `inside`. The columns are
    tried in `rows`, one for each condition.
    """
    inside, outside, each = ends.inside.copy(), ends.outside.copy(), np.arange(len(ends.end))

    def hold(values: FloatArray) -> BoolArray:
        tried = np.repeat(rows, values.shape[1], axis=0)
        tried[np.arange(values.size), np.repeat(ends.column, values.shape[1])] = values.ravel()
        encoded = encode(tried)[np.arange(values.size), np.repeat(ends.made, values.shape[1])].reshape(values.shape)
        return np.where(ends.least[:, None], encoded >= ends.end[:, None], encoded <= ends.end[:, None])

    at_inside, at_outside, at_zero = hold(np.column_stack([inside, outside, np.zeros_like(inside)])).T
    # Next to zero there is no end of smaller numbers.
    crosses = np.sign(inside) * np.sign(outside) < 0.0
    inside, outside = np.where(crosses & at_zero, 0.0, inside), np.where(crosses & ~at_zero, 0.0, outside)
    parts = np.linspace(0.0, 1.0, _PARTS + 1)
    for _ in range(_ROUNDS):
        tried = inside[:, None] * (1.0 - parts) + outside[:, None] * parts
        tried[:, 0], tried[:, -1] = inside, outside
        last = (np.cumprod(hold(tried), axis=1).sum(axis=1) - 1).clip(0, _PARTS - 1)
        inside, outside = tried[each, last], tried[each, last + 1]
        if (np.nextafter(inside, outside) == outside).all():
            break
    beyond = np.where(ends.outside > ends.inside, np.inf, -np.inf)
    return np.where(at_inside, np.where(at_outside, beyond, inside), np.nan)
