"""The future models of the paper's evaluation."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from robust_recourse._validation import check_integer, check_seed
from robust_recourse.futures import Arrival
from robust_recourse.futures._store import open_store
from robust_recourse.futures.recipes import check_recipe
from robust_recourse.futures.rows import TrainingData
from robust_recourse.futures.training import Job, train

__all__ = ["arrival_models"]


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
    """Train the future models of the paper: the present data together with a random part of the data that arrive.

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
    :func:`robust_recourse.future_models` with :class:`robust_recourse.futures.Arrival` does the same with any table and
    draws other rows. Here they are drawn as they always were: the models of the evaluation stay the same.
    """
    arrival = Arrival(None, None, share)
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
    none = np.empty(0, dtype=np.int64)
    data = TrainingData(np.concatenate([X, X_new]), np.concatenate([y, y_new]), None, none, n_present=len(X))
    jobs = [Job(f"arrival, model {k}", data, arrival, (seed, k), "all" if reseed else "none") for k in range(n_models)]
    return [model for model, _ in train(check_recipe(estimator), jobs, n_jobs=n_jobs, store=open_store(folder))]
