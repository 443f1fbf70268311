"""The one-line way to a promised future validity: ``fit`` tunes, and ``explain`` uses what was found."""

from __future__ import annotations

import math
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone

from robust_recourse import RobustBayesianRecourse
from robust_recourse.saving import load, save
from robust_recourse.tuning import tuning as module
from robust_recourse.tuning._families import Family
from robust_recourse.tuning.tuning import tune

QUICK = {"n_samples": 10, "n_neighbors": 10, "random_state": 0}
SMALL = {"n_models": 5, "n_people": 16}

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
        patch.setattr(module, "FAMILIES", families)
        yield


@pytest.fixture(scope="module")
def tuned():
    """A method that tuned itself."""
    return method().fit(X, Y, **SMALL)


def method(target=0.8, model=MODEL, **settings):
    return RobustBayesianRecourse(model, target_future_validity=target, **{**QUICK, **settings})


def assert_same(found, other):
    """Compare two results to the last bit."""
    assert found.valid.any()
    pd.testing.assert_frame_equal(found.to_frame(), other.to_frame(), check_exact=True)
    for name in ("x", "cost", "boundary", "budget", "log_worst_case_odds"):
        assert getattr(found, name).tobytes() == getattr(other, name).tobytes(), name


def test_fit_finds_what_tune_finds(tuned):
    expected = tune(RobustBayesianRecourse(MODEL, **QUICK), X, Y, None, 0.8, **SMALL, random_state=0)
    assert repr(tuned.tuning_) == repr(expected)
    pd.testing.assert_frame_equal(tuned.tuning_.tried, expected.tried, check_exact=True)
    assert tuned.tuned_ == dict(expected.parameters)
    assert tuned.tuning_.target == 0.8


def test_what_was_found_is_used_to_explain(tuned):
    plain = tuned.tuning_.apply(tuned)
    assert plain.target_future_validity is None
    plain.fit(X)
    assert not hasattr(plain, "tuned_")
    assert_same(tuned.explain(REFUSED), plain.explain(REFUSED))
    assert (tuned.radius_, tuned.scales_) == (plain.radius_, plain.scales_)
    # And not what was given.
    given = RobustBayesianRecourse(MODEL, **QUICK).fit(X).explain(REFUSED)
    assert (given.cost != tuned.explain(REFUSED).cost).all()


@pytest.mark.parametrize("mode", ["odds", "budget"])
def test_in_both_modes(monkeypatch, mode):
    monkeypatch.setattr(module, "FAMILIES", tuple(family for family in module.FAMILIES if family.mode == mode))
    # What was given is of the other mode.
    one = method(delta_plus=3.0, target_odds=None if mode == "odds" else 0.01).fit(X, Y, **SMALL)
    assert (one.tuned_["target_odds"] is not None) == (mode == "odds")
    found = one.explain(REFUSED)
    assert_same(found, one.tuning_.apply(one).fit(X).explain(REFUSED))
    if mode == "odds":
        kept = found.log_worst_case_odds[found.valid]
        assert (kept <= math.log(one.tuned_["target_odds"]) + 1e-9).all()


def test_parameters_stay_as_they_were_given(tuned):
    assert tuned.get_params() == method().get_params()
    assert tuned.sigma is None
    assert tuned.delta_plus == 0.2


def test_options_are_those_of_tune(tmp_path):
    people = np.random.default_rng(1).normal(size=(60, 2))
    options = {"scenarios": ["deletion"], "people": people, "n_models": 4, "n_people": 12}
    one = method(0.7, model=Means().fit(X, Y)).fit(X, Y, estimator=Means(), folder=tmp_path, **options)
    expected = tune(RobustBayesianRecourse(MODEL, **QUICK), X, Y, Means(), 0.7, random_state=0, **options)
    assert repr(one.tuning_) == repr(expected)
    assert one.tuning_.scenarios == expected.scenarios != ("bootstrap",)
    assert any((tmp_path / "measured").iterdir())
    assert any((tmp_path / "models").iterdir())


def test_labels_are_needed_to_tune_and_only_then():
    with pytest.raises(ValueError, match=r"y is missing: with target_future_validity the model is retrained"):
        method().fit(X)
    plain = RobustBayesianRecourse(MODEL, **QUICK)
    assert_same(plain.fit(X, Y).explain(REFUSED), plain.fit(X).explain(REFUSED))
    assert not hasattr(plain, "tuning_")


def test_a_model_is_needed():
    with pytest.raises(ValueError, match=r"model is missing"):
        method(model=None).fit(X, Y, estimator=Means())


