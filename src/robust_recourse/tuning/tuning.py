"""Tuning to a promised future validity: which configuration keeps it, and what that costs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone

from robust_recourse._files import part_key
from robust_recourse._progress import track
from robust_recourse._typing import IntArray
from robust_recourse._validation import check_integer, check_seed, check_share
from robust_recourse.futures._choosing import check_scenarios
from robust_recourse.futures._fingerprint import fingerprint
from robust_recourse.futures._recipes import check_recipe, fitted
from robust_recourse.futures.shift import FutureModels, Scenario, future_models
from robust_recourse.models.acceptance import accepted_by
from robust_recourse.tables.foreign import is_frame
from robust_recourse.tuning._families import FAMILIES, Family, Lengths
from robust_recourse.tuning._halving import Dial, halve, planned
from robust_recourse.tuning._study import Measured, Study, take
from robust_recourse.tuning._tuned import Tuning

__all__ = ["FEWEST_PEOPLE", "Tuning", "tune"]

FEWEST_PEOPLE = 10
"""How many refused people tuning needs."""

_MARGIN = 1.0  # standard errors by which a configuration must exceed the target before it is checked
_CHECKS = 3  # configurations that are checked, at most
_RETRIES = 2  # stronger configurations that are tried after each check that fails

RandomState = int | np.random.Generator | np.random.RandomState | None


def tune(
    method: Any,
    X: Any,
    y: Any,
    estimator: Any = None,
    target_future_validity: float = 0.95,
    *,
    scenarios: str | Scenario | Iterable[str | Scenario] = ("bootstrap",),
    n_models: int = 20,
    people: Any = None,
    n_people: int = 100,
    folder: str | os.PathLike[str] | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
) -> Tuning:
    """Find the cheapest configuration whose recourses survive retraining as often as promised.

    Half of the people, and some future models, choose: many configurations are measured on few people, the best on
    more (successive halving). The one that is chosen is then measured on the other half of the people and on models
    that were trained for that purpose. If it falls short there, a stronger one is chosen and checked, with new models
    again; the best of those is measured once more, with models that had no part in calling it the best.

    Parameters
    ----------
    method : RobustBayesianRecourse or BayesianRecourse
        The method with its model, action set and decision. What is tuned: `sampling_radius`, `sigma`, `epsilon_0`,
        `epsilon_1`, `axes`, and `delta_plus` or `target_odds`; lengths are relative to the `sampling_radius` that it
        has. If its model is None, the estimator is trained for it.
    X, y : table and labels
        The training data of the present model.
    estimator : estimator or callable, optional
        How a model is trained: like those of scikit-learn, or a function ``refit(X, y, seed)``. None for a fresh copy
        of the method's model.
    target_future_validity : float
        Share of recourses that future models shall accept, in (0, 1].
    scenarios : str, Scenario, or list of these
        What may happen to the model, see :func:`robust_recourse.future_models`.
    n_models : int
        Number of models of every scenario to choose with, and to check with.
    people : table, optional
        Refused rows to tune on; rows that the present model accepts are left out. None for the refused rows of `X`.
    n_people : int
        How many of them are used, at most: half to choose, half to check.
    folder : path, optional
        Where models and measurements are kept: a call that was interrupted continues there, if it has the same seed.
    random_state : int, Generator, RandomState or None
        Seed of everything.
    n_jobs : int, optional
        Number of processes.

    Returns
    -------
    Tuning
        The configuration, what was measured, and whether the target was reached.

    Notes
    -----
    The measured validity is one of people and models that did not choose the configuration. It is about the
    scenarios that were named, and no others. If a first choice fails its check, the check has told which way to go; the
    models of the next check, and of the last measurement, are new, the people are not. A first check that is passed by
    luck is reported as it is; the interval says how much luck that may be.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from robust_recourse import RobustBayesianRecourse
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = (X.sum(axis=1) + rng.normal(size=300) > 0).astype(int)
    >>> model = LogisticRegression().fit(X, y)
    >>> tuning = tune(RobustBayesianRecourse(model), X, y, target_future_validity=0.9, n_people=40, random_state=0)
    >>> tuning.reached, tuning.future_validity.share >= 0.9
    (True, True)
    >>> method = tuning.apply(RobustBayesianRecourse(model, random_state=0)).fit(X)
    """
    target = check_share(target_future_validity, "target_future_validity")
    n_models = check_integer(n_models, "n_models", minimum=2)
    n_people = check_integer(n_people, "n_people", minimum=FEWEST_PEOPLE)
    if y is None:
        raise ValueError("y is missing: models are retrained, which needs labels.")
    if folder is not None and random_state is None:
        raise ValueError("random_state is missing: only with a seed can a call continue what is kept in folder.")
    X = _table(X, "X")
    _check_wanted(method, y)
    seed = check_seed(random_state)
    method, recipe = _present(method, X, y, estimator, seed)
    chosen = check_scenarios(scenarios)
    store = None if folder is None else Path(folder)
    decision = {"favourable": method.favourable, "threshold": method.threshold}
    refused = _refused(method, X, people)

    def models(number: int) -> FutureModels:
        return future_models(
            recipe,
            X,
            y,
            chosen,
            n_models=n_models,
            start=number * n_models,
            **decision,
            random_state=seed,
            n_jobs=n_jobs,
            folder=None if store is None else store / "models",
        )

    order = np.random.default_rng(seed).permutation(len(refused))[:n_people]
    halves = order[: len(order) // 2], order[len(order) // 2 :]
    facts = "" if store is None else _facts(method, X, y, refused, recipe, chosen, n_models, seed)
    study = Study(method, X, refused, store, facts, n_jobs)
    search = _Search(study, _lengths(method, X), halves, target)
    first = models(0)
    for _ in track(search.choose(first), "tuning", planned(len(FAMILIES))):
        pass
    checks = search.check(first, models)
    return Tuning.of(
        method=type(method).__name__,
        target=target,
        checks=checks,
        dials=search.dials,
        scenarios=tuple(dict.fromkeys(map(str, first.scenario))),
        seed=seed,
        work=study.work,
    )


class _Search:
    """The choice of a configuration, and its checks."""

    def __init__(self, study: Study, lengths: Lengths, halves: tuple[IntArray, IntArray], target: float) -> None:
        self._study, self.lengths, self._target = study, lengths, target
        self._people, self._others = halves
        self.dials: list[Dial] = []

    def choose(self, models: FutureModels) -> Iterator[None]:
        """Look over the families; what is found is in `dials`, those of all people at the end."""
        families = tuple(dict.fromkeys(FAMILIES if self.lengths.robust else map(_nominal, FAMILIES)))
        for dials in halve(self._study, families, self.lengths, self._people, models, self._target, _MARGIN):
            self.dials = dials
            yield

    def check(self, models: FutureModels, fresh: Callable[[int], FutureModels]) -> list[Measured]:
        """Measure the choice on the other people and new models, and stronger ones as long as that falls short.

        What counts is the last measurement. After several checks it is another one of the best: the best of several
        numbers is too good a number.
        """
        n = len(self._people)
        last = [dial for dial in self.dials if any(len(found.costs) == n for found in dial.tried.values())]
        checks: list[Measured] = []
        for number in range(1, _CHECKS + 1):
            choice = _choice(last, [known.parameters for known in checks])
            if choice is None:
                break
            checks += self._study.measure([choice.parameters], self._others, fresh(number), f"check {number}")
            lacking = self._target - checks[-1].validity
            if lacking <= 0.0 or number == _CHECKS:
                break
            for dial in last:
                # What falls short here must no longer be good enough there; a narrow escape would not last.
                short = lacking + dial.margin * checks[-1].error
                dial.target = max(dial.target, choice.validity - dial.margin * choice.error) + short
            self._strengthen(last, models)
        if len(checks) > 1:
            best = max(checks, key=lambda found: (found.validity, -found.cost))
            number = len(checks) + 1
            checks += self._study.measure([best.parameters], self._others, fresh(number), f"check {number}")
        return checks

    def _strengthen(self, dials: list[Dial], models: FutureModels) -> None:
        for _ in range(_RETRIES):
            for dial in dials:
                strength = dial.next()
                if strength is not None:
                    parameters = dial.family.parameters(strength, self.lengths)
                    (dial.tried[strength],) = self._study.measure([parameters], self._people, models, "choose")


def _choice(dials: list[Dial], known: list[Mapping[str, Any]]) -> Measured | None:
    """Return the cheapest configuration that is good enough; if none is, the one with the highest validity.

    Those that are `known` to fall short are left out; None if no other is left. Of several with the same validity, the
    cheapest is returned that costs more than these.
    """
    every = [(dial.reaches(found), found) for dial in dials for found in dial.tried.values()]
    left = [(good, found) for good, found in every if found.parameters not in known]
    good = [found for good, found in left if good]
    if good:
        return min(good, key=lambda found: found.cost)
    dearest = max((found.cost for _, found in every if found.parameters in known), default=-np.inf)
    highest = max((found.validity for _, found in left), default=0.0)
    best = [found for _, found in left if found.validity == highest]
    return min(best, key=lambda found: (found.cost <= dearest, found.cost), default=None)


def _nominal(family: Family) -> Family:
    return replace(family, epsilon=0.0)


def _present(method: Any, X: Any, y: Any, estimator: Any, seed: int) -> tuple[Any, Any]:
    """Return the method with a model and a seed, and how models are trained."""
    if not hasattr(method, "get_params") or "target_odds" not in method.get_params(deep=False):
        raise TypeError(
            f"method must be a RobustBayesianRecourse or a BayesianRecourse, got {type(method).__name__}: the others "
            "have nothing to tune."
        )
    if isinstance(estimator, int | float):
        raise TypeError(
            f"estimator must train models, got the number {estimator!r}. Pass a share as "
            f"target_future_validity={estimator!r}."
        )
    if estimator is None and not (hasattr(method.model, "fit") and hasattr(method.model, "get_params")):
        raise TypeError(
            f"estimator is missing: a {type(method.model).__name__} cannot be trained anew. Pass an estimator like "
            "those of scikit-learn, or a function refit(X, y, seed) that returns a fitted model."
        )
    recipe = check_recipe(method.model if estimator is None else estimator)
    settings = {"random_state": seed, "n_jobs": None}
    if "target_future_validity" in method.get_params(deep=False):
        settings["target_future_validity"] = None
    method = clone(method).set_params(**settings)
    if method.model is None:
        method.set_params(model=fitted(recipe, X, y, {}, np.random.default_rng(seed), "missing"))
    return method, recipe


def _check_wanted(method: Any, y: Any) -> None:
    """Fail before all training if the class that people want is none of the labels."""
    wanted = getattr(method, "favourable", None)
    labels = dict.fromkeys(np.asarray(y).ravel().tolist())
    if wanted is None or wanted in labels or not hasattr(method.model, "classes_"):
        return
    shown = ", ".join(map(repr, list(labels)[:5]))
    raise ValueError(f"y has no label {wanted!r}, which is the favourable one; its labels are {shown}.")


def _table(X: Any, name: str) -> Any:
    table = X if is_frame(X) else np.asarray(X)
    if len(table.shape) != 2:
        raise ValueError(f"{name} must be a table, got {len(table.shape)} dimension(s).")
    if not len(table):
        raise ValueError(f"{name} has no rows.")
    return table


def _refused(method: Any, X: Any, people: Any) -> Any:
    rows = X if people is None else _like(_table(people, "people"), X)
    accepted = accepted_by(method.model, rows, favourable=method.favourable, threshold=method.threshold)
    refused = np.flatnonzero(~accepted)
    if len(refused) < FEWEST_PEOPLE:
        raise ValueError(
            f"The present model refuses {len(refused)} of the {len(rows)} rows of "
            f"{'X' if people is None else 'people'}; tuning needs at least {FEWEST_PEOPLE} refused people. Pass more "
            "with people=."
        )
    return take(rows, refused)


def _like(people: Any, X: Any) -> Any:
    """Return people with their columns in the order of the training rows: some models go by it."""
    if not (is_frame(people) and is_frame(X)):
        return people
    names = list(X.columns)
    missing = [name for name in names if name not in people.columns]
    if missing:
        raise ValueError(f"people lacks the column {missing[0]!r} of X.")
    return people[names]


def _lengths(method: Any, X: Any) -> Lengths:
    fitted = clone(method).fit(X)
    return Lengths(float(method.sampling_radius), fitted.radius_, "epsilon_0" in method.get_params(deep=False))


def _facts(method: Any, *others: Any) -> str:
    """Return a name for all that measurements depend on."""
    parameters: Mapping[str, Any] = method.get_params(deep=False)
    named = {
        name: vars(value) if name == "actions" and value is not None else value for name, value in parameters.items()
    }
    try:
        return part_key([_identity(value) for value in (type(method).__name__, *sorted(named.items()), *others)])
    except Exception as error:  # of pickling, where anything may be raised
        raise TypeError(
            f"folder cannot tell models apart of which a part cannot be pickled: {error}. Leave folder out, or "
            "define such functions in a module."
        ) from error


def _identity(value: Any) -> str:
    if isinstance(value, tuple):
        return "/".join(map(_identity, value))
    if callable(value) and not hasattr(value, "get_params"):
        return fingerprint(value)
    return str(joblib.hash(value))
