"""``robust-recourse explain`` for a data set: many files, a folder of results, maybe a cluster."""

from __future__ import annotations

import argparse
import sys
from glob import has_magic
from pathlib import Path
from typing import Any

import pandas as pd

from robust_recourse.cli._options import positive_integer, positive_number
from robust_recourse.cli._printing import print_line, print_table
from robust_recourse.cli._wording import in_options
from robust_recourse.notices.survival import APART, NOT_MEASURED, percent

__all__ = ["add_cluster", "explain_many", "is_many"]

# Options about one table.
_ONE = ("html", "explorer", "overwrite", "locale", "raw_csv", "json", "ledger", "time_limit", "earlier")


def add_cluster(parser: argparse.ArgumentParser) -> None:
    """Add the options of data sets."""
    group = parser.add_argument_group("data sets (--refused is a folder or a pattern of files, or --out is a folder)")
    group.add_argument(
        "--scheduler",
        metavar="ADDRESS",
        help="where to compute: the address of a scheduler of Dask, or 'local' for a worker on every core (default: in "
        "this process)",
    )
    group.add_argument("--part-rows", type=positive_integer, metavar="N", help="people of a part, at most")
    group.add_argument(
        "--part-time-limit", type=positive_number, metavar="SECONDS", help="set aside a part that takes longer"
    )


def is_many(arguments: argparse.Namespace) -> bool:
    """Whether the command is about a data set; else names become paths.

    Raises
    ------
    ValueError
        If options do not go together.
    """
    refused, out = arguments.refused, arguments.out
    many = (
        any("://" in name or name.endswith(("/", "\\")) for name in (refused, out))
        or (has_magic(refused) and not Path(refused).exists())
        or Path(refused).is_dir()
        or not Path(out).suffix
        or Path(out).is_dir()
    )
    if many:
        given = [name for name in _ONE if getattr(arguments, name) not in (None, False)]
        if given:
            raise ValueError(
                f"--{given[0].replace('_', '-')} is about one table. Leave it out: --out {out} is a folder of results."
            )
        if Path(out).suffix.lower() in (".csv", ".parquet") and not Path(out).is_dir():
            raise ValueError(f"--out {out}: the results of a data set are a folder. Name one, without a suffix.")
        return True
    for name in ("scheduler", "part_rows", "part_time_limit"):
        if getattr(arguments, name) is not None:
            raise ValueError(
                f"--{name.replace('_', '-')} is about data sets: name a folder with --out, such as recourses/."
            )
    arguments.refused, arguments.out = Path(refused), Path(out)
    return False


def _survival(method: Any) -> str:
    if method.jury is None or method.jury.check is None:
        return f"{NOT_MEASURED}."
    sure = f"with {percent(method.jury.confidence)} confidence for each"
    return f"Survival: the column survival_bound says what share of {APART} at least accept each result, {sure}."


def explain_many(method: Any, arguments: argparse.Namespace) -> int:
    """Explain a data set; return the exit code."""
    from robust_recourse.cluster import PART_ROWS, IncompleteError, explain_dataset
    from robust_recourse.cluster.engine import connected

    options: dict[str, Any] = {
        "n_recourses": arguments.n_recourses,
        "unseen": arguments.unseen,
        "index": arguments.id,
        "drop": arguments.label,
        "part_rows": arguments.part_rows or PART_ROWS,
        "time_limit": arguments.part_time_limit,
        "separator": arguments.separator,
        "missing": arguments.missing,
    }
    failed: dict[str, str] = {}
    try:
        if arguments.scheduler is None:
            tally = explain_dataset(method, arguments.refused, arguments.out, **options)
        else:
            with connected(arguments.scheduler) as client:
                print_line(f"Dashboard: {client.dashboard_link}")
                tally = explain_dataset(method, arguments.refused, arguments.out, client=client, **options)
    except IncompleteError as error:
        tally, failed = error.tally, error.reasons
    except KeyboardInterrupt as stop:
        raise type(stop)(
            f"what is finished is kept in {arguments.out}. Run the same command again to continue with the others."
        ) from None
    if tally.statuses:
        shown = pd.DataFrame(tally.statuses.most_common(), columns=["status", "people"])
        print_table(shown, f"The people of {arguments.refused}")
        print_line(_survival(method))
    parts = "1 part" if tally.finished == 1 else f"{tally.finished:,} parts"
    there = tally.finished - tally.computed
    known = f", of which {there:,} were there" if there else ""
    print_line(f"Recourses: {tally.folder}, {tally.finished_rows:,} people in {parts}{known}")
    for name, why in failed.items():
        print(f"robust-recourse: {name}: {in_options(why)}", file=sys.stderr)  # noqa: T201
    if failed:
        print(  # noqa: T201
            f"robust-recourse: {len(failed)} files or parts are not explained. Correct them, and run the same again.",
            file=sys.stderr,
        )
    return int(bool(failed))
