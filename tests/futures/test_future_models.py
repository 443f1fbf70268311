"""Future models: the same from everywhere, of any data, trained once, and told apart."""

import os
import pickle
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from robust_recourse.checkpoints import CheckpointWarning, InUseError, Store
from robust_recourse.futures import (
    Arrival,
    Bootstrap,
    Deletion,
    FutureModels,
    LabelNoise,
    Parameters,
    Temporal,
    Threshold,
    TrainingError,
    future_models,
)
from robust_recourse.futures._store import ModelStore

RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 3))
Y = (X.sum(axis=1) + RNG.normal(size=80) > 0).astype(int)
FRAME = pd.DataFrame(X, columns=["age", "income", "debt"])
TREE = DecisionTreeClassifier(max_depth=3, max_features=1)
EVERY = [
    "bootstrap",
    "seeds",
    "deletion",
    "label noise",
    "threshold",
    Arrival(X[:30] + 0.5, Y[:30]),
    Temporal(np.arange(80)),
    Parameters({"max_depth": [1, 2, 3, 4]}),
]
NAMES = ["bootstrap", "seeds", "deletion", "label noise", "threshold", "arrival", "temporal", "parameters"]


class Remembers(ClassifierMixin, BaseEstimator):
    """Keeps what it was fitted on, and leaves a file for every fit."""

    def __init__(self, folder=None, fails=False, random_state=None):
        self.folder = folder
        self.fails = fails
        self.random_state = random_state

    def fit(self, X, y):
        if self.fails:
            raise FloatingPointError("the loss is infinite")
        if self.folder is not None:
            leave_a_file(self.folder)
        self.X_, self.y_ = X, y
        self.classes_ = np.unique(np.asarray(y))
        return self

    def predict_proba(self, X):
        share = np.random.default_rng(self.random_state).dirichlet(np.ones(len(self.classes_)))
        return np.tile(share, (len(X), 1))


class Copies(BaseEstimator):
    """Does not store what it is given, so that nobody can make a copy."""

    def __init__(self, strength):
        self.strength = list(strength)

    def fit(self, *_):
        raise AssertionError("this cannot be trained")


def leave_a_file(folder):
    (Path(folder) / f"{len(list(Path(folder).iterdir()))}").write_text("")


def answers(models):
    return [model.predict_proba(X) for model in models]


def assert_same(models, others):
    assert list(models.scenario) == list(others.scenario)
    assert list(models.number) == list(others.number)
    for one, other in zip(answers(models), answers(others), strict=True):
        np.testing.assert_array_equal(one, other)


def test_scenario_by_scenario_with_its_numbers():
    models = future_models(TREE, X, Y, EVERY, n_models=3, random_state=0)
    assert len(models) == 24
    assert list(models.by_scenario()) == NAMES
    assert list(models.scenario) == [name for name in NAMES for _ in range(3)]
    assert list(models.number) == [0, 1, 2] * 8
    assert repr(models) == "FutureModels(24 models: " + ", ".join(f"3 {name}" for name in NAMES) + ")"
    # They are all different models.
    assert len({answer.tobytes() for answer in answers(models)}) == 24


def test_by_default_there_are_twenty_of_the_bootstrap():
    assert repr(future_models(TREE, X, Y)) == "FutureModels(20 models: 20 bootstrap)"


def test_a_scenario_gives_the_same_models_in_any_company_and_order():
    together = future_models(TREE, X, Y, EVERY, n_models=3, random_state=0).by_scenario()
    turned = future_models(TREE, X, Y, EVERY[::-1], n_models=3, random_state=0).by_scenario()
    for name, scenario in zip(NAMES, EVERY, strict=True):
        alone = future_models(TREE, X, Y, scenario, n_models=3, random_state=0)
        assert_same(alone, together[name])
        assert_same(alone, turned[name])


@pytest.mark.slow
def test_the_same_models_whatever_the_jobs():
    serial = future_models(TREE, FRAME, Y, EVERY[:5], n_models=2, random_state=0)
    parallel = future_models(TREE, FRAME, Y, EVERY[:5], n_models=2, random_state=0, n_jobs=2)
    for one, other in zip(serial, parallel, strict=True):
        np.testing.assert_array_equal(one.predict_proba(FRAME), other.predict_proba(FRAME))


