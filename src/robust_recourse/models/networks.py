"""Which models are neural networks."""

from __future__ import annotations

from typing import Any

from sklearn.neural_network import MLPClassifier, MLPRegressor

from robust_recourse.models import torch_modules

__all__ = ["is_network"]


def is_network(model: Any) -> bool:
    """Whether a model is a network of scikit-learn or torch, maybe the last step of a pipeline or chosen by a search.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> is_network(make_pipeline(StandardScaler(), MLPClassifier())), is_network(StandardScaler())
    (True, False)
    """
    model = getattr(model, "best_estimator_", model)
    steps = getattr(model, "steps", None)
    if steps:
        return is_network(steps[-1][1])
    return isinstance(model, MLPClassifier | MLPRegressor) or torch_modules.is_module(model)
