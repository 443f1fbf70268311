"""Models of the future: the same estimator, retrained on shifted data."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
from joblib import Memory, Parallel, delayed
from numpy.typing import ArrayLike
from sklearn.base import clone

from robust_recourse._progress import track
from robust_recourse._validation import check_integer, check_real, check_seed

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
    memory: Memory | None = None,
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
    memory : Memory, optional
        Where trained models are kept: a later call with the same data and seed trains only those that are missing.

    Returns
    -------
    list of fitted estimators

    Notes
    -----
    The evaluation of the paper: 20 % of the shifted data, 100 models.
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
    n_arriving = max(1, round(share * len(X_new)))
    seed = check_seed(random_state)
    data = np.concatenate([X, X_new]), np.concatenate([y, y_new])
    # Hashed here, once: a process that shares an array with others would hash it differently.
    train = _refit if memory is None else memory.cache(_refit, ignore=["X", "y"])
    content = "" if memory is None else joblib.hash(data)
    parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    models = parallel(
        delayed(train)(estimator, *data, content, len(X), n_arriving, seed, k, reseed) for k in range(n_models)
    )
    return list(track(models, "retraining", n_models))


def _refit(
    estimator: Any, X: Any, y: Any, _content: str, n_present: int, n_arriving: int, seed: int, k: int, reseed: bool
) -> Any:
    """Train the `k`-th future model on the first `n_present` rows and `n_arriving` of the others."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(k,)))
    arrived = n_present + rng.choice(len(X) - n_present, n_arriving, replace=False)
    model = clone(estimator)
    if reseed:
        seeded = sorted(name for name in model.get_params() if name.split("__")[-1] == "random_state")
        model.set_params(**{name: int(rng.integers(2**31)) for name in seeded})
    rows = np.concatenate([np.arange(n_present), arrived])
    return model.fit(X[rows], y[rows])
