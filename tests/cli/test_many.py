"""``explain`` for a data set: many files in, a folder of results out."""

from __future__ import annotations

import warnings
from pathlib import Path

import pandas as pd
import pytest
from tests.cli.test_explain import expected

from robust_recourse import NearestAccepted, Recourses


@pytest.fixture
def files(folder):
    """Cut the refused rows into files, of text and of Parquet."""
    people = pd.read_csv("refused.csv", dtype={"person": str})
    for name in ("text", "table"):
        (folder / name).mkdir()
    for k in range(3):
        people[4 * k : 4 * k + 4].to_csv(f"text/{k}.csv", index=False)
        people[4 * k : 4 * k + 4].to_parquet(f"table/{k}.parquet", index=False)
    return folder


@pytest.mark.parametrize("refused", ["table/*.parquet", "table", "text/*.csv", "refused.csv"])
def test_a_data_set_end_to_end(explain, files, lender, capsys, refused):  # noqa: ARG001
    for there in ("", ", of which 3 were there"):
        assert explain(refused=refused, out="recourses/", part_rows=4) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        assert f"Recourses: recourses/, 12 people in 3 parts{there}" in " ".join(printed.out.split())
        assert "ok" in printed.out
    found = expected(lender, NearestAccepted)
    assert Recourses.from_parquet("recourses").equals(found)
    pd.testing.assert_frame_equal(pd.read_parquet("recourses"), found.to_frame(), check_exact=True)
    assert not [path.name for path in Path("recourses").iterdir() if path.name.startswith("_input")]


@pytest.mark.parametrize("damage", ["table/1.parquet", "text/1.csv"])
def test_what_cannot_be_read_is_named_and_the_rest_is_explained(explain, files, capsys, damage):  # noqa: ARG001
    Path(damage).write_text("person,income\n001,3,4\n" if damage.endswith("csv") else "PAR1")
    assert explain(refused=str(Path(damage).parent), out="recourses", part_rows=4) == 1
    printed = capsys.readouterr()
    assert f"robust-recourse: {damage}: it is no" in printed.err
    assert "1 files or parts are not explained" in printed.err
    assert "8 people in 2 parts" in " ".join(printed.out.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"refused": "table", "out": "out.csv"}, "the results of a data set are a folder"),
        ({"refused": "table", "out": "recourses", "json": "a.json"}, "--json is about one table"),
        ({"refused": "table", "out": "recourses", "time_limit": 3}, "--time-limit is about one table"),
        ({"refused": "table", "out": "recourses", "explorer": "page"}, "--explorer is about one table"),
        ({"refused": "table", "out": "recourses", "locale": "de_DE"}, "--locale is about one table"),
        ({"scheduler": "local"}, "--scheduler is about data sets"),
        ({"part_rows": 5}, "--part-rows is about data sets"),
        ({"refused": "nothing/*.csv", "out": "recourses"}, "There is no file nothing/*.csv"),
    ],
)
def test_options_that_do_not_go_together(explain, files, complaint, options, message):  # noqa: ARG001
    assert explain(**options) == 2
    assert message in complaint()


def test_values_that_no_training_row_has_are_told_with_the_option(explain, files, capsys):  # noqa: ARG001
    people = pd.read_csv("text/1.csv", dtype={"person": str})
    people.assign(job="none").to_csv("text/1.csv", index=False)
    assert explain(refused="text", out="recourses", unseen="error") == 1
    (line, _) = capsys.readouterr().err.splitlines()
    assert "text/1.csv" in line
    assert line.endswith("Correct them, or accept them with --unseen ignore.")


def test_the_favourable_class_is_told_as_it_was_given(explain, files, capsys):  # noqa: ARG001
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert explain(refused="text", out="recourses", favourable="no") == 0
    assert "Is --favourable 'no' the wrong way round?" in capsys.readouterr().err


def test_another_command_in_the_same_folder(explain, files, complaint, capsys):  # noqa: ARG001
    assert explain(refused="table", out="recourses") == 0
    capsys.readouterr()
    assert explain("--seed", "1", refused="table", out="recourses") == 2
    assert "has the results of another job. Its method (seed): 0. Now: 1" in complaint()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_workers_on_this_machine(explain, files, lender, capsys):  # noqa: ARG001
    pytest.importorskip("distributed", reason="needs Dask: pip install 'robust-recourse[dask]'")
    assert explain(refused="table", out="recourses", scheduler="local") == 0
    assert "Dashboard: " in capsys.readouterr().out
    assert Recourses.from_parquet("recourses").equals(expected(lender, NearestAccepted))
