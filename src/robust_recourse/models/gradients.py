"""Scores of models and their gradients, from wherever they can be had.

A *score* is positive where the model accepts and negative where it refuses: the log odds of acceptance, or what
``decision_function`` answers. The first line that fits counts:

==========================================================  ==========================  ===================
model                                                       score                       gradient
==========================================================  ==========================  ===================
network of scikit-learn, alone or behind scalers            log odds                    closed form
linear model of scikit-learn, alone or behind scalers       ``decision_function``       closed form
torch module                                                log odds of its output      automatic
anything else with ``decision_function``                    ``decision_function``       central differences
anything else with ``predict_proba``                        log odds                    central differences
anything else that answers with probabilities               log odds                    central differences
==========================================================  ==========================  ===================
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.models import torch_modules
from robust_recourse.models.analytic import differentiable
from robust_recourse.models.differences import LogOdds, Margins, central_differences
from robust_recourse.models.predictor import Answers, Predictor, Probabilities, check_answer

__all__ = ["Score", "Scores"]

_STEP = 1e-3  # exact enough in double precision, and far above the noise of models in single precision


class Score(NamedTuple):
    """Scores of rows and their gradients."""

    value: FloatArray  # (m,)
    gradient: FloatArray  # (m, k): of the columns that may change


class Scores:
    """Asks a model for scores and their gradients.

    Parameters
    ----------
    model : object or callable
        As for :class:`robust_recourse.models.predictor.Predictor`, but labels alone are not enough.
    columns : Index, optional
        Names of the columns: the model then gets frames. Closed forms work on the numbers.
    data : str
        What the rows in messages are rows of.
    scale : ndarray of shape (p,) or float
        Scale of the columns, see :func:`robust_recourse.models.differences.spread`.
    step : float, optional
        Half the width of a central difference, in scales; None for 0.001.

    Attributes
    ----------
    kind : {"closed form", "autograd", "differences"}
        Where the gradients come from.
    n_queries : int
        Rows that the model was asked for so far; one evaluation of a closed form counts as one row.

    Notes
    -----
    Closed forms give a row the same bits in whatever batch it is. For the others that is up to the model.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 5.0]])
    >>> model = LogisticRegression().fit(X, [0, 0, 1, 1])
    >>> exact, other = Scores(model), Scores(model.predict_proba)
    >>> rows = np.arange(4)
    >>> bool(np.allclose(exact(X, rows).gradient, other(X, rows).gradient))
    True
    >>> exact.n_queries, other.n_queries
    (4, 20)
    """

    def __init__(
        self,
        model: Any,
        columns: pd.Index | None = None,
        data: str = "X",
        *,
        scale: FloatArray | float = 1.0,
        step: float | None = None,
    ) -> None:
        Predictor(model)  # raises for what is no model
        self._width = (_STEP if step is None else step) * np.asarray(scale, dtype=float)
        self._asked = (model, columns, data)
        self._closed = differentiable(model)
        self.n_queries = 0
        self.kind = "differences"
        if self._closed is not None:
            self.kind = "closed form"
        elif torch_modules.is_module(model):
            self.kind, self._autograd = "autograd", _Autograd(*self._asked)
        else:
            margins = callable(getattr(model, "decision_function", None))
            self._score = Margins(*self._asked) if margins else LogOdds(*self._asked)

    def rows_asked(self, n_columns: int) -> int:
        """Rows that the model is asked for one score and its gradient in so many columns."""
        return 1 + 2 * n_columns if self.kind == "differences" else 1

    def check(self, X: FloatArray) -> None:
        """Raise if the model answers with nothing but labels for the rows of `X`.

        Raises
        ------
        TypeError
            If it has neither ``decision_function`` nor ``predict_proba``, is no torch module, and answers 0 or 1
            for every row.
        """
        model, columns, data = self._asked
        told = any(callable(getattr(model, name, None)) for name in ("decision_function", "predict_proba"))
        if self.kind != "differences" or told:
            return
        answers = Probabilities(model, columns, data)(X.copy(), np.arange(len(X)))
        if np.isin(answers, (0.0, 1.0)).all():
            raise TypeError(
                "model must tell how far a row is from acceptance, but it answers with labels only: 0 or 1 for each of "
                f"the {len(X)} rows of {data}. Pass one with predict_proba or decision_function, a torch module, or a "
                "callable that answers with probabilities; methods that follow no gradients, such as "
                "RobustBayesianRecourse and NearestAccepted, need labels only."
            )

    def __call__(
        self,
        X: FloatArray,
        rows: IntArray,
        free: BoolArray | None = None,
        lower: FloatArray | None = None,
        upper: FloatArray | None = None,
    ) -> Score:
        """Return the scores of the rows of `X` and their gradients.

        Parameters
        ----------
        X : ndarray of shape (m, p)
            Rows, all columns.
        rows : ndarray of int, shape (m,)
            Their numbers in messages.
        free : ndarray of bool, shape (p,), optional
            The columns that may change (default: all); the gradients have these columns only.
        lower, upper : ndarray of shape (m, p), optional
            Bounds beyond which the model is not asked.
        """
        columns = np.arange(X.shape[1]) if free is None else np.flatnonzero(free)
        self.n_queries += len(X) * self.rows_asked(len(columns))
        if self.kind == "differences":
            beyond = np.full(X.shape, np.inf)
            bounds = -beyond if lower is None else lower, beyond if upper is None else upper
            return Score(*central_differences(self._score, X, rows, columns, self._width, *bounds))
        value, gradient = self._closed(X) if self._closed is not None else self._autograd(X, rows)
        # A selection of columns is laid out by columns, and sums over a row would then depend on the batch.
        gradient = np.ascontiguousarray(gradient[:, columns])
        # A derivative that is not a number, as that of a root at 0, points nowhere.
        return Score(value, np.where(np.isfinite(gradient), gradient, 0.0))


class _Autograd(Answers):
    """Asks a torch module for log odds and gradients."""

    _methods = ()

    def __init__(self, model: Any, columns: pd.Index | None, data: str) -> None:
        super().__init__(model, columns, data)
        self._ask = partial(torch_modules.log_odds, model)

    def __call__(self, X: FloatArray, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        answer, value, gradient = self._read(X, rows, tuple)
        check_answer(answer, rows, self._data, self._hint)
        return value, gradient
