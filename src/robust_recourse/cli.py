"""The command: parse, call, print."""

from __future__ import annotations

import argparse
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from robust_recourse import __version__
from robust_recourse.bench import PROFILES, TARGETS

if TYPE_CHECKING:
    import pandas as pd

    from robust_recourse.demo import Demo

    Commands: TypeAlias = argparse._SubParsersAction[argparse.ArgumentParser]

__all__ = ["main"]

_SHOWN = ["dataset", "method", "variant", "varied", "cost", "current validity", "future validity", "found", "seconds"]


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
    _add_demo(commands)
    _add_datasets(commands)
    _add_reproduce(commands)
    _add_experiment(commands)
    return parser


def _add_demo(commands: Commands) -> None:
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


def _add_datasets(commands: Commands) -> None:
    datasets = commands.add_parser(
        "datasets",
        help="show which data sets are on this machine, or fetch them",
        description="Show the data sets, where they were found and their licences. Nothing is downloaded unless you "
        "ask for it with 'fetch'.",
    )
    datasets.set_defaults(run=_datasets)
    actions = datasets.add_subparsers(metavar="fetch")
    fetch = actions.add_parser("fetch", help="download data sets, with a check of their hashes")
    fetch.add_argument("names", nargs="+", metavar="NAME", help="names of data sets")
    fetch.set_defaults(run=_fetch)


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
    parser.add_argument("--jobs", type=int, default=-1, help="processes (default: all cores)")
    parser.add_argument(
        "--format", choices=("csv", "parquet"), default="csv", help="of the table of results (default: %(default)s)"
    )


def positive_integer(text: str) -> int:
    """Read a number of things."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {value}")
    return value


def _need_report(what: str) -> None:
    missing = [name for name in ("matplotlib", "jinja2") if find_spec(name) is None]
    if missing:
        raise ImportError(f"{what} needs {' and '.join(missing)}: pip install 'robust-recourse[report]'")


def _need_folder(out: Path) -> None:
    """Fail before the long work: a folder that cannot be written to should not cost a minute."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=out):
        pass


def _demo(arguments: argparse.Namespace) -> int:
    _need_report("the demo")
    from robust_recourse.demo import run_demo, write_demo

    _need_folder(arguments.out)
    demo = run_demo(n_models=arguments.models, random_state=arguments.seed, n_jobs=arguments.jobs)
    page = write_demo(demo, arguments.out)
    _print_demo(demo, page)
    return 0


def _datasets(_arguments: argparse.Namespace) -> int:
    from robust_recourse.datasets import available

    _print_table(available(), "Data sets")
    return 0


def _fetch(arguments: argparse.Namespace) -> int:
    from robust_recourse.datasets import fetch

    for name in arguments.names:
        for path in fetch(name):
            print(path)  # noqa: T201
    return 0


def _reproduce(arguments: argparse.Namespace) -> int:
    _need_report("the page")
    from robust_recourse.reproduce import reproduce

    out = arguments.out or Path(f"reproduction-{arguments.profile}")
    _need_folder(out)
    done = reproduce(
        TARGETS if arguments.target == "all" else [arguments.target],
        out,
        profile=arguments.profile,
        datasets=arguments.datasets,
        n_jobs=arguments.jobs,
        table_format=arguments.format,
    )
    for caption, frame in done.shown.items():
        _print_table(frame.reset_index(), caption)
    for name in done.left_out:
        print(f"Left out, not on this machine: {name}. See: robust-recourse datasets")  # noqa: T201
    print(f"Page: {done.page}")  # noqa: T201
    return 0


def _experiment(arguments: argparse.Namespace) -> int:
    from robust_recourse.bench.runner import run
    from robust_recourse.bench.spec import read_experiment
    from robust_recourse.bench.summary import accuracies, configurations

    experiment = read_experiment(arguments.file, arguments.profile, _overrides(arguments.set))
    out = arguments.out or Path(arguments.file.stem)
    _need_folder(out)
    results = run(experiment, out, n_jobs=arguments.jobs, table_format=arguments.format)
    shown = accuracies(results) if experiment.folds else configurations(results)[_SHOWN]
    _print_table(shown.loc[:, (shown != "").any()], experiment.title)
    print(f"Results: {out / f'results.{arguments.format}'}")  # noqa: T201
    return 0


def _overrides(pairs: Sequence[str]) -> dict[str, Any]:
    from robust_recourse.bench.spec import merged

    values: dict[str, Any] = {}
    for pair in pairs:
        try:
            values = merged(values, tomllib.loads(pair))
        except tomllib.TOMLDecodeError as error:
            raise ValueError(
                f"--set {pair}: write KEY=VALUE, with VALUE as in TOML (text in quotes): {error}"
            ) from None
    return values


def _print_table(frame: pd.DataFrame, title: str) -> None:
    from pandas.api.types import is_numeric_dtype
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title), title_justify="left")
    for column in frame.columns:
        table.add_column(str(column), justify="right" if is_numeric_dtype(frame[column]) else "left", overflow="fold")
    for row in frame.itertuples(index=False):
        table.add_row(*(Text(_cell(value)) for value in row))
    Console().print(table)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "-" if value != value else f"{value:.3f}"
    return str(value)


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
