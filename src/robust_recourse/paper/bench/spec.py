"""What an experiment is: a TOML file, read and checked."""

from __future__ import annotations

import inspect
import itertools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from robust_recourse._validation import check_choice, check_flag, check_integer, check_real
from robust_recourse.methods import registry
from robust_recourse.paper.bench.classifiers import CLASSIFIERS
from robust_recourse.paper.bench.juries import SCENARIOS, JurySetting
from robust_recourse.paper.datasets import NAMES

__all__ = ["METHODS", "Configuration", "Experiment", "MethodGrid", "Setting", "SpecError", "read_experiment"]

METHODS = {method.__name__: method for method in registry.METHODS.values()}  # experiments name the classes

_GIVEN = {"model", "actions", "jury", "random_state", "n_jobs"}  # parameters that the runner fills in


class SpecError(ValueError):
    """An experiment file that cannot be run; the message names the file and the key."""


@dataclass(frozen=True)
class Configuration:
    """A method with one choice of its parameters."""

    name: str
    variant: str
    method: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class MethodGrid:
    """A method, parameters that stay and parameters that vary.

    Attributes
    ----------
    method : str
        Name of the class.
    name : str
        What tables and figures call it; entries of the same name share a frontier.
    variant : str
        What tells entries of the same name apart.
    set, grid : mapping
        Fixed parameters, and lists of values of which every combination is run.
    jury : mapping
        What its jury is, see :class:`robust_recourse.paper.bench.juries.JurySetting`; lists of values are varied. None
        if empty.
    """

    method: str
    name: str = ""
    variant: str = ""
    set: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    jury: Mapping[str, Any] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Configuration]:
        juries = list(
            _combinations({key: value if isinstance(value, list) else [value] for key, value in self.jury.items()})
        )
        for values in _combinations(self.grid):
            for jury in juries:
                parameters = {**self.set, **values, **({"jury": jury} if jury else {})}
                yield Configuration(self.name or self.method, self.variant, self.method, parameters)


@dataclass(frozen=True)
class Setting:
    """How data become models and instances.

    Attributes
    ----------
    classifier : str
        ``"network"``, ``"published network"``, ``"boosted trees"`` or ``"logistic regression"``.
    train_share : float
        Part of the present data that trains the present model.
    arrival_share : float
        Part of the shifted data that joins it for a future model.
    future : str
        What happens before a future model is trained: shifted data arrive, or something else that
        :data:`robust_recourse.paper.bench.juries.SCENARIOS` names, which leaves the shifted data out.
    future_models, instances : int
        Number of future models, and the largest number of refused rows that are explained.
    reseed : bool
        Whether every future model is initialised anew; otherwise as the present model was, from the same seed.
    standardise : bool
        Whether numbers are standardised by the training part; otherwise they stay as they are.
    actions : bool
        Whether the data set's own action set holds; otherwise every column may change freely, as in the paper.
    """

    classifier: str = "network"
    train_share: float = 0.8
    arrival_share: float = 0.2
    future: str = "arrival"
    future_models: int = 100
    instances: int = 100
    reseed: bool = True
    standardise: bool = True
    actions: bool = False

    def check(self) -> None:
        """Raise for values out of range."""
        check_choice(self.classifier, "classifier", CLASSIFIERS)
        check_choice(self.future, "future", SCENARIOS)
        for name in ("train_share", "arrival_share"):
            check_real(getattr(self, name), name, minimum=0.0, strict=True, maximum=1.0)
        if self.train_share == 1.0:
            raise ValueError("train_share must be below 1: some rows must be left to be explained.")
        check_integer(self.future_models, "future_models", minimum=1)
        check_integer(self.instances, "instances", minimum=1)
        for name in ("reseed", "standardise", "actions"):
            check_flag(getattr(self, name), name)


@dataclass(frozen=True)
class Experiment:
    """Data sets x methods x parameter grids x seeds, in one setting.

    Attributes
    ----------
    title : str
        A sentence.
    datasets : tuple of str
        Names of data sets.
    seeds : tuple of int
        Seeds of split, models and methods: all is run once for each.
    setting : Setting
        How data become models and instances.
    folds : int
        If positive, the classifier itself is scored by so many folds of D1 and of D2, and no method is run.
    options : mapping
        Options of data sets, for `load`, and ``rows``: the largest number of rows of D1 and of D2.
    methods : tuple of MethodGrid
        What is compared.
    """

    title: str
    datasets: tuple[str, ...]
    seeds: tuple[int, ...] = (0,)
    setting: Setting = field(default_factory=Setting)
    folds: int = 0
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    methods: tuple[MethodGrid, ...] = ()

    @property
    def configurations(self) -> list[Configuration]:
        """All methods with all their parameters."""
        return [configuration for grid in self.methods for configuration in grid]


