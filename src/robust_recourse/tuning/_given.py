"""What tuning is given: training rows, people, labels, jurors; and a name for all of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import joblib
import numpy as np

from robust_recourse._files import part_key
from robust_recourse.futures.fingerprint import fingerprint
from robust_recourse.futures.rows import read_table
from robust_recourse.models.acceptance import accepted_by, has_probabilities
from robust_recourse.tables.foreign import is_frame
from robust_recourse.tables.rows import take
from robust_recourse.tuning._families import Basis
from robust_recourse.tuning._tunable import Tunable

__all__ = ["FEWEST_PEOPLE", "basis_of", "check_wanted", "facts", "read_refused"]

FEWEST_PEOPLE = 10
"""How many refused people tuning needs."""

_ROWS = 256  # of the training rows, about which models are asked to see how they answer


def basis_of(fitted: Tunable, X: Any, jurors: Sequence[Any]) -> Basis:
    """Return what configurations of a fitted method are relative to, and which criteria there are."""
    start = fitted.radius_ if fitted.sampling_radius is None else float(fitted.sampling_radius)
    decides = 0.5 if fitted.threshold is None else fitted.threshold
    rows = take(X, np.arange(min(len(X), _ROWS)))

    def probable(model: Any) -> bool:
        how = {"favourable": fitted.favourable, "threshold": fitted.threshold}
        return 0.0 < decides < 1.0 and has_probabilities(model, rows, **how)

    return Basis(
        start,
        fitted.radius_,
        "epsilon_0" in fitted.get_params(deep=False),
        decides if probable(fitted.model) else None,
        jurors,
        len(jurors) > 0 and all(map(probable, jurors)),
    )


def read_refused(method: Tunable, X: Any, people: Any) -> Any:
    """Return the people whom the present model refuses, those of the training rows if None are given."""
    rows = X if people is None else _like(read_table(people, "people"), X)
    accepted = accepted_by(method.model, rows, favourable=method.favourable, threshold=method.threshold, like=rows)
    refused = np.flatnonzero(~accepted)
    if len(refused) < FEWEST_PEOPLE:
        raise ValueError(
            f"The present model refuses {len(refused)} of the {len(rows)} rows of "
            f"{'X' if people is None else 'people'}; tuning needs at least {FEWEST_PEOPLE} refused people. Pass more "
            "with people=."
        )
    return take(rows, refused)


def _like(people: Any, X: Any) -> Any:
    """Return people with their columns in the order of the training rows: some models go by it."""
    if not (is_frame(people) and is_frame(X)):
        return people
    names = list(X.columns)
    missing = [name for name in names if name not in people.columns]
    if missing:
        raise ValueError(f"people lacks the column {missing[0]!r} of X.")
    return people[names]


def check_wanted(method: Tunable, y: Any) -> None:
    """Fail before all training if the class that people want is none of the labels."""
    labels = dict.fromkeys(np.asarray(y).ravel().tolist())
    if method.favourable is None or method.favourable in labels or not hasattr(method.model, "classes_"):
        return
    shown = ", ".join(map(repr, list(labels)[:5]))
    raise ValueError(f"y has no label {method.favourable!r}, which is the favourable one; its labels are {shown}.")


def facts(method: Tunable, *others: Any) -> str:
    """Return a name for all that measurements depend on."""
    parts = [type(method).__name__, *sorted(method.get_params(deep=False).items()), *others]
    try:
        return part_key([_identity(part) for part in parts])
    except Exception as error:  # of pickling, where anything may be raised
        raise TypeError(
            f"folder cannot tell models apart of which a part cannot be pickled: {error}. Leave folder out, or "
            "define such functions in a module."
        ) from error


def _identity(value: Any) -> str:
    if isinstance(value, tuple):
        return "/".join(map(_identity, value))
    if callable(value) and not hasattr(value, "get_params"):
        return fingerprint(value)
    return str(joblib.hash(value))
