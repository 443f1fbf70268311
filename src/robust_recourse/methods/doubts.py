"""What looks like a mistake in what a method is given, and is asked about before anybody relies on the answers."""

from __future__ import annotations

import warnings
from typing import Any, get_args

import numpy as np

from robust_recourse._typing import BoolArray, Unseen
from robust_recourse._validation import check_choice
from robust_recourse.result import Recourses, Status
from robust_recourse.tables import Schema, Seen, Table

__all__ = ["check_unseen", "doubt_favourable", "doubt_features"]

_FEWEST = 5  # accepted rows, and refused ones: a column of fewer may follow them by chance


def check_unseen(seen: Seen, table: Table, name: str, unseen: Unseen) -> None:
    """Warn of values that the training rows do not have, or raise, or do nothing; `name` is that of the table.

    Raises
    ------
    ValueError
        If there are some, and `unseen` is "error".
    """
    check_choice(unseen, "unseen", get_args(Unseen))
    message = "" if unseen == "ignore" else seen.unseen(table, name)
    if not message:
        return
    if unseen == "error":
        raise ValueError(f'{message} Correct them, or accept them with unseen="ignore".')
    warnings.warn(f'{message} Correct them, or accept them with unseen="ignore" in explain.', stacklevel=4)


def doubt_favourable(found: Recourses, favourable: Any) -> None:
    """Ask whether the favourable class is the wrong one, if nobody needs a recourse."""
    if len(found) > 1 and all(status is Status.ALREADY_FAVOURABLE for status in found.status):
        told = "" if favourable is None else repr(favourable)
        warnings.warn(
            f"The model accepts all {len(found)} rows as they are, so that nobody needs a recourse. Is "
            f"favourable={told} the wrong way round?",
            stacklevel=3,
        )


def doubt_features(model: Any, schema: Schema, table: Table, accepted: BoolArray) -> None:
    """Ask whether a column of the training rows is the label.

    That is a column that the model does not know by its name, if it knows names, or one with two values that tell whom
    it accepts, in every row and without any other column.
    """
    names, trained = schema.names, getattr(model, "feature_names_in_", None)
    extra = [] if names is None or trained is None else np.flatnonzero(~names.isin(trained)).tolist()
    if extra:
        warnings.warn(
            f"X has columns that the model was not trained with: {', '.join(map(schema.label, extra))}. If one of them "
            "is the label, or names people, leave it out of X.",
            stacklevel=3,
        )
    for k in set(_deciding(table, accepted)).difference(extra):
        warnings.warn(
            f"Column {schema.label(k)} alone tells whom the model accepts, in all {len(table)} rows of X. Is it the "
            "label? Then train the model without it, and leave it out of X.",
            stacklevel=3,
        )


def _deciding(table: Table, accepted: BoolArray) -> list[int]:
    """Return the columns that have one value in all accepted rows, and another one in all others."""
    if min(np.count_nonzero(accepted), np.count_nonzero(~accepted)) < _FEWEST:
        return []
    one, other = (table.values[rows] for rows in (accepted, ~accepted))
    constant = (one == one[0]).all(axis=0) & (other == other[0]).all(axis=0) & ~table.missing.any(axis=0)
    return np.flatnonzero(constant & (one[0] != other[0])).tolist()