def test_more_models_begin_with_the_same_ones_and_start_goes_on():
    many = future_models(TREE, X, Y, EVERY, n_models=5, random_state=0)
    few = future_models(TREE, X, Y, EVERY, n_models=2, random_state=0)
    later = future_models(TREE, X, Y, EVERY, n_models=3, start=2, random_state=0)
    for name, part in many.by_scenario().items():
        assert_same(part[:2], few.by_scenario()[name])
        assert_same(part[2:], later.by_scenario()[name])


def test_another_seed_gives_other_models():
    one, other = (future_models(TREE, X, Y, EVERY, n_models=2, random_state=seed) for seed in (0, 1))
    assert not any(np.array_equal(a, b) for a, b in zip(answers(one), answers(other), strict=True))


def test_the_name_decides_about_the_draws():
    scenarios = [Bootstrap(), Bootstrap(label="again"), Deletion(0.2), Deletion(0.2, label="forgotten")]
    models = future_models(TREE, X, Y, scenarios, n_models=3, random_state=0)
    assert len({answer.tobytes() for answer in answers(models)}) == 12


def test_generators_are_seeds_too():
    draws = [future_models(TREE, X, Y, n_models=2, random_state=np.random.default_rng(5)) for _ in range(2)]
    assert_same(*draws)
    anew = [future_models(TREE, X, Y, "bootstrap", n_models=1) for _ in range(2)]
    assert not np.array_equal(*(answers(models)[0] for models in anew))


def test_numbers_of_models_by_scenario():
    models = future_models(
        TREE, X, Y, ["bootstrap", Deletion(0.3)], n_models={"bootstrap": 2, "deletion (share 0.3)": 3}
    )
    assert {name: len(part) for name, part in models.by_scenario().items()} == {
        "bootstrap": 2,
        "deletion (share 0.3)": 3,
    }


def test_a_fitted_estimator_is_as_good_as_a_fresh_one_and_stays_as_it_is():
    fitted = DecisionTreeClassifier(max_depth=2, max_features=1, random_state=1).fit(X[:, :1], Y)
    tree = fitted.tree_
    fresh = DecisionTreeClassifier(max_depth=2, max_features=1, random_state=1)
    of_fitted, of_fresh = (future_models(each, X, Y, EVERY, n_models=2, random_state=0) for each in (fitted, fresh))
    assert_same(of_fitted, of_fresh)
    assert fitted.tree_ is tree
    assert fitted.random_state == 1
    assert not hasattr(fresh, "tree_")


@pytest.mark.parametrize("scenario", ["bootstrap", "seeds", "deletion", "label noise"])
def test_every_seed_is_new_also_nested_ones(scenario):
    estimator = make_pipeline(
        StandardScaler(),
        VotingClassifier(
            [("forest", RandomForestClassifier(2, random_state=0)), ("line", LogisticRegression(random_state=0))]
        ),
    )
    models = future_models(estimator, X, Y, scenario, n_models=3, random_state=0)
    names = ["votingclassifier__forest__random_state", "votingclassifier__line__random_state"]
    seeds = {model.get_params()[name] for model in models for name in names}
    assert len(seeds) == 6
    assert 0 not in seeds


def test_a_search_for_parameters_is_an_estimator():
    search = GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2)
    models = future_models(search, X, Y, "bootstrap", n_models=2, random_state=0)
    assert all(model.best_params_["C"] in (0.1, 1.0) for model in models)


def refit(X, y, seed):
    return DecisionTreeClassifier(max_depth=3, max_features=1, random_state=seed).fit(X, y)


def test_a_function_trains_as_well_as_an_estimator():
    of_function = future_models(refit, X, Y, EVERY[:-1], n_models=2, random_state=0)
    of_estimator = future_models(TREE, X, Y, EVERY[:-1], n_models=2, random_state=0)
    # One random number for one random state: the trees are the same.
    assert_same(of_function, of_estimator)


def test_a_function_gets_an_ordinary_seed_and_may_be_local():
    seeds = []

    def spy(X, y, seed):
        seeds.append(seed)
        return refit(X, y, seed)

    future_models(spy, X, Y, ["bootstrap", "seeds"], n_models=3, random_state=0)
    assert len(set(seeds)) == 6
    assert all(type(seed) is int and 0 <= seed < 2**31 for seed in seeds)
    factor = 2

    def local(X, y, seed):
        return DecisionTreeClassifier(max_depth=2, random_state=seed).fit(X * factor, y)

    models = future_models(local, X, Y, n_models=2, random_state=0, n_jobs=2)
    assert len(models) == 2


