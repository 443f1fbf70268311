"""Promises of ``explain`` in a ledger: a recourse is told only after its promise is recorded."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robust_recourse.cli._options import blaming
from robust_recourse.cli._printing import print_line

if TYPE_CHECKING:
    import pandas as pd

    from robust_recourse.ledger import Ledger
    from robust_recourse.result import Recourses

__all__ = [
    "add_head",
    "add_ledger",
    "add_recording",
    "as_table",
    "check_recording",
    "ledger_file",
    "open_ledger",
    "record",
]


def add_ledger(group: Any, *, required: bool) -> None:
    """Add the option that says where the ledger is."""
    group.add_argument(
        "--ledger",
        required=required,
        metavar="FILE_OR_URL",
        help="the ledger: a file, or the URL of a database such as postgresql+psycopg://user@host/promises",
    )


def add_head(parser: Any) -> None:
    """Add the option for a head that was kept."""
    parser.add_argument(
        "--head",
        metavar="NUMBER:HASH",
        help="an earlier head that was kept elsewhere, as 'ledger verify' prints it, or only its hash",
    )


def add_recording(parser: argparse.ArgumentParser) -> None:
    """Add the options of recourses that are recorded as promises."""
    group = parser.add_argument_group("promises")
    add_ledger(group, required=False)
    group.add_argument("--until", metavar="DATE", help="the last day on which the promises hold, such as 2027-05-31")
    group.add_argument("--name", help="what the ledger calls the model (default: the name of its file)")
    group.add_argument("--note", default="", help="what else the ledger is to remember")
    group.add_argument("--replace", action="store_true", help="replace other open promises to the same people")


def ledger_file(arguments: argparse.Namespace) -> Path | None:
    """Return the file of a ledger, which no output may replace; None if it is none, or elsewhere."""
    where = arguments.ledger
    if where is None or ("://" in where and not where.startswith("sqlite")):
        return None
    return Path(where.partition(":///")[2].partition("?")[0] if "://" in where else where)


def open_ledger(arguments: argparse.Namespace, *, create: bool = False) -> Ledger:
    """Return the ledger of a command."""
    from robust_recourse.ledger import Ledger

    return Ledger(arguments.ledger, create=create)


def as_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Return promises as a table for files, their numbers first; columns of people keep their names."""
    name = "promise"
    while name in frame.columns:
        name = f"{name}_"
    return frame.rename(columns=str).rename_axis(index=name).reset_index()


def check_recording(arguments: argparse.Namespace) -> None:
    """Fail before all work if nothing could be recorded."""
    if arguments.ledger is None:
        given = [name for name in ("until", "name", "note", "replace") if getattr(arguments, name)]
        if given:
            raise ValueError(f"--{given[0]} is about promises, and needs --ledger.")
        return
    if arguments.until is None:
        raise ValueError("--ledger needs --until: a promise holds until a day.")
    if arguments.id is None:
        raise ValueError("--ledger needs --id: the column that says to whom a promise is made.")
    if arguments.n_recourses > 1:
        raise ValueError("--ledger records one promise to a person: leave out --n-recourses.")
    open_ledger(arguments, create=True).check_until(arguments.until)


def record(found: Recourses, arguments: argparse.Namespace, method: Any) -> None:
    """Record the recourses that the model accepts; the others are not promised."""
    if arguments.ledger is None:
        return
    ledger, valid = open_ledger(arguments, create=True), np.asarray(found.valid)
    with blaming("--ledger"):
        recorded = ledger.record(
            found[valid],
            people=[str(label) for label in found.labels[valid]],
            model=arguments.name or arguments.model.stem,
            method=method,
            until=arguments.until,
            note=arguments.note,
            replace=arguments.replace,
        )
    known = f", {len(recorded.known):,} were recorded before" if recorded.known else ""
    print_line(f"Promises: {len(recorded.promises):,} recorded{known} in {ledger.name}")
