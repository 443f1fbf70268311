"""Networks asked without scikit-learn's checks answer as they always do, bit by bit."""

import numpy as np
import pandas as pd
import pytest
from sklearn.neural_network import MLPClassifier, MLPRegressor

from robust_recourse import Jury, RobustBayesianRecourse
from robust_recourse.models import predictor
from robust_recourse.models.quick.networks import network_quickly
from robust_recourse.paper.bench.classifiers import Network
from robust_recourse.tables.unpacked import unpacked

pytestmark = pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(150, 3))
Y = (X.sum(axis=1) + 0.5 * RNG.normal(size=150) > 0).astype(int)


def network(y=Y, rows=X, **how):
    return MLPClassifier((6, 4), max_iter=20, random_state=0, **how).fit(rows, y)


@pytest.fixture
def watched(monkeypatch):
    """How many rows scikit-learn was asked about, call by call."""
    calls = []
    plain = MLPClassifier._forward_pass_fast

    def forward(self, X, *args, **kwargs):
        calls.append(len(X))
        return plain(self, X, *args, **kwargs)

    monkeypatch.setattr(MLPClassifier, "_forward_pass_fast", forward)
    return calls


@pytest.mark.parametrize("method", ["predict", "predict_proba"])
@pytest.mark.parametrize("activation", ["relu", "tanh", "logistic", "identity"])
@pytest.mark.parametrize("labels", [Y, np.where(Y, "good", "bad"), Y * 3 - 1])
def test_answers_are_those_of_the_network(method, activation, labels, watched):
    model = network(labels, activation=activation)
    quick = network_quickly(model, method)
    rows = [X, X[:1], X[::2], np.asfortranarray(X), RNG.normal(size=(700, 3)), X[:, ::-1]]
    watched[:] = []
    answers = [quick(some) for some in rows]
    assert watched == [150]  # the first rows, to compare
    for some, answer in zip(rows, answers, strict=True):
        np.testing.assert_array_equal(answer, getattr(model, method)(some), strict=True)


def test_what_is_not_plain_is_put_to_the_network():
    model = network()
    quick = network_quickly(model, "predict_proba")
    quick(X)
    for rows in (X.astype(np.float32), X.tolist(), pd.DataFrame(X)):
        np.testing.assert_array_equal(quick(rows), model.predict_proba(rows))
    for rows, what in ((X * np.nan, "NaN"), (X[:, :2], "features"), (X[:0], "0 sample"), (X[0], "2D array")):
        with pytest.raises(ValueError, match=what):
            quick(rows)


def test_names_are_checked_by_scikit_learn():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    quick = network_quickly(network(rows=frame), "predict")
    with pytest.warns(UserWarning, match="feature names"):
        quick(X)


@pytest.mark.parametrize("kind", [float, int])
@pytest.mark.parametrize("whole", [True, False])
def test_rows_of_a_frame_lie_in_memory_as_the_frame_does(kind, whole):
    rows = RNG.normal(size=(600, 23)) * 10.0
    columns = {f"c{k}": rows[:, k].astype(kind) for k in range(23)}
    frame = pd.DataFrame(columns)
    if whole:
        frame = pd.DataFrame(np.ascontiguousarray(frame.to_numpy()), columns=list(columns), copy=False)
    model = MLPClassifier((100,), max_iter=5, random_state=0).fit(frame, rows.sum(axis=1) > 0.0)
    quick, table = network_quickly(model, "predict_proba"), unpacked(frame)
    quick(frame)
    for n in (1, 2, 5, 64, 333):
        some = RNG.permutation(600)[:n]
        np.testing.assert_array_equal(quick(table[some]), model.predict_proba(frame.iloc[some]))


def test_a_network_that_is_fitted_again_answers_anew():
    model = network()
    quick = network_quickly(model, "predict_proba")
    before = quick(X)
    model.fit(X, 1 - Y)
    np.testing.assert_array_equal(quick(X), model.predict_proba(X))
    assert not np.array_equal(quick(X), before)


def test_a_wrong_way_is_never_taken(monkeypatch):
    model = network()
    quick = network_quickly(model, "predict_proba")
    monkeypatch.setattr(type(quick), "answer", lambda _, X: np.zeros((len(X), 2)))
    for rows in (X, X[:3]):
        np.testing.assert_array_equal(quick(rows), model.predict_proba(rows))


def test_other_models_are_not_meant():
    class Own(MLPClassifier):
        def predict_proba(self, X):
            return super().predict_proba(X)

    assert network_quickly(MLPClassifier(), "predict") is None  # not fitted
    assert network_quickly(MLPRegressor().fit(X, Y), "predict") is None
    assert network_quickly(network(np.arange(150) % 3), "predict") is None
    assert network_quickly(Own((3,), max_iter=5).fit(X, Y), "predict") is None
    changed = network()
    changed.predict = lambda X: np.ones(len(X))
    assert network_quickly(changed, "predict") is None
    assert network_quickly(Network(0, (4,)).fit(X, Y), "predict") is not None  # of the evaluation: `fit` differs


def test_recourses_of_a_jury_are_the_same(monkeypatch):
    model, jurors = network(), [network(Y[i:], X[i:]) for i in (10, 30, 60)]
    people = X[model.predict(X) == 0][:6]

    def found():
        method = RobustBayesianRecourse(model, jury=Jury(jurors, 0.6), n_samples=50, random_state=0)
        return method.fit(X).explain(people)

    quick = found()
    monkeypatch.setattr(predictor, "answered_quickly", lambda *_: None)
    slow = found()
    for name in ("x", "cost", "worst_case_odds", "jury_share", "n_queries", "boundary"):
        np.testing.assert_array_equal(getattr(quick, name), getattr(slow, name))
