"""From the options of ``robust-recourse explain`` to a fitted method."""

from __future__ import annotations

import argparse
import hashlib
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._files import part_key
from robust_recourse.actions import ActionSet
from robust_recourse._provenance import source, versions
from robust_recourse.cli._options import blaming, overrides
from robust_recourse.methods._base import RecourseMethod
from robust_recourse.methods.bayesian import BayesianRecourse, RobustBayesianRecourse
from robust_recourse.methods.nearest import NearestAccepted
from robust_recourse.methods.roar import ROAR
from robust_recourse.methods.wachter import Wachter
from robust_recourse.models.files import Session, read_model
from robust_recourse.tables import Schema

__all__ = ["METHODS", "fingerprint", "fitted", "parameters_of"]

METHODS: dict[str, type[RecourseMethod]] = {
    "robust": RobustBayesianRecourse,
    "bayesian": BayesianRecourse,
    "wachter": Wachter,
    "roar": ROAR,
    "nearest": NearestAccepted,
}

_FORMAT = 1  # of the file with what is finished
_GIVEN = {"model", "actions", "favourable", "threshold", "random_state", "n_jobs"}  # that have options of their own
_FILES = ("model", "train", "refused", "actions")
_OPTIONS = (
    "method", "n_recourses", "max_changes", "seed", "favourable", "threshold", "label", "id", "separator", "missing",
)  # fmt: skip


def parameters_of(name: str, pairs: Sequence[str]) -> dict[str, Any]:
    """Read the parameters of a method from ``KEY=VALUE`` pairs, and check them."""
    parameters = overrides(pairs)
    known = sorted(set(inspect.signature(METHODS[name]).parameters) - _GIVEN)
    for key in parameters:
        if key not in known:
            there = f"it has {', '.join(known)}" if known else "it has none"
            raise ValueError(f"--set {key}: the method {name} has no such parameter; {there}.")
    with blaming("--set"):
        METHODS[name](None, **parameters)._check_parameters()
    return parameters


def fitted(arguments: argparse.Namespace, parameters: Mapping[str, Any], train: pd.DataFrame) -> RecourseMethod:
    """Read model and action set, and fit the method."""
    with blaming(arguments.train):
        Schema.learn(train, name="the table")
    actions = ActionSet.from_toml(arguments.actions, train)
    if arguments.max_changes is not None:
        actions.max_changes = arguments.max_changes
    model = read_model(arguments.model, trusted=arguments.trust, trust_pickle=arguments.trust_pickle)
    method = METHODS[arguments.method](
        model,
        actions=actions,
        favourable=_favourable(arguments.favourable, model),
        threshold=arguments.threshold,
        random_state=arguments.seed,
        n_jobs=arguments.jobs,
        **parameters,
    )
    with blaming(f"{arguments.model} with the rows of {arguments.train}"):
        return method.fit(train)


def fingerprint(arguments: argparse.Namespace, parameters: Mapping[str, Any]) -> str:
    """Return a name that two commands share only if they find the same recourses."""
    contents = [hashlib.blake2b(getattr(arguments, name).read_bytes()).hexdigest() for name in _FILES]
    options = [getattr(arguments, name) for name in _OPTIONS]
    return part_key(_FORMAT, versions(), source(), contents, options, parameters)


def _favourable(text: str | None, model: Any) -> Any:
    """Return the class that is written so: models have texts, numbers or booleans as classes."""
    if text is None:
        return None
    classes = getattr(model, "classes_", None)
    if classes is not None and np.ndim(classes) == 1:
        for label in classes:
            if str(label) == text or (isinstance(label, float | np.floating) and _number(text) == label):
                return label
        raise ValueError(f"--favourable must be a class of the model, {', '.join(map(str, classes))}, got {text!r}.")
    if isinstance(model, Session) and any("string" in output.type for output in model.get_outputs()):
        return text
    number = _number(text)
    return text if number is None else number


def _number(text: str) -> int | float | None:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None
