"""Juries of an experiment: what a file says of them, and the scenarios that their models, or future ones, come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

from robust_recourse._typing import FloatArray
from robust_recourse._validation import check_choice, check_integer
from robust_recourse.futures import Arrival, Bootstrap, Deletion, Jury, LabelNoise, Parameters, Scenario

__all__ = ["SCENARIOS", "JurySetting", "make_scenario", "sizes"]

SCENARIOS = ("arrival", "bootstrap", "deletion", "label noise", "parameters")

_GRIDS: dict[str, dict[str, list[Any]]] = {
    "network": {"hidden_layer_sizes": [(20, 50, 20), (10, 20), (50,), (40, 80, 40)], "alpha": [1e-4, 1e-2, 1.0]},
    "published network": {"random_state": list(range(1000))},
    "boosted trees": {"learning_rate": [0.03, 0.1, 0.3], "max_leaf_nodes": [7, 31], "min_samples_leaf": [5, 20, 60]},
    "logistic regression": {"C": [0.01, 0.1, 1.0, 10.0]},
}


@dataclass(frozen=True)
class JurySetting:
    """What an experiment says of a jury.

    Attributes
    ----------
    models : int
        Number of jurors.
    scenario : str
        How they are retrained, one of :data:`SCENARIOS`; no juror is a model of the evaluation.
    quorum, margin, rule
        As for :class:`robust_recourse.Jury`.
    """

    models: int = 20
    scenario: str = "bootstrap"
    quorum: float = 0.9
    margin: float | None = None
    rule: Literal["quorum", "mean"] = "quorum"

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> JurySetting:
        """Check what a file says."""
        known = {field.name for field in fields(cls)}
        unknown = sorted(set(given) - known)
        if unknown:
            raise ValueError(f"unknown key of a jury: {unknown[0]!r}; there are {', '.join(sorted(known))}")
        setting = cls(**given)
        check_integer(setting.models, "models of a jury", minimum=1)
        check_choice(setting.scenario, "scenario of a jury", SCENARIOS)
        setting.of([len] * setting.models)
        return setting

    def of(self, models: Sequence[Any]) -> Jury:
        """Return the jury of the first of some models."""
        return Jury(list(models[: self.models]), self.quorum, self.margin, self.rule)


def make_scenario(name: str, classifier: str, X_new: FloatArray, y_new: Any, share: float) -> Scenario:
    """Return what happens to the models of a classifier.

    Parameters
    ----------
    name : str
        One of :data:`SCENARIOS`.
    classifier : str
        Name of the classifier, of which "parameters" are chosen anew.
    X_new, y_new : array_like
        Data that arrive.
    share : float
        Part of them that does, in every model.
    """
    check_choice(name, "scenario", SCENARIOS)
    if name == "arrival":
        return Arrival(X_new, y_new, share)
    if name == "parameters":
        return Parameters(_GRIDS[classifier])
    plain: dict[str, type[Scenario]] = {"bootstrap": Bootstrap, "deletion": Deletion, "label noise": LabelNoise}
    return plain[name]()


def sizes(parameters: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Return how many jurors of each scenario the configurations with these parameters need."""
    needed: dict[str, int] = {}
    for given in parameters:
        if "jury" in given:
            setting = JurySetting.read(given["jury"])
            needed[setting.scenario] = max(setting.models, needed.get(setting.scenario, 0))
    return needed