@pytest.mark.parametrize("target", [0.0, -0.1, 1.1, math.nan])
def test_targets_out_of_range(target):
    with pytest.raises(ValueError, match="target_future_validity must be"):
        method(target).fit(X, Y)


def test_targets_that_are_no_numbers():
    with pytest.raises(TypeError, match="target_future_validity must be a real number, got '95%'"):
        method("95%").fit(X, Y)


def test_a_model_that_cannot_be_retrained_needs_an_estimator():
    with pytest.raises(TypeError, match="estimator is missing: a function cannot be trained anew"):
        method(model=lambda rows: MODEL.predict(rows)).fit(X, Y)


def test_other_parameters_are_checked_first():
    with pytest.raises(ValueError, match="sigma must be greater than 0"):
        method(sigma=0.0).fit(X, Y)


def test_a_target_out_of_reach_is_a_warning_and_the_best_is_used():
    one = method(0.95)
    with pytest.warns(UserWarning, match=r"^A future validity of 0.95 was not reached; this is the best") as caught:
        one.fit(X, Y, estimator=Anything(), **SMALL)
    assert caught[0].filename == __file__
    assert not one.tuning_.reached
    assert_same(one.explain(REFUSED), one.tuning_.apply(one).fit(X).explain(REFUSED))


def test_without_a_target_what_was_found_is_forgotten(tuned):
    again = pickle.loads(pickle.dumps(tuned)).set_params(target_future_validity=None)
    assert_same(again.explain(REFUSED), tuned.explain(REFUSED))
    again.fit(X)
    assert not hasattr(again, "tuned_")
    assert not hasattr(again, "tuning_")
    assert_same(again.explain(REFUSED), RobustBayesianRecourse(MODEL, **QUICK).fit(X).explain(REFUSED))


def test_a_fit_that_fails_changes_nothing(tuned):
    again = pickle.loads(pickle.dumps(tuned))
    for arguments, error in (((X,), ValueError), ((X, Y[:-1]), ValueError)):
        with pytest.raises(error):
            again.fit(*arguments)
        assert again.tuned_ == tuned.tuned_
        assert_same(again.explain(REFUSED), tuned.explain(REFUSED))


def test_another_fit_tunes_anew(tuned):
    again = pickle.loads(pickle.dumps(tuned)).set_params(target_future_validity=0.6)
    again.fit(X, Y, **SMALL)
    assert again.tuning_.target == 0.6
    assert again.tuned_ == method(0.6).fit(X, Y, **SMALL).tuned_


def test_a_copy_keeps_the_parameters_and_nothing_else(tuned):
    copy = clone(tuned)
    assert copy.get_params() == tuned.get_params()
    assert copy.target_future_validity == 0.8
    assert copy.model is tuned.model
    assert not hasattr(copy, "tuned_")
    assert not hasattr(copy, "tuning_")
    assert not hasattr(copy, "candidates_")


def test_a_saved_method_explains_as_before_and_knows_what_was_found(tuned, tmp_path):
    save(tuned, tmp_path / "loans.recourse", include_model=False)
    loaded = load(tmp_path / "loans.recourse", model=MODEL)
    assert loaded.get_params() == tuned.get_params()
    assert loaded.tuned_ == tuned.tuned_
    assert_same(loaded.explain(REFUSED), tuned.explain(REFUSED))
    for name, value in vars(tuned.tuning_).items():
        back = getattr(loaded.tuning_, name)
        if isinstance(value, pd.DataFrame):
            pd.testing.assert_frame_equal(back, value, check_exact=True, obj=name)
        else:
            assert type(back) is type(value), name
            assert back == value, name
    assert repr(loaded.tuning_) == repr(tuned.tuning_)
    assert loaded.tuning_._repr_html_() == tuned.tuning_._repr_html_()
    # It can be written and given to others.
    loaded.tuning_.to_toml(tmp_path / "settings.toml")
    tuned.tuning_.to_toml(tmp_path / "expected.toml")
    assert (tmp_path / "settings.toml").read_bytes() == (tmp_path / "expected.toml").read_bytes()
    assert_same(loaded.tuning_.apply(loaded).fit(X).explain(REFUSED), tuned.explain(REFUSED))


def test_a_method_that_is_not_fitted_yet_is_saved_with_its_target(tmp_path):
    save(method(), tmp_path / "loans.recourse", include_model=False)
    loaded = load(tmp_path / "loans.recourse", model=MODEL)
    assert loaded.get_params() == method().get_params()
    assert not hasattr(loaded, "tuned_")


def test_no_warning_if_the_target_is_reached(tuned):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = method().fit(X, Y, **SMALL)
    assert again.tuning_.reached
    assert again.tuned_ == tuned.tuned_
