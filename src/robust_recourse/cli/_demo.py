"""``robust-recourse demo``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from robust_recourse.cli._options import at_least, need_folder, need_report, positive_integer, processes
from robust_recourse.cli._printing import print_line, show

if TYPE_CHECKING:
    from pandas import DataFrame

    from robust_recourse.cli._options import Commands
    from robust_recourse.paper.demo import Demo

__all__ = ["add_to"]


def add_to(commands: Commands) -> None:
    """Add the command."""
    demo = commands.add_parser(
        "demo",
        help="explain refused rows of built-in data, retrain the model, compare",
        description="Explain refused applicants of a mixed table, without and with a jury, and the refused rows of the "
        "paper's synthetic data; retrain the models on data that come later, print how many recourses survive, and "
        "write figures and a page that shows them.",
    )
    demo.add_argument("--out", type=Path, default=Path("demo"), help="folder to write to (default: %(default)s)")
    demo.add_argument(
        "--models", type=positive_integer, default=50, help="number of future models (default: %(default)s)"
    )
    demo.add_argument("--seed", type=at_least(0), default=0, help="seed of everything (default: %(default)s)")
    demo.add_argument("--jobs", type=processes, default=-1, help="processes for retraining (default: all cores)")
    demo.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    need_report("the demo")
    from robust_recourse.paper.demo import run_demo, write_demo

    need_folder(arguments.out)
    demo = run_demo(n_models=arguments.models, random_state=arguments.seed, n_jobs=arguments.jobs)
    page = write_demo(demo, arguments.out)
    _print_demo(demo, page)
    return 0


def _print_table(rows: DataFrame, best: str, title: str) -> None:
    from rich.table import Table

    table = Table()
    table.add_column("recourse")
    for column in rows.columns:
        table.add_column(str(column), justify="right")
    for name, row in zip(rows.index, rows.to_numpy(), strict=True):
        table.add_row(str(name), *(f"{value:.3f}" for value in row), style="bold" if name == best else "")
    show(table, title)


def _print_demo(demo: Demo, page: Path) -> None:
    from robust_recourse.paper.demo import told

    loans, i = demo.applicants, demo.applicants.example
    _print_table(
        loans.table, "recourse with a jury", f"{len(loans.found)} refused applicants, {demo.n_models} later models"
    )
    for name, found, share in zip(
        ("Cheapest change", "With a jury"), (loans.alone, loans.found), loans.shares, strict=True
    ):
        print_line(f"{name}: {told(found[i], share[i])}")
    _print_table(
        demo.table, "robust recourse", f"{len(demo.robust)} people of the paper's data, {demo.n_models} models"
    )
    rate = 1000 * demo.seconds / (2 * len(demo.robust))
    print_line(f"Explaining took {rate:.1f} ms a person and method. Figures and table: {page}")
    print_line(f"Everybody's plans, to find one's own way: {page.parent / 'explorer' / 'index.html'}")
