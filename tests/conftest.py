"""Small problems that several tests share."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.neural_network import MLPClassifier

from robust_recourse.paper.datasets.synthetic import make_synthetic


class CountingModel:
    """A model that remembers what it was asked."""

    def __init__(self, predict):
        self._predict = predict
        self.batches = []

    def __call__(self, X):
        self.batches.append(np.array(X))
        return self._predict(X)

    @property
    def n_rows(self):
        return sum(map(len, self.batches))


def linear(X):
    """Accept ``x1 + 2 x2 > 1``: everything about its boundary is known."""
    X = np.asarray(X)
    return (X[:, 0] + 2.0 * X[:, 1] > 1.0).astype(int)


@pytest.fixture(scope="session", autouse=True)
def _own_data(tmp_path_factory):
    """The key of this user is made for the tests, and not in the user's own folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture
def counting():
    return CountingModel


@pytest.fixture
def linear_model():
    return linear


@pytest.fixture
def square():
    """Training rows of the linear model."""
    return np.random.default_rng(0).uniform(-2.0, 2.0, (400, 2))


@pytest.fixture(scope="session")
def network():
    """The paper's network on the synthetic data: model, training rows, refused rows."""
    X, y = make_synthetic(random_state=0)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = MLPClassifier((20, 50, 20), learning_rate_init=0.01, max_iter=1000, random_state=0).fit(X[:800], y[:800])
    refused = X[800:][model.predict(X[800:]) == 0]
    return model, X[:800], refused


@pytest.fixture(scope="session")
def wide():
    """A smooth problem in eight dimensions: model, training rows, refused rows."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((1500, 8))

    def model(Z):
        Z = np.asarray(Z)
        return Z[:, 0] + Z[:, 1] ** 2 - 0.5 * np.sin(2.0 * Z[:, 2]) * Z[:, 3] > 0.8

    return model, X, X[~model(X)][:40]
