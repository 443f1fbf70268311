"""Files for the commands: a small lender's tables, a model and an action set."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from robust_recourse.cli import main

ACTIONS = """\
[columns.sex]
immutable = true
[columns.income]
direction = "up"
[columns.job]
categories = ["part", "full"]
"""


@dataclass(frozen=True)
class Lender:
    """What is in the files."""

    model: Any
    train: pd.DataFrame
    refused: pd.DataFrame


@pytest.fixture(scope="session")
def lender():
    rng = np.random.default_rng(0)
    n = 200
    X = pd.DataFrame(
        {
            "income": rng.normal(30, 8, n).round(1),
            "months": rng.integers(6, 48, n),
            "job": rng.choice(["no", "part", "full"], n),
            "sex": rng.choice(["f", "m"], n),
        }
    )
    score = X["income"] - 0.3 * X["months"] + 8 * (X["job"] == "full") + rng.normal(0, 2, n)
    y = np.where(score > 22, "yes", "no")
    encode = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["job", "sex"]), (StandardScaler(), ["income", "months"])
    )
    model = make_pipeline(encode, LogisticRegression()).fit(X, y)
    refused = X[model.predict(X) == "no"].head(12).reset_index(drop=True)
    return Lender(model, X.assign(outcome=y), refused)


@pytest.fixture(scope="session")
def shelf(tmp_path_factory, lender):
    io = pytest.importorskip("skops.io")
    folder = tmp_path_factory.mktemp("lender")
    io.dump(lender.model, folder / "model.skops")
    lender.train.to_csv(folder / "train.csv", index=False)
    people = lender.refused.copy()
    people.insert(0, "person", [f"{i:03d}" for i in range(len(people))])
    people.to_csv(folder / "refused.csv", index=False)
    (folder / "actions.toml").write_text(ACTIONS, encoding="utf-8")
    return folder


@pytest.fixture
def folder(shelf, tmp_path, monkeypatch):
    """The files, in the current folder."""
    for path in shelf.iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def explain(folder):  # noqa: ARG001
    """Run ``explain`` on these files, with the quickest method; options that are given replace or add to its own."""

    def run(*more, **changed):
        options = {
            "model": "model.skops",
            "train": "train.csv",
            "refused": "refused.csv",
            "actions": "actions.toml",
            "label": "outcome",
            "id": "person",
            "favourable": "yes",
            "method": "nearest",
            "out": "out.csv",
        } | {name.replace("_", "-"): value for name, value in changed.items()}
        given = [word for name, value in options.items() if value is not None for word in (f"--{name}", str(value))]
        return main(["explain", *given, *more])

    return run


@pytest.fixture
def complaint(capsys):
    """The one line on standard error."""

    def read():
        printed = capsys.readouterr()
        assert printed.err.startswith("robust-recourse: ")
        assert printed.err.count("\n") == 1
        assert printed.out == ""
        return printed.err

    return read


@pytest.fixture
def edit(folder):
    """Replace a text in a file."""

    def replace(name, old, new):
        path = Path(folder / name)
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    return replace
