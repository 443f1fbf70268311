"""``robust-recourse tune``."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robust_recourse.cli._methods import add_max_changes, add_set, fitted
from robust_recourse.cli._model import add_decision, read_trainable
from robust_recourse.cli._options import (
    add_running,
    at_least,
    blaming,
    need_folder,
    need_other_file,
    need_report,
    overrides,
    share,
)
from robust_recourse.cli._outcomes import read_labelled
from robust_recourse.cli._parts import Parts
from robust_recourse.cli._scenarios import add_scenarios, read_scenarios
from robust_recourse.cli._settings import check_parameters
from robust_recourse.cli._tables import add_reading, need_table, read_people
from robust_recourse.cli._tuned import FIGURES, draw, tell
from robust_recourse.futures import TrainingError
from robust_recourse.methods.base import RecourseMethod
from robust_recourse.models.acceptance import accepted_by
from robust_recourse.tuning import FEWEST_PEOPLE, TUNED, TunedRecourse

if TYPE_CHECKING:
    from robust_recourse.cli._options import Commands

__all__ = ["add_to"]

_EXAMPLE = """\
example:
  robust-recourse tune --model model.skops --train train.csv --outcome outcome --actions actions.toml \\
      --favourable approved --target 0.95
  robust-recourse explain --settings tuned.toml --model model.skops --train train.csv --refused refused.csv \\
      --label outcome --actions actions.toml --favourable approved --out recourses.csv

It takes about as long as explaining fifteen hundred people, a third of them with a jury: fewer --people, fewer --models
and --jury 0 make it shorter, --jobs uses more cores.

