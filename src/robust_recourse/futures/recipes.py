"""How models are trained: by a fresh copy of an estimator, or by a function."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator, clone, is_regressor

from robust_recourse.models.torch_modules import is_module

__all__ = ["Reseed", "check_recipe", "fitted", "regresses"]

Reseed: TypeAlias = Literal["all", "missing", "none"]
"""Which random states of an estimator get a new seed: all, those that are no seed yet, none."""


def check_recipe(estimator: Any) -> Any:
    """Return how models are trained: an unfitted copy of an estimator, or the function itself."""
    if isinstance(estimator, type):
        raise TypeError(f"estimator must be an object, got a class. Pass {estimator.__name__}(...).")
    if hasattr(estimator, "fit") and hasattr(estimator, "get_params"):
        try:
            return clone(estimator)
        except Exception as error:  # of a constructor, where anything may be raised
            raise TypeError(
                f"estimator, a {type(estimator).__name__}, cannot be copied ({error}). Let its constructor store every "
                "parameter as it is given, or pass a function refit(X, y, seed) that returns a fitted model."
            ) from error
    predicts = hasattr(estimator, "predict") or is_module(estimator)
    if callable(estimator) and not hasattr(estimator, "fit") and not predicts:
        try:
            inspect.signature(estimator).bind(None, None, 0)
        except TypeError as error:
            raise TypeError(f"A function that trains is called as refit(X, y, seed): {error}.") from error
        except ValueError:  # a function that does not tell its parameters
            pass
        return estimator
    raise TypeError(
        "estimator must be like those of scikit-learn, with fit and get_params, or a function refit(X, y, seed) that "
        f"returns a fitted model, got {type(estimator).__name__}."
    )


def regresses(recipe: Any) -> bool:
    """Whether an estimator says that it predicts numbers."""
    return isinstance(recipe, BaseEstimator) and bool(is_regressor(recipe))


def fitted(recipe: Any, X: Any, y: Any, parameters: Mapping[str, Any], rng: np.random.Generator, reseed: Reseed) -> Any:
    """Return a model that is trained on rows and labels, with other parameters and seeds if these are wanted."""
    if not hasattr(recipe, "fit"):
        model = recipe(X, y, int(rng.integers(2**31)))
        if model is None:
            raise TypeError("refit(X, y, seed) returned None instead of a fitted model")
        return model
    model = clone(recipe)
    _set(model, parameters)
    states = {name: state for name, state in model.get_params().items() if name.split("__")[-1] == "random_state"}
    anew = {
        "all": sorted(states.keys() - parameters.keys()),
        "missing": sorted(name for name, state in states.items() if not isinstance(state, int | np.integer)),
        "none": [],
    }[reseed]
    _set(model, {name: int(rng.integers(2**31)) for name in anew})
    model.fit(X, y)
    return model


def _set(model: Any, parameters: Mapping[str, Any]) -> None:
    if parameters:
        model.set_params(**parameters)
