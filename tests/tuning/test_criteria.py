"""Tuning among criteria: whom it may ask, what it finds, and what it says about it."""

from __future__ import annotations

import tomllib
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from robust_recourse import BayesianRecourse, Jury, RobustBayesianRecourse, TunedRecourse
from robust_recourse.futures import Deletion, future_models
from robust_recourse.result import provenance
from robust_recourse.saving import load, save
from robust_recourse.tuning import _search
from robust_recourse.tuning import tuned as module
from robust_recourse.tuning._families import Family
from robust_recourse.tuning._given import basis_of

QUICK = {"n_samples": 10, "n_neighbors": 10, "random_state": 0}
BUDGET = Family("budget", 1.0, 0.5, 0.1, axes=False)
CRITERIA = {mode: Family(mode, 1.0, 0.5, 0.1, axes=False) for mode in ("margin", "quorum", "mean")}

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 2))
Y = (X.sum(axis=1) + 0.7 * RNG.normal(size=120) > 0).astype(int)
MODEL = LogisticRegression().fit(X, Y)
REFUSED = X[MODEL.predict(X) == 0][:6]


def tune(families, target=0.9, model=MODEL, kind=RobustBayesianRecourse, **settings):
    settings = {"n_models": 6, "n_people": 20, "jury": 8, "random_state": 0, **settings}
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A future validity of .* was not reached")
        patch.setattr(_search, "FAMILIES", tuple(families))
        return TunedRecourse(kind(model, **QUICK), target, **settings).fit(X, Y)


@pytest.fixture
def batches(monkeypatch):
    """All models that are trained, batch by batch."""
    made = []
    future_models = module.future_models
    monkeypatch.setattr(module, "future_models", lambda *a, **k: made.append(future_models(*a, **k)) or made[-1])
    return made


@pytest.mark.parametrize("mode", ["quorum", "mean"])
def test_the_jury_is_made_of_models_that_neither_choose_nor_check(batches, mode):
    one = tune([CRITERIA[mode]], 0.99)
    jury = one.best_method_.jury
    assert jury is one.best_params_["jury"]
    (jurors,) = [batch for batch in batches if batch.models == jury.models]
    others = [batch for batch in batches if batch is not jurors]
    assert len(others) == 1 + len(one.tuning_.checks)
    assert len(jurors) == 8
    assert set(jurors.number).isdisjoint(np.concatenate([batch.number for batch in others]))
    # Whatever has to be checked, there is room for it before the first juror.
    assert one.tuning_.first_juror == jurors.number[0] == 6 * _search.BATCHES
    told = {"random_state": 0, "start": one.tuning_.first_juror, "quorum": jury.quorum, "rule": jury.rule}
    again = Jury.retrain(MODEL, X, Y, n_models=8, **told)
    np.testing.assert_array_equal(*(each.probabilities(X, np.arange(len(X)), {"data": "X"}) for each in (jury, again)))


@pytest.mark.parametrize("k", [1, 3, 7, 20])
def test_quorums_that_take_as_many_votes_are_one_jury(k):
    jurors = [LogisticRegression().fit(X[i:], Y[i:]) for i in range(k)]
    basis = replace(basis_of(RobustBayesianRecourse(MODEL, **QUICK).fit(X), X, ()), jurors=jurors)
    rows = RNG.normal(size=(300, 2))
    votes = np.mean([juror.predict(rows) for juror in jurors], axis=0)
    juries = set()
    for level in np.linspace(0.5, 1.0, 201)[1:]:
        jury = basis.jury(level)
        juries.add(jury)
        accepted = jury.votes({"data": "X"})(rows, np.arange(300))
        np.testing.assert_array_equal(accepted, votes >= level - 1e-9)
        assert jury.quorum == float(f"{jury.quorum:.6g}")  # as it is written into files
    assert len(juries) == k - k // 2
    assert len({id(jury.models) for jury in juries}) == 1


def test_models_of_a_jury_get_their_name_once(monkeypatch):
    named = []
    plain = provenance.fingerprint
    monkeypatch.setattr(provenance, "fingerprint", lambda value: named.append(value) or plain(value))
    one = tune([CRITERIA["quorum"], CRITERIA["mean"]], 0.95)
    assert len([value for value in named if isinstance(value, tuple)]) == 1
    assert provenance.jury_fingerprint(one.best_params_["jury"]) == plain((one.best_params_["jury"].models, None))


def test_no_batch_of_a_search_reaches_the_jurors():
    """The dearest search: nothing that is checked is good enough."""
    asked = []

    def never(number):
        asked.append(number)
        return number

    class Poor:
        def measure(self, configurations, rows, _models, _name):
            for parameters in configurations:
                yield _search.Measured(parameters, np.ones(len(rows)), np.full(len(rows), 0.5), np.full(4, 0.5), 1)

    basis = basis_of(RobustBayesianRecourse(MODEL, **QUICK).fit(X), X, ())
    search = _search.Search(Poor(), basis, (np.arange(20), np.arange(20, 40)), never, 0.9)
    search.choose()
    search.check()
    assert sorted(set(asked)) == list(range(_search.BATCHES))


def test_a_margin_is_found_where_it_is_cheapest(batches):
    dear = [replace(CRITERIA["margin"], budget=budget) for budget in (30.0, 90.0)]
    one = tune([*dear, CRITERIA["margin"]], 0.8, jury=None, n_people=40)
    assert one.tuning_.reached
    assert one.best_params_["margin"] > 0.5
    assert one.best_params_["delta_plus"] == 0.0
    assert one.best_method_.margin == one.best_params_["margin"]
    assert one.best_params_["jury"] is None
    found = one.explain(REFUSED)
    assert (MODEL.predict_proba(found.x)[:, 1] >= one.best_params_["margin"]).all()
    assert len(batches) == 1 + len(one.tuning_.checks)  # no jury is trained for nothing


