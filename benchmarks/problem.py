"""The problem of the benchmarks: a 20-50-20 network on 20,000 rows."""

import time
import warnings
from functools import cache

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier


class Timed:
    """A model that knows how long it has been predicting."""

    def __init__(self, model):
        self._model = model
        self.seconds, self.rows = 0.0, 0

    def predict(self, X):
        start = time.perf_counter()
        labels = self._model.predict(X)
        self.seconds += time.perf_counter() - start
        self.rows += len(X)
        return labels


@cache
def network(p=10, n_train=20_000):
    """Train the network; return it with its training rows and 10,000 refused rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_train, p))

    def favourable(Z):
        return Z[:, 0] + Z[:, 1] ** 2 + 0.5 * np.sin(3.0 * Z[:, 2]) - 0.3 * Z[:, 3] * Z[:, 4] > 0.5

    model = MLPClassifier((20, 50, 20), learning_rate_init=0.005, max_iter=15, tol=0.0, random_state=0)
    with warnings.catch_warnings():
        # Fifteen passes over the data are enough for a benchmark.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, favourable(X))
    Z = rng.standard_normal((40_000, p))
    return model, X, Z[model.predict(Z) == 0][:10_000]
