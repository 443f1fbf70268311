"""What is known about where recourses come from."""

from __future__ import annotations

import json
import pickle
from dataclasses import asdict
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from robust_recourse import ActionSet, NearestAccepted, Recourses, RobustBayesianRecourse, __version__, load, save
from robust_recourse.result.provenance import fingerprint

X = np.random.default_rng(0).normal(size=(120, 2))
MODEL = LogisticRegression().fit(X, X.sum(axis=1) > 0)
REFUSED = X[MODEL.predict(X) == 0][:4]


def explain(model=MODEL, actions=None, rows=X, **settings):
    settings = {"random_state": 3, "n_samples": 20, **settings}
    return RobustBayesianRecourse(model, actions, **settings).fit(rows).explain(REFUSED)


def test_provenance_names_version_method_settings_model_and_seed():
    made = explain(delta_plus=0.3, sigma=np.float64(0.5)).provenance
    assert made.version == __version__
    assert made.method == "RobustBayesianRecourse"
    assert made.model == "sklearn.linear_model._logistic.LogisticRegression"
    assert made.seed == 3
    assert made.parameters["delta_plus"] == 0.3
    assert type(made.parameters["sigma"]) is float
    assert "model" not in made.parameters
    json.dumps(asdict(made), allow_nan=False)


def test_the_same_makes_the_same_and_anything_else_another():
    made = explain().provenance
    again = LogisticRegression().fit(X, X.sum(axis=1) > 0)
    assert explain(again).provenance == made
    assert explain(n_jobs=1).provenance == made
    others = [
        explain(LogisticRegression(C=0.9).fit(X, X.sum(axis=1) > 0)),
        explain(random_state=4),
        explain(delta_plus=0.1),
        explain(actions=ActionSet(immutable=[0])),
        explain(rows=X[:, :2] * 1.0, actions=ActionSet(immutable=[1])),
    ]
    assert all(other.provenance != made for other in others)
    assert len({repr(other.provenance) for other in others}) == 5


def test_a_model_that_learnt_something_else_has_another_fingerprint():
    other = LogisticRegression().fit(X, X[:, 0] > 0)
    assert fingerprint(other) != fingerprint(MODEL)
    assert fingerprint(LogisticRegression().fit(X, X.sum(axis=1) > 0)) == fingerprint(MODEL)


@pytest.mark.parametrize(
    "model",
    [LogisticRegression(), RandomForestClassifier(3, random_state=0), HistGradientBoostingClassifier(max_iter=3)],
)
def test_a_model_from_a_file_has_the_same_fingerprint(model):
    io = pytest.importorskip("skops.io")
    fitted = make_pipeline(StandardScaler(), model).fit(X, X[:, 0] > 0)
    content = io.dumps(fitted)
    loaded = io.loads(content, trusted=io.get_untrusted_types(data=content))
    assert fingerprint(loaded) == fingerprint(fitted) == fingerprint(pickle.loads(pickle.dumps(fitted)))


def test_arrays_with_fields_are_told_apart_by_names_types_shapes_and_values():
    plain = np.array([(1, 2.0), (3, 4.0)], dtype=[("a", "i4"), ("b", "f8")])
    same = np.zeros(2, dtype=np.dtype([("a", "i4"), ("b", "f8")], align=True))
    same["a"], same["b"] = plain["a"], plain["b"]
    changed, renamed = plain.copy(), plain.view([("a", "i4"), ("c", "f8")])
    changed["b"][1] = 5.0
    others = [changed, renamed, plain.reshape(2, 1), plain[:1], plain.astype([("a", "i8"), ("b", "f8")])]
    assert fingerprint(same) == fingerprint(plain)
    assert len({fingerprint(array) for array in [plain, *others]}) == 6


@pytest.mark.parametrize("model", [lambda rows: rows[:, 0] > 0, partial(np.greater, 3), MODEL.predict, len, dict])
def test_what_is_known_by_its_name_only_has_no_fingerprint(model):
    assert fingerprint(model) is None


def test_what_cannot_be_pickled_has_no_fingerprint():
    class Model:
        def __reduce__(self):
            raise RuntimeError("no")

    assert fingerprint(Model()) is None


def test_provenance_survives_slices_and_concatenation():
    found, other = explain(), explain(delta_plus=0.1)
    assert found[1:3].provenance == found.provenance
    assert Recourses.concat([found[:2], found[2:]]).provenance == found.provenance
    both = Recourses.concat([found, other])
    assert both.provenance == (found.provenance, other.provenance)
    assert Recourses.concat([both, found]).provenance == both.provenance
    assert Recourses.from_json(both.to_json()).equals(both)


def test_a_method_that_was_saved_says_the_same(tmp_path):
    pytest.importorskip("skops")
    method = NearestAccepted(MODEL, random_state=0).fit(X)
    save(method, tmp_path / "method.zip")
    assert load(tmp_path / "method.zip").explain(REFUSED).equals(method.explain(REFUSED))


@pytest.mark.parametrize(
    "names",
    [
        [0, 1],
        [("a", 1), ("a", 2)],
        pd.MultiIndex.from_tuples([("a", 1), ("b", 1)], names=["u", "v"]),
        [pd.Timestamp("2020-01-01"), pd.Timestamp("2020-01-02")],
        pd.period_range("2020-01", periods=2, freq="M"),
    ],
)
def test_names_of_any_kind_read_back_the_same(names, tmp_path):
    table = pd.DataFrame(X)
    table.columns = names
    first, second = table.columns
    actions = ActionSet(table, increase=[first], weights={second: 2.0}, categories={})

    def model(rows):
        return MODEL.predict(np.asarray(rows))

    method = NearestAccepted(model, actions, random_state=0).fit(table)
    found = method.explain(table[model(table) == 0].head(4))
    save(method, tmp_path / "method.zip", include_model=False)
    assert load(tmp_path / "method.zip", model=model).explain(found.x0).equals(found)
    read = Recourses.from_json(found.to_json())
    assert read.equals(found)
    assert Recourses.concat([found[:2], read[2:]]).equals(found)
    other = ActionSet(table, increase=[first], weights={second: 3.0})
    assert NearestAccepted(model, other, random_state=0).fit(table).explain(found.x0).provenance != found.provenance


def test_action_sets_that_know_other_columns_are_told_apart():
    table = pd.DataFrame(X, columns=["a", "b"])
    known = [explain_with(actions, table) for actions in (ActionSet(table), ActionSet(10.0 * table), ActionSet())]
    assert len(set(known)) == 3


def explain_with(actions, table):
    method = NearestAccepted(lambda rows: MODEL.predict(np.asarray(rows)), actions, random_state=0).fit(table)
    return method.explain(table.head(1)).provenance.parameters["actions"]["fingerprint"]