@pytest.mark.parametrize("mode", ["margin", "quorum", "mean"])
def test_stronger_criteria_cost_more_and_last_longer(mode):
    method = RobustBayesianRecourse(MODEL, **QUICK).fit(X)
    basis = basis_of(method, X, future_models(MODEL, X, Y, n_models=8, random_state=1).models)
    later = future_models(MODEL, X, Y, n_models=20, random_state=2)
    found = [
        method.set_params(**CRITERIA[mode].parameters(strength, basis)).fit(X).explain(REFUSED)
        for strength in (0.1, 0.9, 4.0)
    ]
    assert (np.diff([one.cost.mean() for one in found]) > 0.0).all()
    weak, _, strong = (one.future_validity(later).by_person.mean() for one in found)
    assert weak < 0.8 < 0.9 < strong
    assert tune([CRITERIA[mode]], 0.8).tuning_.reached


def refit(X, y, seed):
    """Train a function that answers with labels."""
    model = LogisticRegression(random_state=seed).fit(X, y)
    return lambda X: model.predict(X)


@pytest.mark.parametrize(
    ("model", "options", "modes"),
    [
        (MODEL, {}, {"budget", "margin", "quorum", "mean"}),
        (MODEL, {"jury": None}, {"budget", "margin"}),
        (LinearSVC().fit(X, Y), {}, {"budget", "quorum"}),
        (lambda X: MODEL.predict_proba(X)[:, 1], {"estimator": LogisticRegression()}, {*CRITERIA, "budget"}),
        (lambda X: MODEL.predict_proba(X)[:, 1], {"estimator": refit}, {"budget", "margin", "quorum"}),
        (lambda X: MODEL.predict(X), {"estimator": LogisticRegression()}, {"budget", "quorum", "mean"}),
    ],
)
def test_margins_and_means_only_where_there_are_probabilities(model, options, modes):
    one = tune([BUDGET, *CRITERIA.values()], 0.5, model=model, n_people=10, **options)
    assert set(one.tuning_.tried["mode"]) == modes


def test_probabilities_are_asked_for_above_the_threshold():
    method = RobustBayesianRecourse(MODEL, threshold=0.8, **QUICK).fit(X)
    assert basis_of(method, X, ()).decides == 0.8
    assert CRITERIA["margin"].parameters(0.1, basis_of(method, X, ()))["margin"] > 0.8


def test_without_radii_too():
    one = tune([CRITERIA["quorum"]], kind=BayesianRecourse)
    assert isinstance(one.best_method_, BayesianRecourse)
    assert one.best_method_.jury.rule == "quorum"


def test_a_file_tells_the_criterion(tmp_path):
    for mode in ("margin", "quorum", "mean"):
        one = tune([CRITERIA[mode]], scenarios=["bootstrap", Deletion(0.2)], n_people=12)
        one.tuning_.to_toml(tmp_path / "tuned.toml")
        data = tomllib.loads((tmp_path / "tuned.toml").read_text())
        assert not {"margin", "jury"} & set(data["parameters"])
        if mode == "margin":
            assert data["criterion"] == {"margin": one.best_params_["margin"]}
            continue
        assert data["criterion"] == {
            "jury": 8,
            "quorum": one.best_params_["jury"].quorum,
            "rule": mode,
            "first_juror": 30,
            "scenarios": ["bootstrap", "deletion (share 0.2)"],
            "seed": 0,
        }
        assert len(one.best_params_["jury"]) == 16
    tune([BUDGET]).tuning_.to_toml(tmp_path / "tuned.toml")
    assert "criterion" not in tomllib.loads((tmp_path / "tuned.toml").read_text())


def test_the_jury_of_a_tuned_method_is_saved_with_it(tmp_path):
    pytest.importorskip("skops")
    one = tune([CRITERIA["quorum"]], n_people=10)
    save(one.best_method_, tmp_path / "method.zip")
    np.testing.assert_array_equal(load(tmp_path / "method.zip").explain(REFUSED).x, one.explain(REFUSED).x)
    assert "jury=Jury(8 models, quorum" in repr(one.tuning_)


def test_what_was_measured_with_another_jury_is_not_used_again(tmp_path):
    first, second = (tune([CRITERIA["quorum"]], n_people=10, folder=tmp_path, jury=n) for n in (8, 3))
    assert (len(first.best_params_["jury"]), len(second.best_params_["jury"])) == (8, 3)
    alone = tune([CRITERIA["quorum"]], n_people=10, jury=3)
    assert second.tuning_.checks["cost"].tolist() == alone.tuning_.checks["cost"].tolist()


@pytest.mark.parametrize(("name", "value"), [("margin", 0.7), ("jury", Jury([MODEL]))])
def test_a_criterion_of_its_own_is_refused(name, value):
    method = RobustBayesianRecourse(MODEL, **{name: value}, **QUICK)
    with pytest.raises(ValueError, match=f"method has a {name} of its own, which tuning chooses"):
        TunedRecourse(method).fit(X, Y)


@pytest.mark.parametrize(("jury", "error"), [(0, ValueError), (-1, ValueError), (2.5, TypeError), ("auto", TypeError)])
def test_a_number_of_jurors(jury, error):
    with pytest.raises(error, match="jury must be"):
        TunedRecourse(RobustBayesianRecourse(MODEL, **QUICK), jury=jury).fit(X, Y)
