"""All of Table 1 and of the frontiers in the quick profile of the paper's evaluation: hypervolumes, means over the
configurations of each method, digests of all rows of ``results.csv`` and of ``frontiers.csv``. The engine may change it
only where a method's own mathematics changes, and whoever touches a method of the paper compares it; survival and
tables may not. Compared by hand, because it takes a minute; under the same versions only, because networks are learnt.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from tests.pins.evaluation import POINT, here, of_all, of_rows, results, run, scores
from tests.pins.pinning import digest

BY_HAND = "it takes a minute of one processor"
DATASETS = ["synthetic", "german", "sba"]


def observe(folder: Path) -> Any:
    """Return what the command writes, by data set and method."""
    for target in ("table1", "pareto"):
        run("reproduce", target, "--profile", "quick", "--out", folder, "--datasets", *here(DATASETS))
    volumes = pd.read_csv(folder / "hypervolumes.csv")
    frontiers = pd.read_csv(folder / "frontiers.csv")
    return {
        "here: table 1": of_all(DATASETS, scores(folder / "table1.csv")),
        "here: hypervolumes": of_all(DATASETS, _by_method(volumes, _volumes)),
        "here: frontiers": of_all(DATASETS, _by_method(frontiers, _digest)),
        "here: results": of_all(
            DATASETS,
            {
                dataset: {method: _together(configurations) for method, configurations in methods.items()}
                for dataset, methods in results(folder / "pareto" / "results.csv").items()
            },
        ),
    }


def _by_method(table: pd.DataFrame, of: Callable[[pd.DataFrame], Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for (dataset, method), rows in table.groupby(["dataset", "method"], sort=False):
        found.setdefault(dataset, {})[method] = of(rows)
    return found


def _volumes(rows: pd.DataFrame) -> list[float]:
    return rows[["current validity", "future validity"]].iloc[0].tolist()


def _digest(rows: pd.DataFrame) -> list[Any]:
    return [len(rows), of_rows(rows, POINT)]


def _together(configurations: dict[str, Any]) -> dict[str, Any]:
    """Return what the configurations of a method have in common: how many, mean numbers, a digest of all rows."""
    rows = list(configurations.values())
    numbers = ("cost", "current validity", "future validity", "model rows")
    return {
        "configurations": len(rows),
        **{name: sum(row[name] for row in rows) / len(rows) for name in numbers},
        "rows": digest(*configurations, *(row["rows"] for row in rows)),
    }
