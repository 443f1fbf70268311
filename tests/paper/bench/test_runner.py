import json
import pickle
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from robust_recourse.checkpoints import CheckpointWarning
from robust_recourse.metrics import future_validity
from robust_recourse.paper.bench import runner
from robust_recourse.paper.bench.cases import prepare
from robust_recourse.paper.bench.runner import run
from robust_recourse.paper.bench.spec import SpecError, read_experiment
from robust_recourse.paper.bench.summary import configurations

TEXT = """
title = "Small"
datasets = ["synthetic"]
classifier = "logistic regression"
future_models = 3
instances = 6

[[methods]]
name = "RBR"
method = "RobustBayesianRecourse"
set = { n_neighbors = 50, n_samples = 30 }
grid = { delta_plus = [0.0, 0.1, 0.2] }

[[methods]]
name = "nearest"
method = "NearestAccepted"
"""


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(TEXT, encoding="utf-8")
    return read_experiment(path)


def without_times(table):
    return table.drop(columns="seconds")


def test_the_table_says_what_the_methods_found(small, tmp_path):
    table = run(small, tmp_path / "out")
    assert len(table) == 4 * 6
    case = prepare("synthetic", small.setting, 0)
    for configuration in small.configurations:
        method = runner.METHODS[configuration.method](case.model, random_state=0, **configuration.parameters)
        found = method.fit(case.X_train).explain(case.instances)
        rows = table[table["parameters"] == json.dumps(dict(configuration.parameters), sort_keys=True)]
        rows = rows[rows["method"] == configuration.name]
        np.testing.assert_allclose(rows["cost"], np.abs(found.x - case.instances).sum(axis=1))
        np.testing.assert_allclose(rows["future validity"], future_validity(case.future, found.x))
        np.testing.assert_array_equal(rows["current validity"], case.model.predict(found.x))
        np.testing.assert_array_equal(rows["model rows"], found.n_queries)
        np.testing.assert_array_equal(rows["row"], case.rows)
    assert set(configurations(table)["method"]) == {"RBR", "nearest"}
    written = pd.read_csv(tmp_path / "out" / "results.csv", keep_default_na=False)
    pd.testing.assert_frame_equal(written, table)


def test_provenance_has_versions_seeds_data_and_the_experiment(small, tmp_path):
    run(small, tmp_path)
    facts = json.loads((tmp_path / "provenance.json").read_text(encoding="utf-8"))
    assert facts["experiment"]["seeds"] == [0]
    assert facts["experiment"]["setting"]["future_models"] == 3
    assert facts["versions"]["numpy"] == np.__version__
    assert facts["data"] == {"synthetic": {}}
    assert facts["parts"] == {"run now": 4, "run before": 0}
    assert set(facts) >= {"commit", "started", "seconds", "title"}


def test_a_finished_experiment_is_not_run_again(small, tmp_path, monkeypatch):
    first = run(small, tmp_path)

    def fail(*_, **__):
        raise AssertionError("ran again")

    monkeypatch.setattr(runner, "prepare", fail)
    monkeypatch.setattr(runner, "_explain", fail)
    pd.testing.assert_frame_equal(run(small, tmp_path), first)


def test_what_finished_before_an_error_is_kept(small, tmp_path, monkeypatch):
    whole = run(small, tmp_path / "whole")
    explain, asked = runner._explain, []

    def fail_third(case, configuration):
        asked.append(configuration)
        if len(asked) == 3:
            raise RuntimeError("power cut")
        return explain(case, configuration)

    monkeypatch.setattr(runner, "_explain", fail_third)
    with pytest.raises(RuntimeError, match="power cut"):
        run(small, tmp_path / "cut")
    pd.testing.assert_frame_equal(without_times(run(small, tmp_path / "cut")), without_times(whole))
    assert len(asked) == 5  # two, the one that failed, and the two that were left


