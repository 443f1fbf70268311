"""``robust-recourse actions``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from robust_recourse._files import write_atomically
from robust_recourse.actions.toml import starting_toml
from robust_recourse.cli._options import blaming, need_file
from robust_recourse.cli._printing import print_line
from robust_recourse.cli._tables import add_reading, read_training

if TYPE_CHECKING:
    from robust_recourse.cli._options import Commands

__all__ = ["add_to"]


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "actions",
        help="write a file for you to edit that says what a person may change",
        description="Write a starting action set: every column of the training rows with what it holds, and lines to "
        "choose from. Edit it: say at least what nobody can change. Then give it to 'robust-recourse explain'.",
    )
    parser.add_argument("train", type=Path, metavar="TRAIN", help="table of training rows, .csv or .parquet")
    parser.add_argument(
        "--out", default="actions.toml", metavar="FILE", help="file to write, - for the terminal (default: %(default)s)"
    )
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")
    add_reading(parser)
    parser.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    out = Path(arguments.out)
    terminal = arguments.out == "-"
    if not terminal and out.exists() and not arguments.force:
        raise ValueError(f"{out} exists and may have been edited. Name another file with --out, or use --force.")
    frame = read_training(arguments.train, arguments)
    with blaming(arguments.train):
        text = starting_toml(frame)
    if terminal:
        print_line(text.rstrip("\n"))
        return 0
    need_file(out)
    write_atomically(out, text)
    print_line(f"Action set of {frame.shape[1]} columns, for you to edit: {out}")
    return 0
