"""Models of scikit-learn, asked without the price of its checks: for the many questions of a search."""

from __future__ import annotations

from typing import Any

from robust_recourse.models.quick.base import Quickly
from robust_recourse.models.quick.estimators import estimator_quickly
from robust_recourse.models.quick.pipelines import pipeline_quickly
from robust_recourse.models.quick.unpacked import packed, unpacked

__all__ = ["Quickly", "packed", "quickly", "unpacked"]


def quickly(model: Any, name: str) -> Quickly | None:
    """Return what gives the same answers as the method `name` of a model, and faster; None if no way is known."""
    return pipeline_quickly(model, name) or estimator_quickly(model, name)
