"""What looks like a mistake in what a method is given, and is asked about before anybody relies on the answers."""

from __future__ import annotations

import warnings
from typing import Any, get_args

import numpy as np

from robust_recourse._typing import BoolArray, Unseen
from robust_recourse._validation import check_choice
from robust_recourse.notices.survival import percent
from robust_recourse.result import Recourses, Status
from robust_recourse.tables import Schema, Seen, Table

__all__ = ["check_unseen", "doubt_favourable", "doubt_features"]

_FEWEST = 5  # accepted rows, and refused ones: a column of fewer may follow them by chance
_CLASSES = 20  # that a label has, at most
_TELLS = 0.95  # of the accepted rows, and of the refused ones: what a label tells of a model that was trained with it


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
    message += ' Correct them, or accept them with unseen="ignore".'
    if unseen == "error":
        raise ValueError(message)
    warnings.warn(message, stacklevel=4)


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

    That is a column that the model does not know by its name, if it knows names, or one with few values of which one
    tells whom it accepts, without any other column: in nearly every row, since few models learn nothing but the label.
    """
    names, trained = schema.names, getattr(model, "feature_names_in_", None)
    extra = [] if names is None or trained is None else np.flatnonzero(~names.isin(trained)).tolist()
    if extra:
        warnings.warn(
            f"X has columns that the model was not trained with: {', '.join(map(schema.label, extra))}. If one of them "
            "is the label, or names people, leave it out of X.",
            stacklevel=3,
        )
    for k, share in _deciding(table, accepted).items():
        if k not in extra:
            rows = f"all {len(table)} rows" if share == 1.0 else f"{percent(share)} of the {len(table)} rows"
            warnings.warn(
                f"Column {schema.label(k)} alone tells whom the model accepts, in {rows} of X. Is it the label? Then "
                "train the model without it, and leave it out of X.",
                stacklevel=3,
            )


def _deciding(table: Table, accepted: BoolArray) -> dict[int, float]:
    """Return the columns of few values of which one tells whom the model accepts, and the share of such rows.

    A gap tells nothing, so that a label with a few of them is found, too.
    """
    if min(np.count_nonzero(accepted), np.count_nonzero(~accepted)) < _FEWEST:
        return {}
    found: dict[int, float] = {}
    for k in np.flatnonzero(~table.missing.all(axis=0)).tolist():
        values, known = table.values[:, k], ~table.missing[:, k]
        some, counts = np.unique(values[known & accepted], return_counts=True)
        if not len(some) or len(np.unique(values[known])) > _CLASSES:
            continue
        right = known & ((values == some[counts.argmax()]) == accepted)
        if min(right[accepted].mean(), right[~accepted].mean()) >= _TELLS:
            found[k] = float(right.mean())
    return found
