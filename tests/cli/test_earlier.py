"""What people were told before, on the command line."""

from pathlib import Path

import pandas as pd
import pytest
from tests.cli.test_explain import expected, read_csv, same

from robust_recourse import Recourses


@pytest.fixture
def told(explain, capsys):
    assert explain("--set", "n_samples=40", method="robust", json="told.json") == 0
    capsys.readouterr()
    return Recourses.from_json("told.json")


@pytest.mark.parametrize("first", [32, 5])
def test_it_is_told_again_where_nothing_better_is_found(explain, lender, told, first, capsys, monkeypatch):
    monkeypatch.setattr("robust_recourse.cli._batches._FIRST", first)
    assert explain(earlier="told.json") == 0
    capsys.readouterr()
    # Without it everybody pays for the nearest row.
    plain, read = expected(lender), read_csv("out.csv")
    same(read, expected(lender, earlier=told))
    assert (read["cost"] <= plain.cost).all()
    assert (read["cost"] < plain.cost).any()


def test_what_is_kept_of_a_command_without_it_is_not_used_for_one_with_it(explain, told, capsys, monkeypatch):  # noqa: ARG001
    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("robust_recourse.cli._explain.record", stop)
        assert explain() == 130
    assert list(Path("out.csv.partial").iterdir())
    assert explain(earlier="told.json") == 0
    capsys.readouterr()
    assert read_csv("out.csv")["reason"].str.contains("told before").any()


def test_those_of_other_people_are_refused_before_all_work(explain, told, complaint):
    told[:5].to_json("some.json")
    assert explain(earlier="some.json") == 2
    assert "some.json: --earlier must be of the 12 rows of the table, in their order; it is of 5." in complaint()
    pd.read_csv("refused.csv", dtype={"person": str})[::-1].to_csv("refused.csv", index=False)
    assert explain(earlier="told.json") == 2
    assert "what was told to somebody else is no recourse" in complaint()


def test_a_file_that_holds_no_recourses_is_named(explain, complaint):
    assert explain(earlier="actions.toml") == 2
    assert "actions.toml" in complaint()
    assert explain(earlier="told.json") == 2
    assert "told.json" in complaint()


def test_data_sets_have_none(explain, complaint):
    assert explain(earlier="told.json", out="recourses") == 2
    assert "--earlier is about one table" in complaint()