@pytest.mark.slow
def test_a_killed_run_continues_where_it_stopped(small, tmp_path):
    code = (
        "import sys, time; from pathlib import Path\n"
        "from robust_recourse.paper.bench import runner\n"
        "from robust_recourse.paper.bench.spec import read_experiment\n"
        "explain = runner._explain\n"
        "def slowly(*arguments):\n"
        "    time.sleep(0.3)\n"
        "    return explain(*arguments)\n"
        "runner._explain = slowly\n"
        "runner.run(read_experiment(Path(sys.argv[1])), Path(sys.argv[2]))\n"
    )
    out = tmp_path / "out"
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "small.toml"), str(out)])
    deadline = time.monotonic() + 60
    while not list(out.glob("parts/*.piece")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    finished = {path.name: path.stat().st_mtime_ns for path in out.glob("parts/*.piece")}
    assert 0 < len(finished) < 4
    assert not (out / "results.csv").exists()
    table = run(small, out)
    assert {name: (out / "parts" / name).stat().st_mtime_ns for name in finished} == finished
    pd.testing.assert_frame_equal(without_times(table), without_times(run(small, tmp_path / "whole")))


@pytest.mark.slow
def test_two_processes_find_what_one_finds(small, tmp_path):
    one, two = (run(small, tmp_path / str(n), n_jobs=n, table_format="parquet") for n in (1, 2))
    pd.testing.assert_frame_equal(without_times(one), without_times(two))
    written = pd.read_parquet(tmp_path / "2" / "results.parquet")
    pd.testing.assert_frame_equal(written, two)


def test_seeds_are_runs_of_their_own(small, tmp_path):
    table = run(replace(small, seeds=(0, 1)), tmp_path)
    assert table.groupby("seed").size().to_dict() == {0: 24, 1: 24}
    zero, one = (table[table["seed"] == seed]["cost"].to_numpy() for seed in (0, 1))
    assert not np.array_equal(zero, one)


def test_an_error_says_which_configuration_it_was(small, tmp_path, monkeypatch):
    def fail(*_):
        raise RuntimeError("no")

    monkeypatch.setattr("robust_recourse.methods.nearest.NearestAccepted.explain", fail)
    with pytest.raises(RuntimeError, match="no") as caught:
        run(small, tmp_path)
    assert "NearestAccepted with {} on synthetic" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    "change",
    [
        {"setting": {"future_models": 4}},
        {"setting": {"arrival_share": 0.3}},
        {"options": {"synthetic": {"random_state": 5}}},
        {"versions": {"numpy": "other"}},
        {"source": "other"},
        {"hashes": {"file": "other"}},
    ],
    ids=str,
)
@pytest.mark.parametrize("folds", [0, 2])
def test_whatever_can_change_a_result_makes_it_run_again(small, tmp_path, monkeypatch, change, folds):
    small = replace(small, folds=folds, methods=small.methods[1:])

    def parts():
        return {path.name for path in (tmp_path / "out" / "parts").iterdir()}

    run(small, tmp_path / "out")
    before = parts()
    if "setting" in change:
        small = replace(small, setting=replace(small.setting, **change["setting"]))
    elif "options" in change:
        small = replace(small, options=change["options"])
    elif "hashes" in change:
        load_rows = runner.load_rows
        monkeypatch.setattr(runner, "load_rows", lambda *given: replace(load_rows(*given), hashes=change["hashes"]))
    else:
        ((name, value),) = change.items()
        monkeypatch.setattr(runner, name, lambda: value)
    run(small, tmp_path / "out")
    assert len(parts()) == 2 * len(before)


def test_a_method_gets_the_action_set_of_the_case(small):
    case = prepare("synthetic", replace(small.setting, actions=True), 0)
    method = runner.make_method(case, small.configurations[0])
    assert method.actions is case.actions is not None
    assert method.random_state == 0


def test_a_bad_parameter_or_option_fails_before_any_work(small, tmp_path):
    bad = replace(small.methods[0], set={"delta_plus": -1.0}, grid={})
    with pytest.raises(
        SpecError, match=r"RobustBayesianRecourse with \{'delta_plus': -1.0\}: delta_plus must be at least"
    ):
        run(replace(small, methods=(*small.methods, bad)), tmp_path)
    with pytest.raises(ValueError, match=r"options of synthetic .*no option 'rowz'"):
        run(replace(small, options={"synthetic": {"rowz": 3}}), tmp_path)
    assert not list(tmp_path.glob("parts/*"))


