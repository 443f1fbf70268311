r"""Gradients by central differences, for models that only answer.

.. math:: \frac{\partial s}{\partial x_k} \approx \frac{s(x + h_k e_k) - s(x - h_k e_k)}{2 h_k},

with the two points moved into the bounds, so that the model is never asked beyond them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import logit

from robust_recourse._typing import FloatArray, IntArray
from robust_recourse.models.predictor import Answers, ModelError, Probabilities, name_rows

__all__ = ["LogOdds", "Margins", "central_differences", "spread"]

_LEAST = float(np.finfo(float).tiny)  # probabilities are kept this far from 0,
_MOST = 1.0 - float(np.finfo(float).epsneg)  # and this far from 1
_NOISE = 2.0**-19  # smallest step relative to the value itself: a few numbers of single precision
_BATCH = 8192  # rows asked at once


class Margins(Answers):
    """Asks a model for ``decision_function``; the parameters are those of ``Predictor``."""

    _methods = ("decision_function",)

    def __call__(self, X: FloatArray, rows: IntArray) -> FloatArray:
        """Return the margin of every row of `X`; `rows` are their numbers in messages."""
        answer = self._read(X, rows, lambda margins: np.asarray(margins, dtype=float))
        if answer.shape not in {(len(rows),), (len(rows), 1)} or not np.isfinite(answer).all():
            raise ModelError(
                "decision_function of the model must answer with one finite number for every row, "
                f"asked for {len(rows)} rows ({name_rows(rows)} of {self._data}) it gave shape {answer.shape}"
                + ("." if np.isfinite(answer).all() else ", not all finite.")
            )
        margins: FloatArray = answer.reshape(len(rows))
        return margins


class LogOdds(Probabilities):
    """Asks a model for the log odds of acceptance, of probabilities clipped away from 0 and 1."""

    def __call__(self, X: FloatArray, rows: IntArray) -> FloatArray:
        """Return the log odds of every row of `X`; `rows` are their numbers in messages."""
        odds: FloatArray = logit(np.clip(super().__call__(X, rows), _LEAST, _MOST))
        return odds


def spread(table: FloatArray) -> FloatArray:
    """Return the scale of every column: the smaller of deviation and normed interquartile range, 1 if it is constant.

    Outliers stretch the deviation, and a column that is mostly one value has no interquartile range.
    """
    deviation = table.std(axis=0)
    low, high = np.quantile(table, [0.25, 0.75], axis=0)
    middle = (high - low) / 1.349
    scale = np.where(middle > 0.0, np.minimum(middle, deviation), deviation)
    # The deviation of a constant column is rounding.
    constant = scale <= 1e-12 * np.abs(table).max(axis=0)
    return np.where(constant, 1.0, scale)


def central_differences(
    score: Callable[[FloatArray, IntArray], FloatArray],
    X: FloatArray,
    rows: IntArray,
    columns: IntArray,
    width: Any,
    lower: FloatArray,
    upper: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Return the scores of `X` and their derivatives with respect to `columns`.

    Parameters
    ----------
    score : callable
        ``score(X, rows)``; it is asked for ``1 + 2 * len(columns)`` rows for every row of `X`.
    X, lower, upper : ndarray of shape (m, p)
        Rows, and bounds that hold for all columns.
    rows : ndarray of int, shape (m,)
        Their numbers in messages.
    columns : ndarray of int, shape (k,)
        The columns that may change.
    width : ndarray of shape (p,) or float
        Steps; a value that is large beside its step has a longer one.

    Returns
    -------
    value : ndarray of shape (m,)
    gradient : ndarray of shape (m, k)
    """
    k, p = len(columns), X.shape[1]
    number = np.arange(k)
    value, gradient = np.empty(len(X)), np.empty((len(X), k))
    size = max(1, _BATCH // (1 + 2 * k))
    for first in range(0, len(X), size):
        block = slice(first, first + size)
        centre, within = X[block], (lower[block], upper[block])
        step = np.maximum(width, _NOISE * np.abs(centre))
        ahead = np.clip(_single(centre + step), *within)[:, columns]
        behind = np.clip(_single(centre - step), *within)[:, columns]
        points = np.repeat(centre[:, None], 1 + 2 * k, axis=1)
        points[:, 1 + number, columns] = ahead
        points[:, 1 + k + number, columns] = behind
        scores = score(points.reshape(-1, p), np.repeat(rows[block], 1 + 2 * k)).reshape(len(centre), -1)
        apart = ahead - behind
        change = scores[:, 1 : 1 + k] - scores[:, 1 + k :]
        value[block] = scores[:, 0]
        gradient[block] = np.where(apart > 0.0, change, 0.0) / np.where(apart > 0.0, apart, 1.0)
    return value, gradient


def _single(points: FloatArray) -> FloatArray:
    """Round to single precision: a model that does so itself is then asked exactly about these points."""
    with np.errstate(over="ignore"):
        rounded = points.astype(np.float32).astype(float)
    return np.where(np.isfinite(rounded), rounded, points)
