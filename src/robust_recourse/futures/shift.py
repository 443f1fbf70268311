"""Models of the future: the same estimator, retrained on shifted data."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robust_recourse._validation import check_integer, check_real, check_seed
from robust_recourse.futures._choosing import check_counts, check_scenarios
from robust_recourse.futures._future_models import FutureModels
from robust_recourse.futures._model_scenarios import Parameters, Threshold
from robust_recourse.futures._moved_threshold import MovedThreshold
from robust_recourse.futures._recipes import check_recipe, regresses
from robust_recourse.futures._row_scenarios import (
    Arrival,
    Bootstrap,
    Deletion,
    LabelNoise,
    Seeds,
    Temporal,
    arriving,
)
from robust_recourse.futures._rows import TrainingData, read_data
from robust_recourse.futures._scenario import Scenario
from robust_recourse.futures._store import open_store
from robust_recourse.futures._training import Drawn, Job, Plan, Present, TrainingError, generator, train

__all__ = [
    "Arrival",
    "Bootstrap",
    "Deletion",
    "Drawn",
    "FutureModels",
    "LabelNoise",
    "MovedThreshold",
    "Parameters",
    "Scenario",
    "Seeds",
    "Temporal",
    "Threshold",
    "TrainingError",
    "arrival_models",
    "future_models",
]


def future_models(
    estimator: Any,
    X: Any,
    y: Any,
    scenarios: str | Scenario | Iterable[str | Scenario] = ("bootstrap",),
    *,
    n_models: int | Mapping[str, int] = 20,
    start: int = 0,
    favourable: Any = None,
    threshold: float | None = None,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
    n_jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> FutureModels:
    """Train the models that may replace the present one.

    Parameters
    ----------
    estimator : estimator or callable
        A scikit-learn style classifier, fitted or not: every model is a fresh copy. Or a function
        ``refit(X, y, seed)`` that returns a fitted model.
    X : DataFrame or array_like of shape (n, p)
        The present training rows. Models get the same kind of table: a frame of pandas or polars, or an array.
    y : array_like of shape (n,)
        Their labels, of any kind. They belong to the rows by position, not by index.
    scenarios : str, Scenario, or list of these
        What may happen. By name: "bootstrap", "seeds", "deletion", "label noise", "threshold", with their defaults.
        ("seeds" changes nothing where training is not random: then all its models are the same.)
        As objects: :class:`Bootstrap`, :class:`Seeds`, :class:`Deletion`, :class:`LabelNoise`, :class:`Threshold`,
        :class:`Arrival`, :class:`Temporal`, :class:`Parameters`.
    n_models : int or mapping
        Number of models of every scenario; a mapping gives it by the scenario's name.
    start : int
        Number of the first model. Models of other numbers are others: with ``start=20`` a second call gives models
        that a first call for 20 has not seen.
    favourable, threshold
        What the present model's decision is, as the recourse methods take it. Only :class:`Threshold` needs it.
    random_state : int, Generator, RandomState or None
        Seed.
    n_jobs : int, optional
        Number of processes.
    folder : path, optional
        Where trained models are kept: a later call with the same data, seed and estimator trains only those that are
        missing. The files are pickles, sealed with a key of this user; those of somebody else are not opened, and the
        models are trained again.

    Returns
    -------
    FutureModels
        The models, scenario by scenario.

    Raises
    ------
    TrainingError
        If a model cannot be trained.

    Notes
    -----
    Every model has a seed of its own: all ``random_state`` of the estimator are set, nested ones too; only
    :class:`Threshold` keeps seeds that there are. A model depends on the data, the seed, the name of its scenario and
    its number, and on nothing else: not on `n_jobs`, not on the other scenarios, not on what was asked before.

    Every class has rows in every training set. A draw that would lose one is repeated, and it is an error if that does
    not help.

    A `folder` knows an estimator by its class and parameters, whether it is fitted or not, and a function by its code,
    what it closes over, and the globals and functions of its module that it uses. Code of other modules is known by
    name alone: take another folder when that changes. With other versions of this library, of scikit-learn or of what
    they rest on, models are trained again. What was trained before an interrupt or an error is kept.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = np.where(X.sum(axis=1) + rng.normal(size=200) > 0, "repaid", "defaulted")
    >>> scenarios = ["bootstrap", Deletion(0.2), LabelNoise(0.1), Threshold(by=(0.0, 0.2))]
    >>> models = future_models(LogisticRegression(), X, y, scenarios, favourable="repaid", random_state=0)
    >>> models[:25]
    FutureModels(25 models: 20 bootstrap, 5 deletion (share 0.2))

    How many of them would accept somebody who is accepted today, by scenario?

    >>> for name, some in models.by_scenario().items():
    ...     print(name, sum(model.predict([[0.2, 0.1]])[0] == "repaid" for model in some))
    bootstrap 19
    deletion (share 0.2) 20
    label noise (share 0.1) 20
    threshold (by 0.0 to 0.2) 11
    """
    recipe = check_recipe(estimator)
    chosen = check_scenarios(scenarios)
    counts = check_counts(n_models, [scenario.name for scenario in chosen])
    start = check_integer(start, "start", minimum=0)
    store = open_store(folder)
    present = Present(recipe, read_data(X, y, regression=regresses(recipe)), favourable, threshold)
    prepared = [scenario.prepare(present) for scenario in chosen]
    seed = check_seed(random_state)

    numbers = [range(start, start + count) for count in counts]

    def stream(scenario: Scenario, *number: int) -> tuple[int, ...]:
        return seed, _key(scenario.name), *number

    def job(scenario: Scenario, data: TrainingData, plan: Plan, *number: int) -> Job:
        name = ", model ".join(map(str, (scenario.name, *number)))
        return Job(name, data, plan, stream(scenario, *number), scenario.reseed)

    jobs = [
        job(scenario, *parts, *number)
        for scenario, parts, own in zip(chosen, prepared, numbers, strict=True)
        for number in ([()] if isinstance(scenario, Threshold) else [(k,) for k in own])
    ]
    trained = iter(train(recipe, jobs, n_jobs=n_jobs, store=store))
    found: list[tuple[Any, str]] = []
    for scenario, own in zip(chosen, numbers, strict=True):
        if isinstance(scenario, Threshold):
            model, _ = next(trained)
            found += [scenario.moved(model, generator(stream(scenario, k)), present) for k in own]
        else:
            found += islice(trained, len(own))
    return FutureModels(
        tuple(model for model, _ in found),
        np.repeat(np.array([scenario.name for scenario in chosen], dtype=object), counts),
        np.concatenate([np.array(own) for own in numbers]),
        np.array([note for _, note in found], dtype=object),
    )


def arrival_models(
    estimator: Any,
    X: ArrayLike,
    y: ArrayLike,
    X_new: ArrayLike,
    y_new: ArrayLike,
    *,
    share: float = 0.2,
    n_models: int = 100,
    reseed: bool = True,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
    n_jobs: int | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> list[Any]:
    """Train future models: the present data together with a random part of the data that arrive.

    Parameters
    ----------
    estimator : estimator
        A scikit-learn style classifier; every model is a fresh copy.
    X, y : array_like
        Present training data.
    X_new, y_new : array_like
        Shifted data.
    share : float
        Part of the shifted data that arrives, in (0, 1].
    n_models : int
        Number of future models.
    reseed : bool
        Whether every model gets a seed of its own; otherwise all have the estimator's, and only the data differ.
    random_state : int, Generator, RandomState or None
        Seed.
    n_jobs : int, optional
        Number of processes.
    folder : path, optional
        Where trained models are kept: a later call with the same data and seed trains only those that are missing.

    Returns
    -------
    list of fitted estimators

    Notes
    -----
    The evaluation of the paper: 20 % of the shifted data, 100 models, on arrays. :func:`future_models` with
    :class:`Arrival` does the same with frames, and draws other rows.
    """
    share = check_real(share, "share", minimum=0.0, strict=True, maximum=1.0)
    n_models = check_integer(n_models, "n_models", minimum=1)
    # As arrays: a series would be indexed by its labels, not by position.
    X, y, X_new, y_new = (np.asarray(part) for part in (X, y, X_new, y_new))
    for name, rows, labels in (("y", X, y), ("y_new", X_new, y_new)):
        if len(rows) != len(labels) or not len(rows):
            raise ValueError(
                f"{name} must have one label for each of at least one row, got {len(labels)} for {len(rows)}."
            )
    seed = check_seed(random_state)
    # Without classes: the data of the evaluation are taken as they are drawn.
    data = TrainingData(np.concatenate([X, X_new]), np.concatenate([y, y_new]), None, np.empty(0, dtype=np.int64))
    plan = arriving(len(X), len(data), share)
    jobs = [Job(f"arrival, model {k}", data, plan, (seed, k), "all" if reseed else "none") for k in range(n_models)]
    return [model for model, _ in train(check_recipe(estimator), jobs, n_jobs=n_jobs, store=open_store(folder))]


def _key(name: str) -> int:
    """Return the number that stands for a scenario in the keys of its random numbers."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big")
