"""What tuning found: on the terminal, as a figure, and as the command that comes next."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from robust_recourse._files import replacing
from robust_recourse.cli._printing import print_line, print_table
from robust_recourse.futures import Jury
from robust_recourse.tuning import Tuning

__all__ = ["FIGURES", "draw", "tell"]

FIGURES = (".png", ".pdf", ".svg")


def draw(tuning: Tuning, path: Path) -> None:
    """Draw the frontier."""
    from robust_recourse.report.figures import draw_tuning

    with replacing(path) as written:
        draw_tuning(tuning).savefig(written, format=path.suffix[1:].lower(), dpi=150)


def tell(tuning: Tuning, arguments: argparse.Namespace) -> None:
    """Print what was found, what it costs, where it is and what to do with it."""
    print_line(tuning.summary)
    frontier = _frontier(tuning)
    marked = " (* chosen)" if (frontier[""] == "*").any() else ""
    print_table(frontier, f"What future validity costs, on the people and models to choose with{marked}")
    for what, path in (
        ("Settings", arguments.out),
        ("Figure", arguments.figure),
        ("Models and measurements", arguments.folder),
    ):
        if path is not None:
            print_line(f"{what}: {path}")
    print_line(f"Next: {shlex.join(_next(tuning, arguments))}")


def _frontier(tuning: Tuning) -> pd.DataFrame:
    """Return the frontier in as many columns as a terminal has room for, with a mark at what was chosen."""
    table = tuning.frontier
    rows = table.to_dict("records")
    shown = {
        "": ["*" if _same(row, tuning.parameters) else "" for row in rows],
        "search": [_search(row) for row in rows],
        "radius": table["sampling_radius"],
        "sigma": table["sigma"],
        **({"epsilon": table["epsilon_0"]} if "epsilon_0" in table else {}),
        "cost": table["cost"],
        "validity": table["future_validity"],
        "no recourse": table["without_recourse"],
    }
    return pd.DataFrame(shown)


def _search(row: Mapping[Any, Any]) -> str:
    """Return what a configuration asks for, and how far it goes for better odds."""
    jury = row.get("jury")
    dials: dict[str, Any] = {
        "odds": row.get("target_odds"),
        "margin": row.get("margin"),
        **({jury.rule: jury.level} if isinstance(jury, Jury) else {}),
        "budget": row.get("delta_plus"),
    }
    return ", ".join(f"{name} {value:.2g}" for name, value in dials.items() if not pd.isna(value))


def _same(row: Mapping[Any, Any], parameters: Mapping[str, Any]) -> bool:
    return all(pd.isna(row[key]) if value is None else row[key] == value for key, value in parameters.items())


def _next(tuning: Tuning, arguments: argparse.Namespace) -> list[str]:
    """Return the command that uses the settings, on the same files and with the same decision and jury."""
    retraining: list[tuple[str, Any]] = [
        ("--outcome", arguments.outcome),
        *(("--scenario", scenario.kind.replace(" ", "-")) for scenario in arguments.scenario),
        ("--new", arguments.new),
        ("--time", arguments.time),
        ("--folder", arguments.folder),
    ]
    options: list[tuple[str, Any]] = [
        ("--settings", arguments.out),
        ("--model", arguments.model),
        ("--train", arguments.train),
        ("--refused", arguments.refused or "refused.csv"),
        ("--actions", arguments.actions),
        *(("--label", column) for column in arguments.label),
        ("--id", arguments.id),
        ("--favourable", arguments.favourable),
        ("--threshold", arguments.threshold),
        ("--max-changes", arguments.max_changes),
        ("--seed", arguments.seed or None),
        *(retraining if tuning.parameters.get("jury") is not None else ()),
        ("--separator", None if arguments.separator == "," else arguments.separator.replace("\t", "tab")),
        *(("--missing", text) for text in arguments.missing or ()),
        *(("--trust", name) for name in arguments.trust),
        ("--out", "recourses.csv"),
    ]
    words = [word for option, value in options if value is not None for word in (option, str(value))]
    return ["robust-recourse", "explain", *words, *(["--trust-pickle"] if arguments.trust_pickle else [])]
