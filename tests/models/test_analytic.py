"""Closed forms against central differences, and against what the model itself answers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC

from robust_recourse.models.analytic import differentiable, is_logistic


def network(seed, p, hidden, activation):
    """A network with random weights: fitted for one step only, then overwritten."""
    rng = np.random.default_rng(seed)
    model = MLPClassifier(hidden, activation=activation)
    model.partial_fit(rng.standard_normal((4, p)), [0, 1, 0, 1], classes=[0, 1])
    model.coefs_ = [rng.standard_normal(weights.shape) for weights in model.coefs_]
    model.intercepts_ = [rng.standard_normal(shift.shape) for shift in model.intercepts_]
    return model


def naive_gradient(score, x, h=1e-6):
    moves = h * np.eye(len(x))
    return (score(x + moves) - score(x - moves)) / (2.0 * h)


def naive_network(model, X):
    """Log odds, a row and a layer at a time."""
    activate = {
        "relu": lambda z: max(z, 0.0),
        "tanh": np.tanh,
        "logistic": lambda z: 1 / (1 + np.exp(-z)),
        "identity": lambda z: z,
    }[model.activation]
    scores = []
    for row in X:
        for layer, (weights, shift) in enumerate(zip(model.coefs_, model.intercepts_, strict=True)):
            row = np.array([row @ weights[:, j] + shift[j] for j in range(weights.shape[1])])
            if layer < len(model.coefs_) - 1:
                row = np.array([activate(z) for z in row])
        scores.append(row[0])
    return np.array(scores)


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(1, 6),
    st.lists(st.integers(1, 9), max_size=3),
    st.sampled_from(["relu", "tanh", "logistic", "identity"]),
)
def test_a_network_of_any_shape(seed, p, hidden, activation):
    model = network(seed, p, tuple(hidden), activation)
    X = np.random.default_rng(seed).uniform(-2, 2, (7, p))
    value, gradient = differentiable(model)(X)
    np.testing.assert_allclose(value, naive_network(model, X), rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal(value > 0, model.predict(X) == 1)
    for x, slope in zip(X, gradient, strict=True):
        # A difference across a kink of the network is not a derivative.
        halves = [naive_gradient(lambda Z: naive_network(model, Z), x, h) for h in (1e-6, 5e-7)]
        if np.allclose(*halves, rtol=1e-4, atol=1e-4):
            np.testing.assert_allclose(slope, halves[0], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("p", [1, 2, 13])
@pytest.mark.parametrize("hidden", [(), (5,), (20, 50, 20), (130, 3)])
def test_a_row_has_the_same_bits_in_every_batch(p, hidden):
    score = differentiable(network(0, p, hidden, "relu"))
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, p))
    value, gradient = score(X)
    for size in (1, 2, 3, 95, 96, 97, 250):
        some = rng.permutation(300)[:size]
        again = score(X[some])
        np.testing.assert_array_equal(again[0], value[some])
        np.testing.assert_array_equal(again[1], gradient[some])


LINEAR = [
    LogisticRegression(),
    LinearSVC(),
    RidgeClassifier(),
    SGDClassifier(random_state=0),
    LinearDiscriminantAnalysis(),
    SVC(kernel="linear"),
]


@pytest.mark.parametrize("model", LINEAR, ids=lambda model: type(model).__name__)
def test_a_linear_model(model):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 4))
    model = model.fit(X, (X @ [1.0, -2.0, 0.5, 0.0] + 0.3 * rng.standard_normal(150) > 0.2).astype(int))
    value, gradient = differentiable(model)(X)
    np.testing.assert_allclose(value, model.decision_function(X), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(value > 0, model.predict(X) == 1)
    assert gradient.shape == X.shape
    np.testing.assert_allclose(gradient[3], naive_gradient(model.decision_function, X[3], 0.5), rtol=1e-9)


def test_sparse_coefficients_are_coefficients():
    X = np.random.default_rng(0).standard_normal((80, 3))
    dense = LogisticRegression().fit(X, X[:, 0] > 0)
    sparse = LogisticRegression().fit(X, X[:, 0] > 0).sparsify()
    np.testing.assert_array_equal(differentiable(sparse)(X)[1], differentiable(dense)(X)[1])


SCALERS = [
    StandardScaler(),
    StandardScaler(with_mean=False),
    StandardScaler(with_std=False),
    MinMaxScaler((-3, 2)),
    MaxAbsScaler(),
    RobustScaler(),
    RobustScaler(with_centering=False),
    RobustScaler(with_scaling=False),
    "passthrough",
]


@pytest.mark.parametrize("scaler", SCALERS, ids=str)
@pytest.mark.parametrize("last", [LogisticRegression(), MLPClassifier((6, 4), max_iter=30, random_state=0)], ids=str)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_scalers_in_front_of_a_model(scaler, last):
    rng = np.random.default_rng(0)
    X = rng.lognormal(0.0, 1.0, (200, 3)) * [1.0, 50.0, 0.01] + [0.0, 1000.0, -3.0]
    X = np.column_stack([X, np.full(200, 7.0)])  # a constant column too
    y = (np.log(X[:, 0]) + np.log(X[:, 1] - 1000.0) > 4.0).astype(int)
    model = make_pipeline(scaler, StandardScaler(), last).fit(X, y)
    value, gradient = differentiable(model)(X)
    np.testing.assert_array_equal(value > 0, model.predict(X) == 1)
    odds = np.diff(model.predict_log_proba(X))[:, 0]
    clear = np.abs(odds) < 15.0  # beyond that a probability has lost its digits
    np.testing.assert_allclose(value[clear], odds[clear], rtol=1e-6, atol=1e-8)
    scale = X.std(axis=0)
    for i in (0, 17, 40):
        slope = [
            np.diff(np.diff(model.predict_log_proba([X[i] - h, X[i] + h])).ravel()).item() / (2e-5 * scale[k])
            for k, h in ((k, 1e-5 * scale * np.eye(4)[k]) for k in range(3))
        ]
        np.testing.assert_allclose(gradient[i, :3] * scale[:3], slope * scale[:3], rtol=1e-3, atol=1e-5)


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_what_has_no_closed_form_here_is_left_alone():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = (X[:, 0] > 0).astype(int)
    three = np.arange(60) % 3
    others = [
        RandomForestClassifier(5).fit(X, y),
        SVC().fit(X, y),
        MLPClassifier((3,), max_iter=2).fit(X, three),
        LogisticRegression().fit(X, three),
        make_pipeline(PolynomialFeatures(), LogisticRegression()).fit(X, y),
        make_pipeline(FunctionTransformer(np.tanh), LogisticRegression()).fit(X, y),
        make_pipeline(MinMaxScaler(clip=True), LogisticRegression()).fit(X, y),
        make_pipeline(StandardScaler(), RandomForestClassifier(5)).fit(X, y),
        lambda X: X[:, 0],
        None,
    ]
    for model in others:
        assert differentiable(model) is None


def test_a_pipeline_in_a_pipeline():
    X = np.random.default_rng(0).standard_normal((60, 2))
    y = (X[:, 0] > 0).astype(int)
    inner = make_pipeline(MinMaxScaler(), LogisticRegression())
    model = Pipeline([("scale", StandardScaler()), ("model", inner)]).fit(X, y)
    np.testing.assert_allclose(differentiable(model)(X)[0], model.decision_function(X), rtol=1e-9)


@pytest.mark.parametrize(
    ("model", "logistic"),
    [
        (LogisticRegression(), True),
        (LinearDiscriminantAnalysis(), True),
        (SGDClassifier(loss="log_loss", random_state=0), True),
        (make_pipeline(StandardScaler(), LogisticRegression()), True),
        (MLPClassifier((3,), max_iter=5, random_state=0), True),
        (SGDClassifier(loss="modified_huber", random_state=0), False),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_scores_that_are_log_odds_are_known(model, logistic):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 2))
    model.fit(X, (X[:, 0] + rng.standard_normal(150) > 0).astype(int))
    share = model.predict_proba(X)[:, 1]
    inner = (share > 0.01) & (share < 0.99)
    odds = np.log(share[inner] / (1 - share[inner]))
    assert is_logistic(model) is logistic
    assert np.allclose(differentiable(model)(X)[0][inner], odds) is logistic


def test_other_models_are_not_known_to_be_logistic():
    class Mine(LogisticRegression):
        pass

    for model in (LinearSVC(), Mine(), SVC(kernel="linear"), make_pipeline(StandardScaler(), Mine())):
        assert not is_logistic(model)
