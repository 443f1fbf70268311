"""The last question to the model, for methods that end with a point."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray, Rounding
from robust_recourse.math.projections import settle
from robust_recourse.result.answer import Answer
from robust_recourse.result.status import Status
from robust_recourse.search.task import Task

__all__ = ["Outcome", "verify_points"]

_BROKEN = "The point that the method recommends breaks the rule {!r}. RobustBayesianRecourse searches within the rules."

# The nearest rows that can be told to a person first; where the model refuses these, farther away, then closer.
_ROUNDINGS: tuple[Rounding, ...] = ("nearest", "outward", "inward")


class Outcome(NamedTuple):
    """How a search ended, as a status and a sentence."""

    status: Status
    reason: str


_WITHOUT_CONSENT = Outcome(
    Status.QUORUM_OUT_OF_REACH,
    "The present model accepts the point that the method recommends, but not with the margin or the share of the jury "
    "that was asked for.",
)


def verify_points(task: Task, points: FloatArray, found: BoolArray, outcomes: list[Outcome]) -> list[Answer]:
    """Move the points into the bounds and onto the grids to the last bit, ask the model about them and describe them.

    Parameters
    ----------
    task : Task
        The people.
    points : ndarray of shape (m, p)
        What the method recommends to each.
    found : ndarray of bool, shape (m,)
        Who has a point at all.
    outcomes : list of Outcome
        How each search ended; a point that the model refuses has the status "refused by the model" instead and
        stays in the result, as not valid. A point that breaks a rule does not.
    """
    x0, weights = task.x0, task.limits.weights
    rows = np.where(found[:, None], points, x0)
    box = task.limits.box(x0)
    numbers = ~task.limits.categories
    within = settle(rows, x0, weights, np.full(len(rows), np.inf), *box)
    rows, valid, consented = _rounded(task, np.where(numbers, within, rows), np.flatnonzero(found))
    cost = task.limits.cost(rows, x0)
    refused = Outcome(Status.REFUSED, "The present model refuses the point that the method recommends.")
    answers = []
    for i in range(len(task)):
        broken = "" if valid[i] or not found[i] else task.space.broken_rule(rows[i], i)
        if not found[i]:
            answers.append(task.missing(i, *outcomes[i]))
        elif broken:
            answers.append(task.missing(i, Status.NOT_FOUND, _BROKEN.format(broken)))
        else:
            outcome = outcomes[i] if consented[i] else _WITHOUT_CONSENT if valid[i] else refused
            asked = 1 + int(task.oracle.n_queries[i])
            answers.append(Answer.point(x0[i], rows[i], float(cost[i]), bool(valid[i]), *outcome, asked, weights))
    return answers


def _rounded(task: Task, exact: FloatArray, people: IntArray) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Round points towards validity; return what they stand for, whether the model accepts that, and the criterion."""
    rows = task.snap(exact, np.arange(len(task)))
    valid, consented = np.zeros((2, len(exact)), dtype=bool)
    for rounding in _ROUNDINGS[:1] if task.space.exact else _ROUNDINGS:
        left = people[~consented[people]]
        if not len(left):
            break
        tried = task.snap(exact[left], left, rounding)
        yes = task.oracle.verify(tried, left)
        met = task.oracle.consents(tried, left, yes)
        better = met | (yes & ~valid[left])
        rows[left[better]] = tried[better]
        valid[left[yes]], consented[left[met]] = True, True
    return rows, valid, consented
