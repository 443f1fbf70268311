import shlex
import shutil
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from robust_recourse import ActionSet, BayesianRecourse, NearestAccepted, RobustBayesianRecourse, TunedRecourse
from robust_recourse.cli import main
from robust_recourse.cli._csv import EXACTLY
from robust_recourse.futures import Arrival, Temporal
from robust_recourse.tuning._families import Family

ACTIONS = '[columns.income]\ndirection = "up"\n'
FAST = {"n_neighbors": 20, "n_samples": 20}
FAMILIES = (Family("budget", 1.0, 0.5, 0.1, axes=False), Family("odds", 1.0, 0.25, 0.1, axes=False))


@pytest.fixture(scope="module")
def books():
    """A lender's table of numbers, on which models are quick."""
    rng = np.random.default_rng(0)
    n = 120
    X = pd.DataFrame({"income": rng.normal(30, 8, n).round(1), "months": rng.integers(6, 48, n)})
    score = X["income"] - 0.3 * X["months"] + rng.normal(0, 3, n)
    day = pd.Timestamp("2025-01-01") + pd.to_timedelta(rng.integers(0, 365, n), unit="D")
    return X.assign(day=day.strftime("%Y-%m-%d"), outcome=np.where(score > 22, "yes", "no"))


@pytest.fixture(scope="module")
def office(tmp_path_factory, books):
    io = pytest.importorskip("skops.io")
    folder = tmp_path_factory.mktemp("office")
    X, y = books[["income", "months"]], books["outcome"].to_numpy()
    io.dump(make_pipeline(LogisticRegression()).fit(X, y), folder / "model.skops")
    books.drop(columns="day").to_csv(folder / "train.csv", index=False)
    books.to_csv(folder / "dated.csv", index=False)
    later = books.assign(months=books["months"] + 3).iloc[::2]
    later[["outcome", "months", "income"]].to_csv(folder / "later.csv", index=False)
    (folder / "actions.toml").write_text(ACTIONS, encoding="utf-8")
    return folder


@pytest.fixture
def desk(office, tmp_path, monkeypatch):
    """The files, in the current folder; and few configurations, so that tuning takes no second."""
    for path in office.iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("robust_recourse.tuning._search.FAMILIES", FAMILIES[:1])
    return tmp_path


@pytest.fixture
def tuned(desk):  # noqa: ARG001
    """Run ``tune`` on these files; options that are given replace or add to its own."""

    def run(*more, **changed):
        options = {
            "model": "model.skops",
            "train": "train.csv",
            "outcome": "outcome",
            "actions": "actions.toml",
            "favourable": "yes",
            "target": 0.8,
            "models": 2,
            "people": 10,
        } | {name.replace("_", "-"): value for name, value in changed.items()}
        given = [word for name, value in options.items() if value is not None for word in (f"--{name}", str(value))]
        fast = [word for key, value in FAST.items() for word in ("--set", f"{key}={value}")]
        return main(["tune", *fast, *given, *more])

    return run


@pytest.fixture
def work(monkeypatch):
    """The parameters of every measurement that is made."""
    done = []
    explain = RobustBayesianRecourse.explain
    monkeypatch.setattr(
        RobustBayesianRecourse,
        "explain",
        lambda self, *rows, **how: done.append(self.get_params()) or explain(self, *rows, **how),
    )
    return done


