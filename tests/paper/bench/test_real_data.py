"""The evaluation on the real data, in small."""

import os
from pathlib import Path

import numpy as np
import pytest

from robust_recourse.paper.bench import cases
from robust_recourse.paper.bench.cases import prepare
from robust_recourse.paper.bench.runner import run
from robust_recourse.paper.bench.spec import Setting, read_experiment
from robust_recourse.paper.datasets import load

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        "ROBUST_RECOURSE_DATA" not in os.environ,
        reason="needs ROBUST_RECOURSE_DATA, the folder with the published files",
    ),
]

TEXT = """
title = "All methods on real data"
datasets = ["german", "sba", "gmc"]
classifier = "logistic regression"
future_models = 3
instances = 12

[options.gmc]
rows = 2000

[[methods]]
method = "RobustBayesianRecourse"
[[methods]]
method = "BayesianRecourse"
[[methods]]
method = "Wachter"
[[methods]]
method = "ROAR"
name = "LIMELS-ROAR"
[[methods]]
method = "ROAR"
name = "LIME-ROAR"
set = { surrogate = "lime" }
[[methods]]
method = "NearestAccepted"
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("real")
    (folder / "real.toml").write_text(TEXT, encoding="utf-8")
    return run(read_experiment(Path(folder / "real.toml")), folder / "out")


def test_every_person_gets_an_answer_from_every_method(results):
    counts = results.groupby(["dataset", "method"]).size().unstack()
    assert counts.shape == (3, 6)
    assert (counts > 0).all(axis=None)
    assert (counts.nunique(axis=1) == 1).all()
    ours = results[results["method"].isin(["RobustBayesianRecourse", "BayesianRecourse", "NearestAccepted"])]
    assert (ours["current validity"] == 1.0).all()


def test_on_a_linear_model_wachter_is_the_cheapest_of_all_that_are_accepted(results):
    valid = results[results["current validity"] == 1.0]
    table = valid.pivot_table(index=["dataset", "row"], columns="method", values="cost")
    cheapest = table.drop(columns="Wachter").min(axis=1)
    assert (table["Wachter"] <= 1.01 * cheapest).all()


def test_future_models_of_german_credit_do_not_know_the_people_who_are_explained(monkeypatch):
    seen = {}

    def spy(_estimator, X, _y, X_new, y_new, **_options):
        seen.update(X=X, X_new=X_new, y_new=y_new)
        return []

    monkeypatch.setattr(cases, "arrival_models", spy)
    data = load("german")
    case = prepare("german", Setting(classifier="logistic regression", instances=40), 0)
    others = ~np.isin(data.shared, case.rows)
    assert others.sum() == 1000 - len(case.rows)
    np.testing.assert_array_equal(seen["X_new"], case.encoding.encode(data.X2[others]))
    np.testing.assert_array_equal(seen["y_new"], data.y2[others])
    np.testing.assert_array_equal(seen["X"], case.X_train)


def test_the_action_set_of_a_data_set_holds_in_an_experiment():
    case = prepare("sba", Setting(classifier="logistic regression", future_models=1, instances=20, actions=True), 0)
    limits = case.actions.limits(len(case.encoding.columns))
    frozen = ~(limits.rises | limits.falls)
    assert {"ChgOffPrinGr", "Recession"} <= {name for name, k in zip(case.encoding.columns, frozen, strict=True) if k}
    assert limits.holds(case.instances).all()
