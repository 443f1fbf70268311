"""Tuning to a promised future validity: what is measured is kept apart from what chooses, and what is said is true."""

from __future__ import annotations

import math
import tomllib
import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.linear_model import LogisticRegression

from robust_recourse import ActionSet, BayesianRecourse, RobustBayesianRecourse, TunedRecourse, Wachter
from robust_recourse.futures import LabelNoise, future_models
from robust_recourse.tuning import TUNED, Tuning, _search
from robust_recourse.tuning import tuned as module
from robust_recourse.tuning._families import Basis, Family
from robust_recourse.tuning._halving import Dial, planned
from robust_recourse.tuning._study import Measured, Study

BUDGETS = (Family("budget", 1.0, 0.5, 0.1, axes=False), Family("budget", 0.5, 0.5, 0.0, axes=True))
BOTH = (Family("odds", 1.0, 0.25, 0.1, axes=True), BUDGETS[0])
QUICK = {"n_samples": 10, "n_neighbors": 10}

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 2))
Y = (X.sum(axis=1) + 0.7 * RNG.normal(size=120) > 0).astype(int)


class Linear:
    """Accepts one side of a line; it can be told to stop everything when it is asked once more."""

    left = math.inf

    def __init__(self, weights, threshold):
        self.weights, self.threshold = weights, threshold

    def predict(self, X):
        Linear.left -= 1
        if Linear.left < 0:
            raise KeyboardInterrupt
        return (np.asarray(X) @ self.weights > self.threshold).astype(int)


def refit(X, y, _):
    """Train quickly: half-way between the means of the two classes."""
    refused, accepted = (X[y == label].mean(axis=0) for label in (0, 1))
    return Linear(accepted - refused, (accepted - refused) @ (accepted + refused) / 2.0)


MODEL = refit(X, Y, 0)


class Means(BaseEstimator):
    """The same as an estimator."""

    def fit(self, X, y):
        self.line_ = refit(X, y, 0)
        return self

    def predict(self, X):
        return self.line_.predict(X)


def noise(_, y, seed):
    """Accept a random half of the plane, whatever the data."""
    angle = np.random.default_rng([seed, len(y)]).uniform(0.0, 2.0 * math.pi)
    return Linear(np.array([math.cos(angle), math.sin(angle)]), 0.0)


def robust(model=MODEL, **settings):
    return RobustBayesianRecourse(model, **{**QUICK, **settings})


def quick(method=None, X=X, y=Y, estimator=refit, target=0.9, people=None, **settings):
    """Tune; return what was found."""
    settings = {"n_models": 6, "n_people": 20, "random_state": 0, **settings}
    one = TunedRecourse(robust() if method is None else method, target, estimator=estimator, **settings)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A future validity of .* was not reached")
        return one.fit(X, y, people).tuning_


def apply(tuning, method):
    """Return a copy of a method with what was found."""
    return clone(method).set_params(**tuning.parameters)


class Call(NamedTuple):
    """A measurement: for which people, and which models."""

    name: str
    rows: tuple[int, ...]
    models: Any
    people: Any
    found: Measured


@pytest.fixture(autouse=True)
def few_families(monkeypatch):
    """Look over a few that are quick to measure; a test that needs promised odds says so."""
    monkeypatch.setattr(_search, "FAMILIES", BUDGETS)


@pytest.fixture
def calls(monkeypatch):
    """All measurements, as they are made."""
    made = []

    class Spy(Study):
        def measure(self, configurations, rows, models, name):
            for found in super().measure(configurations, rows, models, name):
                made.append(Call(name, tuple(rows.tolist()), models, self._people, found))
                yield found

    monkeypatch.setattr(module, "Study", Spy)
    return made


@pytest.fixture
def explained(monkeypatch):
    """Counts the calls of explain."""
    counts = []
    explain = RobustBayesianRecourse.explain

    def counting(self, X, *args, **settings):
        found = explain(self, X, *args, **settings)
        counts.append(len(X))
        return found

    monkeypatch.setattr(RobustBayesianRecourse, "explain", counting)
    return counts


