r"""Gradients by central differences, for models that only answer.

.. math:: \frac{\partial s}{\partial x_k} \approx \frac{s(x + h_k e_k) - s(x - h_k e_k)}{2 h_k},

with the two points moved into the bounds, so that the model is never asked beyond them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robust_recourse._typing import FloatArray, IntArray
from robust_recourse.math.scales import spread
from robust_recourse.models.predictor import Answers, ModelError, name_rows

__all__ = ["LogOdds", "Margins", "central_differences", "spread"]

_NOISE = 2.0**-19  # smallest step relative to the value itself: a few numbers of single precision
_BATCH = 8192  # rows asked at once


class Margins(Answers):
    """Asks a model of two classes for ``decision_function``; the parameters are those of ``Predictor``."""

    _methods = ("decision_function",)

    def __call__(self, X: FloatArray, rows: IntArray) -> FloatArray:
        """Return the margin of every row of `X`, positive if favourable; `rows` are their numbers in messages."""
        answer = self._read(X, rows, lambda margins: np.asarray(margins, dtype=float))
        if answer.shape not in {(len(rows),), (len(rows), 1)} or not np.isfinite(answer).all():
            raise ModelError(
                "decision_function of the model must answer with one finite number for every row, "
                f"asked for {len(rows)} rows ({name_rows(rows)} of {self._data}) it gave shape {answer.shape}"
                + ("." if np.isfinite(answer).all() else ", not all finite.")
            )
        margins: FloatArray = self._decision.sign * answer.reshape(len(rows))
        return margins


class LogOdds(Answers):
    """Asks a model for the log odds of acceptance, of probabilities clipped away from 0 and 1; or for its scores.

    Both are positive where the model accepts, see :mod:`robust_recourse.models.verdicts`.
    """

    _smoothly = True

    def __call__(self, X: FloatArray, rows: IntArray) -> FloatArray:
        """Return the score of every row of `X`; `rows` are their numbers in messages."""
        return self.verdicts(X, rows).score


def central_differences(
    score: Callable[[FloatArray, IntArray], FloatArray],
    X: FloatArray,
    rows: IntArray,
    columns: IntArray,
    width: Any,
    lower: FloatArray,
    upper: FloatArray,
    unit: Any = 1.0,
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
    unit : ndarray of shape (p,) or float
        What the model gets is `X` times this.

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
        ahead = np.clip(_single((centre + step) * unit) / unit, *within)[:, columns]
        behind = np.clip(_single((centre - step) * unit) / unit, *within)[:, columns]
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
