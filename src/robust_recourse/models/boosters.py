"""Boosters of XGBoost as models: they want their own kind of matrix.

Those of LightGBM take arrays and frames as they are, and so do the scikit-learn classes of both.
"""

from __future__ import annotations

import sys
from typing import Any

import pandas as pd

__all__ = ["ask", "is_booster"]


def is_booster(model: Any) -> bool:
    """Whether `model` is a ``Booster`` of XGBoost."""
    xgboost = sys.modules.get("xgboost")
    return xgboost is not None and isinstance(model, xgboost.Booster)


def ask(booster: Any, X: Any) -> Any:
    """Return what the booster predicts for the rows of an array or a frame, which may have categories."""
    names = None if isinstance(X, pd.DataFrame) else booster.feature_names
    matrix = sys.modules["xgboost"].DMatrix(X, feature_names=names, enable_categorical=True)
    return booster.predict(matrix)
