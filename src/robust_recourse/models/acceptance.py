"""What a model says about the rows of a table: which it accepts, and whether with probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse._validation import check_matrix
from robust_recourse.models.predictor import Acceptance, Decode, Predictor
from robust_recourse.models.verdicts import Verdicts
from robust_recourse.tables.foreign import is_frame, to_pandas
from robust_recourse.tables.types import ungapped
from robust_recourse.tables.values import take

__all__ = ["accepted_by", "has_probabilities", "verdicts_on"]


def accepted_by(
    model: Any, X: Any, *, favourable: Any = None, threshold: float | None = None, like: Any = None
) -> BoolArray:
    """Return which rows of `X` the model accepts; a row with nothing but missing values (no recourse) is not accepted.

    Parameters
    ----------
    model : object or callable
        Whatever the recourse methods take as a model.
    X : DataFrame or array_like of shape (m, p)
        Rows, for instance recourses.
    favourable, threshold
        As the recourse methods take them.
    like : DataFrame, optional
        A table whose types the model knows, as ``found.x0`` for ``found.x``: integers and booleans that are nullable
        only because recourses may have gaps get these types. None: all that have no gap get plain types.

    Examples
    --------
    >>> people = pd.DataFrame({"job": ["clerk", None, "cook"], "age": [31, np.nan, 25]})
    >>> accepted_by(lambda table: table["job"] == "cook", people)
    array([False, False,  True])
    """
    table = X if is_frame(X) else _finite(X)
    empty: BoolArray = np.all(np.asarray(pd.isna(to_pandas(table))), axis=1)
    accepted: BoolArray = np.zeros(empty.shape, dtype=bool)
    rows = np.flatnonzero(~empty)
    if len(rows):
        some = take(table, rows) if empty.any() else table
        if isinstance(some, pd.DataFrame):
            some = ungapped(some, to_pandas(like))

        predict = Predictor(model, _taking(some), favourable=favourable, threshold=threshold)
        accepted[rows] = predict(_places(len(rows)), rows)
    return accepted


def verdicts_on(model: Any, X: Any, *, favourable: Any = None, threshold: float | None = None) -> Verdicts:
    """Return what a model says about the rows of `X`, which are all there: probabilities or scores, if it has some.

    The parameters are those of :func:`accepted_by`.

    >>> verdicts_on(lambda X: X[:, 0], np.array([[0.2], [0.7]])).value
    array([0.2, 0.7])
    """
    table = X if is_frame(X) else _finite(X)
    answers = Acceptance(model, _taking(table), favourable=favourable, threshold=threshold)
    n = len(table)
    return answers.verdicts(_places(n), np.arange(n))


def has_probabilities(model: Any, X: Any, *, favourable: Any = None, threshold: float | None = None) -> bool:
    """Whether a model answers with probabilities about the rows of `X`, not with labels or scores alone."""
    if hasattr(model, "predict_proba"):
        return True
    said = verdicts_on(model, X, favourable=favourable, threshold=threshold).probability
    return not np.isin(said, (0.0, 1.0)).all()


def _taking(table: Any) -> Decode:
    """Return the function that turns positions, one in a row, into the rows of a table."""
    return lambda places, _: take(table, places[:, 0].astype(np.int64))


def _places(n: int) -> FloatArray:
    return np.arange(n, dtype=float)[:, None]


def _finite(X: Any) -> FloatArray:
    """Return an array of numbers, of which some may be missing."""
    rows = np.asarray(X, dtype=float)
    if len(rows):
        check_matrix(np.where(np.isnan(rows), 0.0, rows), "X")
    return rows
