r"""Gradients in closed form: linear models and networks of scikit-learn, behind columnwise scalers.

The score of a network with weights :math:`W_l`, intercepts :math:`b_l` and activation :math:`\phi` is the log odds

.. math:: s(x) = W_L^\top h_{L-1} + b_L,\qquad h_l = \phi(W_l^\top h_{l-1} + b_l),\qquad h_0 = x,

and back-propagation gives :math:`\nabla s = W_1 (\phi'_1 \odot W_2 (\phi'_2 \odot \cdots W_L))`. Of a linear model it
is what ``decision_function`` answers. A scaler :math:`(x - c) / r` divides the gradient by :math:`r`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV, SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from robust_recourse._typing import FloatArray

__all__ = ["Differentiable", "differentiable", "is_logistic", "linear_terms", "summed_terms"]

Differentiable = Callable[[FloatArray], tuple[FloatArray, FloatArray]]

# Products are taken of blocks of this many rows, the last one padded: BLAS rounds differently for other shapes, and
# a row shall not depend on its batch. A multiple of the heights of the tiles that BLAS cuts a matrix into.
_BLOCK = 96

_REGRESSORS = {
    "ElasticNet",
    "ElasticNetCV",
    "HuberRegressor",
    "Lasso",
    "LassoCV",
    "LinearRegression",
    "LinearSVR",
    "Ridge",
    "RidgeCV",
    "SGDRegressor",
}  # of scikit-learn

_ACTIVATIONS: dict[str, tuple[Callable[[FloatArray], FloatArray], Callable[[FloatArray], Any]]] = {
    # Each with its derivative as a function of its own value.
    "identity": (lambda z: z, lambda _: 1.0),
    "relu": (lambda z: np.maximum(z, 0.0), lambda h: h > 0.0),
    "tanh": (np.tanh, lambda h: 1.0 - h**2),
    "logistic": (expit, lambda h: h * (1.0 - h)),
}


def differentiable(model: Any) -> Differentiable | None:
    """Return a function from rows to scores and gradients, or None for a model that is not known here.

    Parameters
    ----------
    model : object
        A fitted binary ``MLPClassifier``, anything with ``decision_function`` and one row of ``coef_``, or a
        ``Pipeline`` of such a model behind standard, min-max, max-abs or robust scalers that do not clip.
    """
    if not isinstance(model, Pipeline):
        return _network(model) if isinstance(model, MLPClassifier) else _linear(model)
    steps = [step for _, step in model.steps]
    score, scalers = differentiable(steps[-1]), [_scaler(step) for step in steps[:-1]]
    for scaler in reversed(scalers):
        if score is None or scaler is None:
            return None
        score = _scaled(score, *scaler)
    return score


def is_logistic(model: Any) -> bool:
    """Whether the score of :func:`differentiable` is the log odds of the model's own probabilities."""
    if isinstance(model, Pipeline):
        return is_logistic(model.steps[-1][1])
    # The types themselves: a subclass may do anything.
    if type(model) in (LogisticRegression, LogisticRegressionCV):
        return getattr(model, "multi_class", None) != "multinomial"  # a softmax doubles the log odds
    if type(model) is SGDClassifier:
        return bool(model.loss == "log_loss")
    return type(model) in (MLPClassifier, LinearDiscriminantAnalysis)


def linear_terms(model: Any) -> tuple[FloatArray, float] | None:
    """Return the coefficients and the intercept of a linear ``decision_function``; None of other models."""
    return _terms(model) if callable(getattr(model, "decision_function", None)) else None


def summed_terms(model: Any) -> tuple[FloatArray, float] | None:
    """Return the same, or those of a linear regression: its predictions are what a threshold is compared with."""
    kind = type(model)
    regression = kind.__name__ in _REGRESSORS and kind.__module__.startswith("sklearn.")
    return _terms(model) if regression else linear_terms(model)


def _terms(model: Any) -> tuple[FloatArray, float] | None:
    coefficients, intercept = getattr(model, "coef_", None), getattr(model, "intercept_", None)
    if coefficients is None or intercept is None:
        return None
    if hasattr(coefficients, "toarray"):
        coefficients = coefficients.toarray()
    slope, offset = np.asarray(coefficients, dtype=float), np.asarray(intercept, dtype=float)
    if slope.ndim not in {1, 2} or slope.size != slope.shape[-1] or offset.size != 1:
        return None
    return slope.ravel(), offset.item()


def _linear(model: Any) -> Differentiable | None:
    terms = linear_terms(model)
    if terms is None:
        return None
    slope, offset = terms

    def score(X: FloatArray) -> tuple[FloatArray, FloatArray]:
        return (X * slope).sum(axis=1) + offset, np.tile(slope, (len(X), 1))

    return score


def _network(model: Any) -> Differentiable | None:
    if getattr(model, "out_activation_", None) != "logistic" or model.n_outputs_ != 1:
        return None
    activate, derivative = _ACTIVATIONS[model.activation]
    *hidden, last = [np.asarray(weights, dtype=float) for weights in model.coefs_]
    *shifts, offset = [np.asarray(shift, dtype=float) for shift in model.intercepts_]
    backward = [np.ascontiguousarray(weights.T) for weights in hidden]
    output = last.ravel()

    def block(X: FloatArray) -> tuple[FloatArray, FloatArray]:
        layers = []
        for weights, shift in zip(hidden, shifts, strict=True):
            X = activate(X @ weights + shift)
            layers.append(X)
        gradient = np.tile(output, (len(X), 1))
        for weights, layer in zip(reversed(backward), reversed(layers), strict=True):
            gradient = (gradient * derivative(layer)) @ weights
        return (X * output).sum(axis=1) + offset.item(), gradient

    def score(X: FloatArray) -> tuple[FloatArray, FloatArray]:
        value, gradient = np.empty(len(X)), np.empty(X.shape)
        padded = np.zeros((_BLOCK, X.shape[1]))
        for first in range(0, len(X), _BLOCK):
            part = slice(first, min(first + _BLOCK, len(X)))
            rows = part.stop - first
            padded[:rows] = X[part]
            values, gradients = block(padded)
            value[part], gradient[part] = values[:rows], gradients[:rows]
        return value, gradient

    return score


def _scaler(step: Any) -> tuple[Any, Any] | None:
    """Return centre and spread of a scaler ``(x - centre) / spread``; None for any other step."""
    if step is None or step == "passthrough":
        return 0.0, 1.0
    # The types themselves: a subclass may do anything.
    if type(step) is StandardScaler:
        return _or(step.mean_ if step.with_mean else None, 0.0), _or(step.scale_, 1.0)
    if type(step) is RobustScaler:
        return _or(step.center_, 0.0), _or(step.scale_, 1.0)
    if type(step) is MinMaxScaler and not step.clip:
        return -step.min_ / step.scale_, 1.0 / step.scale_
    if type(step) is MaxAbsScaler and not getattr(step, "clip", False):
        return 0.0, step.scale_
    return None


def _or(values: Any, default: float) -> Any:
    return default if values is None else values


def _scaled(score: Differentiable, centre: Any, spread: Any) -> Differentiable:
    def through(X: FloatArray) -> tuple[FloatArray, FloatArray]:
        value, gradient = score((X - centre) / spread)
        return value, gradient / spread

    return through
