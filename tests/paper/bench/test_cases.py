from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from robust_recourse import ActionSet, future_models
from robust_recourse.paper.bench import cases
from robust_recourse.paper.bench.cases import load_rows, prepare
from robust_recourse.paper.bench.classifiers import Network, make_classifier
from robust_recourse.paper.bench.encoding import learn_encoding
from robust_recourse.paper.bench.juries import SCENARIOS, make_scenario
from robust_recourse.paper.bench.spec import Setting
from robust_recourse.paper.datasets import Dataset

FAST = Setting(classifier="logistic regression", future_models=3, instances=500)


def toy(n=300):
    """D2 is D1 backwards; the colour decides nothing."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "income": rng.normal(50.0, 10.0, n),
            "age": rng.integers(18, 80, n),
            "colour": pd.Categorical(rng.choice(["red", "green"], n), categories=["red", "green"]),
        }
    )
    frame["paid"] = np.where(frame["income"] + rng.normal(0.0, 5.0, n) > 45.0, "yes", "no")
    return Dataset(
        name="toy",
        title="Toy",
        D1=frame,
        D2=frame[::-1].reset_index(drop=True),
        label="paid",
        favourable="yes",
        kinds={"income": "continuous", "age": "integer", "colour": "category"},
        actions=ActionSet(
            immutable=["colour"],
            increase=["age"],
            bounds={"income": (0.0, 200.0), "age": (18.0, None)},
            weights={"income": 0.5, "colour": 3.0},
        ),
        citation="nobody",
        licence="none",
        notes="",
        hashes={},
        shared=np.arange(n)[::-1].copy(),
    )


@pytest.fixture
def toy_data(monkeypatch):
    data = toy()
    monkeypatch.setattr(cases, "load", lambda _name, **_options: data)
    return data


def test_the_refused_of_the_held_out_part_come_first(toy_data):
    case = prepare("toy", FAST, 0)
    assert not case.model.predict(case.instances).any()
    assert (np.diff(case.held_out.astype(int)) <= 0).all()
    assert case.held_out.any()
    assert not case.held_out.all()
    assert len(case.X_train) == 240
    trained = {tuple(row) for row in case.X_train}
    np.testing.assert_array_equal([tuple(row) not in trained for row in case.instances], case.held_out)
    encoded = case.encoding.encode(toy_data.X1)
    np.testing.assert_array_equal(encoded[case.rows], case.instances)
    few = prepare("toy", Setting(classifier="logistic regression", future_models=1, instances=4), 0)
    np.testing.assert_array_equal(few.instances, case.instances[:4])


@pytest.mark.usefixtures("toy_data")
def test_future_models_never_see_the_rows_that_are_explained(monkeypatch):
    seen = {}

    def spy(_estimator, X, _y, X_new, y_new, **options):
        seen.update(X=X, X_new=X_new, y_new=y_new, **options)
        return []

    monkeypatch.setattr(cases, "arrival_models", spy)
    case = prepare("toy", FAST, 0)
    arriving = {tuple(row) for row in seen["X_new"]}
    assert len(seen["X_new"]) == 300 - len(case.instances)
    assert not any(tuple(row) in arriving for row in case.instances)
    np.testing.assert_array_equal(seen["X"], case.X_train)
    assert (seen["share"], seen["n_models"]) == (0.2, 3)


def test_numbers_are_standardised_by_the_training_part_alone(toy_data):
    part = toy_data.X1.iloc[:50]
    encoding = learn_encoding(toy_data, part, standardise=True)
    assert encoding.columns == ["income", "age", "colour=green", "colour=red"]
    encoded = encoding.encode(part)
    np.testing.assert_allclose(encoded[:, :2].mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(encoded[:, :2].std(axis=0), 1.0)
    np.testing.assert_array_equal(encoded[:, 3], part["colour"] == "red")
    np.testing.assert_array_equal(encoded[:, 2:].sum(axis=1), 1.0)
    raw = learn_encoding(toy_data, part, standardise=False).encode(part)
    np.testing.assert_array_equal(raw[:, 0], part["income"])


def test_a_constant_column_is_only_centred(toy_data):
    part = toy_data.X1.assign(age=40).iloc[:50]
    np.testing.assert_array_equal(learn_encoding(toy_data, part, standardise=True).encode(part)[:, 1], 0.0)


def test_the_action_set_says_the_same_about_encoded_columns(toy_data):
    encoding = learn_encoding(toy_data, toy_data.X1, standardise=True)
    limits = encoding.actions(toy_data.actions).limits(4)
    np.testing.assert_array_equal(limits.falls, [True, False, False, False])
    np.testing.assert_array_equal(limits.rises, [True, True, False, False])
    ends = pd.DataFrame({"income": [0.0, 200.0], "age": [18, 99], "colour": ["red", "green"]})
    low, high = encoding.encode(ends)[:, :2]
    np.testing.assert_allclose(limits.lower[:2], low)
    assert limits.upper[0] == pytest.approx(high[0])
    assert limits.upper[1] == np.inf
    np.testing.assert_array_equal(limits.upper[2:], 1.0)
    # A standard deviation of income costs half as many units as it has.
    np.testing.assert_allclose(limits.weights, [0.5 * toy_data.X1["income"].std(ddof=0), 1.0, 3.0, 3.0])
    assert prepare("toy", FAST, 0).actions is None
    with_actions = Setting(classifier="logistic regression", future_models=1, actions=True)
    assert prepare("toy", with_actions, 0).actions.increase == [1]


@pytest.mark.usefixtures("toy_data")
def test_a_sample_of_rows_keeps_track_of_shared_ones():
    small = load_rows("toy", {"rows": 100}, 3)
    assert (len(small.D1), len(small.D2)) == (100, 100)
    both = small.shared >= 0
    assert both.any()
    assert not both.all()
    pd.testing.assert_frame_equal(
        small.D2[both].reset_index(drop=True), small.D1.iloc[small.shared[both]].reset_index(drop=True)
    )
    assert len(load_rows("toy", {"rows": 10_000}, 0).D1) == 300


@pytest.mark.usefixtures("toy_data")
def test_nobody_refused_is_an_error(monkeypatch):
    monkeypatch.setattr(cases, "accepted_by", lambda _, X: np.ones(len(X), dtype=bool))
    with pytest.raises(ValueError, match="toy: the present model refuses none of the 300 rows"):
        prepare("toy", FAST, 0)


@pytest.mark.usefixtures("toy_data")
def test_trained_models_come_from_the_folder_the_second_time(tmp_path, monkeypatch):
    first = prepare("toy", FAST, 0, folder=tmp_path)

    def fail(*_):
        raise AssertionError("trained again")

    monkeypatch.setattr("sklearn.linear_model.LogisticRegression.fit", fail)
    again = prepare("toy", FAST, 0, folder=tmp_path)
    np.testing.assert_array_equal(first.model.coef_, again.model.coef_)
    for one, other in zip(first.future, again.future, strict=True):
        np.testing.assert_array_equal(one.coef_, other.coef_)


def test_the_network_is_the_papers_and_stops_early_on_many_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    network = make_classifier("network", 1).fit(X, X[:, 0] > X[:, 1] ** 2)
    assert [len(weights) for weights in network.coefs_] == [2, 20, 50, 20]
    assert (network.activation, network.out_activation_) == ("relu", "logistic")
    assert network.n_iter_ <= 100
    assert not network.early_stopping
    many = rng.normal(size=(20_000, 1))
    assert Network(0).fit(many, many[:, 0] > 0).early_stopping


def test_the_published_network_takes_whole_steps_and_decays():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    network = make_classifier("published network", 1).fit(X, X[:, 0] > X[:, 1])
    assert [len(weights) for weights in network.coefs_] == [2, 20, 50, 20]
    assert network.t_ == network.n_iter_ * 300  # one step for all rows an epoch
    assert (network.alpha, network.learning_rate_init) == (0.1, 0.001)
    assert network.score(X, X[:, 0] > X[:, 1]) > 0.95


def test_the_encoding_is_learned_from_the_training_part_alone(toy_data):
    case = prepare("toy", FAST, 0)
    assert len(case.X_train) < len(toy_data.D1)
    np.testing.assert_allclose(case.X_train[:, :2].mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(case.X_train[:, :2].std(axis=0), 1.0)


@pytest.mark.usefixtures("toy_data")
@pytest.mark.parametrize("reseed", [True, False])
def test_future_models_are_reseeded_as_the_setting_says(monkeypatch, reseed):
    seen = {}
    monkeypatch.setattr(cases, "arrival_models", lambda *_, **options: seen.update(options) or [])
    prepare("toy", replace(FAST, reseed=reseed), 0)
    assert seen["reseed"] == reseed


@pytest.mark.parametrize("name", ["network", "published network"])
def test_an_interrupt_ends_training_and_leaves_no_half_network(name, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("sklearn.neural_network.MLPClassifier._backprop", interrupt)
    with pytest.raises(KeyboardInterrupt):
        make_classifier(name, 0).fit(X, X[:, 0] > 0)


def test_the_people_of_a_sample_have_their_numbers_in_the_whole(toy_data):
    case = prepare("toy", FAST, 0, options={"rows": 200})
    np.testing.assert_array_equal(case.encoding.encode(toy_data.X1.loc[case.rows]), case.instances)


@pytest.mark.usefixtures("toy_data")
@pytest.mark.parametrize("future", SCENARIOS)
def test_jurors_and_future_models_are_different_models(future):
    setting = replace(FAST, future=future, instances=5)
    case = prepare("toy", setting, 0, jurors={future: 3, "bootstrap": 2})
    assert (len(case.future), len(case.jurors[future])) == (3, 3 if future != "bootstrap" else 2)
    for one in case.future:
        for other in (model for models in case.jurors.values() for model in models):
            if future != "parameters":
                assert (one.coef_ != other.coef_).any()
    again = prepare("toy", replace(setting, future="arrival"), 0, jurors={future: 2})
    for one, other in zip(again.jurors[future], case.jurors[future], strict=False):
        np.testing.assert_array_equal(one.coef_, other.coef_)


@pytest.mark.parametrize("classifier", ["network", "boosted trees", "logistic regression"])
def test_every_classifier_has_other_parameters(classifier):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int)
    scenario = make_scenario("parameters", classifier, X, y, 0.2)
    models = future_models(make_classifier(classifier, 0), X, y, scenario, n_models=4, random_state=0)
    assert len({str(model.get_params()) for model in models}) > 1
