"""What each scenario does to the data, the labels and the estimator."""

from collections import Counter
from dataclasses import dataclass
from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from robust_recourse.futures import (
    Arrival,
    Bootstrap,
    Deletion,
    Drawn,
    LabelNoise,
    Parameters,
    Scenario,
    Seeds,
    Temporal,
    Threshold,
    future_models,
)


class Remembers(ClassifierMixin, BaseEstimator):
    """Keeps what it was fitted on."""

    def __init__(self, strength=1, random_state=None):
        self.strength = strength
        self.random_state = random_state

    def fit(self, X, y):
        self.X_, self.y_ = X, y
        return self


def trained(scenario, n=40, n_models=6, *, n_classes=2, **options):
    """Return models of rows that are told by the number in their only column, with the labels that they should have."""
    rows = np.arange(n)
    labels = np.array(["bad", "good", "ugly"])[rows % n_classes]
    models = future_models(Remembers(), rows[:, None], labels, scenario, n_models=n_models, random_state=3, **options)
    return models, labels


def test_bootstrap_draws_as_many_rows_with_replacement():
    models, labels = trained("bootstrap", n=200)
    for model in models:
        rows = model.X_[:, 0]
        assert len(rows) == 200
        # Of 200 rows, 200 (1 - 1/e) are expected among those drawn.
        assert 100 < len(np.unique(rows)) < 150
        np.testing.assert_array_equal(model.y_, labels[rows])
    assert len({tuple(model.X_[:, 0]) for model in models}) == 6


def test_every_row_is_equally_likely_in_the_bootstrap():
    models, _ = trained("bootstrap", n=20, n_models=200)
    counts = Counter(row for model in models for row in model.X_[:, 0])
    # 4000 draws: every row 200 times, with a standard deviation of 14.
    assert set(counts) == set(range(20))
    assert all(130 < count < 270 for count in counts.values())


def test_seeds_change_nothing_but_the_seed():
    models, labels = trained("seeds")
    for model in models:
        np.testing.assert_array_equal(model.X_[:, 0], np.arange(40))
        np.testing.assert_array_equal(model.y_, labels)
    assert len({model.random_state for model in models}) == 6


@settings(deadline=None, max_examples=40)
@given(st.integers(6, 60), st.floats(0.001, 0.6))
def test_deletion_removes_exactly_that_share(n, share):
    models, labels = trained(Deletion(share), n=n, n_models=2)
    for model in models:
        rows = model.X_[:, 0]
        assert n - len(rows) == max(1, round(share * n))
        assert (np.diff(rows) > 0).all()
        np.testing.assert_array_equal(model.y_, labels[rows])


def test_deletion_takes_others_every_time():
    models, _ = trained(Deletion(0.5))
    assert len({tuple(model.X_[:, 0]) for model in models}) == 6


@settings(deadline=None, max_examples=40)
@given(st.integers(6, 60), st.floats(0.001, 0.5), st.sampled_from([2, 3]))
def test_label_noise_changes_exactly_that_many_labels(n, share, n_classes):
    models, labels = trained(LabelNoise(share), n=n, n_models=2, n_classes=n_classes)
    for model in models:
        np.testing.assert_array_equal(model.X_[:, 0], np.arange(n))
        assert (model.y_ != labels).sum() == max(1, round(share * n))
        assert set(model.y_) <= set(labels)
        assert model.y_.dtype == labels.dtype


def test_label_noise_may_change_every_label():
    models, labels = trained(LabelNoise(1.0))
    for model in models:
        assert (model.y_ != labels).all()


def test_a_wrong_label_may_be_any_other():
    models, labels = trained(LabelNoise(0.5), n=60, n_classes=3)
    seen = {(true, wrong) for model in models for true, wrong in zip(labels, model.y_, strict=True) if true != wrong}
    assert len(seen) == 6


@pytest.mark.parametrize("share", [0.01, 0.25, 1.0])
def test_arrival_adds_a_share_of_the_new_rows_to_all_present_ones(share):
    new = 1000 + np.arange(30)
    new_labels = np.where(new % 3 == 0, "good", "bad")
    models, labels = trained(Arrival(new[:, None], new_labels, share))
    for model in models:
        rows = model.X_[:, 0]
        np.testing.assert_array_equal(rows[:40], np.arange(40))
        np.testing.assert_array_equal(model.y_[:40], labels)
        assert len(rows) - 40 == len(np.unique(rows[40:])) == max(1, round(share * 30))
        np.testing.assert_array_equal(model.y_[40:], new_labels[rows[40:] - 1000])
    assert len({tuple(sorted(model.X_[:, 0])) for model in models}) == (1 if share == 1.0 else 6)


TIMES = np.random.default_rng(0).permutation(60)
DAYS = pd.Timestamp("2020-01-01") + pd.to_timedelta(TIMES, unit="D")


