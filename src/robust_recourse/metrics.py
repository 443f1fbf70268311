"""Scores of recourses: pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse.models.predictor import Predictor
from robust_recourse.tables import read_table

__all__ = ["accepted_by", "future_validity"]


def accepted_by(model: Any, X: Any) -> BoolArray:
    """Return which rows of `X` the model accepts; a row with NaN (no recourse) is not accepted.

    Parameters
    ----------
    model : object or callable
        Whatever the recourse methods take as a model.
    X : DataFrame or array_like of shape (m, p)
        Rows, for instance recourses.
    """
    if not isinstance(X, pd.DataFrame):
        X = np.asarray(X, dtype=float)
    missing = np.isnan(np.asarray(X, dtype=float)).any(axis=1)
    accepted = np.zeros(len(missing), dtype=bool)
    if not missing.all():
        rows = read_table(X[~missing], "X")
        accepted[~missing] = Predictor(model, X.columns if isinstance(X, pd.DataFrame) else None)(
            rows, np.flatnonzero(~missing)
        )
    return accepted


def future_validity(models: Sequence[Any], X: Any) -> FloatArray:
    """Return for every row the share of the models that accept it.

    Parameters
    ----------
    models : sequence of models
        Retrained models.
    X : DataFrame or array_like of shape (m, p)
        Recourses.

    Examples
    --------
    >>> future_validity([lambda X: X[:, 0] > 0, lambda X: X[:, 0] > 1], np.array([[0.5], [2.0]]))
    array([0.5, 1. ])
    """
    if not models:
        raise ValueError("models is empty: at least one retrained model is needed.")
    share: FloatArray = np.mean([accepted_by(model, X) for model in models], axis=0)
    return share