def _combinations(grid: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    for values in itertools.product(*grid.values()):
        yield dict(zip(grid, values, strict=True))


def read_experiment(path: Path, profile: str | None = None, overrides: Mapping[str, Any] | None = None) -> Experiment:
    """Read an experiment.

    Parameters
    ----------
    path : Path
        A TOML file with the keys of :class:`Experiment` and of :class:`Setting` at its top, ``[[methods]]``,
        ``[options.DATASET]``, and ``[profiles.NAME]`` with keys that replace those at the top.
    profile : str, optional
        Name of the profile to apply.
    overrides : mapping, optional
        Keys that replace those of the file and of the profile.

    Raises
    ------
    SpecError
        If the file has a key, a data set, a method or a parameter that does not exist, or a value out of range.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        profiles = content.pop("profiles", {})
        if profile is not None and profile not in profiles:
            raise ValueError(f"there is no profile {profile!r}; there are {', '.join(map(repr, profiles)) or 'none'}")
        content = merged(content, profiles.get(profile, {}) if profile is not None else {})
        return _experiment(merged(content, overrides or {}))
    except (OverflowError, RecursionError, TypeError, ValueError) as error:
        raise SpecError(f"{path}: {error}") from error


def merged(content: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Replace keys; of tables within tables only the keys that are given."""
    changed = dict(content)
    for key, value in changes.items():
        both = isinstance(value, Mapping) and isinstance(changed.get(key), Mapping)
        changed[key] = merged(changed[key], value) if both else value
    return changed


def _experiment(content: dict[str, Any]) -> Experiment:
    names = [entry.name for entry in fields(Setting)]
    setting = replace(Setting(), **{name: content.pop(name) for name in names if name in content})
    setting.check()
    methods = tuple(_method_grid(entry) for entry in _listed(content, "methods"))
    content.pop("methods", None)
    known = {entry.name for entry in fields(Experiment)}
    _only(content, known - {"setting", "methods"} | {*names, "methods"}, "key")
    if not isinstance(content.get("title"), str):
        raise ValueError("title is missing, or not a text")
    datasets, seeds = (_listed(content, name) for name in ("datasets", "seeds"))
    for name in datasets:
        check_choice(name, "datasets", NAMES)
    options = content.get("options", {})
    if not isinstance(options, Mapping) or not all(isinstance(value, Mapping) for value in options.values()):
        raise TypeError(f"options must be tables, one for each data set, got {options!r}")
    _only(options, set(NAMES), "data set in options")
    experiment = Experiment(
        title=content["title"],
        datasets=tuple(datasets),
        seeds=tuple(check_integer(seed, "seeds", minimum=0) for seed in seeds or [0]),
        setting=setting,
        folds=check_integer(content.get("folds", 0), "folds", minimum=0),
        options=options,
        methods=methods,
    )
    twice = {repr(c) for c in experiment.configurations}
    if len(twice) < len(experiment.configurations):
        raise ValueError("two [[methods]] have a configuration in common: give them different names or variants")
    if not experiment.datasets:
        raise ValueError("datasets is missing or empty")
    if experiment.folds == 1:
        raise ValueError("folds must be 0 or at least 2")
    if not experiment.folds and not experiment.methods:
        raise ValueError("there is nothing to run: give [[methods]], or folds")
    return experiment


def _listed(content: Mapping[str, Any], name: str) -> list[Any]:
    value = content.get(name, [])
    if not isinstance(value, list | tuple):
        raise TypeError(f"{name} must be a list, got {value!r}")
    if any(entry in value[:k] for k, entry in enumerate(value)):
        raise ValueError(f"{name} has an entry twice: {value!r}")
    return list(value)


def _method_grid(entry: Mapping[str, Any]) -> MethodGrid:
    if not isinstance(entry, Mapping):
        raise TypeError(f"methods must be tables, [[methods]], got {entry!r}")
    _only(entry, {item.name for item in fields(MethodGrid)}, "key in [[methods]]")
    for part, kind in (("name", str), ("variant", str), ("set", Mapping), ("grid", Mapping), ("jury", Mapping)):
        if not isinstance(entry.get(part, kind() if kind is str else {}), kind):
            raise TypeError(
                f"{part} in [[methods]] must be a {'text' if kind is str else 'table'}, got {entry[part]!r}"
            )
    method = check_choice(entry.get("method", ""), "method", tuple(METHODS))
    grid = MethodGrid(**entry)
    parameters = set(inspect.signature(METHODS[method]).parameters) - _GIVEN
    for part in ("set", "grid"):
        _only(getattr(grid, part), parameters, f"parameter of {method}")
    twice = set(grid.set) & set(grid.grid)
    if twice:
        raise ValueError(f"{method}: {min(twice)} is in both set and grid")
    for name, values in grid.grid.items():
        if not isinstance(values, list) or not values:
            raise ValueError(f"{method}: grid.{name} must be a list of values, got {values!r}")
    if grid.jury and "jury" not in inspect.signature(METHODS[method]).parameters:
        raise ValueError(f"{method} takes no jury")
    for configuration in grid:
        JurySetting.read(configuration.parameters.get("jury", {}))
    return grid


def _only(given: Mapping[str, Any], known: set[str], what: str) -> None:
    unknown = sorted(set(given) - known)
    if unknown:
        raise ValueError(f"unknown {what}: {unknown[0]!r}; there are {', '.join(sorted(known))}")
