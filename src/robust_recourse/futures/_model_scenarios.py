"""Scenarios in which the data stay, and those who train or use the model want another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from robust_recourse.futures._moved_threshold import MovedThreshold
from robust_recourse.futures._scenario import Drawn, Present, Scenario, check_pair
from robust_recourse.futures.rows import TrainingData
from robust_recourse.models.decisions import Decision

__all__ = ["Parameters", "Threshold"]


@dataclass(frozen=True)
class Parameters(Scenario):
    """Whoever trains the next model chooses other hyper-parameters.

    Parameters
    ----------
    grid : mapping of str to sequence
        Values to draw from, for every parameter that may change. Those of nested estimators are named as in
        ``set_params``: ``{"classifier__C": [0.1, 1, 10]}``.
    """

    kind = "parameters"

    grid: Mapping[str, Sequence[Any]]

    def _checked(self) -> Mapping[str, Any]:
        if not isinstance(self.grid, Mapping) or not self.grid:
            raise TypeError(f"Parameters: grid must map names to lists of values, got {self.grid!r}.")
        for name, values in self.grid.items():
            if isinstance(values, str | bytes) or not hasattr(values, "__len__") or not len(values):
                raise ValueError(f"Parameters: grid[{name!r}] must be a list of at least one value, got {values!r}.")
        return {}

    def prepare(self, present: Present) -> tuple[TrainingData, Self]:
        """Check that the estimator has such parameters."""
        if not hasattr(present.recipe, "set_params"):
            raise TypeError(f"The scenario {self.name!r} needs an estimator with set_params, not a function.")
        known = present.recipe.get_params()
        unknown = [name for name in self.grid if name not in known and name.rpartition("__")[0] not in self.grid]
        if unknown:
            raise ValueError(
                f"Parameters: {type(present.recipe).__name__} has no parameter {unknown[0]!r}; it has "
                f"{', '.join(sorted(known))}."
            )
        return present.data, self

    def draw(self, rng: np.random.Generator, data: TrainingData) -> Drawn:
        """Draw a value for every parameter."""
        values = {name: self.grid[name][int(rng.integers(len(self.grid[name])))] for name in sorted(self.grid)}
        chosen = {name: clone(value, safe=False) for name, value in values.items()}
        note = ", ".join(f"{name}={value!r}" for name, value in chosen.items())
        return Drawn(np.arange(len(data)), parameters=chosen, note=note)


@dataclass(frozen=True)
class Threshold(Scenario):
    """The model stays, and accepts from another probability on.

    The estimator is trained once, on the present data, and keeps its seeds if it has some. Every future model is that
    one with a threshold of its own, a :class:`MovedThreshold`.

    Parameters
    ----------
    by : (float, float) or float
        Between which amounts the threshold moves; more is stricter.
    """

    kind = "threshold"
    reseed = "missing"

    by: tuple[float, float] | float = (-0.1, 0.1)

    def _checked(self) -> Mapping[str, Any]:
        return {"by": check_pair(self.by, "Threshold: by")}

    def prepare(self, present: Present) -> tuple[TrainingData, Self]:
        """Check that there is a threshold, and that it can be moved so far."""
        if hasattr(present.recipe, "fit") and not hasattr(present.recipe, "predict_proba"):
            raise TypeError(
                f"The scenario {self.name!r} needs probabilities, but {type(present.recipe).__name__} has no "
                "predict_proba. Leave the scenario out."
            )
        classes = present.data.classes
        if present.data.codes is None:
            raise ValueError(f"The scenario {self.name!r} needs classes, but y has numbers to regress on.")
        example = SimpleNamespace(classes_=sorted(classes, key=str), predict_proba=len)
        Decision.of(example, present.favourable, present.threshold)
        if present.threshold is None and len(classes) > 2:
            raise ValueError(
                f"The scenario {self.name!r} needs threshold=: with {len(classes)} classes the likeliest counts, and "
                "there is nothing to move."
            )
        for end in check_pair(self.by, "Threshold: by"):
            if not 0.0 < present.level + end < 1.0:
                raise ValueError(
                    f"Threshold: by={end:g} would move the threshold from {present.level:g} to "
                    f"{present.level + end:g}; it must stay between 0 and 1."
                )
        return present.data, self

    def draw(self, rng: np.random.Generator, data: TrainingData) -> Drawn:  # noqa: ARG002
        """Keep every row."""
        return Drawn(np.arange(len(data)))

    def moved(self, model: Any, rng: np.random.Generator, present: Present) -> tuple[Any, str]:
        """Return the model with another threshold, and which it is."""
        if not hasattr(model, "predict_proba") or not hasattr(model, "classes_"):
            raise TypeError(
                f"The scenario {self.name!r} needs models with predict_proba and classes_, got a "
                f"{type(model).__name__}."
            )
        threshold = present.level + rng.uniform(*check_pair(self.by, "Threshold: by"))
        return MovedThreshold(model, threshold, present.threshold, present.favourable), f"threshold {threshold:.3f}"
