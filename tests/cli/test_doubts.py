"""What the commands ask about before anybody relies on the answers, and in which words."""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from robust_recourse.cli._printing import print_table
from robust_recourse.cli._tables import read_people
from robust_recourse.cli._wording import in_options
from robust_recourse.result import Recourses
from robust_recourse.tables import Schema
from robust_recourse.tables.seen import Seen


@pytest.fixture
def told(explain, capsys):
    """Run ``explain`` with warnings as users have them; return its code and the lines on standard error."""

    def run(*more, **changed):
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            code = explain(*more, **changed)
        return code, capsys.readouterr().err.splitlines()

    return run


@pytest.fixture
def miscoded(folder):
    people = pd.read_csv(folder / "refused.csv", dtype={"person": str})
    people["months"] = people["months"].astype(float)
    people.loc[[1, 4], "sex"] = "F"
    people.loc[2, "income"] = 1e9
    people.loc[3, "months"] = 12.5
    people.to_csv(folder / "refused.csv", index=False)


@pytest.mark.usefixtures("miscoded")
def test_values_that_no_training_row_has(told):
    code, (line,) = told()
    assert code == 0
    assert line.startswith(
        "robust-recourse: warning: refused.csv (rows are counted from 0) has values that no training row has: column "
        "'sex': 'F' in rows 1 (label '001'), 4 (label '004') (training rows have 'f', 'm'); "
    )
    assert "column 'income': 1000000000 in row 2 (label '002') (training rows have " in line
    assert "column 'months': 12.5 in row 3 (label '003') (training rows have whole numbers)" in line
    assert line.endswith("accept them with --unseen ignore.")
    written = Path("out.csv").read_bytes()
    assert told("--unseen", "ignore") == (0, [])
    assert Path("out.csv").read_bytes() == written
    Path("out.csv").unlink()
    code, (line,) = told("--unseen", "error")
    assert code == 2
    assert line.startswith("robust-recourse: refused.csv (rows are counted from 0) has values that no training row has")
    assert not Path("out.csv").exists()


def test_booleans_stay_booleans_beside_what_is_none(tmp_path):
    settings = argparse.Namespace(id=None, label=[], separator=",", missing=None, train=Path("train.csv"))
    train = pd.DataFrame({"own": [True, False], "gap": [True, None], "word": ["True", "no"]})
    people = pd.DataFrame({"own": ["yes", "False", "true"], "gap": ["x", "", "TRUE"], "word": ["True", "no", "true"]})
    people.to_csv(tmp_path / "people.csv", index=False)
    read = read_people(tmp_path / "people.csv", settings, train)
    assert read["own"].tolist() == ["yes", False, True]
    assert read["gap"].tolist()[::2] == ["x", True]
    assert read["gap"].isna().tolist() == [False, True, False]
    assert read["word"].tolist() == ["True", "no", "true"]
    seen = Schema.learn(train[["own"]])
    table = seen.read(read[["own"]], "people.csv")
    assert "'yes' in row 0 (training" in Seen.of(seen.read(train[["own"]], "X")).unseen(table, "people.csv")


@pytest.mark.usefixtures("miscoded")
def test_it_is_asked_once_about_all_batches(told, monkeypatch):
    monkeypatch.setattr("robust_recourse.cli._batches._FIRST", 3)
    monkeypatch.setattr("robust_recourse.cli._batches._GROWTH", 1)
    _, lines = told()
    assert len(lines) == 1
    assert "'F' in rows 1 (label '001'), 4 (label '004') (" in lines[0]


def test_the_favourable_class_may_be_the_wrong_one(told, monkeypatch):
    monkeypatch.setattr("robust_recourse.cli._batches._FIRST", 3)
    code, lines = told(favourable="no")
    assert code == 0
    assert lines == [
        "robust-recourse: warning: The model accepts all 12 rows as they are, so that nobody needs a recourse. Is "
        "--favourable 'no' the wrong way round?"
    ]


def test_one_batch_of_accepted_people_is_no_doubt(told, lender, monkeypatch):
    monkeypatch.setattr("robust_recourse.cli._batches._FIRST", 3)
    accepted = lender.train[lender.model.predict(lender.train) == "yes"].head(3).drop(columns="outcome")
    pd.concat([accepted, lender.refused.head(3)]).to_csv("refused.csv", index=False)
    assert told(id=None) == (0, [])


def test_a_label_that_was_forgotten(told, lender):
    people = lender.train[lender.model.predict(lender.train.drop(columns="outcome")) == "no"].head(3)
    people.to_csv("refused.csv", index=False)
    code, (line,) = told(label=None, id=None)
    assert code == 0
    assert "the table has columns that the model was not trained with: 'outcome'. If one of them is the label" in line
    assert line.endswith("leave it out with --label or --id.")