def test_models_get_what_was_given_frames_of_pandas():
    frame = FRAME.assign(job=pd.Categorical(np.where(Y, "cook", "clerk")), year=np.arange(80))
    frame.index = [f"person {i}" for i in range(80)]
    labels = pd.Series(np.where(Y, "good", "bad"), dtype="category", index=frame.index, name="risk")
    new = frame[::2].copy()[frame.columns[::-1]]
    new["job"] = pd.Categorical(["cook", "pilot"] * 20)
    scenarios = ["bootstrap", "seeds", "deletion", "label noise", Arrival(new, labels[::2]), Temporal("year")]
    models = future_models(Remembers(), frame, labels, scenarios, n_models=2, random_state=0)
    for name, model in zip(models.scenario, models, strict=True):
        assert list(model.X_.columns) == list(frame.columns)
        assert model.y_.dtype == labels.dtype
        assert model.y_.index.equals(model.X_.index)
        assert model.y_.name == "risk"
        if name == "arrival":
            assert list(model.X_["job"].cat.categories) == ["clerk", "cook", "pilot"]
            np.testing.assert_array_equal(model.X_[:80], frame)
            assert (model.X_.dtypes.drop("job") == frame.dtypes.drop("job")).all()
        else:
            assert (model.X_.dtypes == frame.dtypes).all()
            np.testing.assert_array_equal(model.X_, frame.loc[model.X_.index])
        if name != "label noise":
            np.testing.assert_array_equal(model.y_, labels.loc[model.X_.index])


def test_models_get_what_was_given_frames_of_polars():
    frame = pl.DataFrame(
        {"row": np.arange(40), "job": ["cook", "clerk"] * 20, "day": pd.date_range("2020", periods=40)}
    )
    labels = pl.Series("risk", ["good", "bad", "bad", "good"] * 10)
    new = frame.select("day", "job", "row").head(5)
    scenarios = ["bootstrap", "seeds", "deletion", "label noise", Arrival(new, labels[:5]), Temporal("day")]
    models = future_models(Remembers(), frame, labels, scenarios, n_models=2, random_state=0)
    for name, model in zip(models.scenario, models, strict=True):
        assert model.X_.schema == frame.schema
        assert isinstance(model.y_, pl.Series)
        assert model.y_.dtype == labels.dtype
        if name != "label noise":
            assert model.y_.to_list() == labels[model.X_["row"]].to_list()
        if name == "temporal":
            assert model.X_["row"].to_list() == list(range(40 - len(model.X_), 40))


def test_models_get_what_was_given_the_rest():
    arrow = pa.table({"a": [1, 2, 3, 4], "b": ["x", "y", "x", "y"]})
    (model,) = future_models(Remembers(), arrow, pa.array(["u", "v", "u", "v"]), "seeds", n_models=1)
    pd.testing.assert_frame_equal(model.X_, arrow.to_pandas())
    assert model.y_.tolist() == ["u", "v", "u", "v"]
    (model,) = future_models(Remembers(), [[1, 2], [3, 4]], ["u", "v"], "seeds", n_models=1)
    np.testing.assert_array_equal(model.X_, [[1, 2], [3, 4]])
    (model,) = future_models(
        Remembers(), np.array([["u", 1], ["v", 2]], dtype=object), [True, False], "seeds", n_models=1
    )
    assert model.X_.tolist() == [["u", 1], ["v", 2]]
    assert model.y_.dtype == bool


@pytest.mark.parametrize(
    "labels",
    [
        np.where(Y, "good", "bad"),
        Y.astype(bool),
        Y.astype(float),
        np.where(Y, -1, 7),
        np.where(Y, "good", "bad").astype(object),
        list(np.where(Y, "good", "bad")),
        pd.Series(Y, dtype="Int64", index=np.arange(80)[::-1]),
        pd.Series(Y, dtype="boolean"),
        pd.Series(np.where(Y, "good", "bad"), dtype="string"),
        pd.array(Y, dtype="int8"),
    ],
    ids=lambda labels: f"{type(labels).__name__} of {getattr(labels, 'dtype', 'texts')}",
)
def test_labels_of_any_kind_keep_it_and_mean_the_same(labels):
    plain = future_models(Remembers(), X, Y, "label noise", n_models=2, random_state=0)
    models = future_models(Remembers(), X, labels, "label noise", n_models=2, random_state=0)
    refused, accepted = (np.asarray(labels)[np.argmax(code == Y)] for code in (0, 1))
    for one, other in zip(plain, models, strict=True):
        assert np.asarray(other.y_).dtype == np.asarray(labels).dtype
        assert np.asarray(other.y_).tolist() == [accepted if code else refused for code in one.y_]


