"""Forests and boosted trees asked without scikit-learn's checks answer as they always do, bit by bit."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)

from robust_recourse import ActionSet, RobustBayesianRecourse
from robust_recourse.models import predictor
from robust_recourse.models.quick import base, quickly
from robust_recourse.models.quick.ensembles import ensemble_quickly

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=(200, 2)), RNG.integers(0, 5, 200) * 2.0, RNG.integers(0, 3, 200)])
Y = (X[:, 0] + (X[:, 2] == 4.0) + 0.4 * RNG.normal(size=200) > 0.4).astype(int)

MODELS = {
    "forest": lambda: RandomForestClassifier(15, random_state=0),
    "extra": lambda: ExtraTreesClassifier(15, min_samples_leaf=3, class_weight="balanced", random_state=0),
    "boosted": lambda: HistGradientBoostingClassifier(max_iter=12),
    "categories": lambda: HistGradientBoostingClassifier(max_iter=12, categorical_features=[3, 2]),
    "mask": lambda: HistGradientBoostingClassifier(max_iter=12, categorical_features=[False, False, True, False]),
    "monotone": lambda: HistGradientBoostingClassifier(max_iter=12, monotonic_cst=[1, 0, 0, 0]),
}


@pytest.fixture
def watched(monkeypatch):
    """How many rows an ensemble was asked about itself, call by call."""
    calls = []
    plain = base.Quickly.itself
    monkeypatch.setattr(base.Quickly, "itself", lambda self, X: calls.append(len(X)) or plain(self, X))
    return calls


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("method", ["predict", "predict_proba"])
@pytest.mark.parametrize("labels", [Y, np.where(Y, "good", "bad")], ids=["numbers", "text"])
@pytest.mark.parametrize("framed", [False, True], ids=["array", "frame"])
def test_answers_are_those_of_the_ensemble(kind, method, labels, framed, watched):
    def of(rows):
        return pd.DataFrame(rows, columns=list("abcd")).astype({"d": int}) if framed else rows

    model = MODELS[kind]().fit(of(X), labels)
    quick = ensemble_quickly(model, method)
    new = RNG.normal(size=(700, 4)).round(1)
    new[:, 2:] = RNG.integers(-2, 12, (700, 2))  # also categories that nobody had
    tables = [of(rows) for rows in (X, X[:1], X[::2], np.asfortranarray(X), new)]
    answers = [quick(some) for some in tables]
    assert watched == [200]  # the first rows, to compare
    for some, answer in zip(tables, answers, strict=True):
        np.testing.assert_array_equal(answer, getattr(model, method)(some), strict=True)


@pytest.mark.parametrize("kind", ["boosted", "categories", "mask"])
def test_missing_values_of_boosted_trees(kind, watched):
    gaps = X.copy()
    gaps[RNG.random(X.shape) < 0.1] = np.nan
    for train in (X, gaps):
        model = MODELS[kind]().fit(train, Y)
        quick = ensemble_quickly(model, "predict_proba")
        quick(gaps)
        watched[:] = []
        np.testing.assert_array_equal(quick(gaps[::3]), model.predict_proba(gaps[::3]))
        assert watched == []


def test_what_is_not_plain_is_put_to_the_forest():
    model = MODELS["forest"]().fit(X, Y)
    quick = ensemble_quickly(model, "predict_proba")
    quick(X)
    gaps = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
    for rows in (X.astype(np.float32), X.tolist(), pd.DataFrame(X), np.tile(X, (30, 1)), gaps):
        np.testing.assert_array_equal(quick(rows), model.predict_proba(rows))
    huge = np.full((1, 4), 1e300)
    for rows, what in ((huge, "infinity or a value too large"), (X[:, :2], "features"), (X[:0], "0 sample")):
        with pytest.raises(ValueError, match=what), np.errstate(over="ignore"):
            quick(rows)


def test_names_are_checked_by_scikit_learn():
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = MODELS["forest"]().fit(frame, Y)
    quick = ensemble_quickly(model, "predict")
    with pytest.warns(UserWarning, match="feature names"):
        quick(X)
    with pytest.raises(ValueError, match="feature names"):
        quick(frame[list("bacd")])


def test_threads_of_the_forest_may_add_up_in_any_order(watched):
    model = RandomForestClassifier(15, random_state=0, n_jobs=2).fit(X, Y)
    quick = ensemble_quickly(model, "predict_proba")
    quick(X)
    np.testing.assert_allclose(quick(X[:7]), model.predict_proba(X[:7]), rtol=0.0, atol=1e-12)
    assert watched == [200]


def test_an_ensemble_that_is_fitted_again_answers_anew():
    for kind in ("forest", "categories"):
        model = MODELS[kind]().fit(X, Y)
        quick = ensemble_quickly(model, "predict_proba")
        before = quick(X)
        model.fit(np.column_stack([X[:, :2], X[:, 2:] + 1.0]), 1 - Y)
        np.testing.assert_array_equal(quick(X), model.predict_proba(X))
        assert not np.array_equal(quick(X), before)


@pytest.mark.parametrize("kind", ["forest", "boosted"])
def test_a_wrong_way_is_never_taken(kind, monkeypatch):
    model = MODELS[kind]().fit(X, Y)
    quick = ensemble_quickly(model, "predict_proba")
    monkeypatch.setattr(type(quick), "answer", lambda _, X: np.zeros((len(X), 2)))
    for rows in (X, X[:3]):
        np.testing.assert_array_equal(quick(rows), model.predict_proba(rows))


def test_a_way_that_ends_in_an_error_is_not_taken(monkeypatch):
    model = MODELS["boosted"]().fit(X, Y)
    monkeypatch.delattr(model, "_bin_mapper")  # of another version, perhaps
    monkeypatch.setattr(type(model), "predict", lambda _, X: np.full(len(X), 7))
    np.testing.assert_array_equal(quickly(model, "predict")(X), 7)


def test_other_models_are_not_meant():
    class Own(RandomForestClassifier):
        pass

    assert ensemble_quickly(RandomForestClassifier(), "predict") is None  # not fitted
    assert ensemble_quickly(RandomForestRegressor(3).fit(X, Y), "predict") is None
    assert ensemble_quickly(Own(3).fit(X, Y), "predict") is None
    assert ensemble_quickly(GradientBoostingClassifier(n_estimators=3).fit(X, Y), "predict") is None
    assert ensemble_quickly(RandomForestClassifier(3).fit(X, np.column_stack([Y, Y])), "predict") is None
    assert ensemble_quickly(HistGradientBoostingClassifier(max_iter=3).fit(X, np.arange(200) % 3), "predict") is None
    changed = MODELS["forest"]().fit(X, Y)
    changed.predict = lambda X: np.ones(len(X))
    assert ensemble_quickly(changed, "predict") is None


def test_what_is_no_category_raises_what_the_trees_raise():
    model = MODELS["categories"]().fit(X, Y)
    quick = ensemble_quickly(model, "predict")
    quick(X)
    with pytest.raises(ValueError, match="infinity"):
        quick(np.where(np.arange(4) == 2, np.inf, X))


def test_models_without_a_place_for_methods_of_their_own():
    class Slotted:
        __slots__ = ("classes_",)

        def predict(self, X):
            return X[:, 0] > 0.0

    model = Slotted()
    model.classes_ = [False, True]
    assert quickly(model, "predict") is None


def test_labels_prove_nothing_about_probabilities(monkeypatch):
    model = MODELS["forest"]().fit(X, Y)
    labels, shares = (ensemble_quickly(model, name) for name in ("predict", "predict_proba"))
    plain = type(shares).answer
    broken = lambda self, rows: plain(self, rows) * (0.999 if self._name == "predict_proba" else 1)  # noqa: E731
    monkeypatch.setattr(type(shares), "answer", broken)
    np.testing.assert_array_equal(labels(X), model.predict(X))
    for _ in range(2):
        np.testing.assert_array_equal(shares(X), model.predict_proba(X))


def test_forests_of_many_classes():
    labels = np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.5])
    model = MODELS["forest"]().fit(X, labels)
    for name in ("predict", "predict_proba"):
        quick = ensemble_quickly(model, name)
        np.testing.assert_array_equal(quick(X), quick(X))
        np.testing.assert_array_equal(quick(X[:9]), getattr(model, name)(X[:9]), strict=True)


@pytest.mark.parametrize("kind", ["forest", "categories"])
def test_recourses_are_the_same(kind, monkeypatch):
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = MODELS[kind]().fit(frame, Y)
    people = frame[model.predict(frame) == 0].head(6)

    def found():
        method = RobustBayesianRecourse(model, ActionSet(frame, categories={"c": [0, 2, 4]}), random_state=0)
        return method.fit(frame).explain(people)

    quick = found()
    monkeypatch.setattr(predictor, "answered_quickly", lambda *_: None)
    slow = found()
    pd.testing.assert_frame_equal(quick.to_frame(), slow.to_frame())
    np.testing.assert_array_equal(quick.n_queries, slow.n_queries)
