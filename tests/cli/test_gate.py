"""How ``robust-recourse check`` ends: 0 and 1 are answers, and 2 is everything else."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

pytest.importorskip("sqlalchemy")

from robust_recourse import NearestAccepted
from robust_recourse.cli import main
from robust_recourse.ledger import Ledger

LEDGER = "promises.db"


@pytest.fixture
def desk(folder, lender):
    """A ledger with twelve promises, in the current folder, made by a clock."""

    def fill(now=None):
        method = NearestAccepted(lender.model, favourable="yes", random_state=0).fit(
            lender.train.drop(columns="outcome")
        )
        found = method.explain(lender.refused)
        clock = None if now is None else lambda: now
        day = f"{(now or datetime.now(UTC)).year + 50}-12-31"
        ledger = Ledger(LEDGER, clock=clock)
        return ledger, ledger.record(found, people=range(len(found)), model="m", method=method, until=day).head

    assert folder.is_dir()
    return fill


def check(*more, model="model.skops", ledger=LEDGER, at_least="0.98"):
    options = ["--ledger", ledger, "--model", model, "--favourable", "yes", "--at-least", at_least]
    return ["check", *options, *more]


def ended(shell):
    """Run the command in a process of its own, as a shell says; return its exit code and what it complains of."""
    words = [sys.executable, "-m", "robust_recourse", *check()]
    script = shell.format(" ".join(f"'{word}'" for word in words))
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def alter(*statements):
    with closing(sqlite3.connect(LEDGER)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("DELETE FROM ledger_blocks", 2),
        ("UPDATE ledger_blocks SET run = 99", 2),
        ("UPDATE ledger_entries SET facts = '{}' WHERE kind = 'run'", 1),
        ("DELETE FROM ledger_personal WHERE number > 5", 6),
        ("INSERT INTO ledger_personal SELECT 99, person, NULL, salt, data FROM ledger_personal WHERE number = 5", 99),
        ("UPDATE ledger_head SET number = 3", 13),
        ("DROP TABLE ledger_blocks", 2),
        ("DROP TABLE ledger_entries", 1),
    ],
)
def test_a_damaged_ledger_is_not_checked(desk, complaint, statement, number):
    ledger, _ = desk()
    alter(statement)
    for more in ((), ("--dry-run",), ("--current", "refused.csv", "--id", "person")):
        if more[:1] == ("--current",) and statement.startswith("DROP TABLE ledger_entries"):
            continue  # the columns of the promises are not there, either: the missing table is named
        assert main(check(*more)) == 2
        line = complaint()
        assert f"entry {number}: " in line
        assert not Path("check.json").exists()
    assert main(["ledger", "verify", "--ledger", LEDGER]) == 1
    assert ledger.verify()[0].number == number


def test_a_head_that_was_kept_is_looked_for(desk, folder, complaint, capsys):
    ledger, head = desk()
    for kept in (str(head), head.hash):
        assert main(check("--head", kept, "--json", "check.json", "--html", "check.html", "--dry-run")) == 0
        assert str(head) in capsys.readouterr().out
        for name in ("check.json", "check.html"):
            assert str(head) in (folder / name).read_text(encoding="utf-8")
    alter(
        "DELETE FROM ledger_blocks",
        "DELETE FROM ledger_personal",
        "DELETE FROM ledger_entries",
        f"UPDATE ledger_head SET number = 0, hash = '{'0' * 64}'",
    )
    assert ledger.verify() == []
    assert main(check("--head", str(head))) == 2
    assert "entry 13: it is missing: it was kept elsewhere" in complaint()
    assert main(check("--head", head.hash)) == 2
    assert "kept elsewhere" in complaint()
    assert main(check("--head", "13")) == 2
    assert "--head must be NUMBER:HASH" in complaint()
    for kept in (str(head), head.hash):
        assert main(["ledger", "verify", "--ledger", LEDGER, "--head", kept]) == 1
    capsys.readouterr()


class Odd(BaseException):
    """What no model should raise."""


class Model:
    """A model in a pickle, which does something when it is asked."""

    def __init__(self, does):
        self.does = does

    def predict(self, X):
        if self.does == "exit":
            raise SystemExit(0)
        if self.does == "odd":
            raise Odd
        if self.does == "interrupt":
            os.kill(os.getpid(), signal.SIGINT)
        if self.does == "raise":
            raise KeyError("model")
        return ["yes"] * len(X)


@pytest.mark.parametrize(
    ("does", "code", "words"),
    [
        ("exit", 2, "SystemExit"),
        ("odd", 2, "Odd"),
        ("raise", 2, "The model raised KeyError"),
        ("interrupt", 130, "interrupted"),
        ("answer", 0, ""),
    ],
)
def test_whatever_a_model_does_it_does_not_pass_by_it(desk, capsys, does, code, words):
    import pickle

    ledger, head = desk()
    Path("model.pkl").write_bytes(pickle.dumps(Model(does)))
    assert main(check("--trust-pickle", model="model.pkl")) == code
    line = capsys.readouterr().err.splitlines()[-1:]
    assert (words in line[0]) if words else not line
    assert (ledger.head == head) == (code != 0)


def test_a_defect_of_the_command_is_no_answer(desk, capsys, monkeypatch):
    def broken(*_, **__):
        raise KeyError("block")

    desk()
    monkeypatch.setattr("robust_recourse.ledger.Ledger.check", broken)
    assert main(check()) == 2
    assert capsys.readouterr().err.endswith("robust-recourse: this should not happen: KeyError: 'block'\n")


def test_a_result_that_could_not_be_written_is_no_answer(desk, capsys, monkeypatch):
    def full(_, target):
        raise OSError(28, "No space left on device", target)

    desk()
    monkeypatch.setattr(os, "replace", full)
    assert main(check("--json", "check.json")) == 2
    printed = capsys.readouterr()
    assert "The model passes" in printed.out
    assert "check.json: No space left on device" in printed.err


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_a_closed_output_is_no_answer(desk):
    desk()
    shells = {
        "{} | true; exit ${{PIPESTATUS[0]}}": 2,
        "{} >&-": 2,
        "{} >/dev/full": 2,
        "{} 2>/dev/full": 0,
    }
    for shell, code in shells.items():
        found, said = ended(shell)
        assert found == code, (shell, said)
        assert "Traceback" not in said


def test_what_cannot_be_read_is_not_checked(desk, complaint):
    desk()
    assert main(check(ledger="missing.db")) == 2
    assert "there is no ledger" in complaint()
    assert main(check(ledger="postgresql://nobody@localhost:1/promises")) == 2
    assert "localhost:1" in complaint()
    for damaged in ("model.skops", LEDGER):
        whole = Path(damaged).read_bytes()
        Path(damaged).write_bytes(b"no such thing" * 100)
        assert main(check()) == 2
        assert damaged in complaint()
        Path(damaged).write_bytes(whole)


@pytest.mark.parametrize(("days", "more"), [(-400, "more than 366 days after"), (20000, "more than 5 minutes before")])
def test_a_wrong_clock_checks_nothing_until_somebody_says_why_it_is_right(desk, explain, complaint, capsys, days, more):
    now = datetime.now(UTC)
    ledger, head = desk(now + timedelta(days=days))
    for command in (check(), check("--dry-run"), ["ledger", "forget", "3", "--ledger", LEDGER]):
        assert main(command) == 2
        line = complaint()
        assert f"{more} the last entry" in line
        assert "Set the clock of this machine right" in line
        assert f"{now:%Y-%m-%d}" in line
    assert explain(ledger=LEDGER, until="2199-12-31") == 2
    assert "Set the clock" in complaint()
    assert ledger.head == head
    assert main(["ledger", "clock", "--ledger", LEDGER, "--reason", "no promise was made for long"]) == 0
    assert main(check()) == 0
    assert main(["ledger", "verify", "--ledger", LEDGER]) == 0
    assert "all 15 entries add up" in capsys.readouterr().out