@pytest.mark.parametrize(
    "time",
    [
        TIMES,
        TIMES - 30.5,
        list(TIMES),
        DAYS,
        pd.Series(DAYS, index=np.arange(60)[::-1]),
        pd.Series(DAYS).dt.tz_localize("UTC"),
        pd.Series(DAYS).dt.to_period("D"),
        [date(2020, 1, 1) + (day - DAYS.min()) for day in DAYS],
        DAYS.to_numpy(),
        pd.Categorical([f"day {t}" for t in TIMES], [f"day {t}" for t in range(60)], ordered=True),
    ],
    ids=lambda time: type(time).__name__,
)
def test_temporal_forgets_the_oldest_rows_whatever_tells_the_time(time):
    models, labels = trained(Temporal(time, oldest=(0.2, 0.4)), n=60)
    lost = []
    for model in models:
        rows = model.X_[:, 0]
        lost.append(60 - len(rows))
        assert TIMES[rows].min() == lost[-1]
        np.testing.assert_array_equal(model.y_, labels[rows])
    assert all(12 <= n <= 24 for n in lost)
    assert len(set(lost)) > 1


def test_a_single_share_is_always_the_same_and_told():
    models, _ = trained(Temporal(TIMES, oldest=0.25), n=60)
    assert {len(model.X_) for model in models} == {45}
    assert set(models.note) == {"without the oldest 25.0%"}


def test_among_rows_of_the_same_time_chance_decides():
    years = np.repeat([2001, 2002], 20)
    models, _ = trained(Temporal(years, oldest=0.25), n_models=20)
    kept = Counter(row for model in models for row in model.X_[:, 0])
    assert all(kept[row] == 20 for row in range(20, 40))
    assert all(0 < kept[row] < 20 for row in range(20))


def test_time_may_be_a_column_which_stays_among_the_columns():
    frame = pd.DataFrame({"row": np.arange(60), "day": DAYS})
    y = np.arange(60) % 2
    by_name = future_models(Remembers(), frame, y, Temporal("day"), n_models=4, random_state=0)
    by_value = future_models(Remembers(), frame, y, Temporal(TIMES), n_models=4, random_state=0)
    by_number = future_models(
        Remembers(), np.column_stack([frame["row"], TIMES]), y, Temporal(1), n_models=4, random_state=0
    )
    for one, other, third in zip(by_name, by_value, by_number, strict=True):
        assert list(one.X_.columns) == ["row", "day"]
        np.testing.assert_array_equal(one.X_["row"], other.X_["row"])
        np.testing.assert_array_equal(one.X_["row"], third.X_[:, 0])


def test_parameters_are_drawn_from_the_grid_and_noted():
    grid = {"strength": [1, 2, 3], "random_state": [7]}
    models, _ = trained(Parameters(grid), n_models=30)
    assert {model.strength for model in models} == {1, 2, 3}
    # A seed that is asked for is no other.
    assert {model.random_state for model in models} == {7}
    for model, note in zip(models, models.note, strict=True):
        assert note == f"random_state=7, strength={model.strength}"


def test_parameters_of_nested_estimators_and_estimators_themselves():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    steps = [DecisionTreeClassifier(), LogisticRegression()]
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    scenarios = [
        Parameters({"logisticregression__C": [0.1, 10.0]}, label="nested"),
        Parameters({"logisticregression": steps}, label="whole"),
    ]
    models = future_models(pipeline, X, X[:, 0] > 0, scenarios, n_models=10, random_state=0)
    nested, whole = models.by_scenario().values()
    assert {model[-1].C for model in nested} == {0.1, 10.0}
    assert {type(model[-1]) for model in whole} == {DecisionTreeClassifier, LogisticRegression}
    # What was given stays unfitted, and no two models share a part.
    assert not any(hasattr(step, "classes_") for step in steps)
    assert len({id(model[-1]) for model in whole}) == 10


def probability(model, X, label):
    return model.predict_proba(X)[:, list(model.classes_).index(label)]


def test_threshold_moves_within_the_range_on_one_and_the_same_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] + rng.normal(size=80) > 0, "good", "bad")
    tree = DecisionTreeClassifier(max_depth=3, max_features=1, random_state=5)
    models = future_models(
        tree, X, y, Threshold((0.1, 0.2)), n_models=30, favourable="good", threshold=0.6, random_state=0
    )
    assert len({id(model.model) for model in models}) == 1
    # The seed of the estimator is kept: it is the present model.
    np.testing.assert_array_equal(models[0].model.predict_proba(X), tree.fit(X, y).predict_proba(X))
    moved = [model.threshold for model in models]
    assert 0.7 <= min(moved) < 0.72
    assert 0.78 < max(moved) <= 0.8
    assert list(models.note) == [f"threshold {value:.3f}" for value in moved]