def test_rows_and_labels_belong_together_by_position():
    labels = pd.Series(np.arange(80) % 2, index=100 + np.random.default_rng(0).permutation(80))
    frame = pd.DataFrame({"row": np.arange(80)})
    for model in future_models(Remembers(), frame, labels, ["bootstrap", "deletion"], n_models=3):
        np.testing.assert_array_equal(model.y_, model.X_["row"] % 2)
        # Also when somebody puts them into one table.
        assert (model.X_.assign(label=model.y_).eval("row % 2 == label")).all()


def test_models_get_copies():
    kept = X.copy()

    def spoil(X, y, seed):
        X[:] = 0.0
        y[:] = 0
        return seed

    future_models(spoil, X, Y, EVERY[:4], n_models=2)
    np.testing.assert_array_equal(X, kept)
    assert Y.any()


def test_numbers_to_regress_on_are_no_classes():
    y = X.sum(axis=1)
    scenarios = ["bootstrap", "deletion", Arrival(X[:10], y[:10]), Temporal(np.arange(80))]
    models = future_models(LinearRegression(), X, y, scenarios, n_models=2, random_state=0)
    np.testing.assert_allclose([model.predict(X) for model in models], np.tile(y, (8, 1)))
    counts = future_models(LinearRegression(), X, np.arange(80), ["bootstrap"], n_models=1)
    assert len(counts) == 1
    with pytest.raises(ValueError, match="'label noise' needs classes, but y has numbers"):
        future_models(LinearRegression(), X, y, "label noise")
    with pytest.raises(ValueError, match="'threshold' needs classes, but y has numbers"):
        future_models(LogisticRegression(), X, y, "threshold")


def test_arrival_of_numbers():
    (model,) = future_models(Remembers(), X[:, :1], X[:, 0], Arrival(X[:, 1:2], X[:, 1], share=0.5), n_models=1)
    assert len(model.X_) == 120
    np.testing.assert_array_equal(model.X_[:, 0], model.y_)


def test_a_draw_that_loses_a_class_is_repeated():
    y = np.array([1] + [0] * 19)
    scenarios = ["bootstrap", Deletion(0.5), Temporal(np.tile([1, 2], 10), oldest=(0.2, 0.5)), LabelNoise(0.05)]
    models = future_models(Remembers(), X[:20], y, scenarios, n_models=20, random_state=0)
    for name, model in zip(models.scenario, models, strict=True):
        assert set(model.y_) == {0, 1}, name
    # The row itself is there, and still at random where it was the only one of its class.
    assert all(X[0, 0] in model.X_[:, 0] for model in models[:60])


def test_a_class_that_cannot_stay_is_an_error():
    y = np.array(["rare"] + ["usual"] * 19)
    match = "temporal.*, model 4: 100 draws in a row left no row of the class 'rare', which has 1 of the 20 rows"
    with pytest.raises(ValueError, match=match):
        future_models(Remembers(), X[:20], y, Temporal(np.arange(20)), start=4, n_models=1)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_model_that_cannot_be_trained_is_named(n_jobs):
    tree = DecisionTreeClassifier(max_depth=-1)
    with pytest.raises(TrainingError, match=r"deletion, model [01]: training failed with InvalidParameterError: The"):
        future_models(tree, X, Y, "deletion", n_models=2, n_jobs=n_jobs)


def test_a_function_must_return_something():
    with pytest.raises(TrainingError, match=r"seeds, model 7: .*returned None instead of a fitted model"):
        future_models(lambda *_: None, X, Y, "seeds", start=7)