What is finished is kept until everything is: a command that was interrupted continues there when it is run again. The
models among it are pickles, sealed with a key of this user: those that somebody else wrote are not opened. Exit codes:
0 if all went well, also if the target is out of reach; 1 if it is and --strict is given; 2 for input that cannot be
used; 130 when interrupted, 143 when terminated."""


def add_to(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "tune",
        help="find the cheapest settings whose recourses survive retraining as often as promised",
        description="Retrain the model on what may happen, and find the cheapest settings for 'robust-recourse\n"
        "explain' with which as many recourses as promised are still accepted: budgets, promised odds, margins, and\n"
        "juries of retrained models. That is measured on people and on models that did not choose the settings.",
        epilog=_EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    needed = parser.add_argument_group("needed")
    for option, what in (
        ("--model", "the model: .skops; .joblib, .pickle or .pkl with --trust-pickle. Fresh copies of it are trained"),
        ("--train", "table of the rows that it was trained on"),
        ("--actions", "what a person may change, as 'robust-recourse actions' writes it"),
    ):
        needed.add_argument(option, type=Path, required=True, metavar="FILE", help=what)
    needed.add_argument(
        "--outcome", required=True, metavar="COLUMN", help="column of the table with what the model learns to predict"
    )
    results = parser.add_argument_group("results")
    results.add_argument(
        "--out", type=Path, default=Path("tuned.toml"), metavar="FILE", help="settings to write (default: %(default)s)"
    )
    results.add_argument(
        "--figure", type=Path, metavar="FILE", help="draw what future validity costs: .png, .pdf or .svg"
    )
    results.add_argument("--strict", action="store_true", help="exit with 1 if the target is out of reach")
    _add_promise(parser)
    add_scenarios(parser)
    add_decision(parser)
    _add_search(parser)
    add_reading(parser)
    parser.set_defaults(run=_run)


def _add_promise(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the promise")
    group.add_argument(
        "--target",
        type=share,
        default=0.95,
        metavar="SHARE",
        help="of the recourses that later models shall accept (default: %(default)s)",
    )
    group.add_argument(
        "--models",
        type=at_least(2),
        default=20,
        metavar="N",
        help="models of every scenario to choose with, and as many others to check with (default: %(default)s)",
    )
    group.add_argument(
        "--people",
        type=at_least(FEWEST_PEOPLE),
        default=100,
        metavar="N",
        help="people, at most: half to choose with, half to check with (default: %(default)s)",
    )
    group.add_argument(
        "--jury",
        type=at_least(0),
        default=20,
        metavar="N",
        help="models of every scenario whose consent settings may ask for, others than those that choose and check; 0 "
        "for none (default: %(default)s)",
    )
    group.add_argument(
        "--refused", type=Path, metavar="FILE", help="table of these people (default: the refused ones of --train)"
    )


def _add_search(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the search")
    group.add_argument(
        "--method", choices=("robust", "bayesian"), default="robust", help="what is tuned (default: %(default)s)"
    )
    add_set(
        group,
        "a parameter of the method that is not tuned, such as n_samples=500, or the sampling_radius to start from",
    )
    add_max_changes(group)
    add_running(group)
    group.add_argument(
        "--folder",
        type=Path,
        help="keep models and measurements here, for good: with another target many of them are used again (default: "
        "beside --out, until everything is finished)",
    )


def _run(arguments: argparse.Namespace) -> int:
    parameters = _untuned(arguments)
    parts = _check_files(arguments)
    model = read_trainable(arguments, "tune in Python with robust_recourse.TunedRecourse, which")
    arguments.label = list(dict.fromkeys([*arguments.label, arguments.outcome]))  # the model does not get it either
    data = read_labelled(arguments.train, arguments, model)
    rows = data.X if arguments.refused is None else read_people(arguments.refused, arguments, data.X)
    method = fitted(arguments, parameters, data.X, model)
    people = _as_asked(method, rows, arguments.refused or arguments.train)
    tuned = TunedRecourse(
        method,
        arguments.target,
        scenarios=read_scenarios(arguments, data, model),
        n_models=arguments.models,
        n_people=arguments.people,
        jury=arguments.jury or None,
        folder=parts.folder,
        random_state=arguments.seed,
        n_jobs=arguments.jobs,
    )
    try:
        with (
            parts.keeping(),
            blaming(f"{arguments.model} with the rows of {arguments.train}"),
            warnings.catch_warnings(),
        ):
            warnings.filterwarnings("ignore", "A future validity of .* was not reached")  # it is printed below
            tuning = tuned.fit(data.X, data.y, people).tuning_
    except TrainingError as error:
        raise ValueError(f"{arguments.model}: {error}") from error
    tuning.to_toml(arguments.out)
    if arguments.figure is not None:
        draw(tuning, arguments.figure)
    if arguments.folder is None:
        parts.forget()
    tell(tuning, arguments)
    return 1 if arguments.strict and not tuning.reached else 0


def _untuned(arguments: argparse.Namespace) -> dict[str, Any]:
    parameters = overrides(arguments.set)
    for key in parameters:
        if key in TUNED and key != "sampling_radius":  # which the others are relative to
            raise ValueError(f"--set {key}: this is one of the parameters that are tuned. Leave it out.")
    check_parameters(arguments.method, parameters, "--set")
    return parameters


def _check_files(arguments: argparse.Namespace) -> Parts:
    """Fail before all work for what can be told from names and folders; return where parts are kept."""
    inputs = [getattr(arguments, name) for name in ("model", "train", "actions", "refused", "new")]
    for path in (arguments.train, arguments.refused, arguments.new):
        if path is not None:
            need_table(path)
    need_other_file("--out", arguments.out, inputs)
    if arguments.figure is not None:
        if arguments.figure.suffix.lower() not in FIGURES:
            raise ValueError(f"--figure {arguments.figure}: a figure ends in {', '.join(FIGURES)}.")
        need_report("the figure")
        need_other_file("--figure", arguments.figure, [*inputs, arguments.out])
    if arguments.folder is not None:
        need_folder(arguments.folder)
        return Parts(arguments.folder)
    return Parts(arguments.out.with_name(f"{arguments.out.name}.parts"))


def _as_asked(method: RecourseMethod, rows: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return people as the model gets them, in the order and the types of the training rows; enough must be refused."""
    with blaming(path):
        table = method.schema_.read(rows, "the table")
        people: pd.DataFrame = table.decode(table.values, np.arange(len(rows)))
        accepted = accepted_by(
            method.model, people, favourable=method.favourable, threshold=method.threshold, like=people
        )
    refused = int(np.count_nonzero(~accepted))
    if refused < FEWEST_PEOPLE:
        raise ValueError(
            f"{path}: the model refuses {refused} of the {len(people)} people; tuning needs at least {FEWEST_PEOPLE} "
            "whom it refuses. Name a table with more of them with --refused."
        )
    return people