def test_no_people_have_no_recourses(explain, folder, capsys):
    path = folder / "refused.csv"
    path.write_text(path.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    assert explain(html="notices", json="out.json") == 0
    assert "refused.csv has no people to explain." in capsys.readouterr().out
    table = pd.read_csv("out.csv")
    assert len(table) == 0
    assert list(table.columns[:5]) == ["person", "income", "months", "job", "sex"]
    assert len(Recourses.from_json("out.json")) == 0
    assert (folder / "notices" / "index.html").exists()
    assert not (folder / "out.csv.partial").exists()
    pd.read_csv(path).to_parquet("refused.parquet")
    assert explain(refused="refused.parquet", out="out.parquet") == 0
    assert len(pd.read_parquet("out.parquet")) == 0


def test_no_training_rows_are_a_mistake(explain, folder, complaint):
    path = folder / "train.csv"
    path.write_text(path.read_text(encoding="utf-8").splitlines()[0] + "\n", encoding="utf-8")
    assert explain() == 2
    assert "train.csv has no rows" in complaint()


SETTINGS = """\
method = "nearest"
[parameters]
[measured]
target_future_validity = 0.95
reached = {}
future_validity = 0.8123
"""


def test_settings_that_missed_their_target(told, folder):
    (folder / "tuned.toml").write_text(SETTINGS.format("false"), encoding="utf-8")
    code, lines = told(settings="tuned.toml", method=None)
    assert code == 0
    assert lines == [
        "robust-recourse: warning: tuned.toml: the settings did not reach their target. A future validity of 0.95 was "
        "wanted, and 0.8123 was measured."
    ]
    (folder / "tuned.toml").write_text(SETTINGS.format("true"), encoding="utf-8")
    assert told(settings="tuned.toml", method=None) == (0, [])
    (folder / "tuned.toml").write_text('method = "nearest"\n[parameters]\n', encoding="utf-8")
    assert told(settings="tuned.toml", method=None) == (0, [])


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            "Explain it again, with a longer time_limit or none.",
            "Explain it again, with a longer --time-limit or none.",
        ),
        ("Allow more changes with max_changes, or", "Allow more changes with --max-changes, or"),
        ("Pass favourable= the label that is favourable.", "Pass --favourable the label that is favourable."),
        ('Pass favourable="above" or "below".', 'Pass --favourable "above" or "below".'),
        (
            "Pass favourable= for labels, threshold= for scores.",
            "Pass --favourable for labels, --threshold for scores.",
        ),
        ("If they are scores, pass threshold=.", "If they are scores, pass --threshold."),
        ("needs threshold=: the model answers", "needs --threshold: the model answers"),
        ("With threshold = 0.5 the model must", "With --threshold 0.5 the model must"),
        ("m.skops: favourable must be one of", "m.skops: --favourable must be one of"),
        ("labels such as 3, but favourable is 'a'.", "labels such as 3, but --favourable is 'a'."),
        ("threshold needs probabilities", "--threshold needs probabilities"),
        ("X has no favourable row: the model", "the table has no favourable row: the model"),
        ("for row 3 of X: bad", "for row 3 of the table: bad"),
        ('accept them with unseen="ignore".', "accept them with --unseen ignore."),
        (
            "Promise less, or say with n_check= that so many shall be trained.",
            "Promise less with --survival, or be less sure of it with --confidence.",
        ),
        ("Pass more with people=.", "Pass more with --refused."),
        ("a.toml: actions.max_changes must be at least 1", "a.toml: max_changes must be at least 1"),
        ("a.toml: actions.bounds['n'] is empty", "a.toml: min and max of column 'n' is empty"),
        (
            "actions.increase names column 'a'. Give it: ordered={'a': [lowest, ..., highest]}.",
            "direction = \"up\" names column 'a'. Give it: ordered = [lowest, ..., highest].",
        ),
        ("a.toml: X_train: Column 'n' has integers", "a.toml: the table: Column 'n' has integers"),
        # What is no parameter is left as it is.
        ("actions.toml: there is no key 'bounds'", "actions.toml: there is no key 'bounds'"),
        ("no favourable candidate, the threshold is met", "no favourable candidate, the threshold is met"),
        (
            "max_changes.csv: column 'max_changes' of /a/n_jobs/b",
            "max_changes.csv: column 'max_changes' of /a/n_jobs/b",
        ),
        ("--set max_changes: the method has none", "--set max_changes: the method has none"),
        ("try another sampling_radius", "try another sampling_radius"),
        ("column 'X' has text, my_X is 3", "column 'X' has text, my_X is 3"),
        ("(trusted=['a'] in Python)", "(trusted=['a'] in Python)"),
        ("--max-changes and --favourable", "--max-changes and --favourable"),
    ],
)
def test_messages_name_options(said, shown):
    assert in_options(said) == shown


def test_the_reasons_in_results_name_options(explain):
    assert explain(max_changes=1, time_limit=1e-9, json="out.json") == 0
    reasons = pd.read_csv("out.csv")["reason"]
    assert reasons.str.contains("with a longer --time-limit or none").any()
    assert not reasons.str.contains("time_limit").any()
    assert list(Recourses.from_json("out.json").reason) == reasons.tolist()


def test_a_wrong_decision_is_told_with_its_option(told, lender):
    io = pytest.importorskip("skops.io")
    numbers = lender.train[["income", "months"]]
    tree = DecisionTreeClassifier(random_state=0).fit(numbers, np.arange(len(numbers)) % 3)
    io.dump(tree, "classes.skops")
    lender.train[["income", "months"]].to_csv("train.csv", index=False)
    lender.refused[["income", "months"]].to_csv("refused.csv", index=False)
    Path("actions.toml").write_text("", encoding="utf-8")
    code, (line,) = told(
        "--trust", "sklearn.tree._tree.Tree", model="classes.skops", favourable=None, label=None, id=None
    )
    assert code == 2
    assert "--favourable" in line
    assert "favourable=" not in line


WORDS = "a sentence of several words that has no end before the edge of a terminal, and then some more words"


def test_a_pipe_breaks_no_words(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    print_table(pd.DataFrame({"column": [WORDS], "other column": [WORDS[::-1]], "n": [1]}), f"Title: {WORDS}")
    printed = capsys.readouterr().out
    assert WORDS in printed
    assert WORDS[::-1] in printed
    assert f"Title: {WORDS}" in printed


def test_a_terminal_has_an_edge(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("FORCE_COLOR", "1")  # what rich takes for a terminal
    print_table(pd.DataFrame({"column": [WORDS]}), "Title")
    printed = capsys.readouterr().out
    assert WORDS not in printed
    assert max(map(len, printed.splitlines())) < 80