def outside(families, **settings):
    """Tune in a fixture of the module."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_search, "FAMILIES", families)
        return quick(**settings)


@pytest.fixture(scope="module")
def tuned():
    """A target that is within reach."""
    return outside(BUDGETS)


@pytest.fixture(scope="module")
def both():
    """The same, with both modes."""
    return outside(BOTH)


@pytest.fixture(scope="module")
def hopeless():
    """One that is not: the models of the future have nothing to do with the present one."""
    return outside(BUDGETS, estimator=noise)


def assert_same(tuning, other):
    """Compare two results to the last bit."""
    for name, value in vars(tuning).items():
        back = getattr(other, name)
        if isinstance(value, pd.DataFrame):
            pd.testing.assert_frame_equal(value, back, check_exact=True, obj=name)
        else:
            assert repr(value) == repr(back), name


# Who chooses, who checks


@pytest.mark.parametrize("estimator", [refit, noise])
def test_people_and_models_that_check_have_not_chosen(calls, estimator):
    tuning = quick(estimator=estimator)
    choosing, checking = ([call for call in calls if (call.name == "choose") == chooses] for chooses in (True, False))
    assert len(choosing) >= planned(2) - 4
    assert len(checking) == len(tuning.checks)
    assert (len(checking) == 1) == (estimator is refit)
    chose, checked = ({row for call in some for row in call.rows} for some in (choosing, checking))
    assert chose.isdisjoint(checked)
    assert len(chose) == len(checked) == tuning.n_people == 10
    # The people of all checks are the same, the models are new every time.
    assert len({call.rows for call in checking}) == 1
    batches = [choosing[0].models, *(call.models for call in checking)]
    assert all(call.models is choosing[0].models for call in choosing)
    numbers = [set(batch.number.tolist()) for batch in batches]
    assert all(len(own) == 6 for own in numbers)
    assert len(set.union(*numbers)) == 6 * len(batches)
    assert len({id(model) for batch in batches for model in batch}) == 6 * len(batches)
    lines = {tuple(np.round([*model.weights, model.threshold], 12)) for batch in batches for model in batch}
    assert len(lines) == 6 * len(batches)


def test_everybody_is_refused_and_a_row_of_the_training_data(calls):
    quick()
    people = calls[0].people
    assert len(people) == (MODEL.predict(X) == 0).sum()
    assert not MODEL.predict(people).any()
    assert {tuple(row) for row in people} <= {tuple(row) for row in X}


def test_what_is_said_is_what_a_naive_measurement_of_the_other_people_and_models_gives(both, calls, monkeypatch):
    monkeypatch.setattr(_search, "FAMILIES", BOTH)
    assert_same(both, quick())
    tuned = both
    (check,) = [call for call in calls if call.name != "choose"]
    others = check.people[list(check.rows)]
    models = future_models(refit, X, Y, "bootstrap", n_models=6, start=6, random_state=0)
    found = apply(tuned, robust(random_state=0)).fit(X).explain(others)
    accepted = np.array([[model.predict(x[None])[0] for model in models] for x in found.x])
    assert tuned.future_validity.share == pytest.approx(accepted.mean())
    assert tuned.cost == pytest.approx(found.cost.mean())
    assert (tuned.n_people, tuned.n_models) == accepted.shape == (10, 6)
    assert tuned.without_recourse == 0.0
    assert tuned.future_validity.low < tuned.future_validity.share <= tuned.future_validity.high


def test_the_cheapest_configuration_that_is_good_enough_is_chosen(calls):
    tuning = quick(target=0.8)
    choosing = [call.found for call in calls if call.name == "choose" and len(call.rows) == 10]
    good = [found for found in choosing if found.validity - found.error >= 0.8]
    assert 1 < len(good) < len(choosing)
    assert len(tuning.checks) == 1
    assert dict(tuning.parameters) == dict(min(good, key=lambda found: found.cost).parameters)


def test_reached_is_what_the_last_check_says(tuned, hopeless):
    for tuning, reached in ((tuned, True), (hopeless, False)):
        last = tuning.checks.iloc[-1]
        assert tuning.reached is reached
        assert (last["future_validity"] >= tuning.target) == reached
        assert last["future_validity"] == tuning.future_validity.share
        assert last["cost"] == tuning.cost
        for name, value in tuning.parameters.items():
            assert pd.isna(last[name]) if value is None else last[name] == value


def test_out_of_reach_is_said(hopeless):
    assert not hopeless.reached
    assert hopeless.future_validity.share < 0.9
    assert hopeless.summary.startswith("A future validity of 0.9 was not reached; this is the best that was found: 0.")
    assert str(hopeless.future_validity) in hopeless.summary
    assert hopeless.summary.endswith(" The people took part in earlier checks, too.")
    # Different ones were checked, and the best of them once more.
    first = hopeless.checks.iloc[:-1]
    names = ["sampling_radius", "sigma", "axes", "delta_plus"]
    assert len(first.drop_duplicates(names)) == len(first) > 1
    best = first.loc[first["future_validity"].idxmax()]
    assert best[names].to_dict() == {name: hopeless.parameters[name] for name in names}


def test_tables_have_everything_and_the_frontier_is_what_nothing_beats(both, hopeless):
    for tuning in (both, hopeless):
        whole = tuning.tried[tuning.tried["people"] == 10]
        assert (tuning.tried["people"] <= 10).all()
        assert (tuning.tried["models"] == 6).all()
        assert tuning.work == tuning.tried["people"].sum() + tuning.checks["people"].sum()
        pairs = [tuple(pair) for pair in whole[["cost", "future_validity"]].to_numpy()]
        naive = {
            (cost, share) for cost, share in pairs if not any(
                (c <= cost and v >= share) and (c, v) != (cost, share) for c, v in pairs
            )
        }  # fmt: skip
        frontier = [tuple(pair) for pair in tuning.frontier[["cost", "future_validity"]].to_numpy()]
        assert frontier == sorted(naive)
        assert list(tuning.frontier.columns) == list(tuning.tried.columns)
    assert set(both.tried["mode"]) == {"odds", "budget"}
    assert both.scenarios == ("bootstrap",)


# The same again, and after an interrupt


def test_the_same_seed_gives_the_same_and_processes_do_not_matter(tuned):
    assert_same(tuned, quick(random_state=np.int64(0), n_jobs=1))
    other = quick(random_state=1)
    assert other.seed == 1
    assert other.tried["cost"].tolist() != tuned.tried["cost"].tolist()


@pytest.mark.slow
def test_two_processes_give_the_same(tmp_path, explained):
    model = LogisticRegression().fit(X, Y)
    one = quick(robust(model), estimator=None, n_people=10)
    assert_same(one, quick(robust(model), estimator=None, n_people=10, n_jobs=2, folder=tmp_path))
    # What the processes kept can be read here.
    explained.clear()
    assert_same(one, quick(robust(model), estimator=None, n_people=10, folder=tmp_path))
    assert explained == []


def test_a_generator_is_a_seed():
    first, second = (quick(random_state=np.random.default_rng(5), n_people=10) for _ in range(2))
    assert_same(first, second)


@pytest.mark.slow
@pytest.mark.parametrize("part", [0.2, 0.6, 0.97])
def test_a_call_that_was_interrupted_continues(tmp_path, monkeypatch, explained, tuned, part):
    monkeypatch.setattr(Linear, "left", math.inf)
    start = 10_000_000
    Linear.left = start
    quick()
    asked, total = start - Linear.left, len(explained)
    explained.clear()
    Linear.left = int(part * asked)
    with pytest.raises(KeyboardInterrupt):
        quick(folder=tmp_path)
    finished = len(list((tmp_path / "measured").iterdir()))
    assert 0 < finished < total
    explained.clear()
    Linear.left = math.inf
    assert_same(quick(folder=tmp_path), tuned)
    assert len(explained) == total - finished
    # A third call measures nothing.
    explained.clear()
    assert_same(quick(folder=tmp_path), tuned)
    assert explained == []


def test_another_target_uses_what_was_measured_for_the_first(tmp_path, explained):
    quick(folder=tmp_path)
    first = len(explained)
    explained.clear()
    other = quick(folder=tmp_path, target=0.8)
    assert len(explained) < first
    assert_same(other, quick(target=0.8))


@pytest.mark.parametrize(
    "change",
    [
        {"X": X + 0.01},
        {"y": 1 - Y},
        {"estimator": lambda X, y, seed: refit(X[seed % 2 :], y[seed % 2 :], seed)},
        {"scenarios": ["deletion"]},
        {"scenarios": [LabelNoise(0.2)]},
        {"n_models": 7},
        {"random_state": 3},
        {"method": robust(n_samples=16)},
        {"method": robust(actions=ActionSet(bounds={0: (-9.0, 9.0)}))},
        {"method": robust(refit(X[10:], Y[10:], 0))},
        {"people": X[::-1]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_what_depends_on_other_things_is_not_taken_from_the_folder(tmp_path, monkeypatch, explained, change):
    monkeypatch.setattr(_search, "FAMILIES", BUDGETS[:1])
    monkeypatch.setattr(_search, "_CHECKS", 1)
    quick(folder=tmp_path, n_people=10)
    explained.clear()
    quick(folder=tmp_path, **{"n_people": 10, **change})
    kept = len(explained)
    explained.clear()
    quick(**{"n_people": 10, **change})
    assert kept == len(explained) > 0


def test_an_action_set_is_known_by_what_it_says(tmp_path, explained):
    quick(robust(actions=ActionSet(increase=[0])), folder=tmp_path, n_people=12)
    explained.clear()
    quick(robust(actions=ActionSet(increase=[0])), folder=tmp_path, n_people=12)
    assert explained == []


def test_models_that_cannot_be_pickled_need_no_folder(tmp_path, tuned):
    model = refit(X, Y, 0)
    model.note = lambda: "of no use, and of no module"
    assert_same(tuned, quick(robust(model)))
    with pytest.raises(TypeError, match=r"folder cannot tell models apart of which a part cannot be pickled"):
        quick(robust(model), folder=tmp_path)


def test_nothing_is_printed(capfd):
    quick(n_people=10)
    assert capfd.readouterr() == ("", "")


# Who has no recourse


def test_who_has_no_recourse_is_not_accepted_and_not_cheap(calls):
    actions = ActionSet(immutable=[1], bounds={0: (-9.0, 1.0)})
    tuning = quick(robust(actions=actions))
    found = apply(tuning, robust(actions=actions, random_state=0)).fit(X)
    others = calls[-1].people[list(calls[-1].rows)]
    cost = found.explain(others).cost
    lost = np.isnan(cost)
    assert 0.1 < tuning.without_recourse == lost.mean() < 0.9
    assert tuning.future_validity.share <= 1.0 - tuning.without_recourse
    assert not tuning.reached
    assert tuning.cost == pytest.approx(np.where(lost, np.nanmax(cost), cost).mean())
    assert tuning.cost > np.nanmean(cost)


def test_if_nobody_has_a_recourse_that_is_said(tmp_path):
    tuning = quick(robust(actions=ActionSet(immutable=[0, 1])), n_people=10)
    assert (tuning.reached, tuning.cost, tuning.without_recourse) == (False, math.inf, 1.0)
    assert tuning.future_validity.share == 0.0
    assert "was not reached" in repr(tuning)
    tuning.to_toml(tmp_path / "settings.toml")
    assert tomllib.loads((tmp_path / "settings.toml").read_text())["measured"]["mean_cost"] == math.inf


@pytest.mark.parametrize(("lost", "target", "kept"), [(8, 0.9, False), (8, 0.1, True), (1, 0.9, True), (1, 1.0, False)])
def test_a_configuration_that_loses_people_is_not_on_the_frontier(lost, target, kept):
    """Who is left is cheap, and that is no merit."""

    def measured(costs, share):
        costs = np.array(costs)
        shares = np.where(np.isnan(costs), 0.0, share)
        return Measured({"delta_plus": share}, costs, shares, np.full(4, shares.mean()), n_queries=1)

    dial = Dial(BUDGETS[0], target)
    dial.tried[1.0] = measured([1.0] * 10, 0.95)
    dial.tried[2.0] = measured([0.1] * (10 - lost) + [np.nan] * lost, 1.0)
    told = {
        "method": "RobustBayesianRecourse",
        "others": {},
        "scenarios": ("bootstrap",),
        "seed": 0,
        "first_juror": 0,
        "work": 20,
    }
    tuning = Tuning.of(checks=[dial.tried[1.0]], dials=[dial], target=target, **told)
    assert len(tuning.tried) == 2
    assert (0.1 in tuning.frontier["cost"].round(12).tolist()) == kept
    # Where everybody loses as many, nobody loses more than others.
    alone = Dial(BUDGETS[0], target, tried={2.0: dial.tried[2.0]})
    assert len(Tuning.of(checks=[dial.tried[2.0]], dials=[alone], target=target, **told).frontier) == 1


# What may be given


def test_people_can_be_given_and_the_accepted_ones_are_left_out(calls):
    people = np.random.default_rng(1).normal(size=(40, 2))
    tuning = quick(people=people, n_people=20)
    refused = people[MODEL.predict(people) == 0]
    np.testing.assert_array_equal(calls[0].people, refused)
    assert tuning.n_people == min(len(refused), 20) // 2
    assert_same(tuning, quick(people=people.tolist(), n_people=20))
    assert_same(tuning, quick(people=refused, n_people=20))


def test_no_more_people_than_wanted_are_used(calls):
    quick(n_people=11)
    assert len({row for call in calls for row in call.rows}) == 11
    calls.clear()
    quick(people=X[MODEL.predict(X) == 0][:13], n_people=1000)
    assert len({row for call in calls for row in call.rows}) == 13


def test_too_few_refused_people():
    refused, accepted = (X[MODEL.predict(X) == label] for label in (0, 1))
    few = np.concatenate([refused[:9], accepted[:20]])
    with pytest.raises(ValueError, match=r"refuses 9 of the 29 rows of people; tuning needs at least 10 refused"):
        quick(people=few)
    with pytest.raises(ValueError, match=r"refuses 0 of the 20 rows of people"):
        quick(people=accepted[:20])
    with pytest.raises(ValueError, match=rf"refuses 9 of the {len(accepted) + 9} rows of X; .* people="):
        quick(X=np.concatenate([accepted, refused[:9]]), y=np.zeros(len(accepted) + 9))
    assert quick(people=refused[:10], n_people=10).n_people == 5


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"target": 0.0}, ValueError, r"target_future_validity must be greater than 0, got 0"),
        ({"target": 1.01}, ValueError, r"target_future_validity must be at most 1, got 1.01"),
        ({"target": "0.9"}, TypeError, r"target_future_validity must be a real number"),
        ({"n_models": 1}, ValueError, r"n_models must be at least 2, got 1"),
        ({"n_models": 2.0}, TypeError, r"n_models must be an integer"),
        ({"n_people": 9}, ValueError, r"n_people must be at least 10, got 9"),
        ({"X": np.empty((0, 2))}, ValueError, r"X has no rows"),
        ({"people": np.empty((0, 2))}, ValueError, r"people has no rows"),
        ({"people": X[0]}, ValueError, r"people must be two-dimensional"),
        ({"y": None}, ValueError, r"y is missing"),
        ({"folder": "kept", "random_state": None}, ValueError, r"random_state is missing: only with a seed"),
        ({"estimator": 0.9}, TypeError, r"estimator must be like those of scikit-learn, .* got float"),
        ({"random_state": -1}, ValueError, r"random_state must be at least 0"),
        ({"y": Y[:-1]}, ValueError, r"y must have one label for each of the 120 rows"),
        ({"scenarios": ["flood"]}, ValueError, r"flood"),
        ({"method": Wachter(MODEL)}, TypeError, r"got Wachter: the others have nothing to tune"),
        ({"method": MODEL}, TypeError, r"must be a RobustBayesianRecourse or a BayesianRecourse, got Linear"),
        ({"estimator": None}, TypeError, r"estimator is missing: a Linear cannot be trained anew"),
        ({"method": robust(None), "estimator": None}, TypeError, r"estimator is missing: a NoneType cannot be trained"),
        ({"method": robust(None)}, TypeError, r"model must .* got NoneType"),
        ({"method": RobustBayesianRecourse}, TypeError, r"got a class"),
        ({"estimator": LogisticRegression}, TypeError, r"estimator must be an object, got a class"),
        ({"estimator": lambda X: X}, TypeError, r"is called as refit\(X, y, seed\)"),
        ({"method": robust(sigma=-1.0)}, ValueError, r"sigma must be greater than 0"),
    ],
)
def test_bad_arguments_are_named(settings, error, message):
    with pytest.raises(error, match=message):
        quick(**settings)


def test_a_fresh_copy_of_the_model_is_trained_if_nothing_else_is_given(tuned):
    model = Means().fit(X, Y)
    line = model.line_
    assert_same(tuned, quick(robust(model), estimator=None))
    assert model.line_ is line


def test_a_function_that_trains_gets_seeds_that_estimators_take():
    seeds = []

    def train(X, y, seed):
        seeds.append(seed)
        return refit(X, y, seed)

    quick(estimator=train, n_people=10, random_state=None)
    assert len(set(seeds)) == len(seeds) >= 12
    assert all(0 <= seed < 2**32 for seed in seeds)


class Scored:
    """Probabilities of labels that are words, from the columns of a frame; of pandas or polars."""

    classes_ = np.array(["defaulted", "repaid"])

    def __init__(self, line):
        self.line = line

    @staticmethod
    def numbers(table):
        nurse = np.asarray(table["job"]) == "nurse" if "job" in table.columns else 0.0 * np.asarray(table["income"])
        return np.column_stack([np.asarray(table["income"]) / 800.0, np.asarray(table["months"]) / 15.0, nurse])

    def predict_proba(self, table):
        score = 3.0 * (self.numbers(table) @ self.line.weights - self.line.threshold)
        accepted = 1.0 / (1.0 + np.exp(-score))
        return np.column_stack([1.0 - accepted, accepted])

    def predict(self, table):
        return self.classes_[(self.predict_proba(table)[:, 1] >= 0.5).astype(int)]


def score(table, y, seed):
    return Scored(refit(Scored.numbers(table), (np.asarray(y) == "repaid").astype(int), seed))


@pytest.fixture(scope="module")
def loans():
    """A frame with categories, and labels."""
    rng, n = np.random.default_rng(2), 120
    frame = pd.DataFrame(
        {
            "income": rng.normal(3000.0, 800.0, n).round(),
            "months": rng.integers(6, 60, n),
            "job": rng.choice(["clerk", "cook", "nurse"], n),
            "sex": pd.Categorical(rng.choice(["f", "m"], n)),
        },
        index=pd.Index([f"case {k}" for k in range(n)]),
    )
    total = frame["income"] / 800.0 - frame["months"] / 15.0 + (frame["job"] == "nurse") + rng.normal(0.0, 0.7, n)
    return frame, np.where(total > 1.5, "repaid", "defaulted")


def test_frames_categories_action_sets_and_decisions(loans, calls, monkeypatch):
    monkeypatch.setattr(_search, "FAMILIES", BUDGETS[:1])
    frame, labels = loans
    model = score(frame, labels, 0)
    actions = ActionSet(frame, immutable=["sex"], decrease=["months"])
    method = robust(model, actions=actions, favourable="repaid", threshold=0.7)
    tuning = quick(method, frame, labels, score, n_people=12)
    people, check = calls[0].people, calls[-1]
    np.testing.assert_array_equal(people, frame[model.predict_proba(frame)[:, 1] < 0.7])
    found = apply(tuning, method).set_params(random_state=0).fit(frame).explain(people.iloc[list(check.rows)])
    assert (found.x["sex"] == found.x0["sex"]).all()
    answers = np.array([other.predict_proba(found.x)[:, 1] >= 0.7 for other in check.models])
    assert tuning.future_validity.share == pytest.approx(answers.mean())
    assert tuning.cost == pytest.approx(found.cost.mean())
    # With another decision the same models say something else.
    edge = found.boundary.astype(found.x.dtypes.to_dict())
    sure = np.mean([other.predict_proba(edge)[:, 1] >= 0.7 for other in check.models])
    assert 0.0 < sure < np.mean([other.predict(edge) == "repaid" for other in check.models])


def test_frames_of_polars_give_the_same(loans, monkeypatch):
    monkeypatch.setattr(_search, "FAMILIES", BUDGETS[:1])
    frame, labels = loans
    numbers = frame[["income", "months"]].reset_index(drop=True)
    method = robust(score(numbers, labels, 0), favourable="repaid")
    one, other = (quick(method, table, labels, score, n_people=10) for table in (numbers, pl.from_pandas(numbers)))
    assert_same(one, other)


def test_people_may_have_their_columns_in_another_order(loans, calls, monkeypatch):
    monkeypatch.setattr(_search, "FAMILIES", BUDGETS[:1])
    frame, labels = loans
    numbers = frame[["income", "months"]]
    method = robust(score(numbers, labels, 0), favourable="repaid")
    quick(method, numbers, labels, score, n_people=10, people=numbers[["months", "income"]])
    assert list(calls[0].people.columns) == ["income", "months"]
    with pytest.raises(ValueError, match="people lacks the column 'months' of X"):
        quick(method, numbers, labels, score, people=numbers[["income"]])


def test_the_recourse_without_radii_is_tuned_without_them(calls, monkeypatch):
    # Two that differ in their radii alone are one.
    both = (Family("budget", 1.0, 0.5, 0.1, axes=True), Family("budget", 1.0, 0.5, 0.0, axes=True))
    monkeypatch.setattr(_search, "FAMILIES", both)
    tuning = quick(BayesianRecourse(MODEL, **QUICK), n_people=12)
    assert tuning.method == "BayesianRecourse"
    assert set(tuning.parameters) == set(TUNED) - {"epsilon_0", "epsilon_1"}
    assert len([call for call in calls if call.name == "choose"]) <= planned(1)


def test_lengths_are_relative_to_the_radius_that_the_method_has(monkeypatch):
    monkeypatch.setattr(_search, "FAMILIES", BUDGETS[:1])
    short, long = (quick(robust(sampling_radius=radius), n_people=12) for radius in (0.1, 0.4))
    for tuning, radius in ((short, 0.1), (long, 0.4)):
        assert set(tuning.tried["sampling_radius"]) == {radius}
        assert set(tuning.tried["sigma"]) == {0.5 * radius}
    unit = quick(robust(sampling_radius=0.1, radius_unit="diameter"), n_people=12)
    length = robust(sampling_radius=0.1, radius_unit="diameter").fit(X).radius_
    assert set(unit.tried["sampling_radius"]) == {0.1}
    assert set(unit.tried["sigma"]) == {float(f"{0.5 * length:.6g}")}


def test_several_scenarios_are_all_used(calls, monkeypatch):
    monkeypatch.setattr(_search, "FAMILIES", BUDGETS[:1])
    tuning = quick(scenarios=["bootstrap", LabelNoise(0.1)], n_people=10)
    assert tuning.scenarios == ("bootstrap", "label noise (share 0.1)")
    assert tuning.n_models == 12
    assert all(len(call.models) == 12 for call in calls)


# What comes out


@pytest.mark.parametrize("mode", ["odds", "budget"])
def test_a_file_has_the_configuration_and_what_was_measured(tmp_path, monkeypatch, mode):
    monkeypatch.setattr(_search, "FAMILIES", tuple(family for family in BOTH if family.mode == mode))
    method = robust(radius_unit="diameter", sampling_radius=0.05, n_samples=np.int64(12), random_state=0)
    tuning = quick(method, n_people=12)
    path = tmp_path / "new" / "settings.toml"
    tuning.to_toml(path)
    data = tomllib.loads(path.read_text())
    assert data["method"] == "robust"
    chosen = {key: value for key, value in tuning.parameters.items() if value is not None}
    assert data["parameters"] == {**tuning.others, **chosen}
    assert ("target_odds" in data["parameters"]) == (mode == "odds")
    said = data["measured"]
    assert said["reached"] is tuning.reached
    assert said["target_future_validity"] == 0.9
    assert [said["future_validity"], *said["interval"]] == pytest.approx(list(tuning.future_validity), abs=1e-4)
    assert said["mean_cost"] == pytest.approx(tuning.cost, rel=1e-5)
    assert said["without_recourse"] == pytest.approx(tuning.without_recourse, abs=1e-4)
    assert (said["people"], said["models"]) == (6, 6)
    assert (said["scenarios"], said["seed"]) == (["bootstrap"], 0)
    # The method that the file describes is the one that was found, whatever the defaults are.
    again = RobustBayesianRecourse(MODEL, random_state=0, **data["parameters"])
    assert again.get_params() | {"delta_plus": None} == apply(tuning, method).get_params() | {"delta_plus": None}
    assert ("delta_plus" in data["parameters"]) == (mode == "budget")
    assert path.read_text().startswith("# The cheapest configuration that was found")


def test_files_hold_text_too_and_only_methods_of_the_command_line(tuned, tmp_path):
    path = tmp_path / "settings.toml"
    path.write_text("old")
    odd = {**vars(tuned), "scenarios": ('a "new" law\\', "é\n"), "seed": 2**63 - 1}
    Tuning(**{**odd, "parameters": {**tuned.parameters, "radius_unit": "diameter"}}).to_toml(path)
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    assert data["parameters"]["radius_unit"] == "diameter"
    assert data["measured"]["scenarios"] == ['a "new" law\\', "é\n"]
    assert data["measured"]["seed"] == 2**63 - 1
    with pytest.raises(TypeError, match="The command line has no MyRecourse"):
        Tuning(**{**vars(tuned), "method": "MyRecourse"}).to_toml(tmp_path / "other.toml")
    assert not (tmp_path / "other.toml").exists()


def test_the_result_is_shown_in_words(tuned):
    assert tuned.summary.startswith("A future validity of 0.9 was reached: ")
    assert "on 10 other people and 6 other models, at a mean cost of" in tuned.summary
    assert "The interval reaches below the target." in tuned.summary
    assert "earlier checks" not in tuned.summary
    assert repr(tuned).splitlines()[0] == tuned.summary
    assert repr(tuned).splitlines()[1].startswith("RobustBayesianRecourse(sampling_radius=")
    assert "None" not in repr(tuned)
    assert f"<b>{tuned.summary}</b>" in tuned._repr_html_()
    assert "<table" in tuned._repr_html_()


# The search, on numbers that are made up


class Noise:
    """Stands for a study of configurations that are all alike: shares of people and models are coins."""

    def __init__(self, q, seed):
        self.q, self.rng, self.log = q, np.random.default_rng(seed), []
        self.known = {}

    def measure(self, configurations, rows, models, name):
        for parameters in configurations:
            key = (str(parameters), len(rows), name)
            if key not in self.known:
                accepted = self.rng.random((len(rows), 8)) < self.q
                cost = parameters["sigma"] + (parameters.get("delta_plus") or 0.3)
                self.known[key] = Measured(
                    parameters, np.full(len(rows), cost), accepted.mean(axis=1), accepted.mean(axis=0), n_queries=0
                )
            self.log.append((name, tuple(rows), models, self.known[key]))
            yield self.known[key]


def search(study, target, n=20):
    halves = np.arange(n), np.arange(n, 2 * n)
    found = _search.Search(study, Basis(0.2, 0.2, robust=True), halves, lambda number: f"models {number}", target)
    found.choose()
    return found, found.check()


def test_the_reported_validity_of_many_searches_is_right_on_average_and_that_of_a_leaky_search_is_not(monkeypatch):
    monkeypatch.setattr(_search, "FAMILIES", BOTH + BUDGETS[1:])
    n_searches, n, q = 150, 20, 0.5
    reported, best, chosen = [], [], []
    for seed in range(n_searches):
        study = Noise(q, seed)
        found, checks = search(study, 0.95)
        assert len(checks) == 4
        reported.append(checks[-1].validity)
        best.append(max(check.validity for check in checks[:3]))
        whole = [known for dial in found.dials for known in dial.tried.values() if len(known.costs) == n]
        chosen.append(max(known.validity for known in whole))
    error = math.sqrt(q * (1.0 - q) / (8 * n) / n_searches)
    assert abs(np.mean(reported) - q) < 4.0 * error
    # The same numbers with the leak of those who choose, or of the best of several checks.
    assert np.mean(chosen) - q > 8.0 * error
    assert np.mean(best) - q > 8.0 * error


def test_a_check_that_is_passed_is_the_last_and_the_first_of_several_is_confirmed_with_new_models():
    class Scripted(Noise):
        """All configurations do well when they are chosen; the checks are as they are told."""

        def measure(self, configurations, rows, models, name):
            for parameters in configurations:
                share = 1.0 if name == "choose" else self.q[int(name.split()[1]) - 1]
                cost = parameters.get("delta_plus") or -math.log(parameters["target_odds"])
                found = Measured(parameters, np.full(len(rows), cost), np.full(len(rows), share), np.full(4, share), 1)
                self.log.append((name, tuple(rows), models, found))
                yield found

    for answers, reached in (
        ([0.9], True),
        ([0.8, 0.95, 0.93], True),
        ([0.8, 0.95, 0.89], False),
        ([0.8, 0.7, 0.92, 0.91], True),
        ([0.8, 0.89, 0.7, 0.86], False),
    ):
        study = Scripted(answers, 0)
        found, checks = search(study, 0.9)
        assert [check.validity for check in checks] == answers
        made = [entry for entry in study.log if entry[0] != "choose"]
        assert [entry[0] for entry in made] == [f"check {k + 1}" for k in range(len(answers))]
        assert [entry[2] for entry in made] == [f"models {k + 1}" for k in range(len(answers))]
        assert {entry[2] for entry in study.log if entry[0] == "choose"} == {"models 0"}
        assert {entry[1] for entry in made} == {tuple(range(20, 40))}
        parameters = [str(check.parameters) for check in checks]
        if len(answers) > 1:
            assert len(set(parameters[:-1])) == len(answers) - 1
            assert parameters[-1] == parameters[int(np.argmax(answers[:-1]))]
        told = {
            "method": "RobustBayesianRecourse",
            "others": {},
            "target": 0.9,
            "scenarios": ("bootstrap",),
            "seed": 0,
            "first_juror": 0,
            "work": 1,
        }
        tuning = Tuning.of(checks=checks, dials=found.dials, **told)
        assert tuning.reached is reached
        assert tuning.future_validity.share == answers[-1]
        assert dict(tuning.parameters) == dict(checks[-1].parameters)


def test_after_a_check_that_fails_a_stronger_one_is_chosen():
    class Steep:
        """Validity grows with the budget, and is lower for the people who check."""

        def measure(self, configurations, rows, _, name):
            for parameters in configurations:
                budget, n = parameters["delta_plus"], len(rows)
                share = budget / (budget + 0.1) - (0.0 if name == "choose" else 0.04)
                yield Measured(parameters, np.full(n, budget), np.full(n, share), np.full(4, share), n_queries=0)

    _, checks = search(Steep(), 0.9)
    budgets = [check.cost for check in checks]
    assert 0.9 <= budgets[0] < 0.94 / 0.6  # good enough to choose, and not to check
    assert checks[0].validity < 0.9
    assert budgets[:-1] == sorted(set(budgets[:-1]))
    assert checks[-1].validity >= 0.9
    assert budgets[-1] == budgets[-2] < 1.3 * 0.94 / 0.6


# The leak test


class Nearest:
    """Accepts where the nearest of its points is accepted."""

    def __init__(self, points, labels):
        self.points, self.labels = points, labels

    def predict(self, X):
        return self.labels[((np.asarray(X)[:, None] - self.points) ** 2).sum(axis=2).argmin(axis=1)]


def shuffled(X, y, seed):
    """Train on labels that say nothing."""
    return Nearest(X, np.random.default_rng(seed).permutation(y))


def standard_error(accepted, n_people, n_models):
    """Standard error of a mean over people and models, by the analysis of variance of a larger table of answers."""
    rows, columns = accepted.shape
    by_person, by_model = accepted.mean(axis=1), accepted.mean(axis=0)
    rest = accepted - by_person[:, None] - by_model + accepted.mean()
    both = (rest**2).sum() / ((rows - 1) * (columns - 1))
    people = max(by_person.var(ddof=1) - both / columns, 0.0)
    models = max(by_model.var(ddof=1) - both / rows, 0.0)
    return math.sqrt(people / n_people + models / n_models + both / (n_people * n_models))


def unseen(tuning, method, model, rows, y, estimator, seed):
    """Measure a configuration on people that are drawn anew and 100 models of numbers that tuning never used."""
    people = np.random.default_rng([seed, 77]).uniform(-1.0, 1.0, (160, 2))
    people = people[model.predict(people) == 0][:60]
    models = future_models(estimator, rows, y, "bootstrap", n_models=100, start=10_000, random_state=seed)
    found = apply(tuning, method).set_params(random_state=seed).fit(rows).explain(people)
    return found.future_validity(models).accepted.astype(float)


def shuffled_labels(estimator, target, n_seeds):
    """Tune on labels that say nothing; return how far reports are off, those of a leaky search, and their errors."""
    reported, leaked, errors = [], [], []
    for seed in range(n_seeds):
        rng = np.random.default_rng([seed, 5])
        rows = rng.uniform(-1.0, 1.0, (100, 2))
        y = rng.permutation(np.repeat([0, 1], 50))
        model = estimator(rows, y, seed)
        method = robust(model)
        tuning = quick(method, rows, y, estimator, target, n_models=4, random_state=seed)
        accepted = unseen(tuning, method, model, rows, y, estimator, seed)
        reported.append(tuning.future_validity.share - accepted.mean())
        errors.append(math.hypot(standard_error(accepted, 10, 4), standard_error(accepted, *accepted.shape)))
        # A leaky search reports what the people and the models say that chose.
        whole = tuning.tried[tuning.tried["people"] == 10]
        leaked.append(whole["future_validity"].max() - accepted.mean())
    return np.array(reported), np.array(leaked), np.array(errors)


WIDE = (BUDGETS[0], Family("budget", 4.0, 0.5, 0.1, axes=True), Family("budget", 2.0, 1.0, 0.0, axes=False))


@pytest.mark.slow
def test_on_shuffled_labels_unseen_models_and_people_confirm_what_is_reported(monkeypatch):
    monkeypatch.setattr(_search, "FAMILIES", WIDE)
    n_seeds = 60
    reported, leaked, errors = shuffled_labels(shuffled, 0.6, n_seeds)
    error = math.sqrt((errors**2).sum()) / n_seeds
    assert abs(reported.mean()) < 3.0 * error
    assert (np.abs(reported) < 4.0 * errors).all()
    # The same test finds the leak, where there is one.
    assert leaked.mean() > 3.0 * error


def test_on_shuffled_labels_that_are_only_drawn_again_it_is_confirmed_too(monkeypatch):
    monkeypatch.setattr(_search, "FAMILIES", WIDE)
    reported, _, errors = shuffled_labels(refit, 0.7, 6)
    assert abs(reported.mean()) < 3.0 * math.sqrt((errors**2).sum()) / 6
    assert (np.abs(reported) < 4.0 * errors).all()
