"""Models of scikit-learn, asked without the price of its checks: for the many questions of a search."""

from __future__ import annotations

from typing import Any

from robust_recourse.models.quick.base import Quickly
from robust_recourse.models.quick.estimators import estimator_quickly
from robust_recourse.models.quick.pipelines import pipeline_quickly

__all__ = ["Quickly", "follows_probabilities", "quickly"]


def quickly(model: Any, name: str) -> Quickly | None:
    """Return what gives the same answers as the method `name` of a model, and faster; None if no way is known."""
    return pipeline_quickly(model, name) or estimator_quickly(model, name)


def follows_probabilities(model: Any) -> bool:
    """Whether the second of two classes is predicted where it is the likelier one, for sure: the ways are known."""
    last = model.steps[-1][1] if pipeline_quickly(model, "predict") is not None else model
    return len(getattr(last, "classes_", ())) == 2 and estimator_quickly(last, "predict") is not None
