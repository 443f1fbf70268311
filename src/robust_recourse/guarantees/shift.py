"""Models of the future: the same estimator, retrained on shifted data."""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import Parallel, delayed
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
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
    n_jobs: int | None = None,
) -> list[Any]:
    """Train future models: the present data together with a random part of the data that arrive.

    Parameters
    ----------
    estimator : estimator
        A scikit-learn style classifier; every model is a fresh copy with a seed of its own.
    X, y : array_like
        Present training data.
    X_new, y_new : array_like
        Shifted data.
    share : float
        Part of the shifted data that arrives, in (0, 1].
    n_models : int
        Number of future models.
    random_state : int, Generator, RandomState or None
        Seed.
    n_jobs : int, optional
        Number of processes.

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
    seeds = np.random.SeedSequence(check_seed(random_state)).spawn(n_models)

    def refit(seed: np.random.SeedSequence) -> Any:
        rng = np.random.default_rng(seed)
        arrived = rng.choice(len(X_new), n_arriving, replace=False)
        model = clone(estimator)
        seeded = sorted(name for name in model.get_params() if name.split("__")[-1] == "random_state")
        model.set_params(**{name: int(rng.integers(2**31)) for name in seeded})
        return model.fit(np.concatenate([X, X_new[arrived]]), np.concatenate([y, y_new[arrived]]))

    parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    return list(track(parallel(delayed(refit)(seed) for seed in seeds), "retraining", n_models))
