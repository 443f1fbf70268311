import tomllib

import pandas as pd
import pytest

from robust_recourse import ActionSet
from robust_recourse.cli import main


def test_the_file_names_all_columns_and_can_be_read_back(folder, lender, capsys):
    assert main(["actions", "train.csv", "--label", "outcome", "--out", "start.toml"]) == 0
    assert "start.toml" in capsys.readouterr().out
    content = tomllib.loads((folder / "start.toml").read_text(encoding="utf-8"))
    assert list(content["columns"]) == ["income", "months", "job", "sex"]
    assert ActionSet.from_toml(folder / "start.toml", lender.train.drop(columns="outcome")) == ActionSet()


def test_the_default_is_actions_toml_and_an_edited_one_is_not_lost(folder, complaint, capsys):
    edited = (folder / "actions.toml").read_text(encoding="utf-8")
    assert main(["actions", "train.csv"]) == 2
    assert "actions.toml exists" in complaint()
    assert (folder / "actions.toml").read_text(encoding="utf-8") == edited
    assert main(["actions", "train.csv", "--force"]) == 0
    capsys.readouterr()
    assert (folder / "actions.toml").read_text(encoding="utf-8") != edited


def test_a_dash_prints_it_and_writes_nothing(folder, capsys):
    before = sorted(folder.iterdir())
    assert main(["actions", "train.csv", "--label", "outcome", "--out", "-"]) == 0
    assert list(tomllib.loads(capsys.readouterr().out)["columns"]) == ["income", "months", "job", "sex"]
    assert sorted(folder.iterdir()) == before


@pytest.mark.usefixtures("folder")
def test_labels_and_names_of_people_are_left_out(capsys):
    assert main(["actions", "refused.csv", "--id", "person", "--label", "sex", "--label", "job", "--out", "-"]) == 0
    assert list(tomllib.loads(capsys.readouterr().out)["columns"]) == ["income", "months"]
    assert main(["actions", "train.csv", "--id", "person", "--out", "-"]) == 0  # one that only the refused have


def test_parquet(folder, lender, capsys):
    pytest.importorskip("pyarrow")
    lender.train.to_parquet(folder / "train.parquet")
    assert main(["actions", "train.parquet", "--out", "-"]) == 0
    from_parquet = capsys.readouterr().out
    assert main(["actions", "train.csv", "--out", "-"]) == 0
    assert capsys.readouterr().out == from_parquet


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.csv"], ["nothing.csv", "No such file"]),
        (["train.xlsx"], ["train.xlsx", ".csv or .parquet"]),
        (["train.csv", "--label", "result"], ["--label result", "'outcome'"]),
        (["train.csv", "--label", "sex", "--id", "sex"], ["--id sex", "--label"]),
        (["train.csv", "--out", "folder"], ["folder exists"]),
        (["train.csv", "--force", "--out", "folder"], ["folder is a folder"]),
        (["infinite.csv"], ["infinite.csv", "'a'", "inf"]),
        (["infinite.csv", "--label", "a"], ["infinite.csv", "no other columns"]),
    ],
)
def test_what_cannot_be_used_is_named(folder, complaint, arguments, words):
    (folder / "folder").mkdir()
    pd.DataFrame({"a": [1.0, float("inf")]}).to_csv(folder / "infinite.csv", index=False)
    assert main(["actions", "--out", "new.toml", *arguments]) == 2
    line = complaint()
    assert all(word in line for word in words), line
    assert not (folder / "new.toml").exists()


def test_the_help(capsys):
    with pytest.raises(SystemExit) as caught:
        main(["actions", "--help"])
    assert caught.value.code == 0
    printed = capsys.readouterr().out
    assert all(word in printed for word in ("TRAIN", "--out", "--label", "--id", "--force", "action set"))
