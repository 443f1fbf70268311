"""Networks of scikit-learn, asked without the price of its checks.

A small network answers in a tenth of a millisecond, and scikit-learn looks at the rows for five times as long. A search
that asks about few rows in many calls, and each of them to twenty jurors, mostly waits for that. The same products, in
the same order, give the same bits; that is found out with the first rows of each model, and where it is not so, or rows
are no plain numbers, the network is asked itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from scipy.special import expit

from robust_recourse._typing import FloatArray

__all__ = ["Quickly", "network_quickly"]

_ACTIVATIONS: dict[str, Callable[[FloatArray], Any]] = {
    "relu": lambda values: np.maximum(values, 0, out=values),
    "tanh": lambda values: np.tanh(values, out=values),
    "logistic": lambda values: expit(values, out=values),
    "identity": lambda values: values,
}
_THEIRS = ("predict", "predict_proba", "_predict", "_forward_pass_fast")  # what a subclass must have left alone
_SAME: WeakKeyDictionary[Any, bool] = WeakKeyDictionary()  # whether a network was found to answer the same


class Quickly:
    """Asks a model in a way of its own, instead of by its method `name`."""

    def __init__(self, model: Any, name: str) -> None:
        self._model, self._name = model, name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quickly) and self._model is other._model and self._name == other._name

    def __hash__(self) -> int:
        return hash((id(self._model), self._name))


class _Network(Quickly):
    """Asks a network."""

    def __call__(self, X: Any) -> Any:
        model, name = self._model, self._name
        if not _SAME.get(model, True) or not _is_plain(model, X):
            return getattr(model, name)(X)
        found = _answer(model, name, X)
        if model in _SAME:
            return found
        true = getattr(model, name)(X)
        _SAME[model] = found.dtype == true.dtype and np.array_equal(found, true)
        return true


def network_quickly(model: Any, name: str) -> Callable[[Any], Any] | None:
    """Return what answers as the method `name` of a network does, and faster; None of other models.

    Parameters
    ----------
    model : object
        Anything; a fitted ``MLPClassifier`` with two classes is meant.
    name : str
        Its method, ``"predict"`` or ``"predict_proba"``.
    """
    base = next((kind for kind in type(model).__mro__ if _is_theirs(kind)), None)
    if base is None or np.shape(getattr(model, "classes_", ())) != (2,):
        return None
    kept = all(getattr(type(model), part, None) is getattr(base, part, None) for part in _THEIRS)
    return _Network(model, name) if kept and vars(model).keys().isdisjoint(_THEIRS) else None


def _is_theirs(kind: type) -> bool:
    return kind.__name__ == "MLPClassifier" and kind.__module__.startswith("sklearn.neural_network")


def _is_plain(model: Any, X: Any) -> bool:
    """Whether the checks of scikit-learn would let rows pass as they are, without a warning."""
    plain = type(X) is np.ndarray and X.ndim == 2 and X.dtype == np.float64 and len(X) > 0
    fits = plain and not hasattr(model, "feature_names_in_") and X.shape[1] == model.n_features_in_
    return fits and model.activation in _ACTIVATIONS and model.out_activation_ == "logistic" and _finite(X)


def _finite(X: FloatArray) -> bool:
    return bool(np.isfinite(X).all())


def _answer(model: Any, name: str, X: FloatArray) -> Any:
    values, last = X, len(model.coefs_) - 1
    for layer, (weights, intercepts) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
        values = values @ weights
        values += intercepts
        _ACTIVATIONS["logistic" if layer == last else model.activation](values)
    share = values.ravel()
    if name == "predict":
        return model.classes_[(share > 0.5).astype(int)]
    return np.vstack([1 - share, share]).T
