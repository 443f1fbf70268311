"""What to do about broken promises: additions for the people, a threshold for the owner of the model."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robust_recourse._typing import FloatArray, IntArray
from robust_recourse._validation import check_share
from robust_recourse.ledger.asking import Piece
from robust_recourse.ledger.errors import LedgerError
from robust_recourse.methods.base import RecourseMethod
from robust_recourse.models.acceptance import verdicts_on
from robust_recourse.models.verdicts import Verdicts
from robust_recourse.notices.frames import beside
from robust_recourse.result import Recourses

if TYPE_CHECKING:
    from robust_recourse.ledger.check import Check

__all__ = ["Additions", "Threshold", "find_additions", "find_threshold", "same_method", "to_honour", "verdicts_of"]


@dataclass(frozen=True, eq=False)
class Additions:
    """What broken promises would need under the new model.

    Attributes
    ----------
    numbers : ndarray of int, shape (n,)
        The entries of the broken promises.
    people : tuple of str
        To whom they were made.
    told : ndarray of shape (n,)
        What the people were told that it costs.
    found : Recourses
        The recourses from the promised rows; their cost is what it costs beyond what was told.
    """

    numbers: IntArray
    people: tuple[str, ...]
    told: FloatArray
    found: Recourses

    def __len__(self) -> int:
        return len(self.numbers)

    def to_frame(self) -> pd.DataFrame:
        """Return one line for every broken promise: person, told cost, extra cost, whether that is enough, and how."""
        return pd.DataFrame(
            {
                "person": list(self.people),
                "told_cost": self.told,
                "extra_cost": np.where(self.found.valid, self.found.cost, np.nan),
                "possible": self.found.valid,
                "status": [str(status) for status in self.found.status],
                "addition": [recourse.describe() for recourse in self.found],
            },
            index=pd.Index(self.numbers, name="promise"),
        )


@dataclass(frozen=True)
class Threshold:
    """The highest threshold at which a model keeps a share of the promises.

    Attributes
    ----------
    threshold : float
        The threshold: rows that reach it are accepted.
    share : float
        The share that is kept with it.
    at_least : float
        The share that was asked for.
    others : int or None
        Number of other applicants.
    newly_accepted, newly_refused : int or None
        How many of them would get another decision than the model gives them now.
    """

    threshold: float
    share: float
    at_least: float
    others: int | None = None
    newly_accepted: int | None = None
    newly_refused: int | None = None

    @property
    def changed(self) -> int | None:
        """How many decisions about others it changes."""
        if self.newly_accepted is None or self.newly_refused is None:
            return None
        return self.newly_accepted + self.newly_refused


def find_additions(check: Check, method: RecourseMethod) -> Additions:
    """Find recourses from the rows of broken promises."""
    parts, numbers = [], []
    for piece in _pieces(check, check.broken_numbers):
        parts.append(method.explain(piece.table, unseen="ignore"))
        numbers.append(piece.numbers)
    known = {promise.number: promise for promise in check.source.promises(check.broken_numbers)}
    listed = np.concatenate([np.empty(0, dtype=np.int64), *numbers])
    return Additions(
        listed,
        tuple(known[number].person for number in listed.tolist()),
        np.array([known[number].data["cost"] for number in listed.tolist()], dtype=float),
        Recourses.concat(parts or [method.explain(_nobody(method), unseen="ignore")]),
    )


def same_method(check: Check, train: Any) -> RecourseMethod:
    """Return the method of the newest promises with the new model, fitted to its training rows."""
    if train is None:
        raise TypeError("Pass a method that was fitted with the new model, or its training rows as train=.")
    if not len(check):
        raise LedgerError("There is no open promise, so there is no method to take.")
    run = check.runs[int(check.asked.runs[-1])]
    return run.method(check.model, **check.decision.of(run)).fit(train)


def _nobody(method: RecourseMethod) -> Any:
    """Return a table without rows that the method can read."""
    names = method.schema_.names
    if names is None:
        return np.empty((0, len(method.schema_.columns)))
    dtypes = dict(zip(names, method.schema_.dtypes, strict=True))
    return pd.DataFrame({name: pd.Series(dtype=dtype) for name, dtype in dtypes.items()})


def find_threshold(check: Check, at_least: float, others: Any) -> Threshold:
    """Find the highest threshold, see :meth:`robust_recourse.ledger.Check.threshold`."""
    share = check_share(at_least, "at_least")
    if not len(check):
        raise LedgerError("There is no open promise, so every threshold keeps all of them.")
    verdicts = list(_verdicts(check, check.asked.numbers))
    values = np.concatenate([one.value for one in verdicts])
    first = verdicts[0]
    if first.scale != "score" and np.isin(values, (0.0, 1.0)).all():
        raise LedgerError(
            "The model only tells who is accepted, and no threshold can be found: pass one with predict_proba, or with "
            "scores and a threshold."
        )
    level = np.sort(values)[::-1][math.ceil(share * len(values) - 1e-9) - 1]
    kept = float(np.mean(values >= level))
    found = Threshold(first.sign * float(level) if first.scale == "score" else float(level), kept, share)
    if others is None:
        return found
    run = check.runs[int(check.asked.runs[-1])]
    said = verdicts_on(check.model, others, **check.decision.of(run))
    now, then = said.accepted, said.value >= level
    return Threshold(found.threshold, kept, share, len(now), int((then & ~now).sum()), int((now & ~then).sum()))


def verdicts_of(check: Check) -> dict[str, Any]:
    """Return what the new model says about the broken promises: a value, and the level that it had to reach."""
    said = list(_verdicts(check, check.broken_numbers))
    levels = [np.broadcast_to(np.asarray(one.level, dtype=float), one.value.shape) for one in said]
    return {
        "value": np.concatenate(
            [np.empty(0), *(one.sign * one.value if one.scale == "score" else one.value for one in said)]
        ),
        "needed": np.concatenate(
            [
                np.empty(0),
                *(one.sign * level if one.scale == "score" else level for one, level in zip(said, levels, strict=True)),
            ]
        ),
    }


def to_honour(check: Check, additions: Additions | None) -> pd.DataFrame:
    """Return the broken promises as a list to honour anyway."""
    frame = check.broken
    if additions is None or not len(frame):
        return frame
    extra = additions.to_frame()[["extra_cost", "addition"]].reindex(frame.index)
    return beside(frame, {str(name): extra[name].to_numpy() for name in extra})


def _verdicts(check: Check, numbers: IntArray) -> Iterator[Verdicts]:
    for piece in _pieces(check, numbers):
        yield verdicts_on(check.model, piece.table, **check.decision.of(piece.run))


def _pieces(check: Check, numbers: IntArray) -> Iterator[Piece]:
    return check.source.pieces(numbers, check.current)
