"""The meta-estimator: ``fit`` tunes, ``explain`` uses what was found, and parameters are those of scikit-learn."""

from __future__ import annotations

import copy
import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError

from robust_recourse import RobustBayesianRecourse, TunedRecourse
from robust_recourse.futures import Deletion
from robust_recourse.saving import load, save
from robust_recourse.tuning import _search
from robust_recourse.tuning._families import Family

QUICK = {"n_samples": 10, "n_neighbors": 10, "random_state": 0}
SMALL = {"n_models": 5, "n_people": 16, "random_state": 0}

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 2))
Y = (X.sum(axis=1) + 0.7 * RNG.normal(size=120) > 0).astype(int)


class Means(BaseEstimator):
    """Accepts what is closer to the mean of the accepted than to that of the refused."""

    def fit(self, X, y):
        refused, accepted = (X[y == label].mean(axis=0) for label in (0, 1))
        self.weights_, self.threshold_ = accepted - refused, (accepted - refused) @ (accepted + refused) / 2.0
        return self

    def predict(self, X):
        return (np.asarray(X) @ self.weights_ > self.threshold_).astype(int)


class Anything(Means):
    """Accepts a random half of the plane."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, _):
        angle = np.random.default_rng(self.random_state).uniform(0.0, 2.0 * math.pi)
        self.weights_, self.threshold_ = np.array([math.cos(angle), math.sin(angle)])[: X.shape[1]], 0.0
        return self


MODEL = Means().fit(X, Y)
REFUSED = X[MODEL.predict(X) == 0][:6]


@pytest.fixture(autouse=True, scope="module")
def few_families():
    with pytest.MonkeyPatch.context() as patch:
        families = (Family("budget", 1.0, 0.5, 0.1, axes=False), Family("odds", 0.5, 0.25, 0.0, axes=True))
        patch.setattr(_search, "FAMILIES", families)
        yield


def method(model=MODEL, **settings):
    return RobustBayesianRecourse(model, **{**QUICK, **settings})


def unfitted(target=0.8, one=None, **settings):
    return TunedRecourse(one or method(), target, **{**SMALL, **settings})


@pytest.fixture(scope="module")
def tuned():
    return unfitted().fit(X, Y)


@pytest.fixture
def changed(tuned):
    """One that may be changed."""
    return pickle.loads(pickle.dumps(tuned))


def assert_same(found, other):
    """Compare two results to the last bit."""
    assert found.valid.any()
    pd.testing.assert_frame_equal(found.to_frame(), other.to_frame(), check_exact=True)
    for name in ("x", "cost", "boundary", "budget", "log_worst_case_odds"):
        assert getattr(found, name).tobytes() == getattr(other, name).tobytes(), name


def test_what_was_found_is_used_to_explain(tuned):
    plain = method().set_params(**tuned.best_params_).fit(X)
    assert tuned.best_params_ == dict(tuned.tuning_.parameters)
    assert tuned.tuning_.target == 0.8
    assert tuned.best_method_.get_params() == plain.get_params()
    assert_same(tuned.explain(REFUSED), plain.explain(REFUSED))
    assert_same(tuned.explain(REFUSED), tuned.best_method_.explain(REFUSED))
    # And not what was given.
    given = method().fit(X).explain(REFUSED)
    assert (given.cost != tuned.explain(REFUSED).cost).all()


def test_explaining_is_passed_on(tuned):
    several = tuned.explain(REFUSED, n_recourses=2)
    assert_same(several, tuned.best_method_.explain(REFUSED, 2))
    assert several.rank.max() == 2
    assert "out of time" in {str(status) for status in tuned.explain(REFUSED, time_limit=0.0).status}


@pytest.mark.parametrize("mode", ["odds", "budget"])
def test_in_both_modes(monkeypatch, mode):
    monkeypatch.setattr(_search, "FAMILIES", tuple(family for family in _search.FAMILIES if family.mode == mode))
    # What was given is of the other mode.
    given = method(delta_plus=3.0, target_odds=None if mode == "odds" else 0.01)
    one = unfitted(one=given).fit(X, Y)
    assert (one.best_params_["target_odds"] is not None) == (mode == "odds")
    found = one.explain(REFUSED)
    if mode == "odds":
        kept = found.log_worst_case_odds[found.valid]
        assert (kept <= math.log(one.best_params_["target_odds"]) + 1e-9).all()
    else:
        assert (found.cost <= found.budget).all()


def test_the_method_stays_as_it_was_given():
    given = method(random_state=5, n_jobs=1)
    before = given.get_params()
    one = unfitted(one=given).fit(X, Y)
    assert one.method is given
    assert given.get_params() == before
    assert not hasattr(given, "candidates_")


def test_one_seed_is_enough():
    one = unfitted(one=method(random_state=None)).fit(X, Y)
    assert one.best_method_.random_state == 0
    assert_same(one.explain(REFUSED), unfitted(one=method(random_state=None)).fit(X, Y).explain(REFUSED))
    # A seed of the method's own is kept.
    assert unfitted(one=method(random_state=5)).fit(X, Y).best_method_.random_state == 5
    assert unfitted(random_state=np.random.default_rng(1)).fit(X, Y).tuning_.seed > 0


def test_options_are_used(tmp_path):
    people = np.random.default_rng(1).normal(size=(60, 2))
    options = {"scenarios": Deletion(0.2), "estimator": Means(), "n_models": 4, "n_people": 12}
    one = unfitted(0.7, folder=tmp_path, **options).fit(X, Y, people)
    assert one.tuning_.scenarios == ("deletion (share 0.2)",)
    assert (one.tuning_.n_people, one.tuning_.n_models) == (6, 4)
    assert any((tmp_path / "measured").iterdir())
    assert any((tmp_path / "models").iterdir())


@pytest.mark.parametrize(
    ("target", "error", "match"),
    [
        (0.0, ValueError, "target_future_validity must be greater than 0"),
        (95, ValueError, "For 95 % pass 0.95"),
        (math.nan, ValueError, "target_future_validity must be finite"),
        ("95%", TypeError, "target_future_validity must be a real number, got '95%'"),
    ],
)
def test_targets_that_are_none(target, error, match):
    with pytest.raises(error, match=match):
        unfitted(target).fit(X, Y)


def test_a_target_out_of_reach_is_a_warning_and_the_best_is_used():
    one = unfitted(0.95, estimator=Anything())
    with pytest.warns(UserWarning, match=r"^A future validity of 0.95 was not reached; this is the best") as caught:
        one.fit(X, Y)
    assert caught[0].filename == __file__
    assert not one.tuning_.reached
    assert_same(one.explain(REFUSED), method().set_params(**one.best_params_).fit(X).explain(REFUSED))


def test_no_warning_if_the_target_is_reached(tuned):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = unfitted().fit(X, Y)
    assert again.tuning_.reached
    assert again.best_params_ == tuned.best_params_


def test_it_must_be_fitted_first():
    with pytest.raises(NotFittedError, match="TunedRecourse"):
        unfitted().explain(REFUSED)


def test_a_fit_that_fails_changes_nothing(tuned, changed):
    for y in (None, Y[:-1]):
        with pytest.raises(ValueError, match="y "):
            changed.fit(X, y)
        assert changed.best_params_ == tuned.best_params_
        assert_same(changed.explain(REFUSED), tuned.explain(REFUSED))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("target_future_validity", 0.6),
        ("method__delta_plus", 0.5),
        ("method__model", Means().fit(X, Y)),
        ("method", method()),
        ("scenarios", "deletion"),
        ("estimator", Means()),
    ],
)
def test_parameters_that_change_after_fit_are_told(tuned, changed, name, value):
    changed.set_params(**{name: value})
    with pytest.raises(NotFittedError, match=rf"^{name}[ ,].*changed since fit.* Call fit again"):
        changed.explain(REFUSED)
    # What was found is still there.
    assert_same(changed.best_method_.explain(REFUSED), tuned.explain(REFUSED))
    changed.fit(X, Y).explain(REFUSED)


def test_the_same_parameters_again_are_no_change(tuned, changed):
    names = ["boot" + "strap"]
    changed.set_params(target_future_validity=0.8, method__n_samples=10, scenarios=tuple(names))
    assert_same(changed.explain(REFUSED), tuned.explain(REFUSED))


def test_another_fit_tunes_anew(changed):
    changed.set_params(target_future_validity=0.6).fit(X, Y)
    assert changed.tuning_.target == 0.6
    assert changed.best_params_ == unfitted(0.6).fit(X, Y).best_params_


def test_parameters_are_those_of_scikit_learn():
    one = unfitted(estimator=Anything(random_state=3))
    known = one.get_params()
    assert known["target_future_validity"] == 0.8
    assert known["method__delta_plus"] is None
    assert known["estimator__random_state"] == 3
    one.set_params(method__delta_plus=0.7, n_people=20)
    assert (one.method.delta_plus, one.n_people) == (0.7, 20)
    with pytest.raises(ValueError, match="Invalid parameter"):
        one.set_params(delta_plus=0.7)


def test_constructors_only_store():
    scenarios, nonsense = ["bootstrap"], object()
    one = TunedRecourse(nonsense, -3, scenarios=scenarios, n_models="many", folder=nonsense)
    assert one.method is one.folder is nonsense
    assert one.scenarios is scenarios
    assert (one.target_future_validity, one.n_models) == (-3, "many")


@pytest.mark.parametrize("again", [clone, lambda one: clone(clone(one))])
def test_a_clone_keeps_the_parameters_and_nothing_else(tuned, again):
    other = again(tuned)
    given = [{name: value for name, value in one.get_params().items() if name != "method"} for one in (other, tuned)]
    assert given[0] == given[1]
    assert other.method is not tuned.method
    assert other.method.model is tuned.method.model
    assert not any(name.endswith("_") for name in vars(other))


@pytest.mark.parametrize("again", [lambda one: pickle.loads(pickle.dumps(one)), copy.deepcopy])
def test_copies_of_all_explain_at_once(tuned, again):
    assert_same(again(tuned).explain(REFUSED), tuned.explain(REFUSED))


def test_what_was_found_is_saved(tuned, tmp_path):
    save(tuned.best_method_, tmp_path / "loans.recourse", include_model=False)
    loaded = load(tmp_path / "loans.recourse", model=MODEL)
    assert loaded.get_params() == tuned.best_method_.get_params()
    assert_same(loaded.explain(REFUSED), tuned.explain(REFUSED))
