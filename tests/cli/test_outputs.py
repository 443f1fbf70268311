"""No output of a command replaces the ledger, and no output another one."""

import sqlite3
from contextlib import closing

import pytest

from robust_recourse.cli import main


def made(path):
    """A database, whatever is in it: nothing may read or write it before names are compared."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE something (one)")
    return path.read_bytes()


@pytest.mark.parametrize(
    "command",
    [
        "check --ledger {ledger} --model model.skops --at-least 0.9 --json same.csv",
        "check --ledger {ledger} --model model.skops --at-least 0.9 --html same.csv",
        "check --ledger {ledger} --model model.skops --at-least 0.9 --honour same.csv",
        "explain --ledger {ledger} --until 2199-01-01 --id id --model model.skops --train train.csv "
        "--refused new.csv --actions a.toml "
        "--favourable 1 --out same.csv",
        "explain --ledger {ledger} --until 2199-01-01 --id id --model model.skops --train train.csv "
        "--refused new.csv --actions a.toml "
        "--favourable 1 --out found.csv --json same.csv",
        "ledger export --ledger {ledger} --out same.csv",
    ],
)
@pytest.mark.parametrize("ledger", ["same.csv", "sqlite:///same.csv"])
def test_no_output_replaces_a_ledger(tmp_path, monkeypatch, capsys, command, ledger):
    monkeypatch.chdir(tmp_path)
    before = made(tmp_path / "same.csv")
    assert main(command.format(ledger=ledger).split()) == 2
    line = capsys.readouterr().err
    assert "same.csv would replace a file that is read. Name another one." in line
    assert (tmp_path / "same.csv").read_bytes() == before


def test_no_output_of_a_check_replaces_another(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    words = "check --ledger promises.db --model model.skops --at-least 0.9 --html same --json same"
    assert main(words.split()) == 2
    assert "--json same is the file of --html, too. Name another one." in capsys.readouterr().err
