"""The command: parse, call, print."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from robust_recourse import __version__

if TYPE_CHECKING:
    from robust_recourse.demo import Demo

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 if all went well, 2 for input that cannot be used."""
    arguments = _parser().parse_args(argv)
    try:
        return int(arguments.run(arguments))
    except (ImportError, OSError, ValueError) as error:
        print(f"robust-recourse: {error}", file=sys.stderr)  # noqa: T201
        return 2
    except KeyboardInterrupt:
        print("robust-recourse: interrupted", file=sys.stderr)  # noqa: T201
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="robust-recourse", description="Recourse that survives the next model.")
    parser.add_argument("--version", action="version", version=f"robust-recourse {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    demo = commands.add_parser(
        "demo",
        help="explain refused rows of built-in data, retrain the model, compare",
        description="Explain the refused rows of the paper's synthetic data, retrain the network on shifted data, "
        "print how many recourses survive, and write figures and a page that shows them.",
    )
    demo.add_argument("--out", type=Path, default=Path("demo"), help="folder to write to (default: %(default)s)")
    demo.add_argument(
        "--models", type=positive_integer, default=50, help="number of future models (default: %(default)s)"
    )
    demo.add_argument("--seed", type=int, default=0, help="seed of everything (default: %(default)s)")
    demo.add_argument("--jobs", type=int, default=-1, help="processes for retraining (default: all cores)")
    demo.set_defaults(run=_demo)
    return parser


def positive_integer(text: str) -> int:
    """Read a number of things."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}")
    return value


def _demo(arguments: argparse.Namespace) -> int:
    missing = [name for name in ("matplotlib", "jinja2") if find_spec(name) is None]
    if missing:
        raise ImportError(f"the demo needs {' and '.join(missing)}: pip install 'robust-recourse[report]'")
    from robust_recourse.demo import run_demo, write_demo

    # Before the long work: a folder that cannot be written to should not cost a minute.
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=arguments.out):
        pass
    demo = run_demo(n_models=arguments.models, random_state=arguments.seed, n_jobs=arguments.jobs)
    page = write_demo(demo, arguments.out)
    _print_demo(demo, page)
    return 0


def _print_demo(demo: Demo, page: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{len(demo.robust)} refused people, {demo.n_models} retrained models", title_justify="left")
    table.add_column("recourse")
    for column in demo.table.columns:
        table.add_column(str(column), justify="right")
    for name, row in zip(demo.table.index, demo.table.to_numpy(), strict=True):
        style = "bold" if name == "robust recourse" else ""
        table.add_row(str(name), *(f"{value:.3f}" for value in row), style=style)
    console = Console()
    console.print(table)
    rate = 1000 * demo.seconds / (2 * len(demo.robust))
    console.print(f"Explaining took {rate:.1f} ms a person and method. Figures and table: {page}", soft_wrap=True)