@pytest.fixture(scope="module")
def promised(books):
    """What tuning finds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("robust_recourse.tuning._search.FAMILIES", FAMILIES)
        return by_hand(books, target=0.5)


def answer(self, found):
    """Stand in for ``fit``: what is found is known."""
    self.tuning_ = found
    return self


@pytest.fixture
def asked(promised, monkeypatch):
    """What tunes, and what it is given; it answers at once."""
    calls = []
    monkeypatch.setattr(
        TunedRecourse, "fit", lambda self, *given: calls.append((self, *given)) or answer(self, promised)
    )
    return calls


@pytest.fixture
def never(monkeypatch):
    """Nothing is tuned."""
    monkeypatch.setattr(TunedRecourse, "fit", lambda *_: pytest.fail("too late"))


def settings(path="tuned.toml"):
    return tomllib.loads(Path(path).read_text(encoding="utf-8"))


def given(parameters):
    return {key: value for key, value in parameters.items() if value is not None}


def by_hand(books, method=RobustBayesianRecourse, target=0.8, actions=None, **options):
    """What the library finds for these tables, without any file."""
    X, y = books[["income", "months"]], books["outcome"].to_numpy()
    model = make_pipeline(LogisticRegression()).fit(X, y)
    known = actions or ActionSet(X, increase=["income"])
    one = TunedRecourse(
        method(model, known, favourable="yes", **FAST),
        target,
        **({"n_models": 2, "n_people": 10, "random_state": 0} | options),
    )
    return one.fit(X, y).tuning_


def same(found, path="tuned.toml"):
    """Whether a file holds what was found."""
    written = settings(path)
    assert FAST.items() <= written["parameters"].items()
    assert written["parameters"] == {**found.others, **given(found.parameters)}
    assert written["measured"]["scenarios"] == list(found.scenarios)
    assert written["measured"]["future_validity"] == float(f"{found.future_validity.share:.4g}")
    assert written["measured"]["mean_cost"] == float(f"{found.cost:.6g}")
    assert written["measured"]["seed"] == found.seed
    return True


def test_from_tables_to_settings_to_recourses(tuned, books, promised, desk, capsys, monkeypatch):
    monkeypatch.setattr("robust_recourse.tuning._search.FAMILIES", FAMILIES)
    before = {path.name for path in desk.iterdir()}
    assert tuned(target=0.5) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    assert promised.reached
    assert same(promised)
    assert settings()["method"] == "robust"
    assert {path.name for path in desk.iterdir()} - before == {"tuned.toml"}
    lines = printed.out.splitlines()
    assert lines[0] == promised.summary
    for row in promised.frontier.to_dict("records"):
        assert any(f"{row['cost']:.3f} │" in line and f"{row['future_validity']:.3f} │" in line for line in lines)
    assert sum("│ * │" in line for line in lines) == 1
    assert "Settings: tuned.toml" in lines

    # The command that is printed runs as it is, and finds what the library finds with these parameters.
    X = books[["income", "months"]]
    people = X[books["outcome"] == "no"].head(6).reset_index(drop=True)
    people.to_csv("refused.csv", index=False)
    (command,) = (line.removeprefix("Next: robust-recourse ") for line in lines if line.startswith("Next: "))
    assert main(shlex.split(command)) == 0
    model = make_pipeline(LogisticRegression()).fit(X, books["outcome"].to_numpy())
    actions = ActionSet(X, increase=["income"])
    method = RobustBayesianRecourse(model, actions, favourable="yes", random_state=0, **FAST)
    recourses = method.set_params(**promised.parameters).fit(X).explain(people)
    written = pd.read_csv("recourses.csv", **EXACTLY)
    assert (recourses.cost > 0).any()
    np.testing.assert_array_equal(written["cost"], recourses.cost)


@pytest.mark.parametrize("mode", ["budget", "odds"])
def test_the_choice_is_marked(tuned, promised, capsys, monkeypatch, mode):
    table = promised.tried.drop_duplicates("cost")
    row = table[table["mode"] == mode].iloc[-1]
    strength = {"delta_plus": row["delta_plus"], "target_odds": None}
    names = ["sampling_radius", "sigma", "axes", "epsilon_0", "epsilon_1"]
    chosen = row[names].to_dict() | (strength if mode == "budget" else {"target_odds": row["target_odds"]})
    found = replace(promised, frontier=table, parameters=chosen)
    monkeypatch.setattr(TunedRecourse, "fit", lambda self, *_: answer(self, found))
    assert tuned() == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.endswith("to choose with (* chosen)") for line in lines) == 1
    (marked,) = (line for line in lines if line.startswith("│ * │"))
    assert mode in marked
    assert f"{row['cost']:.3f} │" in marked


def test_no_mark_is_promised_for_a_choice_that_is_not_in_the_table(tuned, promised, capsys, monkeypatch):
    found = replace(promised, parameters={**promised.parameters, "sigma": 77.0})
    monkeypatch.setattr(TunedRecourse, "fit", lambda self, *_: answer(self, found))
    assert tuned() == 0
    printed = capsys.readouterr().out
    assert "the people and models to choose with\n" in printed
    assert "*" not in printed


def test_the_options_are_passed_on(tuned, asked, books, capsys):
    # Columns in another order, and whole numbers where the training rows have others.
    people = pd.DataFrame({"who": [f"p{i}" for i in range(12)], "months": 40, "income": 14 + np.arange(12)})
    people.to_csv("people.csv", index=False)
    options = {
        "seed": 7,
        "jobs": 2,
        "target": 0.9,
        "models": 5,
        "people": 30,
        "max_changes": 1,
        "threshold": 0.6,
        "jury": 7,
    }
    assert tuned(refused="people.csv", id="who", folder="keep", **options) == 0
    ((tuner, X, y, rows),) = asked
    pd.testing.assert_frame_equal(X, books[["income", "months"]])
    assert y.tolist() == books["outcome"].tolist()
    given = tuner.get_params(deep=False)
    assert {key: value for key, value in given.items() if key not in ("method", "scenarios")} == {
        "target_future_validity": 0.9,
        "estimator": None,
        "n_models": 5,
        "n_people": 30,
        "jury": 7,
        "folder": Path("keep"),
        "random_state": 7,
        "n_jobs": 2,
    }
    pd.testing.assert_frame_equal(rows, people[["income", "months"]].astype({"income": float}))
    method = tuner.method
    assert type(method) is RobustBayesianRecourse
    assert (method.favourable, method.threshold, method.n_samples, method.n_neighbors) == ("yes", 0.6, 20, 20)
    assert method.actions.increase == ["income"]
    assert method.actions.max_changes == 1
    (command,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("Next: "))
    assert command == (
        "Next: robust-recourse explain --settings tuned.toml --model model.skops --train train.csv "
        "--refused people.csv --actions actions.toml --label outcome --id who --favourable yes --threshold 0.6 "
        "--max-changes 1 --seed 7 --out recourses.csv"
    )


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("", ["bootstrap"]),
        ("--scenario seeds --scenario deletion --scenario seeds", ["seeds", "deletion"]),
        ("--scenario label-noise --scenario threshold", ["label noise", "threshold"]),
        ("--scenario label_noise", ["label noise"]),
        ("--new later.csv", ["arrival"]),
        ("--time months", ["temporal"]),
        ("--scenario bootstrap --time months --new later.csv", ["bootstrap", "arrival", "temporal"]),
    ],
)
def test_what_may_happen(tuned, asked, words, names):
    assert tuned(*words.split()) == 0
    ((tuner, *_),) = asked
    assert [scenario.name for scenario in tuner.scenarios] == names


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("flood", "there is no scenario 'flood'; there are bootstrap, seeds, deletion, label noise, threshold"),
        ("arrival", "--new"),
        ("temporal", "--time"),
        ("parameters", "tune in Python"),
    ],
)
def test_a_scenario_that_cannot_be_named(tuned, name, said, capsys):
    with pytest.raises(SystemExit) as caught:
        tuned(scenario=name)
    assert caught.value.code == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_rows_that_arrive(tuned, asked, books):
    # Their columns are in another order, and one of them looks like numbers only.
    assert tuned(new="later.csv") == 0
    ((tuner, *_),) = asked
    (arrival,) = tuner.scenarios
    pd.testing.assert_frame_equal(
        arrival.X_new[["income", "months"]], pd.read_csv("later.csv", **EXACTLY)[["income", "months"]]
    )
    assert arrival.y_new.tolist() == books["outcome"].iloc[::2].tolist()


@pytest.mark.parametrize("named", [["--label", "day"], ["--label", "day", "--label", "outcome"]])
def test_time_in_a_column_that_the_model_does_not_get(tuned, asked, books, named, capsys):
    assert tuned(*named, train="dated.csv", time="day") == 0
    assert capsys.readouterr().out.count("--label outcome") == 1
    ((tuner, X, *_),) = asked
    assert list(X.columns) == ["income", "months"]
    (temporal,) = tuner.scenarios
    assert temporal.time.dt.strftime("%Y-%m-%d").tolist() == books["day"].tolist()


def test_tuning_to_new_rows_and_to_time_passing(tuned, books):
    assert tuned("--label", "day", train="dated.csv", time="day", new="later.csv") == 0
    later = pd.read_csv("later.csv", **EXACTLY)
    scenarios = [
        Arrival(later[["income", "months"]], later["outcome"].to_numpy()),
        Temporal(pd.to_datetime(books["day"])),
    ]
    assert same(by_hand(books, scenarios=scenarios))


@pytest.mark.parametrize(
    ("labels", "favourable"),
    [((0, 1), None), ((1, 2), "2"), ((False, True), "True"), ((1.0, 2.0), "2"), (("007", "12"), "12")],
)
def test_outcomes_are_the_classes_of_the_model(tuned, asked, books, labels, favourable):
    io = pytest.importorskip("skops.io")
    X, y = books[["income", "months"]], np.array(labels)[(books["outcome"] == "yes").astype(int)]
    io.dump(LogisticRegression().fit(X, y), "model.skops")
    X.assign(outcome=y).to_csv("train.csv", index=False)
    assert tuned(favourable=favourable) == 0
    ((_, _, given, _),) = asked
    assert given.dtype == y.dtype
    assert given.tolist() == y.tolist()


def test_a_model_of_scores(tuned, books, capsys):
    io = pytest.importorskip("skops.io")
    X = books[["income", "months"]]
    y = np.where(books["outcome"] == "yes", 700.0, 500.0)
    io.dump(LinearRegression().fit(X, y), "model.skops")
    X.assign(outcome=y).to_csv("train.csv", index=False)
    assert tuned(favourable="above", threshold=620) == 0
    assert settings()["measured"]["future_validity"] > 0.5
    assert "--favourable above --threshold 620.0" in capsys.readouterr().out


CASES = {
    "no model": ({"model": "nothing.skops"}, ["nothing.skops", "No such file"]),
    "no training rows": ({"train": "nothing.csv"}, ["nothing.csv", "No such file"]),
    "no new rows": ({"new": "nothing.csv"}, ["nothing.csv", "No such file"]),
    "no people": ({"refused": "nothing.csv"}, ["nothing.csv", "No such file"]),
    "no actions": ({"actions": "nothing.toml"}, ["nothing.toml", "No such file"]),
    "no table": ({"new": "actions.toml"}, ["actions.toml", ".csv or .parquet"]),
    "no outcome": ({"outcome": "result"}, ["--outcome result", "train.csv", "no such column", "'outcome'"]),
    "outcome and name": ({"id": "outcome"}, ["--outcome outcome", "--id"]),
    "a feature as outcome": ({"outcome": "months"}, ["--outcome months", "train.csv, line 2", "no, yes"]),
    "no time": ({"time": "day"}, ["--time day", "train.csv", "no such column"]),
    "time that is none": ({"time": "outcome"}, ["--time outcome", "train.csv, line 2", "2026-01-31"]),
    "a class": ({"favourable": "maybe"}, ["--favourable", "no, yes", "'maybe'"]),
    "no class": ({"favourable": None}, ["model.skops", "favourable"]),
    "a parameter": ({"set": "delta=1"}, ["--set delta", "no such parameter", "n_samples"]),
    "a tuned parameter": ({"set": "sigma=1"}, ["--set sigma", "tuned"]),
    "a promise as a parameter": ({"set": "target_future_validity=0.9"}, ["--set target_future_validity"]),
    "a value": ({"set": "n_samples=0"}, ["--set", "n_samples", "0"]),
    "out is an input": ({"out": "actions.toml"}, ["--out actions.toml", "replace"]),
    "out is a folder": ({"out": "sub"}, ["sub is a folder"]),
    "the figure is an input": ({"figure": "tuned.toml"}, ["--figure tuned.toml", ".png"]),
    "the folder is a file": ({"folder": "train.csv"}, ["train.csv"]),
    "threshold": ({"threshold": 7}, ["threshold", "between 0 and 1"]),
}


@pytest.mark.usefixtures("never")
@pytest.mark.parametrize("case", CASES)
def test_what_cannot_be_used_is_named_in_one_line(tuned, desk, complaint, case):
    (desk / "sub").mkdir()
    options, words = CASES[case]
    assert tuned(**options) == 2
    line = complaint()
    assert all(word in line for word in words), line
    assert {path.name for path in desk.iterdir()} == {
        "actions.toml",
        "dated.csv",
        "later.csv",
        "model.skops",
        "sub",
        "train.csv",
    }


EDITS = {
    "no outcome": ("train.csv", ",no\n", ",\n", ["--outcome outcome: train.csv, line ", "is missing"]),
    "another outcome": ("train.csv", ",no\n", ",nil\n", ["--outcome outcome: train.csv, line ", "'nil'", "no, yes"]),
    "new outcome": ("later.csv", "\nno,", "\nnil,", ["--outcome outcome: later.csv, line ", "'nil'", "no, yes"]),
    "no new outcome": ("later.csv", "outcome", "result", ["--outcome outcome: later.csv has no such column"]),
    "new column": ("later.csv", "months", "years", ["later.csv lacks columns of train.csv", "'months'"]),
    "new number": ("later.csv", "\nno,", "\nno,many", ["later.csv, line ", "'months'", "no number"]),
    "no time": ("dated.csv", "2025-", "", ["--time day: dated.csv, line ", "2026-01-31"]),
    "American dates": ("dated.csv", "2025-08-22", "08/22/2025", ["--time day: dated.csv, line 2: '08/22/2025'"]),
    "time is missing": ("dated.csv", "2025-08-22", "", ["--time day: dated.csv, line 2", "missing"]),
}  # fmt: skip


@pytest.mark.usefixtures("never")
@pytest.mark.parametrize("case", EDITS)
def test_mistakes_in_files_are_named_with_their_place(tuned, complaint, case):
    name, old, new, words = EDITS[case]
    path = Path(name)
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    options = {"train": "dated.csv", "time": "day", "label": "day"} if name == "dated.csv" else {"new": "later.csv"}
    assert tuned(**options) == 2
    line = complaint()
    assert all(word in line for word in words), line


def test_one_outcome_is_nothing_to_learn(tuned, books, complaint):
    books.drop(columns="day").assign(outcome="yes").to_csv("train.csv", index=False)
    assert tuned() == 2
    assert "--outcome outcome: train.csv has 'yes' in every row" in complaint()


@pytest.mark.parametrize("day", ["2026-01-01", 7])
def test_one_day_is_no_time(tuned, books, complaint, day):
    books.assign(day=day).to_csv("dated.csv", index=False)
    assert tuned(train="dated.csv", time="day", label="day") == 2
    assert f"--time day: dated.csv has {day} in every row" in complaint()


class Rule:
    classes_ = np.array(["no", "yes"])

    def predict(self, X):
        return np.where(X["income"] > 30, "yes", "no")


@pytest.mark.parametrize(("name", "what"), [("model.onnx", "An ONNX model"), ("rule.joblib", "A Rule")])
def test_a_model_that_cannot_be_trained(tuned, desk, complaint, name, what):
    (desk / "model.onnx").write_bytes(b"")
    joblib.dump(Rule(), "rule.joblib")
    assert tuned("--trust-pickle", model=name) == 2
    line = complaint()
    assert all(word in line for word in (name, f"{what} cannot be trained", ".skops", "TunedRecourse")), line


def test_too_few_people_are_refused(tuned, books, complaint):
    books.loc[books["outcome"] == "no", ["income", "months"]].head(8).to_csv("few.csv", index=False)
    assert tuned(refused="few.csv") == 2
    line = complaint()
    assert "few.csv: the model refuses " in line
    assert "--refused" in line


@pytest.mark.parametrize(
    ("option", "value"), [("people", 9), ("models", 1), ("target", 0), ("target", 95), ("seed", -1), ("method", "roar")]
)
def test_numbers_out_of_range(tuned, option, value, capsys):
    with pytest.raises(SystemExit) as caught:
        tuned(**{option: value})
    assert caught.value.code == 2
    assert f"argument --{option}: " in capsys.readouterr().err


@pytest.mark.parametrize("missing", ["--model", "--train", "--outcome", "--actions"])
def test_what_is_needed_is_needed(missing, capsys):
    given = {name: "file.csv" for name in ("--model", "--train", "--outcome", "--actions") if name != missing}
    with pytest.raises(SystemExit) as caught:
        main(["tune", *(word for pair in given.items() for word in pair)])
    assert caught.value.code == 2
    assert f"required: {missing}" in capsys.readouterr().err


def test_a_model_that_fails_to_train(tuned, complaint, monkeypatch):
    def fail(*_, **__):
        raise ValueError("no convergence")

    monkeypatch.setattr(LogisticRegression, "fit", fail)
    assert tuned() == 2
    assert "model.skops: bootstrap, model 10: training failed with ValueError: no convergence" in complaint()


def test_a_scenario_that_does_not_suit_the_model(tuned, books, complaint):
    io = pytest.importorskip("skops.io")
    io.dump(LinearSVC().fit(books[["income", "months"]], books["outcome"]), "model.skops")
    assert tuned(scenario="threshold") == 2
    line = complaint()
    assert "model.skops with the rows of train.csv" in line
    assert "has no predict_proba" in line


@pytest.mark.parametrize("strict", [False, True])
def test_a_target_out_of_reach(tuned, desk, capsys, strict):
    (desk / "actions.toml").write_text(
        "[columns.income]\nimmutable = true\n[columns.months]\nimmutable = true\n", encoding="utf-8"
    )
    assert tuned(*["--strict"][: int(strict)]) == int(strict)
    assert "A future validity of 0.8 was not reached" in capsys.readouterr().out
    assert settings()["measured"]["reached"] is False
    assert settings()["measured"]["without_recourse"] == 1.0


def test_a_target_within_reach_is_no_failure(tuned, asked):
    assert tuned("--strict") == 0
    assert asked


def test_an_interrupted_command_continues_where_it_was(tuned, work, books, desk, complaint, monkeypatch):
    whole = by_hand(books)
    n_whole = len(work)
    work.clear()
    explain = RobustBayesianRecourse.explain

    def press(self, *rows, **how):
        if len(work) == 3:
            raise KeyboardInterrupt
        return explain(self, *rows, **how)

    with monkeypatch.context() as patch:
        patch.setattr(RobustBayesianRecourse, "explain", press)
        assert tuned() == 130
    line = complaint()
    assert "interrupted: 22 models and 3 measurements are finished and kept in tuned.toml.parts" in line
    assert not Path("tuned.toml").exists()
    work.clear()
    assert tuned() == 0
    assert len(work) == n_whole - 3
    assert same(whole)
    assert not (desk / "tuned.toml.parts").exists()


def test_an_interruption_before_anything_is_finished_says_so(tuned, desk, complaint, monkeypatch):
    def press(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(LogisticRegression, "fit", press)
    before = {path.name for path in desk.iterdir()}
    assert tuned() == 130
    assert "nothing is finished, and nothing is kept" in complaint()
    assert {path.name for path in desk.iterdir()} == before


def test_a_folder_of_ones_own_is_kept_and_used_again(tuned, work, desk, capsys):
    assert tuned(folder="keep") == 0
    assert "Models and measurements: keep" in capsys.readouterr().out
    first, n = Path("tuned.toml").read_bytes(), len(work)
    assert tuned(folder="keep", out="again.toml") == 0
    assert len(work) == n
    assert Path("again.toml").read_bytes() == first
    # Another decision is another question.
    assert tuned(folder="keep", out="other.toml", threshold=0.4) == 0
    assert len(work) > n
    assert (desk / "keep" / "measured").is_dir()


def test_what_else_is_in_the_folder_stays(tuned, asked, desk):
    parts = desk / "tuned.toml.parts"
    (parts / "measured").mkdir(parents=True)
    (parts / "notes.txt").write_text("mine", encoding="utf-8")
    assert tuned() == 0
    assert asked
    assert [path.name for path in parts.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize(("name", "begins"), [("new/f.png", b"\x89PNG"), ("f.SVG", b"<?xml"), ("f.pdf", b"%PDF")])
def test_a_figure(tuned, asked, name, begins, capsys):
    assert tuned(figure=name) == 0
    assert asked
    assert Path(name).read_bytes().startswith(begins)
    assert f"Figure: {name}" in capsys.readouterr().out


@pytest.mark.usefixtures("never")
def test_a_figure_without_its_packages(tuned, complaint, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert tuned(figure="f.png") == 2
    assert "pip install 'robust-recourse[report]'" in complaint()


def test_the_method_without_ambiguity(tuned, books, capsys):
    assert tuned(method="bayesian") == 0
    assert same(by_hand(books, BayesianRecourse))
    assert settings()["method"] == "bayesian"
    assert "epsilon" not in capsys.readouterr().out


def test_what_is_not_tuned_is_in_the_file(tuned, books, monkeypatch):
    wide = Family("budget", 2.0, 0.5, 0.1, axes=False)
    monkeypatch.setattr("robust_recourse.tuning._search.FAMILIES", (wide,))
    assert tuned("--set", 'radius_unit="diameter"', "--set", "sampling_radius=0.05") == 0
    written = settings()["parameters"]
    assert written["radius_unit"] == "diameter"
    assert written["sampling_radius"] == 0.1  # where the search ends, not where it starts
    books.drop(columns=["day", "outcome"]).head(3).to_csv("refused.csv", index=False)
    files = "--model model.skops --train train.csv --refused refused.csv --label outcome --actions actions.toml"
    assert main(["explain", *files.split(), "--favourable", "yes", "--settings", "tuned.toml", "--out", "out.csv"]) == 0


SETTINGS = """\
method = "robust"
[parameters]
sampling_radius = 0.3
sigma = 0.1
axes = true
delta_plus = 0.4
[measured]
reached = true
"""


@pytest.fixture
def watched(monkeypatch):
    """The methods that ``explain`` uses, and where it keeps what is finished; nobody is explained."""
    calls = []

    def stop(batches, method, *_):
        calls.append((method, batches._key))
        raise KeyboardInterrupt

    monkeypatch.setattr("robust_recourse.cli._explain.Batches.explain", stop)
    return calls


@pytest.fixture
def settled(explain, watched, folder):
    """Run ``explain`` with a file of settings; return the method, and where it keeps what is finished."""

    def run(*more, text=SETTINGS, **changed):
        (folder / "tuned.toml").write_text(text, encoding="utf-8")
        assert explain(*more, settings="tuned.toml", **({"method": None} | changed)) == 130
        return watched[-1]

    return run


def test_settings_are_parameters(settled):
    method, _ = settled()
    assert type(method) is RobustBayesianRecourse
    shown = {key: getattr(method, key) for key in ("sampling_radius", "sigma", "axes", "delta_plus", "epsilon_0")}
    assert shown == {"sampling_radius": 0.3, "sigma": 0.1, "axes": True, "delta_plus": 0.4, "epsilon_0": None}


def test_the_method_of_the_settings(settled):
    method, _ = settled(text='method = "nearest"\n[parameters]\n')
    assert type(method) is NearestAccepted
    method, _ = settled(method="robust")
    assert type(method) is RobustBayesianRecourse


def test_single_parameters_replace_those_of_the_settings(settled):
    method, _ = settled("--set", "sigma=0.2", "--set", "n_samples=50")
    assert (method.sigma, method.n_samples, method.delta_plus) == (0.2, 50, 0.4)
    method, _ = settled("--set", "target_odds=0.1")
    assert (method.target_odds, method.delta_plus) == (0.1, 0.4)


def test_a_mark_at_the_beginning_of_settings(settled):
    assert settled(text="\ufeff" + SETTINGS)[0].sigma == 0.1


def test_what_is_finished_belongs_to_the_settings(settled, explain, watched):
    _, first = settled()
    _, again = settled(text=SETTINGS + "# a remark\n")
    _, other = settled(text=SETTINGS.replace("0.1", "0.2"))
    _, replaced = settled("--set", "sigma=0.2")
    assert first == again
    assert other == replaced
    assert first != other
    options = [
        word for key in ("sampling_radius=0.3", "sigma=0.1", "axes=true", "delta_plus=0.4") for word in ("--set", key)
    ]
    assert explain(*options, method="robust") == 130
    assert watched[-1][1] == first


WRONG = {
    "no TOML": ("method = robust", ["this is no TOML file"]),
    "a key": ('method = "robust"\nparameter = 1\n', ["'parameter' at the top", "parameters"]),
    "no method": ("[parameters]\n", ["method must be one of 'robust'", "missing"]),
    "a method": ('method = "magic"\n[parameters]\n', ["method must be one of 'robust'", "'magic'"]),
    "a number as method": ("method = 3\n[parameters]\n", ["method must be a text", "3"]),
    "no parameters": ('method = "robust"\n', ["[parameters] is missing", "robust-recourse tune"]),
    "parameters that are none": ('method = "robust"\nparameters = 3\n', ["parameters must be a table", "3"]),
    "a parameter": (SETTINGS.replace("sigma", "sgma"), ["[parameters] sgma", "no such parameter", "sigma"]),
    "of another method": ('method = "nearest"\n[parameters]\nsigma = 1.0\n', ["sigma", "nearest", "none"]),
    "a type": (SETTINGS.replace("0.1", '"0.1"'), ["[parameters]", "sigma must be a real number", "'0.1'"]),
    "a value": (SETTINGS.replace("0.1", "-1.0"), ["[parameters]", "sigma", "-1"]),
    "a flag": (SETTINGS.replace("true", "1", 1), ["[parameters]", "axes must be True or False"]),
    "the model": (SETTINGS.replace("sigma", "model"), ["[parameters] model", "no such parameter"]),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_settings_are_named_with_their_file(explain, folder, complaint, case):
    text, words = WRONG[case]
    (folder / "tuned.toml").write_text(text, encoding="utf-8")
    assert explain(settings="tuned.toml", method=None) == 2
    line = complaint()
    assert line.startswith("robust-recourse: tuned.toml")
    assert all(word in line for word in words), line


def test_settings_that_cannot_be_read(explain, folder, complaint):
    assert explain(settings="nothing.toml", method=None) == 2
    assert "nothing.toml: No such file" in complaint()
    (folder / "tuned.toml").write_bytes(b"method = '\xff'")
    assert explain(settings="tuned.toml", method=None) == 2
    assert "tuned.toml: this is no TOML file" in complaint()


def test_settings_and_options_that_contradict_each_other(explain, folder, complaint):
    (folder / "tuned.toml").write_text(SETTINGS, encoding="utf-8")
    assert explain(settings="tuned.toml", method="wachter") == 2
    line = complaint()
    assert all(word in line for word in ("--method wachter", "tuned.toml", "robust")), line
    assert explain("--set", "n_samples=1", settings="tuned.toml", method=None) == 2
    assert "--set: n_samples" in complaint()
    (folder / "tuned.toml").write_text(SETTINGS.replace("delta_plus = 0.4", "target_odds = 0.1"), encoding="utf-8")
    assert explain("--set", "delta_plus=1.0", settings="tuned.toml", method=None) == 2
    line = complaint()
    assert all(word in line for word in ("--set delta_plus", "tuned.toml", "target_odds = 0.1")), line


def test_results_do_not_replace_the_settings(explain, folder, complaint):
    (folder / "tuned.csv").write_text(SETTINGS, encoding="utf-8")
    assert explain(settings="tuned.csv", method=None, out="tuned.csv") == 2
    assert "--out tuned.csv would replace a file that is read" in complaint()


def test_the_help(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["tune", "--help"])
    assert caught.value.code == 0
    printed = capsys.readouterr().out
    options = "model train actions outcome out figure strict target models people refused scenario new time favourable"
    more = "threshold trust trust-pickle method set max-changes seed jobs folder label id separator missing"
    for option in f"{options} {more}".split():
        assert f"--{option}" in printed
    assert "pickles" in printed
    assert "130" in printed
