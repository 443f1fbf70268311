"""The options that say what may happen to a model."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robust_recourse.cli._outcomes import Labelled, read_arriving
from robust_recourse.futures import (
    Arrival,
    Bootstrap,
    Deletion,
    LabelNoise,
    Scenario,
    Seeds,
    Temporal,
    Threshold,
)

__all__ = ["add_scenarios", "read_scenarios"]

_PLAIN: Mapping[str, type[Scenario]] = {
    scenario.kind: scenario for scenario in (Bootstrap, Seeds, Deletion, LabelNoise, Threshold)
}
_OTHERWISE = {
    Arrival.kind: "leave it out, and name the table of the new rows with --new",
    Temporal.kind: "leave it out, and name the column that has the time with --time",
    "parameters": "tune in Python, with robust_recourse.futures.Parameters",
}


def add_scenarios(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    group = parser.add_argument_group("what may happen to the model")
    group.add_argument(
        "--scenario",
        action="append",
        default=[],
        type=_scenario,
        metavar="NAME",
        help=f"how the next model differs: {', '.join(_PLAIN)}; may be given several times (default: bootstrap, if "
        "there is neither --new nor --time)",
    )
    group.add_argument(
        "--new",
        type=Path,
        metavar="FILE",
        help="table of rows that arrive, with outcomes: each model also learns from a fifth of them",
    )
    group.add_argument(
        "--time",
        metavar="COLUMN",
        help="column with numbers or dates: each model forgets some of the oldest rows; if the model does not get this "
        "column, name it with --label, too",
    )


def _scenario(text: str) -> Scenario:
    kind = text.replace("_", " ").replace("-", " ")
    if kind in _OTHERWISE:
        raise argparse.ArgumentTypeError(f"{text!r} needs to know more: {_OTHERWISE[kind]}")
    if kind not in _PLAIN:
        raise argparse.ArgumentTypeError(f"there is no scenario {text!r}; there are {', '.join(_PLAIN)}")
    return _PLAIN[kind]()


def read_scenarios(arguments: argparse.Namespace, data: Labelled, model: Any) -> list[Scenario]:
    """Return what may happen, each once."""
    scenarios: list[Scenario] = list(dict.fromkeys(arguments.scenario))
    if arguments.new is not None:
        arriving = read_arriving(arguments.new, arguments, model, data.X)
        scenarios.append(Arrival(arriving.X, arriving.y))
    if data.time is not None:
        scenarios.append(Temporal(data.time))
    return scenarios or [Bootstrap()]