def test_interrupts_are_not_swallowed():
    def interrupted(*_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        future_models(interrupted, X, Y)


@pytest.mark.parametrize("estimator", [LogisticRegression(), lambda X, y, _: LogisticRegression().fit(X, y)])
def test_seeds_that_change_nothing_are_told(estimator):
    with pytest.warns(UserWarning, match="All 3 models of the scenario 'seeds' answer alike") as caught:
        models = future_models(estimator, X, Y, ["bootstrap", "seeds"], n_models=3, random_state=0)
    assert len(models) == 6
    assert [str(one.filename) for one in caught] == [__file__]
    # One alone cannot be like others, and another scenario changes more than the seed.
    assert len(future_models(estimator, X, Y, "seeds", n_models=1)) == 1
    assert len(future_models(estimator, X, Y, Deletion(0.1), n_models=3)) == 3


class Counting:
    """Counts the fits of estimators that leave files."""

    def __init__(self, folder):
        folder.mkdir()
        self.folder = folder
        self.estimator = Remembers(str(folder))

    @property
    def fits(self):
        return len(list(self.folder.iterdir()))


@pytest.fixture
def counting(tmp_path):
    return Counting(tmp_path / "fits")


def train(estimator, folder, scenarios=EVERY[:-1], **options):
    options = {"n_models": 2, "random_state": 0, "folder": folder} | options
    return future_models(estimator, options.pop("X", X), options.pop("y", Y), scenarios, **options)


def test_a_folder_trains_nothing_twice(counting, tmp_path):
    first = train(counting.estimator, tmp_path / "models")
    # Six scenarios of two, and one model whose threshold moves.
    assert counting.fits == 13
    again = train(counting.estimator, tmp_path / "models")
    train(counting.estimator, str(tmp_path / "models"), EVERY[3:6])
    assert counting.fits == 13
    assert_same(first, again)
    assert list(first.note) == list(again.note)


def test_a_folder_serves_any_number_of_processes(tmp_path):
    times = []
    for n_jobs in (1, 2, 1):
        train(TREE, tmp_path, EVERY[:5], n_jobs=n_jobs, X=FRAME)
        times.append({path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()})
    assert len(times[0]) == 9
    assert times[0] == times[1] == times[2]


def test_a_folder_that_is_cleared_or_damaged_trains_again(counting, tmp_path):
    first = train(counting.estimator, tmp_path, "bootstrap")
    for path in tmp_path.glob("*.piece"):
        path.write_bytes(path.read_bytes()[:-20])
    with pytest.warns(CheckpointWarning, match="this user has not written it like that"):
        assert_same(train(counting.estimator, tmp_path, "bootstrap"), first)
    assert counting.fits == 4
    for path in tmp_path.glob("*.piece"):
        path.unlink()
    assert_same(train(counting.estimator, tmp_path, "bootstrap"), first)
    assert counting.fits == 6


class Boom:
    """Would end the test if it were opened."""

    def __reduce__(self):
        return pytest.fail, ("a pickle of somebody else was opened",)


@pytest.mark.parametrize("how", ["bare", "plain checksum", "another user's", "another model's"])
def test_pickles_that_this_user_did_not_write_for_this_are_not_opened(counting, tmp_path, monkeypatch, how):
    first = train(counting.estimator, tmp_path, "bootstrap", n_models=1)
    (path,) = tmp_path.glob("*.piece")
    if how == "bare":
        path.write_bytes(pickle.dumps(Boom()))
    elif how == "plain checksum":
        Store(tmp_path).write(path.stem, pickle.dumps(Boom()))
    elif how == "another user's":
        with monkeypatch.context() as patch:
            patch.setattr("robust_recourse.checkpoints.store.user_key", lambda: b"another")
            ModelStore(tmp_path).save(path.stem, Boom())
    else:
        ModelStore(tmp_path).save("other", Boom())
        (tmp_path / "other.piece").rename(path)
    with pytest.warns(CheckpointWarning, match=r"\.piece is not used"):
        assert_same(train(counting.estimator, tmp_path, "bootstrap", n_models=1), first)
    assert counting.fits == 2


def test_a_pickle_of_ones_own_that_cannot_be_read_is_trained_again(counting, tmp_path):
    first = train(counting.estimator, tmp_path, "bootstrap", n_models=1)
    (path,) = tmp_path.glob("*.piece")
    ModelStore(tmp_path).write(path.stem, b"no pickle")
    with pytest.warns(CheckpointWarning, match="it cannot be read: UnpicklingError"):
        assert_same(train(counting.estimator, tmp_path, "bootstrap", n_models=1), first)


def test_a_second_writer_is_told_who_the_first_is(counting, tmp_path):
    with (
        ModelStore(tmp_path / "models").writing(),
        pytest.raises(InUseError, match=rf"models is in use: process {os.getpid()} on"),
    ):
        train(counting.estimator, tmp_path / "models", "bootstrap")
    assert counting.fits == 0


def test_what_was_trained_before_a_failure_is_kept(counting, tmp_path):
    def fails_later(X, y, seed):
        if counting.fits == 3:
            raise FloatingPointError
        leave_a_file(counting.folder)
        return refit(X, y, seed)

    with pytest.raises(TrainingError, match="bootstrap, model 3"):
        train(fails_later, tmp_path / "models", "bootstrap", n_models=5)
    assert len(list((tmp_path / "models").iterdir())) == 3


def test_a_model_that_cannot_be_kept_is_named(tmp_path):
    with pytest.raises(TrainingError, match=r"seeds, model 0: folder cannot keep the model, .*Leave folder out"):
        train(lambda *_: lambda X: X, tmp_path, "seeds")


def test_a_folder_needs_estimators_that_can_be_pickled(tmp_path):
    local = make_pipeline(FunctionTransformer(lambda X: X), LogisticRegression())
    assert len(train(local, None, "bootstrap")) == 2
    with pytest.raises(TypeError, match="folder cannot tell estimators apart of which a part cannot be pickled"):
        train(local, tmp_path, "seeds")


def test_a_folder_trains_what_is_missing(counting, tmp_path):
    train(counting.estimator, tmp_path, "bootstrap")
    train(counting.estimator, tmp_path, ["seeds", "bootstrap"], n_models=3)
    assert counting.fits == 2 + 4
    train(counting.estimator, tmp_path, "bootstrap", start=2)
    assert counting.fits == 7
    train(counting.estimator, tmp_path, "threshold", n_models=5)
    train(counting.estimator, tmp_path, "threshold", n_models=5, start=5)
    assert counting.fits == 8


@pytest.mark.parametrize(
    "change",
    [
        {"random_state": 1},
        {"X": X + 1.0},
        {"y": 1 - Y},
        {"scenarios": Deletion(0.2)},
        {"scenarios": Deletion(label="other")},
        {"scenarios": Deletion(0.2, label="deletion")},
        {"estimator": {"random_state": 3}},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_folder_notices_what_is_different(counting, tmp_path, change):
    train(counting.estimator, tmp_path, "deletion")
    change = dict(change)
    estimator = Remembers(counting.estimator.folder, **change.pop("estimator", {}))
    train(estimator, tmp_path, change.pop("scenarios", "deletion"), **change)
    assert counting.fits == 4


def test_a_folder_notices_other_times_and_other_new_rows(counting, tmp_path):
    for time in (np.arange(80), np.arange(80)[::-1], np.arange(80) + 5.0):
        train(counting.estimator, tmp_path, Temporal(time))
    assert counting.fits == 4
    for labels in (Y[:30], 1 - Y[:30], Y[:30].astype(bool)):
        train(counting.estimator, tmp_path, Arrival(X[:30], labels))
    assert counting.fits == 8
    # The same rows altogether, of which others are new.
    numbers = X[:, 0]
    for n in (50, 60):
        train(counting.estimator, tmp_path, Arrival(X[n:], numbers[n:], 1.0), X=X[:n], y=numbers[:n])
    assert counting.fits == 12


def test_a_folder_does_not_care_whether_the_estimator_is_fitted(counting, tmp_path):
    train(counting.estimator, tmp_path, "bootstrap")
    counting.estimator.X_ = "something learnt"
    train(counting.estimator, tmp_path, "bootstrap")
    assert counting.fits == 2


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_a_folder_knows_equal_frames(counting, tmp_path, kind):
    def table():
        columns = {"a": np.arange(40.0), "b": ["".join(["co", "ok"]), "clerk"] * 20, "c": np.arange(40)}
        if kind == "polars":
            return pl.DataFrame(columns), pl.Series(["".join(["go", "od"]), "bad"] * 20)
        return pd.DataFrame(columns), pd.Series(["".join(["go", "od"]), "bad"] * 20)

    for _ in range(2):
        frame, labels = table()
        train(counting.estimator, tmp_path, "bootstrap", X=frame, y=labels)
    assert counting.fits == 2
    backwards = frame[::-1] if kind == "polars" else frame[::-1].reset_index(drop=True)
    train(counting.estimator, tmp_path, "bootstrap", X=backwards, y=labels)
    assert counting.fits == 4


def test_a_folder_serves_functions_and_notices_other_ones(counting, tmp_path):
    def make(strength):
        def local(X, y, seed):
            leave_a_file(counting.folder)
            return DecisionTreeClassifier(max_depth=strength, random_state=seed).fit(X, y)

        return local

    first = train(make(1), tmp_path / "models", "bootstrap")
    assert_same(first, train(make(1), tmp_path / "models", "bootstrap"))
    assert counting.fits == 2
    train(make(2), tmp_path / "models", "bootstrap")
    assert counting.fits == 4


def test_one_class_has_no_decision():
    with pytest.raises(ValueError, match="y must have at least two classes, got 'good' in every row"):
        future_models(TREE, X, ["good"] * 80)


@pytest.mark.parametrize(
    ("changes", "error", "match"),
    [
        ({"y": Y[:79]}, ValueError, "y must have one label for each of the 80 rows of X, got 79"),
        ({"y": [*Y[:78], None, np.nan]}, ValueError, "y has no label in rows 78, 79. Leave rows without a label out"),
        ({"y": ["a"] * 79 + [np.nan]}, ValueError, "y has no label in row 79"),
        ({"y": pd.Series(Y, dtype="Int64").where(np.arange(80) != 3)}, ValueError, "y has no label in row 3"),
        ({"y": pl.Series([*Y.tolist()[:79], None])}, ValueError, "y has no label in row 79"),
        ({"y": Y[:, None]}, ValueError, "y must be one-dimensional, one label for every row, got 2"),
        ({"y": pd.DataFrame({"y": Y})}, ValueError, "y must be one-dimensional"),
        ({"y": None}, ValueError, "y must be one-dimensional"),
        ({"X": X[:, 0]}, ValueError, "X must be two-dimensional"),
        ({"X": pl.Series(X[:, 0])}, ValueError, "X must be two-dimensional"),
        ({"X": X[:0], "y": Y[:0]}, ValueError, "X has no rows"),
        ({"X": pl.DataFrame(X).lazy()}, TypeError, "has no rows yet; pass X.collect()"),
        ({"estimator": DecisionTreeClassifier}, TypeError, r"got a class. Pass DecisionTreeClassifier\(...\)"),
        ({"estimator": "tree"}, TypeError, "must be like those of scikit-learn, with fit and get_params, .* got str"),
        ({"estimator": type("Trainer", (), {"fit": None})()}, TypeError, "or a function refit.* got Trainer"),
        ({"estimator": lambda X, y: (X, y)}, TypeError, r"is called as refit\(X, y, seed\): too many positional"),
        ({"scenarios": "bootstap"}, ValueError, "no scenario 'bootstap'. By name there are 'bootstrap', 'seeds', 'del"),
        (
            {"scenarios": ["seeds", "arrival"]},
            ValueError,
            r"'arrival' needs to know more. Pass Arrival\(X_new, y_new\)",
        ),
        ({"scenarios": "temporal"}, ValueError, r"Pass Temporal\(time\) instead"),
        ({"scenarios": 3}, TypeError, "scenarios must be a list of names and scenarios, got 3"),
        ({"scenarios": Bootstrap}, TypeError, r"got a class. Pass Bootstrap\(...\)"),
        ({"scenarios": [Bootstrap]}, TypeError, r"got a class. Pass Bootstrap\(...\)"),
        ({"scenarios": [3]}, TypeError, "must be names or scenarios, got 3"),
        ({"scenarios": []}, ValueError, "scenarios is empty"),
        ({"scenarios": ["seeds", "seeds"]}, ValueError, "'seeds' twice. Give one of them another label="),
        ({"n_models": 0}, ValueError, "n_models must be at least 1"),
        (
            {"n_models": {"seeds": 2}, "scenarios": ["bootstrap", "seeds"]},
            ValueError,
            "n_models has no number for the scenario 'bootstrap'",
        ),
        (
            {"n_models": {"seeds": 2, "bootstrap": 0}, "scenarios": ["bootstrap", "seeds"]},
            ValueError,
            r"n_models\['bootstrap'\] must be at least 1",
        ),
        (
            {"n_models": {"seeds": 2, "Bootstrap": 1}, "scenarios": ["bootstrap", "seeds"]},
            ValueError,
            "n_models has 'Bootstrap', which is no scenario. There are 'bootstrap', 'seeds'",
        ),
        (
            {"n_models": {"deletion": 2}, "scenarios": [Deletion(0.3)]},
            ValueError,
            r"n_models has 'deletion', which is no scenario. Its whole name is 'deletion \(share 0.3\)'",
        ),
        ({"estimator": Copies([1])}, TypeError, "estimator, a Copies, cannot be copied .* or pass a function refit"),
        ({"start": -1}, ValueError, "start must be at least 0"),
        ({"random_state": -1}, ValueError, "random_state must be at least 0"),
        ({"folder": 3}, TypeError, "folder must be a path, got int"),
    ],
)
def test_what_is_wrong_is_named_before_anything_is_trained(changes, error, match):
    arguments = {"estimator": Remembers(fails=True), "X": X, "y": Y} | changes
    with pytest.raises(error, match=match):
        future_models(**arguments)


def test_names_may_have_underscores():
    assert set(future_models(TREE, X, Y, "label_noise", n_models=1).scenario) == {"label noise"}


def test_what_predicts_does_not_know_how_it_is_trained(monkeypatch):
    class Module:
        """Stands in for a torch module."""

        def __call__(self, *_):
            return np.zeros(80)

    class Predicts(Module):
        def predict(self, X):
            return np.zeros(len(X))

    with pytest.raises(TypeError, match=r"or a function refit.* got Predicts"):
        future_models(Predicts(), X, Y)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(nn=SimpleNamespace(Module=Module)))
    with pytest.raises(TypeError, match=r"or a function refit.* got Module"):
        future_models(Module(), X, Y)


def test_future_models_are_a_sequence():
    models = FutureModels(tuple("abcdef"), ["x", "y"] * 3, note=list("123456"))
    assert len(models) == 6
    assert list(models) == list("abcdef")
    assert models[1] == "b"
    assert models[-1] == "f"
    assert "c" in models
    assert list(models[np.int64(2)]) == ["c"]
    assert list(models[1:3].scenario) == ["y", "x"]
    assert list(models[models.scenario == "x"]) == ["a", "c", "e"]
    assert list(models[[5, 0]].note) == ["6", "1"]
    assert list(models.by_scenario()["y"].number) == [1, 3, 5]
    assert repr(models[:0]) == "FutureModels(0 models)"
    with pytest.raises(IndexError):
        models[6]


def test_some_to_choose_with_and_some_to_verify_with():
    models = FutureModels(tuple("abcdef"), list("xxyxyy"))
    choose, verify = models.split(2)
    assert list(choose) == ["a", "b", "c", "e"]
    assert list(verify) == ["d", "f"]
    together = choose + verify
    assert sorted(together) == list("abcdef")
    assert list(together.scenario) == list("xxyyxy")
    with pytest.raises(ValueError, match="n must be at least 1"):
        models.split(0)


def test_they_go_into_a_table_and_through_pickle():
    models = future_models(TREE, X, Y, ["seeds", Threshold(0.2)], n_models=2, start=3, random_state=0)
    table = models.to_frame()
    assert table.to_dict("list") == {
        "scenario": ["seeds", "seeds", "threshold (by 0.2)", "threshold (by 0.2)"],
        "number": [3, 4, 3, 4],
        "note": ["", "", "threshold 0.700", "threshold 0.700"],
    }
    assert_same(pickle.loads(pickle.dumps(models)), models)
    with pytest.raises(AttributeError):
        models.scenario = None


def test_entries_must_match_the_models():
    with pytest.raises(ValueError, match="scenario must have one entry for each of the 2 models, got 1"):
        FutureModels(("a", "b"), ["x"])


def test_one_progress_bar_for_all(monkeypatch):
    from robust_recourse.futures import training

    bars = []

    def spy(items, description, total):
        bars.append((description, total))
        return items

    monkeypatch.setattr(training, "track", spy)
    future_models(TREE, X, Y, EVERY[:5], n_models=3)
    assert bars == [("retraining", 13)]
