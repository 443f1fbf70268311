"""A classifier whose decision has moved, for whoever goes on asking as before."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse.models.decisions import Decision

__all__ = ["MovedThreshold"]


class MovedThreshold(BaseEstimator):  # type: ignore[misc]
    """A fitted classifier that accepts from another probability on.

    Its probabilities are those of the model, mapped piecewise linearly so that the new threshold falls on the one
    that is asked for. A row is accepted, by ``predict`` and by probabilities alike, exactly if the model's own
    probability of the favourable class reaches the new threshold.

    Parameters
    ----------
    model : classifier
        Fitted, with ``predict_proba`` and ``classes_``.
    threshold : float
        The probability of the favourable class that is needed now, between 0 and 1.
    asked : float, optional
        The threshold that its probabilities are compared with; None: the likelier of two classes counts.
    favourable : object, optional
        The label of the favourable class; 1 of the classes 0 and 1 if None.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    >>> stricter = MovedThreshold(model, 0.8)
    >>> model.predict([[2.0]]), stricter.predict([[2.0]])
    (array([1]), array([0]))
    >>> model.predict_proba([[2.0]]).round(2), stricter.predict_proba([[2.0]]).round(2)
    (array([[0.38, 0.62]]), array([[0.61, 0.39]]))
    """

    def __init__(self, model: Any, threshold: float, asked: float | None = None, favourable: Any = None) -> None:
        self.model = model
        self.threshold = threshold
        self.asked = asked
        self.favourable = favourable

    @property
    def classes_(self) -> Any:
        """The classes of the model."""
        return np.asarray(self.model.classes_)

    def predict(self, X: Any) -> Any:
        """Return the favourable class where its probability reaches the new threshold, else the likeliest other."""
        table, column, reached = self._answers(X)
        others = table.copy()
        others[:, column] = -1.0
        return self.classes_[np.where(reached, column, others.argmax(axis=1))]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the mapped probabilities, in the order of ``classes_``; those of other classes keep their ratios."""
        table, column, reached = self._answers(X)
        level = 0.5 if self.asked is None else self.asked
        share = np.clip(table[:, column], 0.0, 1.0)
        # One half alone accepts nobody. Below, a quotient less than 1 stays so, and its product less than the level.
        least = np.nextafter(level, 1.0) if self.asked is None else level
        above = level + (1.0 - level) * ((share - self.threshold) / (1.0 - self.threshold))
        below = level * (share / self.threshold)
        moved = np.where(reached, np.clip(above, least, 1.0), below)
        others = table.copy()
        others[:, column] = 0.0
        total = others.sum(axis=1)
        table = others * ((1.0 - moved) / np.where(total > 0.0, total, 1.0))[:, None]
        table[:, column] = moved
        return table

    def _answers(self, X: Any) -> tuple[FloatArray, int, BoolArray]:
        """Return the model's probabilities, the column of the favourable class, and which rows are accepted."""
        table = np.asarray(self.model.predict_proba(X), dtype=float)
        column = Decision.of(self.model, self.favourable, self.asked).column
        return table, column, table[:, column] >= self.threshold
