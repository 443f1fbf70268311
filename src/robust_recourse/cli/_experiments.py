"""``robust-recourse reproduce`` and ``robust-recourse experiment``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from robust_recourse.cli._options import need_folder, need_report, overrides, processes
from robust_recourse.cli._printing import print_line, print_table
from robust_recourse.paper.bench import PROFILES, TARGETS

if TYPE_CHECKING:
    from robust_recourse.cli._options import Commands

__all__ = ["add_to"]

_SHOWN = ["dataset", "method", "variant", "varied", "cost", "current validity", "future validity", "found", "seconds"]


def add_to(commands: Commands) -> None:
    """Add the commands."""
    _add_reproduce(commands)
    _add_experiment(commands)


def _add_reproduce(commands: Commands) -> None:
    reproduce = commands.add_parser(
        "reproduce",
        help="run the paper's evaluation and write a page",
        description="Run the paper's evaluation: Table 1, the frontiers of cost against validity, known points of the "
        "published code and the illustrations. What a call with the same folder has finished is not run again.",
    )
    reproduce.add_argument("target", choices=[*TARGETS, "all"], help="what to reproduce")
    reproduce.add_argument(
        "--profile", choices=PROFILES, default="quick", help="fewer models and people, or the paper's (default: quick)"
    )
    reproduce.add_argument(
        "--datasets", nargs="+", metavar="NAME", help="data sets of table1 and pareto (default: those that are there)"
    )
    reproduce.add_argument("--out", type=Path, help="folder to write to (default: reproduction-PROFILE)")
    _add_running(reproduce)
    reproduce.set_defaults(run=_reproduce)


def _add_experiment(commands: Commands) -> None:
    experiment = commands.add_parser(
        "experiment",
        help="run an experiment of your own, from a TOML file",
        description="Run data sets x methods x parameter grids x seeds, as a TOML file says, and write one table and "
        "where it comes from. A run that was stopped continues where it stopped.",
    )
    experiment.add_argument("file", type=Path, help="the TOML file")
    experiment.add_argument("--profile", help="profile of the file to apply")
    experiment.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="replace a key of the file; VALUE is TOML"
    )
    experiment.add_argument("--out", type=Path, help="folder to write to (default: named after the file)")
    _add_running(experiment)
    experiment.set_defaults(run=_experiment)


def _add_running(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jobs", type=processes, default=-1, help="processes (default: all cores)")
    parser.add_argument(
        "--format", choices=("csv", "parquet"), default="csv", help="of the table of results (default: %(default)s)"
    )


def _reproduce(arguments: argparse.Namespace) -> int:
    need_report("the page")
    from robust_recourse.paper.reproduce import reproduce

    out = arguments.out or Path(f"reproduction-{arguments.profile}")
    need_folder(out)
    with _keeping(out):
        done = reproduce(
            TARGETS if arguments.target == "all" else [arguments.target],
            out,
            profile=arguments.profile,
            datasets=arguments.datasets,
            n_jobs=arguments.jobs,
            table_format=arguments.format,
        )
    for caption, frame in done.shown.items():
        print_table(frame.reset_index(), caption)
    for name in done.left_out:
        print_line(f"Left out, not on this machine: {name}. See: robust-recourse datasets")
    print_line(f"Page: {done.page}")
    return 0


def _experiment(arguments: argparse.Namespace) -> int:
    from robust_recourse.paper.bench.runner import run
    from robust_recourse.paper.bench.spec import read_experiment
    from robust_recourse.paper.bench.summary import accuracies, configurations

    experiment = read_experiment(arguments.file, arguments.profile, overrides(arguments.set))
    out = arguments.out or Path(arguments.file.stem)
    need_folder(out)
    with _keeping(out):
        results = run(experiment, out, n_jobs=arguments.jobs, table_format=arguments.format)
    shown = accuracies(results) if experiment.folds else configurations(results)[_SHOWN]
    print_table(shown.loc[:, (shown != "").any()], experiment.title)
    print_line(f"Results: {out / f'results.{arguments.format}'}")
    return 0


@contextmanager
def _keeping(out: Path) -> Iterator[None]:
    """Say after an interruption where the finished parts are."""
    try:
        yield
    except KeyboardInterrupt as stop:
        raise type(stop)(f"what is finished is kept in {out}. Run the same command again to continue.") from None
