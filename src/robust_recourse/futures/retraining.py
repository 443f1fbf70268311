"""Models of the future: the same estimator, retrained on shifted data."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from robust_recourse._validation import check_integer, check_seed
from robust_recourse.futures._model_scenarios import Threshold
from robust_recourse.futures._models import FutureModels
from robust_recourse.futures._row_scenarios import Seeds
from robust_recourse.futures._scenario import Present, Scenario
from robust_recourse.futures._store import open_store
from robust_recourse.futures.recipes import check_recipe, regresses
from robust_recourse.futures.rows import TrainingData, read_data
from robust_recourse.futures.scenarios import check_counts, check_scenarios
from robust_recourse.futures.training import Job, generator, train

__all__ = ["future_models"]

_ROWS = 200  # of the training data, on which models are compared


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

    Warns
    -----
    UserWarning
        If all models of the scenario "seeds" answer alike: training is not random.

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
    >>> from robust_recourse.futures import Deletion, LabelNoise, Threshold
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
    counts = check_counts(n_models, chosen)
    start = check_integer(start, "start", minimum=0)
    store = open_store(folder)
    present = Present(recipe, read_data(X, y, regression=regresses(recipe)), favourable, threshold)
    prepared = [scenario.prepare(present) for scenario in chosen]
    seed = check_seed(random_state)
    numbers = [range(start, start + count) for count in counts]

    def job(scenario: Scenario, data: TrainingData, *number: int) -> Job:
        name = ", model ".join(map(str, (scenario.name, *number)))
        return Job(name, data, scenario, (seed, _key(scenario.name), *number), scenario.reseed)

    jobs = [
        job(scenario, data, *number)
        for (data, scenario), own in zip(prepared, numbers, strict=True)
        for number in ([()] if isinstance(scenario, Threshold) else [(k,) for k in own])
    ]
    trained = iter(train(recipe, jobs, n_jobs=n_jobs, store=store))
    found: list[tuple[Any, str]] = []
    for scenario, own in zip(chosen, numbers, strict=True):
        if isinstance(scenario, Threshold):
            model, _ = next(trained)
            found += [scenario.moved(model, generator((seed, _key(scenario.name), k)), present) for k in own]
        else:
            found += islice(trained, len(own))
        if isinstance(scenario, Seeds):
            _warn_if_alike(scenario.name, [model for model, _ in found[-len(own) :]], present.data)
    return FutureModels(
        tuple(model for model, _ in found),
        np.repeat(np.array([scenario.name for scenario in chosen], dtype=object), counts),
        np.concatenate([np.array(own) for own in numbers]),
        np.array([note for _, note in found], dtype=object),
    )


def _key(name: str) -> int:
    """Return the number that stands for a scenario in the keys of its random numbers."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big")


def _warn_if_alike(name: str, models: Sequence[Any], data: TrainingData) -> None:
    """Warn if models that differ in their seeds give the same answers."""
    ways = ("predict_proba", "decision_function", "predict")
    way = next((way for way in ways if callable(getattr(models[0], way, None))), None)
    if way is None or len(models) < 2:
        return
    rows, _ = data.take(np.arange(min(len(data), _ROWS)))
    first, *others = models
    answers = np.asarray(getattr(first, way)(rows))
    if all(np.array_equal(answers, np.asarray(getattr(model, way)(rows))) for model in others):
        warnings.warn(
            f"All {len(models)} models of the scenario {name!r} answer alike: training does not depend on the seed "
            "here, so that they say no more than one. Leave the scenario out, or take 'bootstrap'.",
            stacklevel=3,
        )
