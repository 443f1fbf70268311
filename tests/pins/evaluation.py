"""The paper's evaluation by its commands, and what its tables say."""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
from tests.pins.pinning import ABSENT, digest

from robust_recourse.cli import main
from robust_recourse.paper.datasets import available

PERSON = ["row", "held out", "cost", "l2 cost", "changes", "current validity", "future validity"]
"""Of a row of results; neither words, nor seconds, nor how often a model was asked."""
POINT = ["variant", "parameters", "cost", "l2 cost", "changes", "current validity", "future validity"]
"""Of a configuration on a frontier."""


def here(names: list[str]) -> list[str]:
    """Return the data sets that are on this machine."""
    missing = set(available().query("found == 'missing'")["name"])
    return [name for name in names if name not in missing]


def of_all(names: list[str], found: dict[str, Any]) -> dict[str, Any]:
    """Return what was found by data set, also for those that are not here."""
    return {name: found.get(name, ABSENT) for name in names}


def run(*arguments: str | Path) -> None:
    """Run a command in this process; it must succeed."""
    with redirect_stdout(StringIO()):
        code = main([*map(str, arguments), "--jobs", "1"])
    if code:
        raise RuntimeError(f"robust-recourse {arguments[0]} returned {code}.")


def scores(file: Path) -> dict[str, Any]:
    """Return accuracy and AUC by data set and half, with their deviations."""
    table = pd.read_csv(file)
    columns = [column for column in table.columns if column.startswith(("accuracy", "auc")) and "paper" not in column]
    found: dict[str, Any] = {}
    for row in table.to_dict("records"):
        found.setdefault(row["dataset"], {})[row["data"]] = {column: row[column] for column in columns}
    return found


def of_rows(rows: pd.DataFrame, columns: list[str]) -> str:
    """Return a digest of some columns as a file has them."""
    return digest(rows.to_csv(columns=columns, index=False, lineterminator="\n"))


def results(file: Path) -> dict[str, Any]:
    """Return means of every configuration by data set and method, and a digest of the rows of each."""
    table = pd.read_csv(file, keep_default_na=False, na_values={column: [""] for column in PERSON[2:5]})
    found: dict[str, Any] = {}
    for (dataset, method, variant, parameters), rows in table.groupby(
        ["dataset", "method", "variant", "parameters"], sort=False
    ):
        means = rows[["cost", "current validity", "future validity", "model rows"]].mean()
        configurations = found.setdefault(dataset, {}).setdefault(method, {})
        configurations[f"{variant} {parameters}".strip()] = {
            **{name: float(mean) for name, mean in means.items()},
            "rows": of_rows(rows, PERSON),
        }
    return found
