"""Promises on the command line: recorded while explaining, checked, looked at, verified, exported, forgotten."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

pytest.importorskip("sqlalchemy")

from robust_recourse.cli import main
from robust_recourse.ledger import Ledger

from ..ledger.conftest import place

UNTIL = "2099-12-31"


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request, folder):
    """An empty place for a ledger, on each database, as options name it."""
    with place(request.param, folder) as found:
        yield "promises.db" if isinstance(found, str) else found.render_as_string(hide_password=False)


@pytest.fixture
def promised(explain, where, capsys):
    """A ledger with the promises of the lender."""
    assert explain("--name", "scorecard 2026-11", "--note", "spring", ledger=where, until=UNTIL) == 0
    capsys.readouterr()
    return where


@pytest.fixture(scope="session")
def newer(lender, tmp_path_factory):
    """The next model: stricter, but not for all."""
    io = pytest.importorskip("skops.io")
    X = lender.train.drop(columns="outcome")
    score = X["income"] - 0.3 * X["months"] + 8 * (X["job"] == "full")
    model = clone(lender.model).fit(X, np.where(score > 23.5, "yes", "no"))
    path = tmp_path_factory.mktemp("newer") / "new.skops"
    io.dump(model, path)
    return path, model


def check(ledger, newer, *more, at_least="0.98"):
    options = ["--ledger", ledger, "--model", str(newer[0]), "--name", "scorecard 2027-01", "--at-least", at_least]
    return main(["check", *options, *more])


def test_what_is_explained_is_recorded_before_it_is_written(explain, where, lender, capsys):
    assert explain("--name", "scorecard 2026-11", ledger=where, until=UNTIL) == 0
    printed = capsys.readouterr().out
    assert "Promises: 12 recorded in " in printed
    frame = Ledger(where).promises()
    out = pd.read_csv("out.csv", dtype={"person": str})
    assert frame["person"].tolist() == out["person"].tolist()
    assert frame["income"].tolist() == out["income"].tolist()
    assert frame["months"].dtype == lender.train["months"].dtype
    assert set(frame["model"]) == {"scorecard 2026-11"}
    head = Ledger(where).head
    assert explain("--name", "scorecard 2026-11", ledger=where, until=UNTIL) == 0
    assert "0 recorded, 12 were recorded before" in capsys.readouterr().out
    assert Ledger(where).head == head


def test_nothing_is_written_if_nothing_could_be_recorded(explain, promised, folder, capsys):
    Path("out.csv").unlink()
    head = Ledger(promised).head
    assert explain(ledger=promised, until="2099-11-30") == 2
    line = capsys.readouterr().err
    assert "There is an open promise to '000'" in line
    assert "--replace" in line
    assert "replace=True" not in line
    assert not (folder / "out.csv").exists()
    assert Ledger(promised).head == head
    assert explain("--replace", ledger=promised, until="2099-11-30") == 0
    assert (folder / "out.csv").exists()
    assert Ledger(promised).counts() == {"open": 12, "fulfilled": 0, "withdrawn": 0, "expired": 0, "renewed": 12}


@pytest.mark.parametrize(
    ("more", "changed", "message"),
    [
        ([], {"ledger": "p.db"}, "--ledger needs --until"),
        ([], {"ledger": "p.db", "until": "2020-01-01"}, "--until is 2020-01-01, which is in the past"),
        ([], {"ledger": "p.db", "until": "soon"}, "--until must be a date such as 2027-05-31"),
        ([], {"ledger": "p.db", "until": UNTIL, "id": None}, "--ledger needs --id"),
        ([], {"ledger": "p.db", "until": UNTIL, "n_recourses": 2}, "leave out --n-recourses"),
        ([], {"until": UNTIL}, "--until is about promises, and needs --ledger"),
        (["--replace"], {}, "--replace is about promises, and needs --ledger"),
        ([], {"ledger": "missing/p.db", "until": UNTIL}, "missing/p.db: No such file or directory"),
        ([], {"ledger": "train.csv", "until": UNTIL}, "train.csv: this is no ledger"),
    ],
)
def test_what_cannot_be_recorded_fails_before_all_work(explain, folder, complaint, more, changed, message):
    assert explain(*more, **changed) == 2
    assert message in complaint()
    assert not (folder / "out.csv").exists()
    assert not (folder / "out.csv.partial").exists()


def test_who_has_no_recourse_is_not_promised_any(explain, where, edit):
    edit("actions.toml", 'direction = "up"', "max = 28.0\n[columns.months]\nimmutable = true")
    assert explain(ledger=where, until=UNTIL) == 0
    out = pd.read_csv("out.csv", dtype={"person": str})
    assert 0 < out["valid"].sum() < len(out)
    assert Ledger(where).promises()["person"].tolist() == out["person"][out["valid"]].tolist()


def test_the_gate_says_who_passes(promised, newer, lender, capsys):
    head = Ledger(promised).head
    kept = newer[1].predict(Ledger(promised).promises()[lender.refused.columns]) == "yes"
    assert 0 < kept.sum() < len(kept)
    assert check(promised, newer, "--dry-run", "--group", "sex") == 1
    printed = capsys.readouterr().out
    assert "does not pass" in printed
    assert f"{kept.mean():.3f} (" in printed
    for words in ("scorecard 2026-11", "sex: f", "sex: m", "month: "):
        assert words in printed
    assert Ledger(promised).head == head
    assert check(promised, newer, at_least=f"{kept.mean()}") == 0
    assert "The model passes" in capsys.readouterr().out
    assert Ledger(promised).head.number == head.number + 1


def test_everything_that_a_check_writes(promised, newer, capsys):
    more = [
        "--html",
        "new/check.html",
        "--json",
        "new/check.json",
        "--honour",
        "new/honour.csv",
        "--train",
        "train.csv",
    ]
    more += ["--label", "outcome", "--others", "train.csv", "--group", "job"]
    assert check(promised, newer, *more) == 1
    printed = capsys.readouterr().out
    data = json.loads(Path("new/check.json").read_text(encoding="utf-8"))
    honour = pd.read_csv("new/honour.csv", dtype={"person": str})
    assert data["broken"] == honour["person"].tolist()
    assert data["kept"] + len(data["broken"]) == data["promises"] == 12
    assert data["passes"] is False
    assert data["by_job"]
    assert data["threshold"]["others"] == 200
    assert (honour["extra_cost"] > 0).any()
    page = Path("new/check.html").read_text(encoding="utf-8")
    assert "does not pass" in page
    assert "other decisions" in page
    for words in ("Threshold", "median extra cost", "Page: ", "JSON: ", "To honour anyway: "):
        assert words in printed


def test_present_rows_can_be_given(promised, newer, lender, capsys):
    after, before = Ledger(promised).promises()[lender.refused.columns].reset_index(drop=True), lender.refused
    now = before.assign(months=-9, sex="f", job="full", income=20.0)
    now.assign(person=[f"{i:03d}" for i in range(12)]).to_csv("now.csv", index=False)
    kept = newer[1].predict(now.where(after == before, after)) == "yes"
    assert 0 < kept.sum() != (newer[1].predict(after) == "yes").sum()
    check(promised, newer, "--current", "now.csv", "--id", "person", "--json", "check.json", "--dry-run")
    assert json.loads(Path("check.json").read_text(encoding="utf-8"))["kept"] == kept.sum()
    assert "scorecard" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--current", "refused.csv"], "--current needs --id"),
        (["--html", "new.skops"], "would replace a file that is read"),
        (["--favourable", "maybe"], "--favourable must be a class of the model, no, yes"),
        (["--others", "refused.csv", "--json", "check.json"], None),
        (["--group", "nothing"], "The promises have no column 'nothing'"),
        (["--honour", "list.txt"], "a table ends in .csv or .parquet"),
    ],
)
def test_a_check_that_cannot_be_made_exits_with_two(promised, newer, folder, capsys, more, message):
    path = folder / "new.skops"
    path.write_bytes(newer[0].read_bytes())
    code = check(promised, (path, newer[1]), *more, "--dry-run")
    if message is None:
        assert code == 1
        return
    assert code == 2
    line = capsys.readouterr().err
    assert message in line
    assert line.count("\n") == 1


def test_a_model_that_cannot_answer_exits_with_two(promised, newer, lender, capsys):
    io = pytest.importorskip("skops.io")
    X = lender.train[["income", "months"]]
    model = clone(lender.model.steps[-1][1]).fit(X, lender.train["outcome"])
    io.dump(model, "other.skops")
    assert check(promised, (Path("other.skops"), model)) == 2
    assert "other.skops: " in capsys.readouterr().err
    assert newer


def test_a_ledger_must_be_there_to_be_checked(folder, newer, capsys):
    assert check("missing.db", newer) == 2
    assert "missing.db: there is no ledger" in capsys.readouterr().err
    assert not (folder / "missing.db").exists()
    Ledger("empty.db").verify()
    assert check("empty.db", newer) == 0
    assert "no open promise" in capsys.readouterr().out


def test_promises_are_listed_and_shown(promised, capsys):
    assert main(["ledger", "list", "--ledger", promised, "--most", "3"]) == 0
    printed = capsys.readouterr().out
    assert "002" in printed
    assert "003" not in printed.split("The first of them")[1]
    assert main(["ledger", "list", "--ledger", promised, "--status", "expired"]) == 0
    assert "000" not in capsys.readouterr().out.split("expired")[1]
    assert main(["ledger", "show", "004", "--ledger", promised]) == 0
    [kept] = json.loads(capsys.readouterr().out)
    assert kept["person"] == "004"
    assert kept["note"] == "spring"
    assert main(["ledger", "show", "nobody", "--ledger", promised]) == 2
    assert "no promise to 'nobody'" in capsys.readouterr().err


def test_verify_exits_with_one_if_something_was_altered(explain, folder, capsys):
    assert explain(ledger="promises.db", until=UNTIL) == 0
    capsys.readouterr()
    assert main(["ledger", "verify", "--ledger", "promises.db"]) == 0
    printed = capsys.readouterr().out
    assert "all 13 entries add up" in printed
    head = printed.split()[-1]
    assert main(["ledger", "verify", "--ledger", "promises.db", "--head", head]) == 0
    assert main(["ledger", "verify", "--ledger", "promises.db", "--head", f"13:{'0' * 64}"]) == 1
    assert main(["ledger", "verify", "--ledger", "promises.db", "--head", "nonsense"]) == 2
    with closing(sqlite3.connect(folder / "promises.db")) as connection:
        connection.execute("UPDATE ledger_personal SET data = replace(data, 'ok', 'no') WHERE number = 5")
        connection.commit()
    capsys.readouterr()
    assert main(["ledger", "verify", "--ledger", "promises.db"]) == 1
    assert "5" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["csv", "parquet", "json"])
def test_promises_are_exported(promised, kind, capsys):
    assert main(["ledger", "export", "--ledger", promised, "--out", f"all.{kind}"]) == 0
    assert "12 promises" in capsys.readouterr().out
    frame = Ledger(promised).promises(None)
    if kind == "json":
        read = json.loads(Path("all.json").read_text(encoding="utf-8"))
        assert read == Ledger(promised).history()
    else:
        if kind == "parquet":
            pytest.importorskip("pyarrow")
            read = pd.read_parquet("all.parquet")
        else:
            read = pd.read_csv("all.csv", dtype={"person": str})
        assert read["income"].tolist() == frame["income"].tolist()
        assert read["person"].tolist() == frame["person"].tolist()
        assert set(map(str, read["until"])) == {UNTIL}


def test_columns_that_are_called_as_ours_are_exported_too(explain, where, capsys):
    for name in ("train.csv", "refused.csv"):
        pd.read_csv(name, dtype=str).rename(columns={"months": "promise", "income": "until"}).to_csv(name, index=False)
    text = Path("actions.toml").read_text(encoding="utf-8").replace("columns.income", "columns.until")
    Path("actions.toml").write_text(text, encoding="utf-8")
    io = pytest.importorskip("skops.io")
    train = pd.read_csv("train.csv").drop(columns=["outcome", "sex", "job"])
    io.dump(LogisticRegression().fit(train, pd.read_csv("train.csv")["outcome"]), "model.skops")
    Path("actions.toml").write_text('[columns.until]\ndirection = "up"\n', encoding="utf-8")
    assert explain("--label", "sex", "--label", "job", ledger=where, until=UNTIL) == 0
    assert main(["ledger", "export", "--ledger", where, "--out", "all.csv"]) == 0
    read = pd.read_csv("all.csv", dtype={"person": str})
    assert read["promise_"].tolist() == list(Ledger(where).promises().index)
    assert read["until"].tolist() == Ledger(where).promises()["until"].tolist()
    assert set(read["recourse_until"]) == {UNTIL}
    assert main(["ledger", "list", "--ledger", where]) == 0
    assert UNTIL in capsys.readouterr().out


def test_formulas_of_spreadsheets_are_made_harmless(explain, where, capsys):
    people = pd.read_csv("refused.csv", dtype=str)
    people.loc[0, "person"] = "=cmd|' /C calc'!A0"
    people.to_csv("refused.csv", index=False)
    assert explain(ledger=where, until=UNTIL) == 0
    assert main(["ledger", "export", "--ledger", where, "--out", "all.csv"]) == 0
    assert pd.read_csv("all.csv", dtype=str)["person"][0] == "'=cmd|' /C calc'!A0"
    assert main(["ledger", "export", "--ledger", where, "--out", "raw.csv", "--raw-csv"]) == 0
    assert pd.read_csv("raw.csv", dtype=str)["person"][0] == "=cmd|' /C calc'!A0"
    capsys.readouterr()


def test_a_person_is_forgotten(promised, capsys):
    assert main(["ledger", "forget", "004", "--ledger", promised]) == 0
    assert "still verifies" in capsys.readouterr().out
    assert main(["ledger", "verify", "--ledger", promised]) == 0
    assert main(["ledger", "show", "004", "--ledger", promised]) == 2
    assert main(["ledger", "forget", "004", "--ledger", promised]) == 2
    capsys.readouterr()


def test_the_timeline_is_drawn(promised, newer, capsys):
    pytest.importorskip("matplotlib")
    check(promised, newer)
    assert main(["ledger", "timeline", "--ledger", promised, "--out", "new/timeline.png"]) == 0
    assert Path("new/timeline.png").read_bytes().startswith(b"\x89PNG")
    assert main(["ledger", "timeline", "--ledger", promised, "--out", "timeline.txt"]) == 2
    capsys.readouterr()


def test_a_password_is_not_printed(newer, capsys):
    url = "postgresql+psycopg://me:s3cret@localhost:1/promises"
    assert check(url, newer) == 2
    printed = capsys.readouterr()
    assert "s3cret" not in printed.out + printed.err
    assert "localhost" in printed.err