def test_folds_are_encoded_and_trained_without_the_rows_they_are_scored_on(small, tmp_path, monkeypatch):
    seen = []
    learn, make = runner.learn_encoding, runner.make_classifier

    def spy_learn(data, rows, **options):
        seen.append(("encoded", len(rows)))
        return learn(data, rows, **options)

    class Spy:
        def __init__(self, model):
            self.model = model

        def fit(self, X, y):
            seen.append(("trained", len(X)))
            self.rows = {tuple(row) for row in X}
            self.model.fit(X, y)
            return self

        def predict_proba(self, X):
            assert not any(tuple(row) in self.rows for row in X)
            seen.append(("scored", len(X)))
            return self.model.predict_proba(X)

    monkeypatch.setattr(runner, "learn_encoding", spy_learn)
    monkeypatch.setattr(runner, "make_classifier", lambda *given: Spy(make(*given)))
    run(replace(small, folds=4), tmp_path)
    assert seen == [("encoded", 750), ("trained", 750), ("scored", 250)] * 8


def test_folds_score_the_classifier_on_rows_it_has_not_seen(small, tmp_path):
    table = run(replace(small, folds=3), tmp_path)
    assert table.groupby("data").size().to_dict() == {"D1": 3, "D2": 3}
    assert table["accuracy"].between(0.6, 1.0).all()
    assert table["auc"].between(0.6, 1.0).all()
    assert len(table["accuracy"].unique()) > 3
    pd.testing.assert_frame_equal(run(replace(small, folds=3), tmp_path), table)


def test_no_case_is_kept_and_models_of_others_are_not_opened(small, tmp_path):
    whole = run(small, tmp_path)
    models = list((tmp_path / "cache").rglob("*.*"))
    assert len(models) == 1 + 3
    for path in models:
        path.write_bytes(pickle.dumps(Boom()))
    parts = sorted((tmp_path / "parts").iterdir())
    parts[0].unlink()
    with pytest.warns(CheckpointWarning, match="this user has not written it like that"):
        again = run(small, tmp_path)
    pd.testing.assert_frame_equal(without_times(again), without_times(whole))


class Boom:
    """Would end the test if it were opened."""

    def __reduce__(self):
        return pytest.fail, ("a pickle of somebody else was opened",)


def test_more_folds_than_rows_of_a_class_are_refused(small, tmp_path):
    with pytest.raises(SpecError, match=r"synthetic has a class with .* too few for 400 folds"):
        run(replace(small, folds=400), tmp_path)


JURY = """
[[methods]]
name = "nearest, jury"
method = "NearestAccepted"
jury = { models = [3, 6], quorum = 0.9 }

[[methods]]
method = "BetaRCE"
set = { delta = 0.6 }
jury = { models = 6 }
"""


def test_methods_get_the_jury_that_they_were_given(tmp_path):
    path = tmp_path / "jury.toml"
    path.write_text(TEXT + JURY, encoding="utf-8")
    experiment = read_experiment(path)
    table = run(experiment, tmp_path / "out")
    case = prepare("synthetic", experiment.setting, 0, jurors={"bootstrap": 6})
    *_, three, six, peer = experiment.configurations
    assert [len(runner.make_method(case, chosen).jury) for chosen in (three, six, peer)] == [3, 6, 6]
    found = runner.make_method(case, six).fit(case.X_train).explain(case.instances)
    rows = table[table["parameters"] == json.dumps(dict(six.parameters), sort_keys=True)]
    np.testing.assert_allclose(rows["cost"], np.abs(found.x - case.instances).sum(axis=1))
    assert (found.jury_share >= 0.9).all()
    assert (table.loc[table["method"] == "BetaRCE", "current validity"] == 1.0).all()
    assert configurations(table)["varied"].str.contains("'models': 6").sum() == 1
