"""From the options of a command to a fitted method."""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Mapping
from typing import Any, get_args

import pandas as pd

from robust_recourse._files import part_key
from robust_recourse._provenance import source, versions
from robust_recourse._typing import Unseen
from robust_recourse.actions import ActionSet
from robust_recourse.cli._model import favourable_of
from robust_recourse.cli._options import blaming, positive_integer
from robust_recourse.methods.base import RecourseMethod
from robust_recourse.methods.registry import METHODS
from robust_recourse.tables import Schema

__all__ = ["add_max_changes", "add_set", "add_unseen", "fingerprint", "fitted"]

_FORMAT = 1  # of the file with what is finished
_FILES = ("model", "train", "refused", "actions")
_OPTIONS = (
    "method", "n_recourses", "max_changes", "seed", "favourable", "threshold", "label", "id", "separator", "missing",
)  # fmt: skip


def add_set(group: argparse._ArgumentGroup, what: str) -> None:
    """Add the option for single parameters."""
    group.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help=f"{what}; VALUE is TOML; may be given several times",
    )


def add_max_changes(group: argparse._ArgumentGroup) -> None:
    """Add the option that counts for all people."""
    group.add_argument(
        "--max-changes", type=positive_integer, metavar="N", help="columns that may change together, for all people"
    )


def add_unseen(group: argparse._ArgumentGroup) -> None:
    """Add the option for values that may be coded in another way than those of the training rows."""
    group.add_argument(
        "--unseen",
        choices=get_args(Unseen),
        default="warn",
        help="what happens to values of --refused that no training row has, such as YES for yes, a 3 among 0 and 1, or "
        "a number far outside (default: %(default)s)",
    )


def fitted(
    arguments: argparse.Namespace, parameters: Mapping[str, Any], train: pd.DataFrame, model: Any
) -> RecourseMethod:
    """Read the action set, and fit the method to the training rows."""
    with blaming(arguments.train):
        Schema.learn(train, name="the table")
    try:
        actions = ActionSet.from_toml(arguments.actions, train)
    except (OverflowError, RecursionError) as error:
        raise ValueError(f"{arguments.actions}: {error}") from error
    if arguments.max_changes is not None:
        actions.max_changes = arguments.max_changes
    method = METHODS[arguments.method](
        model,
        actions=actions,
        favourable=favourable_of(arguments.favourable, model),
        threshold=arguments.threshold,
        random_state=arguments.seed,
        n_jobs=arguments.jobs,
        **parameters,
    )
    with blaming(f"{arguments.model} with the rows of {arguments.train}"):
        return method.fit(train)


def fingerprint(arguments: argparse.Namespace, parameters: Mapping[str, Any]) -> str:
    """Return a name that two commands share only if they find the same recourses.

    The parameters are all that count, those of a file with settings, too: not where they were written.
    """
    contents = [hashlib.blake2b(getattr(arguments, name).read_bytes()).hexdigest() for name in _FILES]
    options = [getattr(arguments, name) for name in _OPTIONS]
    return part_key(_FORMAT, versions(), source(), contents, options, parameters)