def test_threshold_seeds_what_has_no_seed():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    tree = DecisionTreeClassifier(max_features=1)
    states = [
        future_models(tree, X, y, "threshold", n_models=1, random_state=seed)[0].model.random_state
        for seed in (1, 1, 2)
    ]
    assert states[0] == states[1] != states[2]


def test_names_tell_settings_that_are_no_defaults():
    times, grid = np.arange(3), {"C": [1.0]}
    assert [s.name for s in (Bootstrap(), Seeds(), Deletion(), LabelNoise(), Threshold(), Parameters(grid))] == [
        "bootstrap",
        "seeds",
        "deletion",
        "label noise",
        "threshold",
        "parameters",
    ]
    assert Deletion(0.3).name == "deletion (share 0.3)"
    assert Deletion(np.float64(0.1)).name == "deletion"
    assert Temporal(times, oldest=[0.2, 0.3]).name == "temporal (oldest 0.2 to 0.3)"
    assert Threshold(by=0.1).name == "threshold (by 0.1)"
    assert Arrival(times, times).name == "arrival"
    assert Arrival(times, times, label="next year").name == "next year"
    assert "[" not in repr(Arrival(times, times))


def test_scenarios_are_values():
    assert Deletion(0.3) == Deletion(share=0.3) != Deletion()
    assert len({Bootstrap(), Bootstrap(), Threshold(0.1), Threshold((0.1, 0.1))}) == 2
    with pytest.raises(AttributeError):
        Deletion().share = 0.3


@dataclass(frozen=True)
class Newest(Scenario):
    """A scenario of one's own."""

    kind = "newest"
    n: int = 10

    def draw(self, rng, data):
        return Drawn(len(data) - 1 - rng.permutation(self.n), note=f"the last {self.n}")


def test_a_scenario_of_ones_own():
    models, labels = trained(Newest())
    for model in models:
        rows = model.X_[:, 0]
        assert sorted(rows) == list(range(30, 40))
        np.testing.assert_array_equal(model.y_, labels[rows])
    assert set(models.note) == {"the last 10"}


def test_a_scenario_that_does_not_draw_is_an_error():
    @dataclass(frozen=True)
    class Nothing(Scenario):
        kind = "nothing"

    with pytest.raises(NotImplementedError, match="Nothing must say in draw"):
        trained(Nothing())


@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: Deletion(0.0), ValueError, "Deletion: share must be greater than 0"),
        (lambda: Deletion(1), ValueError, "Deletion: share must be less than 1"),
        (lambda: Deletion("0.1"), TypeError, "Deletion: share must be a real number"),
        (lambda: LabelNoise(1.5), ValueError, "LabelNoise: share must be at most 1"),
        (lambda: LabelNoise(float("nan")), ValueError, "LabelNoise: share must be finite"),
        (lambda: Arrival([[1]], [1], share=2), ValueError, "Arrival: share must be at most 1"),
        (lambda: Temporal("year", oldest=(0.5, 0.1)), ValueError, "Temporal: oldest must have its lower end first"),
        (lambda: Temporal("year", oldest=(0.5, 1.0)), ValueError, "Temporal: oldest must be less than 1"),
        (lambda: Temporal("year", oldest=(0.1, 0.2, 0.3)), TypeError, "Temporal: oldest must be a number or a pair"),
        (lambda: Threshold(by="more"), TypeError, "Threshold: by must be a number or a pair"),
        (lambda: Threshold(by=(0.1, None)), TypeError, "Threshold: by must be a real number"),
        (lambda: Parameters({}), TypeError, "grid must map names to lists"),
        (lambda: Parameters([("C", [1])]), TypeError, "grid must map names to lists"),
        (lambda: Parameters({"C": []}), ValueError, r"grid\['C'\] must be a list of at least one value"),
        (lambda: Parameters({"solver": "lbfgs"}), ValueError, r"grid\['solver'\] must be a list"),
        (lambda: Parameters({"C": 1.0}), ValueError, r"grid\['C'\] must be a list"),
        (lambda: Bootstrap(label=""), TypeError, "label must be a text"),
    ],
)
def test_settings_are_checked_at_once(make, error, match):
    with pytest.raises(error, match=match):
        make()


X = np.random.default_rng(0).normal(size=(40, 2))
Y = np.arange(40) % 2
FRAME = pd.DataFrame(X, columns=["age", "income"])


