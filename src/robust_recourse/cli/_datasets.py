"""``robust-recourse datasets``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from robust_recourse.cli._printing import print_line, print_table

if TYPE_CHECKING:
    from robust_recourse.cli._options import Commands

__all__ = ["add_to"]


def add_to(commands: Commands) -> None:
    """Add the command."""
    datasets = commands.add_parser(
        "datasets",
        help="show which data sets are on this machine, or fetch them",
        description="Show the data sets, where they were found and their licences. Nothing is downloaded unless you "
        "ask for it with 'fetch'.",
    )
    datasets.set_defaults(run=_show)
    actions = datasets.add_subparsers(metavar="fetch")
    fetch = actions.add_parser("fetch", help="download data sets, with a check of their hashes")
    fetch.add_argument("names", nargs="+", metavar="NAME", help="names of data sets")
    fetch.set_defaults(run=_fetch)


def _show(_arguments: argparse.Namespace) -> int:
    from robust_recourse.paper.datasets import available

    print_table(available(), "Data sets")
    return 0


def _fetch(arguments: argparse.Namespace) -> int:
    from robust_recourse.paper.datasets import fetch

    for name in arguments.names:
        for path in fetch(name):
            print_line(path)
    return 0
