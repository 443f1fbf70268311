"""The classifiers of the evaluation, on scikit-learn alone."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier

from robust_recourse._validation import check_choice

__all__ = ["CLASSIFIERS", "Network", "PublishedNetwork", "make_classifier"]

CLASSIFIERS = ("network", "published network", "boosted trees", "logistic regression")

_LARGE = 20_000  # training rows from which a tenth is held out to stop early


class Network(MLPClassifier):  # type: ignore[misc]
    """The paper's network: 20, 50 and 20 rectified units and a sigmoid.

    Adam with a learning rate of 0.01 for at most 100 epochs; training ends when the loss has not improved for ten
    epochs. From 20,000 rows on the batches are larger, and the accuracy on a tenth of the rows decides.

    Parameters
    ----------
    random_state : int, optional
        Seed of the weights and of the batches.
    hidden_layer_sizes : tuple of int
        Numbers of units, where they are not the paper's.
    alpha : float
        Weight decay.
    """

    def __init__(
        self,
        random_state: int | None = None,
        hidden_layer_sizes: tuple[int, ...] = (20, 50, 20),
        alpha: float = 1e-4,
    ) -> None:
        super().__init__(
            hidden_layer_sizes, alpha=alpha, learning_rate_init=0.01, max_iter=100, random_state=random_state
        )

    def fit(self, X: Any, y: Any) -> Self:
        """Train; reaching the last epoch is how training is meant to end, not worth a warning."""
        self.early_stopping = len(np.asarray(X)) >= _LARGE
        self.batch_size = 1000 if self.early_stopping else "auto"
        return _quietly(super().fit, X, y)  # type: ignore[no-any-return]


class PublishedNetwork(MLPClassifier):  # type: ignore[misc]
    """The same network, trained as the published code does it: slower and smoother.

    Adam on all rows at once with a learning rate of 0.001 and a weight decay of 0.1, for at most 1000 steps; three
    steps without progress end it.

    Parameters
    ----------
    random_state : int, optional
        Seed of the weights.
    """

    def __init__(self, random_state: int | None = None) -> None:
        super().__init__((20, 50, 20), alpha=0.1, max_iter=1000, n_iter_no_change=3, random_state=random_state)

    def fit(self, X: Any, y: Any) -> Self:
        """Train; reaching the last step is how training is meant to end, not worth a warning."""
        self.batch_size = len(np.asarray(X))
        self.tol = 1e-7 / self.batch_size  # the published loss is a sum
        return _quietly(super().fit, X, y)  # type: ignore[no-any-return]


def make_classifier(name: str, seed: int) -> Any:
    """Return an untrained classifier, one of :data:`CLASSIFIERS`."""
    check_choice(name, "classifier", CLASSIFIERS)
    if name == "logistic regression":
        return LogisticRegression(max_iter=1000)
    if name == "boosted trees":
        return HistGradientBoostingClassifier(random_state=seed)
    return Network(seed) if name == "network" else PublishedNetwork(seed)


def _quietly(fit: Callable[[Any, Any], Any], X: Any, y: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # scikit-learn ends training at an interrupt as if all were well; half a network must not be kept.
        warnings.filterwarnings("error", "Training interrupted")
        try:
            return fit(X, y)
        except UserWarning as interrupted:
            raise KeyboardInterrupt from interrupted