@pytest.mark.parametrize(
    ("estimator", "scenario", "options", "error", "match"),
    [
        (
            LinearSVC(),
            "threshold",
            {},
            TypeError,
            "'threshold' needs probabilities, but LinearSVC has no predict_proba",
        ),
        (
            make_pipeline(StandardScaler(), LinearSVC()),
            "threshold",
            {},
            TypeError,
            "Pipeline has no predict_proba. Leave the scenario out",
        ),
        (LogisticRegression(), "threshold", {"favourable": 2}, ValueError, r"favourable must be one of .*\[0, 1\]"),
        (LogisticRegression(), "threshold", {"threshold": 0.95}, ValueError, "from 0.95 to 1.05; it must stay between"),
        (
            LogisticRegression(),
            "threshold",
            {"threshold": 0.05},
            ValueError,
            "from 0.05 to -0.05; it must stay between",
        ),
        (LogisticRegression(), "threshold", {"threshold": 1.5}, ValueError, "threshold .* must lie between 0 and 1"),
        (LogisticRegression(), "threshold", {"threshold": "0.5"}, TypeError, "threshold must be a real number"),
        (
            LogisticRegression(),
            Parameters({"c": [1]}),
            {},
            ValueError,
            "LogisticRegression has no parameter 'c'; .*C, ",
        ),
        (lambda *_: None, Parameters({"c": [1]}), {}, TypeError, "needs an estimator with set_params"),
        (LogisticRegression(), Temporal("year"), {}, ValueError, "X has no column 'year'. Its columns are 'age', 'inc"),
        (
            LogisticRegression(),
            Temporal(np.arange(39)),
            {},
            ValueError,
            "one value for each of the 40 rows of X, got 39",
        ),
        (LogisticRegression(), Temporal(["2020-01-01"] * 40), {}, TypeError, "must hold numbers or dates, got '2020"),
        (
            LogisticRegression(),
            Temporal([*range(38), np.nan, None]),
            {},
            ValueError,
            "time has no time in rows 38, 39",
        ),
        (LogisticRegression(), Temporal([7] * 40), {}, ValueError, "time is 7 in every row, so that no row is older"),
        (LogisticRegression(), Arrival(FRAME, Y[:3]), {}, ValueError, "y_new must have one label for each of the 40"),
        (LogisticRegression(), Arrival(FRAME[:0], []), {}, ValueError, "X_new has no rows"),
        (LogisticRegression(), Arrival(X, Y), {}, TypeError, "X_new must be a pandas DataFrame like X, got a numpy"),
        (
            LogisticRegression(),
            Arrival(FRAME.rename(columns={"age": "Age"}), Y),
            {},
            ValueError,
            "columns of X; it lacks 'age' and also has 'Age'",
        ),
        (LogisticRegression(), Arrival(FRAME, Y + 1), {}, ValueError, r"labels of y \(0, 1\), got 2 in row 1"),
        (LogisticRegression(), Arrival(FRAME, [0.0] * 39 + [None]), {}, ValueError, "y_new has no label in row 39"),
    ],
)
def test_scenarios_are_checked_against_data_and_estimator(estimator, scenario, options, error, match):
    with pytest.raises(error, match=match):
        future_models(estimator, FRAME, Y, scenario, n_models=2, random_state=0, **options)


@pytest.mark.parametrize(
    ("time", "match"), [("year", "X is an array, its columns have no names"), (2, "X has no column 2. .* 0 to 1")]
)
def test_columns_of_arrays_are_numbers(time, match):
    with pytest.raises(ValueError, match=match):
        future_models(LogisticRegression(), X, Y, Temporal(time))


def test_arrays_that_arrive_have_the_same_width():
    with pytest.raises(ValueError, match="X_new must have the 2 columns of X, got 1"):
        future_models(LogisticRegression(), X, Y, Arrival(X[:, :1], Y))


def test_of_many_classes_only_a_threshold_can_be_moved():
    labels = np.arange(40) % 3
    with pytest.raises(ValueError, match="needs threshold=: with 3 classes the likeliest counts"):
        future_models(LogisticRegression(), X, labels, "threshold", favourable=2)
    models = future_models(LogisticRegression(), X, labels, "threshold", favourable=2, threshold=0.4, n_models=2)
    assert models[0].classes_.tolist() == [0, 1, 2]


def test_labels_without_a_favourable_one_cannot_have_their_threshold_moved():
    with pytest.raises(ValueError, match="Pass favourable="):
        future_models(LogisticRegression(), X, np.where(Y, "good", "bad"), "threshold")


def test_models_of_functions_need_probabilities_to_have_their_threshold_moved():
    with pytest.raises(TypeError, match="needs models with predict_proba and classes_, got a LinearSVC"):
        future_models(lambda X, y, seed: LinearSVC(random_state=seed).fit(X, y), X, Y, "threshold")
    models = future_models(lambda X, y, _: LogisticRegression().fit(X, y), X, Y, "threshold", n_models=2)
    assert (models[0].predict(X) == (probability(models[0].model, X, 1) >= models[0].threshold)).all()
