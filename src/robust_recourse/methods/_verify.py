"""The last question to the model, for methods that end with a point."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.actions.moves import Rounding
from robust_recourse.math.limits import Limits
from robust_recourse.math.projections import settle
from robust_recourse.methods._chunk import Chunk
from robust_recourse.result import Answer, Status
from robust_recourse.sampling.oracle import Oracle
from robust_recourse.sampling.segments import mixed_cost

__all__ = ["Outcome", "verify_points"]


_BROKEN = "The point that the method recommends breaks the rule {!r}. RobustBayesianRecourse searches within the rules."


# The nearest rows that can be told to a person first; where the model refuses these, farther away, then closer.
_ROUNDINGS: tuple[Rounding, ...] = ("nearest", "outward", "inward")


class Outcome(NamedTuple):
    """How a search ended, as a status and a sentence."""

    status: Status
    reason: str


def verify_points(
    oracle: Oracle, chunk: Chunk, limits: Limits, points: FloatArray, found: BoolArray, outcomes: list[Outcome]
) -> list[Answer]:
    """Move the points into the bounds and onto the grids to the last bit, ask the model about them and describe them.

    Parameters
    ----------
    oracle : Oracle
        The model, with the rows that it was asked for so far.
    chunk : Chunk
        The instances.
    limits : Limits
        The action set, of all columns.
    points : ndarray of shape (m, p_free)
        What the method recommends, in the columns that may change.
    found : ndarray of bool, shape (m,)
        Which instances have a point at all.
    outcomes : list of Outcome
        How each search ended; a point that the model refuses has the status "refused by the model" instead and
        stays in the result, as not valid. A point that breaks a rule does not.
    """
    rows = chunk.x0.copy()
    rows[:, chunk.free] = np.where(found[:, None], points, chunk.x0[:, chunk.free])
    box = limits.box(chunk.x0)
    rows = settle(rows, chunk.x0, limits.weights, np.full(len(rows), np.inf), *box)
    rows, valid = _rounded(oracle, chunk, rows, np.flatnonzero(found))
    cost = mixed_cost(rows, chunk.x0, limits)
    refused = Outcome(Status.REFUSED, "The present model refuses the point that the method recommends.")
    recourses = []
    for i, x0 in enumerate(chunk.x0):
        n_queries = 1 + int(oracle.n_queries[i])
        if not found[i]:
            recourses.append(Answer.missing(x0, *outcomes[i], n_queries))
            continue
        broken = "" if valid[i] else chunk.space.broken_rule(rows[i], int(chunk.rows[i]))
        if broken:
            recourses.append(Answer.missing(x0, Status.NOT_FOUND, _BROKEN.format(broken), n_queries))
            continue
        outcome = outcomes[i] if valid[i] else refused
        recourses.append(Answer.point(x0, rows[i], float(cost[i]), bool(valid[i]), *outcome, n_queries, limits.weights))
    return recourses


def _rounded(oracle: Oracle, chunk: Chunk, exact: FloatArray, which: IntArray) -> tuple[FloatArray, BoolArray]:
    """Round points towards validity; return what they stand for, and whether the model accepts that."""
    rows, valid = chunk.space.snap(exact, chunk.rows), np.zeros(len(exact), dtype=bool)
    for rounding in _ROUNDINGS[:1] if chunk.space.exact else _ROUNDINGS:
        left = which[~valid[which]]
        tried = chunk.space.snap(exact[left], chunk.rows[left], rounding)
        yes = oracle(np.ascontiguousarray(tried[:, chunk.free]), left)
        rows[left[yes]], valid[left[yes]] = tried[yes], True
    return rows, valid
