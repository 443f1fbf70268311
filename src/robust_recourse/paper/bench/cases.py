"""A case: the data, models and refused people that all methods of an experiment share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.model_selection import train_test_split

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse._validation import check_integer
from robust_recourse.actions import ActionSet
from robust_recourse.futures import future_models
from robust_recourse.futures._store import ModelStore, open_store
from robust_recourse.metrics import accepted_by
from robust_recourse.paper.arrivals import arrival_models
from robust_recourse.paper.bench.classifiers import make_classifier
from robust_recourse.paper.bench.encoding import Encoding, learn_encoding
from robust_recourse.paper.bench.juries import make_scenario
from robust_recourse.paper.bench.spec import Setting
from robust_recourse.paper.datasets import Dataset, load

__all__ = ["Case", "load_rows", "prepare"]

_JURORS = 100_000  # number of the first juror, beyond those of all future models


@dataclass(frozen=True)
class Case:
    """One data set, one seed.

    Attributes
    ----------
    dataset, seed : str, int
        What it is a case of.
    X_train : ndarray of shape (n, p)
        Rows that trained the present model.
    model : estimator
        The present model.
    future : list of estimators
        The future models.
    jurors : mapping
        Models for juries, by the scenario that they come from; none is a future model.
    instances : ndarray of shape (m, p)
        Refused rows.
    rows : ndarray of int, shape (m,)
        Their numbers in D1, also if only a sample of D1 is used.
    held_out : ndarray of bool, shape (m,)
        Whether each is of the part that did not train the present model.
    encoding : Encoding
        From raw columns to numbers.
    actions : ActionSet or None
        What may change; None for everything.
    hashes : mapping
        Files that were read.
    """

    dataset: str
    seed: int
    X_train: FloatArray
    model: Any
    future: Sequence[Any]
    jurors: Mapping[str, Sequence[Any]]
    instances: FloatArray
    rows: IntArray
    held_out: BoolArray
    encoding: Encoding
    actions: ActionSet | None
    hashes: Mapping[str, str]


def load_rows(name: str, options: Mapping[str, Any], seed: int) -> Dataset:
    """Load a data set; the option ``rows`` keeps so many random rows of D1 and of D2."""
    given = dict(options)
    rows = given.pop("rows", None)
    try:
        data = load(name, **given)
    except (TypeError, ValueError) as error:
        raise ValueError(f"options of {name} (beside rows): {error}") from error
    if rows is None:
        return data
    most, rng = check_integer(rows, "rows", minimum=10), np.random.default_rng(seed)
    first, second = (np.sort(rng.permutation(len(part))[:most]) for part in (data.D1, data.D2))
    place = np.full(len(data.D1) + 1, -1)  # the last entry is where -1, "no such row", points
    place[first] = np.arange(len(first))
    return replace(data, D1=data.D1.iloc[first], D2=data.D2.iloc[second], shared=place[data.shared[second]])


def prepare(
    name: str,
    setting: Setting,
    seed: int,
    *,
    options: Mapping[str, Any] | None = None,
    jurors: Mapping[str, int] | None = None,
    folder: Path | None = None,
    n_jobs: int | None = None,
) -> Case:
    """Split D1, train the present model, choose refused rows, train the future models.

    The refused rows are those of the held-out part of D1; if these are too few, refused rows that trained the
    model follow. Future models are trained on the training part of D1 with a random part of D2, from which the
    rows that are the same cases as explained ones are left out; or after another scenario.

    Parameters
    ----------
    name : str
        Name of the data set.
    setting : Setting
        How data become models and instances.
    seed : int
        Seed of everything.
    options : mapping, optional
        Options of the data set.
    jurors : mapping, optional
        How many models for juries to train, by scenario. They learn from what the present model learnt from.
    folder : Path, optional
        Where trained models are kept.
    n_jobs : int, optional
        Number of processes for training.

    Raises
    ------
    ValueError
        If the present model refuses nobody.
    """
    data = load_rows(name, options or {}, seed)
    positions = np.arange(len(data.D1))
    y1 = data.y1
    train, test = train_test_split(positions, train_size=setting.train_share, random_state=seed, stratify=y1)
    encoding = learn_encoding(data, data.X1.iloc[train], standardise=setting.standardise)
    X1, X2 = encoding.encode(data.X1), encoding.encode(data.X2)
    classifier = make_classifier(setting.classifier, seed)
    model = _fitted(classifier, X1[train], y1[train], open_store(folder))
    chosen = _refused(model, X1, test, train, setting.instances)
    if not len(chosen):
        raise ValueError(
            f"{name}: the present model refuses none of the {len(X1)} rows of D1, so there is nobody to help."
        )
    new = ~np.isin(data.shared, chosen)
    X, y, X_new, y_new = X1[train], y1[train], X2[new], data.y2[new]
    how: dict[str, Any] = {"random_state": seed, "n_jobs": n_jobs, "folder": folder}

    def retrained(scenario: str, n_models: int, start: int = 0) -> Sequence[Any]:
        what = make_scenario(scenario, setting.classifier, X_new, y_new, setting.arrival_share)
        return future_models(classifier, X, y, what, n_models=n_models, start=start, **how)

    if setting.future == "arrival":
        share, reseed = setting.arrival_share, setting.reseed
        n_models = setting.future_models
        future: Sequence[Any] = arrival_models(
            classifier, X, y, X_new, y_new, share=share, n_models=n_models, reseed=reseed, **how
        )
    else:
        future = retrained(setting.future, setting.future_models)
    return Case(
        dataset=name,
        seed=seed,
        X_train=X1[train],
        model=model,
        future=future,
        jurors={scenario: retrained(scenario, n, _JURORS) for scenario, n in (jurors or {}).items()},
        instances=X1[chosen],
        rows=data.D1.index.to_numpy()[chosen],
        held_out=np.isin(chosen, test),
        encoding=encoding,
        actions=encoding.actions(data.actions) if setting.actions else None,
        hashes=data.hashes,
    )


def _fitted(classifier: Any, X: FloatArray, y: Any, store: ModelStore | None) -> Any:
    """Return the classifier, trained now or before."""
    if store is None:
        return clone(classifier).fit(X, y)
    key = f"present-{joblib.hash((classifier, X, y))}"
    model = store.load(key)
    if model is None:
        with store.writing():
            model = clone(classifier).fit(X, y)
            store.save(key, model)
    return model


def _refused(model: Any, X: FloatArray, test: Any, train: Any, most: int) -> Any:
    order = np.concatenate([test, train])
    return order[~accepted_by(model, X[order])][:most]
