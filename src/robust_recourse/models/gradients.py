"""Scores of models and their gradients, from wherever they can be had.

A *score* is positive where the model accepts and negative where it refuses: the log odds of acceptance, less those of
the threshold if there is one, or what ``decision_function`` answers. The first line that fits counts:

==========================================================  ==========================  ===================
model                                                       score                       gradient
==========================================================  ==========================  ===================
network of scikit-learn, alone or behind scalers            log odds                    closed form
linear model of scikit-learn, alone or behind scalers       ``decision_function``       closed form
torch module                                                log odds of its output      automatic
anything else of two classes with ``decision_function``     ``decision_function``       central differences
anything else with ``predict_proba``                        log odds                    central differences
anything else that answers with probabilities               log odds                    central differences
anything that answers with scores                           score less threshold        central differences
==========================================================  ==========================  ===================

Closed forms and automatic gradients are for tables of numbers. With a threshold ``decision_function`` counts only
where it is known to be the log odds. Of more than two classes, without a threshold, the score is the logarithm of the
favourable probability less that of the largest other one.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logit

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.models import torch_modules
from robust_recourse.models.adapters import adapted
from robust_recourse.models.analytic import Differentiable, differentiable, is_logistic
from robust_recourse.models.decisions import Decision
from robust_recourse.models.differences import LogOdds, Margins, central_differences
from robust_recourse.models.predictor import Answers, Decode, Predictor

__all__ = ["Score", "Scores"]

_STEP = 1e-3  # exact enough in double precision, and far above the noise of models in single precision


class Score(NamedTuple):
    """Scores of rows and their gradients."""

    value: FloatArray  # (m,)
    gradient: FloatArray  # (m, p): 0 in columns that may not change


class Scores:
    """Asks a model for scores and their gradients.

    Parameters
    ----------
    model : object or callable
        As for :class:`robust_recourse.models.predictor.Predictor`, but labels alone are not enough.
    decode : callable, optional
        As there, but without rounding to grids, so that there is something to differentiate.
    data : str
        What the rows in messages are rows of.
    favourable, threshold
        As there.
    unit : ndarray of shape (p,) or float
        The rows are in these units: the model gets them times `unit`, which closed forms and automatic gradients do
        themselves and `decode` does for the others. Gradients are with respect to the rows.
    numbers : bool
        Whether all columns are numbers. If not there are only central differences.
    scale : ndarray of shape (p,) or float
        Scale of the columns, see :func:`robust_recourse.math.scales.spread`.
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
        decode: Decode | None = None,
        data: str = "X",
        *,
        favourable: Any = None,
        threshold: float | None = None,
        unit: FloatArray | float = 1.0,
        numbers: bool = True,
        scale: FloatArray | float = 1.0,
        step: float | None = None,
    ) -> None:
        decides: dict[str, Any] = {"favourable": favourable, "threshold": threshold}
        Predictor(model, decode, data, **decides)  # raises for what is no model
        decision = Decision.of(adapted(model), favourable, threshold)
        self._width = (_STEP if step is None else step) * np.asarray(scale, dtype=float)
        self._unit, self._data = np.asarray(unit, dtype=float), data
        self._graded = callable(getattr(adapted(model), "predict_proba", None))
        self._closed = _closed_form(model, decision) if numbers else None
        self.n_queries = 0
        self.kind = "differences"
        self._score: Margins | LogOdds
        if self._closed is not None:
            self.kind = "closed form"
        elif numbers and torch_modules.is_module(model):
            self.kind, self._autograd = "autograd", _Autograd(model, data, **decides)
        elif threshold is None and decision.sign and callable(getattr(model, "decision_function", None)):
            self._score = Margins(model, decode, data, **decides)
        else:
            self._score = LogOdds(model, decode, data, **decides)

    def rows_asked(self, free: BoolArray) -> IntArray:
        """Rows that the model is asked for the score and the gradient of each row; `free` as in a call."""
        per_column = 2 if self.kind == "differences" else 0
        asked: IntArray = 1 + per_column * free.sum(axis=1)
        return asked

    def check(self, X: FloatArray) -> None:
        """Raise if the model answers with nothing but labels for the rows of `X`.

        Raises
        ------
        TypeError
            If it has neither ``decision_function`` nor ``predict_proba``, is no torch module, and answers 0 or 1
            for every row.
        """
        if self.kind != "differences" or self._graded or isinstance(self._score, Margins):
            return
        said = self._score.verdicts(X.copy(), np.arange(len(X)))
        if said.scale == "share" and np.isin(said.value, (0.0, 1.0)).all():
            raise TypeError(
                "model must tell how far a row is from acceptance, but it answers with labels only: 0 or 1 for each of "
                f"the {len(X)} rows of {self._data}. Pass one with predict_proba or decision_function, a torch module, "
                "or a callable that answers with probabilities; methods that follow no gradients, such as "
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
        free : ndarray of bool, shape (m, p), optional
            The columns of every row that may change (default: all); the model is asked about no others.
        lower, upper : ndarray of shape (m, p), optional
            Bounds beyond which the model is not asked.
        """
        free = np.ones(X.shape, dtype=bool) if free is None else free
        self.n_queries += int(self.rows_asked(free).sum())
        if self.kind == "differences":
            beyond = np.full(X.shape, np.inf)
            bounds = -beyond if lower is None else lower, beyond if upper is None else upper
            return Score(*central_differences(self._score, X, rows, free, self._width, *bounds, self._unit))
        raw = X * self._unit
        value, gradient = self._closed(raw) if self._closed is not None else self._autograd(raw, rows)
        gradient = gradient * self._unit
        # A derivative that is not a number, as that of a root at 0, points nowhere.
        return Score(value, np.where(free & np.isfinite(gradient), gradient, 0.0))


class _Autograd(Answers):
    """Asks a torch module for scores and gradients."""

    def __init__(self, model: Any, data: str, **decides: Any) -> None:
        super().__init__(model, None, data, **decides)
        self._module = model

    def __call__(self, X: FloatArray, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        found: tuple[FloatArray, FloatArray] = self._read(
            X, rows, tuple, lambda points: torch_modules.scores(self._module, points, partial(self._said, rows=rows))
        )
        return found


def _closed_form(model: Any, decision: Decision) -> Differentiable | None:
    """Return the closed form of the favourable class, less the threshold; None if there is none."""
    score, threshold = differentiable(model), decision.threshold
    if score is None or not decision.sign or (threshold is not None and not is_logistic(model)):
        return None
    sign, level = decision.sign, 0.0 if threshold is None else float(logit(threshold))

    def favourable(X: FloatArray) -> tuple[FloatArray, FloatArray]:
        value, gradient = score(X)
        return sign * value - level, sign * gradient

    return favourable
