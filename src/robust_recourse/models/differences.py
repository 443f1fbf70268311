r"""Gradients by central differences, for models that only answer.

.. math:: \frac{\partial s}{\partial x_k} \approx \frac{s(x + h_k e_k) - s(x - h_k e_k)}{2 h_k},

with the two points moved into the bounds, so that the model is never asked beyond them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
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
    free: BoolArray,
    width: Any,
    lower: FloatArray,
    upper: FloatArray,
    unit: Any = 1.0,
) -> tuple[FloatArray, FloatArray]:
    """Return the scores of `X` and their derivatives with respect to the columns that may change.

    Parameters
    ----------
    score : callable
        ``score(X, rows)``; it is asked for every row of `X`, and for two more for each of its columns that may change.
    X, lower, upper : ndarray of shape (m, p)
        Rows, and bounds that hold for all columns.
    rows : ndarray of int, shape (m,)
        Their numbers in messages.
    free : ndarray of bool, shape (m, p)
        Which columns of every row may change; the derivatives with respect to the others are 0.
    width : ndarray of shape (p,) or float
        Steps; a value that is large beside its step has a longer one.
    unit : ndarray of shape (p,) or float
        What the model gets is `X` times this.

    Returns
    -------
    value : ndarray of shape (m,)
    gradient : ndarray of shape (m, p)
    """
    value, gradient = np.empty(len(X)), np.zeros(X.shape)
    size = max(1, _BATCH // (1 + 2 * int(free.sum(axis=1).max(initial=0))))
    for first in range(0, len(X), size):
        block = slice(first, first + size)
        centre, within = X[block], (lower[block], upper[block])
        step = np.maximum(width, _NOISE * np.abs(centre))
        place, column = np.nonzero(free[block])
        ends = [np.clip(_single((centre + way) * unit) / unit, *within)[place, column] for way in (step, -step)]
        points = np.concatenate([centre, centre[place], centre[place]])
        points[len(centre) :][np.arange(2 * len(place)), np.tile(column, 2)] = np.concatenate(ends)
        scores = score(points, rows[block][np.concatenate([np.arange(len(centre)), place, place])])
        value[block] = scores[: len(centre)]
        ahead, behind = scores[len(centre) :].reshape(2, -1)
        apart = ends[0] - ends[1]
        gradient[first + place, column] = np.where(apart > 0.0, ahead - behind, 0.0) / np.where(apart > 0.0, apart, 1.0)
    return value, gradient


def _single(points: FloatArray) -> FloatArray:
    """Round to single precision: a model that does so itself is then asked exactly about these points."""
    with np.errstate(over="ignore"):
        rounded = points.astype(np.float32).astype(float)
    return np.where(np.isfinite(rounded), rounded, points)
