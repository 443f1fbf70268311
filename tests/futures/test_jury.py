"""Juries: what is refused, which models belong to whom, how strict attempts are."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression

from robust_recourse import Juror, Jury, future_models
from robust_recourse.math.intervals import clopper_pearson, share_at_least

HOW = {"data": "X", "favourable": None, "threshold": None}


def above(least):
    return lambda X: np.asarray(X)[:, 0] > least


def many(n, first=0):
    return [above(first + k) for k in range(n)]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    return X, (X.sum(axis=1) + rng.normal(size=300) > 0).astype(int)


ONE = above(0)


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"models": []}, ValueError, "models is empty"),
        ({"models": above(0)}, TypeError, r"models must be a sequence of models, got one function"),
        ({"models": LogisticRegression()}, TypeError, "models must be a sequence"),
        ({"models": 3}, TypeError, "models must be a sequence"),
        ({"models": "abc"}, TypeError, "models must be a sequence of models, got one str"),
        ({"models": {"last year": above(0)}}, TypeError, r"got a mapping. Pass list\(models.values\(\)\)"),
        ({"quorum": 0.0}, ValueError, "quorum must be"),
        ({"quorum": 1.1}, ValueError, "quorum must be at most 1"),
        ({"quorum": float("nan")}, ValueError, "quorum"),
        ({"quorum": "all"}, TypeError, "quorum"),
        ({"margin": 1.0}, ValueError, "margin must be less than 1"),
        ({"margin": 0.0}, ValueError, "margin must be"),
        ({"rule": "median"}, ValueError, "rule must be"),
        ({"check": []}, ValueError, "check is empty"),
        ({"models": [above(1), ONE], "check": [above(2), ONE]}, ValueError, r"check\[1\] is models\[1\]: a model that"),
        ({"models": [Juror(ONE)], "check": [ONE]}, ValueError, r"check\[0\] is models\[0\]"),
        ({"check": [above(1), ONE, Juror(ONE)]}, ValueError, r"check\[2\] is check\[1\]: a model testifies once"),
        ({"survival": 0.9}, ValueError, "survival needs check="),
        ({"survival": 1.0, "check": many(50)}, ValueError, "survival must be less than 1"),
        ({"survival": 0.9, "check": many(41)}, ValueError, "check has 41 models.*It takes at least 42"),
        ({"confidence": 1.0}, ValueError, "confidence must be less than 1"),
    ],
)
def test_what_is_no_jury_is_refused_at_once(settings, error, message):
    with pytest.raises(error, match=message):
        Jury(**{"models": many(5), **settings})


def test_a_jury_says_what_it_asks_for():
    assert repr(Jury(many(20))) == "Jury(20 models, quorum 0.9)"
    assert repr(Jury(many(20), margin=0.6)) == "Jury(20 models, quorum 0.9, each at least 0.6)"
    assert repr(Jury(many(20), 0.8, rule="mean")) == "Jury(20 models, mean of at least 0.8)"
    assert repr(Jury(many(20), rule="mean", margin=0.7)) == "Jury(20 models, mean of at least 0.7)"
    checked = Jury(many(20), check=many(60, 100), survival=0.9)
    assert repr(checked) == "Jury(20 models, quorum 0.9, 60 check a survival of 0.9)"


def test_votes_go_by_the_rule():
    rows, X = np.arange(5), np.arange(5.0)[:, None]
    jury = Jury([above(k + 0.5) for k in range(4)], 0.5)
    np.testing.assert_array_equal(jury.accepts(X, rows, HOW).sum(axis=1), [0, 1, 2, 3, 4])
    np.testing.assert_array_equal(jury.votes(HOW)(X, rows), [False, False, True, True, True])
    soft = [lambda X, k=k: np.clip(np.asarray(X)[:, 0] / 4.0 - 0.1 * k, 0.0, 1.0) for k in range(4)]
    mean = np.column_stack([model(X) for model in soft]).mean(axis=1)
    np.testing.assert_array_equal(Jury(soft, 0.5, rule="mean").votes(HOW)(X, rows), mean >= 0.5)
    strict = np.column_stack([model(X) >= 0.8 for model in soft]).mean(axis=1) >= 0.5
    np.testing.assert_array_equal(Jury(soft, 0.5, margin=0.8).votes(HOW)(X, rows), strict)


def test_a_juror_may_decide_in_its_own_way(data):
    X, y = data
    model, rows = LogisticRegression().fit(X, np.where(y == 1, "good", "bad")), np.arange(len(X))
    probability = model.predict_proba(X)[:, 1]
    jury = Jury([Juror(model, favourable="good", threshold=0.7), Juror(model, favourable="bad"), lambda X: X[:, 0] > 0])
    accepted = jury.accepts(X, rows, HOW)
    expected = np.column_stack([probability >= 0.7, probability < 0.5, X[:, 0] > 0])
    np.testing.assert_array_equal(accepted, expected)


def test_errors_name_the_juror():
    def broken(_):
        raise RuntimeError("no power")

    jury = Jury([above(0), broken], check=[lambda X: np.full(len(X), np.nan)])
    with pytest.raises(RuntimeError, match=r"jury.models\[1\]: The model raised RuntimeError.*no power"):
        jury.accepts(np.zeros((3, 1)), np.arange(3), HOW)
    with pytest.raises(RuntimeError, match=r"jury.check\[0\]: "):
        jury.survives(np.zeros((3, 1)), np.arange(3), HOW)


def test_retraining_keeps_jurors_and_check_apart(data, tmp_path):
    X, y = data
    jury = Jury.retrain(LogisticRegression(), X, y, ["bootstrap", "deletion"], 5, survival=0.9, random_state=0)
    assert len(jury) == 10
    assert len(jury.check) >= 80
    jurors = {tuple(model.coef_[0]) for model in jury.models}
    assert not jurors & {tuple(model.coef_[0]) for model in jury.check}
    same = future_models(LogisticRegression(), X, y, ["bootstrap"], n_models=5, random_state=0)
    np.testing.assert_array_equal([m.coef_[0] for m in jury.models[:5]], [m.coef_[0] for m in same])
    kept = [
        Jury.retrain(LogisticRegression(), X, y, n_models=4, random_state=0, memory=tmp_path).models for _ in range(2)
    ]
    np.testing.assert_array_equal(*[[m.coef_[0] for m in models] for models in kept])
    assert Jury.retrain(LogisticRegression(), X, y, n_models=4, n_check=3, random_state=0).survival is None
    later = Jury.retrain(LogisticRegression(), X, y, n_models=2, n_check=1, start=2, random_state=0)
    np.testing.assert_array_equal([m.coef_[0] for m in (*later.models, *later.check)], [m.coef_[0] for m in same[2:]])


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"quorum": 1.5}, ValueError, "quorum must be at most 1"),
        ({"rule": "median"}, ValueError, "rule must be"),
        ({"margin": 1.0}, ValueError, "margin must be less than 1"),
        ({"confidence": 0.0}, ValueError, "confidence must be"),
        ({"survival": 0.9, "n_check": 0}, ValueError, "survival needs check="),
        ({"survival": 0.9, "n_check": 41}, ValueError, "check has 41 models.*It takes at least 42"),
        ({"survival": "much"}, TypeError, "survival must be"),
    ],
)
def test_what_is_no_jury_is_refused_before_a_model_is_trained(data, settings, error, message):
    class Dear(LogisticRegression):
        def fit(self, X, y):  # noqa: ARG002
            raise AssertionError("trained for nothing")

    with pytest.raises(error, match=message):
        Jury.retrain(Dear(), *data, n_models=2, **settings)


@pytest.mark.parametrize(
    ("survival", "message"),
    [(1.0, "survival must be less than 1"), (0.9999, "takes a check of more than 5000 models at a confidence of 0.95")],
)
def test_nobody_trains_a_check_that_is_out_of_reach(data, survival, message):
    with pytest.raises(ValueError, match=message):
        Jury.retrain(LogisticRegression(), *data, n_models=1, survival=survival)


def test_attempts_are_stricter_and_stricter(data):
    X, y = data
    models = list(future_models(LogisticRegression(), X, y, n_models=20, random_state=0))
    tried = Jury(models, 0.8).attempts()
    assert [(jury.quorum, jury.margin) for jury in tried] == [(0.8, None), (1.0, None), (1.0, 0.6), (1.0, 0.75)]
    tried = Jury(models, 1.0, margin=0.6).attempts()
    np.testing.assert_allclose([jury.margin for jury in tried], [0.6, 0.68, 0.8, 0.9])
    assert {jury.quorum for jury in tried} == {1.0}
    # Half a vote is none, and functions have no probabilities for sure.
    assert [jury.quorum for jury in Jury(many(5), 0.9).attempts()] == [0.9]
    levels = [jury.level for jury in Jury(models, 0.8, rule="mean").attempts()]
    np.testing.assert_allclose(levels, [0.8, 0.9, 0.95, 0.98])
    rows = np.arange(len(X))
    for jury in (Jury(models, 0.8), Jury(models, 0.8, rule="mean")):
        yes = [some.votes(HOW)(X, rows) for some in jury.attempts()]
        assert all((strict <= weak).all() for weak, strict in itertools.pairwise(yes))


def test_bounds_split_the_confidence_over_the_attempts():
    jury = Jury(many(5), check=many(60, 10), survival=0.9, confidence=0.9)
    accepted = np.arange(60)[None] < np.array([[60], [55], [0]])
    np.testing.assert_allclose(jury.bounds(accepted), share_at_least([60, 55, 0], 60, 0.975))
    once = Jury(many(5), check=many(60, 10), confidence=0.9)
    np.testing.assert_allclose(once.bounds(accepted), share_at_least([60, 55, 0], 60, 0.9))


@pytest.mark.parametrize("level", [0.3, 0.5, 0.95, 0.9875])
@pytest.mark.parametrize("n", [1, 7, 60])
def test_a_share_is_at_least_its_bound(n, level):
    k = np.arange(n + 1)
    bound = share_at_least(k, n, level)
    # Its definition: at the bound so many successes, or more, are as likely as errors are allowed.
    np.testing.assert_allclose(binom.sf(k[1:] - 1, n, bound[1:]), 1.0 - level, rtol=1e-9)
    assert bound[0] == 0.0
    if level > 0.5:
        np.testing.assert_allclose(bound, clopper_pearson(k, n, 1.0 - 2.0 * (1.0 - level)).low, rtol=1e-12)
    for share in (0.2, 0.9, 0.99):
        assert binom.pmf(k, n, share)[bound > share].sum() <= 1.0 - level + 1e-12
