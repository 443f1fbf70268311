"""Scenarios by name, and how many models each of them gets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from robust_recourse._validation import check_integer
from robust_recourse.futures._model_scenarios import Threshold
from robust_recourse.futures._row_scenarios import Bootstrap, Deletion, LabelNoise, Seeds
from robust_recourse.futures._scenario import Scenario

__all__ = ["check_counts", "check_scenarios"]

_PLAIN: tuple[type[Scenario], ...] = (Bootstrap, Seeds, Deletion, LabelNoise, Threshold)
_WITH_DATA: Mapping[str, str] = {
    "arrival": "Arrival(X_new, y_new)",
    "temporal": "Temporal(time)",
    "parameters": "Parameters(grid)",
}


def check_scenarios(scenarios: str | Scenario | Iterable[str | Scenario]) -> list[Scenario]:
    """Return scenarios, of which some may be given by name; no two may have the same."""
    if isinstance(scenarios, str | Scenario | type):
        scenarios = [scenarios]
    if not isinstance(scenarios, Iterable):
        raise TypeError(f"scenarios must be a list of names and scenarios, got {scenarios!r}.")
    chosen = [_scenario(given) for given in scenarios]
    if not chosen:
        raise ValueError("scenarios is empty: name at least one.")
    names = [scenario.name for scenario in chosen]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"scenarios has {twice[0]!r} twice. Give one of them another label=.")
    return chosen


def _scenario(given: Any) -> Scenario:
    if isinstance(given, Scenario):
        return given
    if isinstance(given, type) and issubclass(given, Scenario):
        raise TypeError(f"scenarios must be names or objects, got a class. Pass {given.__name__}(...).")
    if not isinstance(given, str):
        raise TypeError(f"scenarios must be names or scenarios, got {given!r}.")
    kind = given.replace("_", " ").replace("-", " ")
    for scenario in _PLAIN:
        if scenario.kind == kind:
            return scenario()
    if kind in _WITH_DATA:
        raise ValueError(f"The scenario {given!r} needs to know more. Pass {_WITH_DATA[kind]} instead of its name.")
    known = ", ".join(repr(scenario.kind) for scenario in _PLAIN)
    raise ValueError(
        f"There is no scenario {given!r}. By name there are {known}; {', '.join(_WITH_DATA.values())} need to know "
        "more."
    )


def check_counts(n_models: int | Mapping[str, int], scenarios: Sequence[Scenario]) -> list[int]:
    """Return the number of models of every scenario."""
    if not isinstance(n_models, Mapping):
        return [check_integer(n_models, "n_models", minimum=1)] * len(scenarios)
    names = [scenario.name for scenario in scenarios]
    for name in n_models:
        if name not in names:
            meant = [repr(scenario.name) for scenario in scenarios if scenario.kind == name]
            known = f"Its whole name is {' or '.join(meant)}" if meant else f"There are {', '.join(map(repr, names))}"
            raise ValueError(f"n_models has {name!r}, which is no scenario. {known}.")
    for name in names:
        if name not in n_models:
            raise ValueError(f"n_models has no number for the scenario {name!r}.")
    return [check_integer(n_models[name], f"n_models[{name!r}]", minimum=1) for name in names]
