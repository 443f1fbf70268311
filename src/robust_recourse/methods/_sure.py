r"""Rows of a table of which the model is sure: how far the default budget reaches.

Retrained models disagree most about rows that the present model accepts by a hair. How sure it must be is learnt from
the accepted training rows :math:`z_1, \dots, z_n` with scores :math:`s(z_i) > 0` (log odds, or the model's own): the
least score that four in five of them have,

.. math:: s^\star = \max \Bigl\{ s : \tfrac1n \sum_{i=1}^n \mathbb 1[s(z_i) \ge s] \ge 0.8 \Bigr\},

and of networks half of them: these disagree more when they are trained again, about rows that no training row is like,
and are surer of all. It depends neither on the person nor on what may change, so that whoever may do more pays no more
to be as sure. The cheapest row with that score is searched for as boundary points are. Where the nearest accepted
training row costs less, the budget ends there.
"""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

import numpy as np
from scipy.special import logit

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse.methods.base import RecourseMethod
from robust_recourse.models.networks import is_network
from robust_recourse.models.predictor import Sureness
from robust_recourse.sampling.nearest import nearest_accepted
from robust_recourse.search import Task
from robust_recourse.search.run import decides, sureness
from robust_recourse.search.space import Space

__all__ = ["Reach", "learn_sureness", "reach_of"]

_SHARE, _OF_NETWORKS = 0.8, 0.5  # of the accepted training rows, of which the model is at least as sure
_ROWS = 20_000  # training rows that are asked about
_SAME = 1e-6  # of a score: its last bits depend on what else is in a batch
_SUREST = float(logit(0.999))  # log odds: beyond that forests say 1, and boosted trees any number
_SUREST_OF_NETWORKS = float(logit(1.0 - 1e-6))


def learn_sureness(method: RecourseMethod, space: Space) -> float | None:
    """Return how sure the model is of most accepted training rows, beyond what the search asks for.

    It is a score; None if the model does not tell rows apart, or a jury votes.
    """
    rows = np.unique(np.linspace(0, len(space) - 1, min(_ROWS, len(space))).astype(np.int64))
    data = "the training rows"
    sure, decide = sureness(method, data, quickly=False), Sureness(method.model, **decides(method, data))
    if sure is None:
        return None
    X, numbers = space.decode(space.table.values[rows], rows), space.rows_of(rows)
    said = sure.verdicts(X, numbers)
    scores = np.sort(sure.scores(said)[decide(X, numbers) > 0.0])
    if not len(scores) or np.ptp(scores) <= _SAME * np.abs(scores).max():
        return None
    share, surest = (_OF_NETWORKS, _SUREST_OF_NETWORKS) if is_network(method.model) else (_SHARE, _SUREST)
    least = float(scores[len(scores) - ceil(share * len(scores))])
    if said.scale != "score":
        least = min(least, surest - (float(logit(said.level)) if said.scale == "share" else 0.0))
    return least - _SAME * (1.0 + abs(least))


class Reach(NamedTuple):
    """How far the budgets of people reach."""

    rows: FloatArray  # (m, p)
    sure: BoolArray  # (m,): of whose rows the model is sure; the others are the nearest accepted training rows
    nearest: FloatArray  # (m, p): these, NaN without one


def reach_of(method: RecourseMethod, task: Task, snapped: FloatArray) -> Reach:
    """Return how far budgets reach: up to the nearest accepted training rows, or up to cheaper ones that are sure.

    Parameters
    ----------
    method : RecourseMethod
        The method, fitted.
    task : Task
        The people, with their boundary points and the points of which the model is sure.
    snapped : ndarray of shape (m, p)
        The rows of boundary points, for people who have nothing else.
    """
    every, room = np.arange(len(task)), task.before or task.room
    near, found = nearest_accepted(task.oracle, room, method.candidates_)
    near[found] = task.snap(near[found], every[found])
    rows, sure = np.where(found[:, None], near, snapped), np.zeros(len(task), dtype=bool)
    if task.sure is None:
        return Reach(rows, sure, near)
    sure |= ~np.isnan(task.sure).any(axis=1)
    surely = task.snap(np.where(sure[:, None], task.sure, rows), every)
    sure &= (room.cost(surely, every) <= room.cost(rows, every)) | ~found
    # The labels of a model may contradict its scores.
    sure[sure] = task.oracle(surely[sure], every[sure])
    return Reach(np.where(sure[:, None], surely, rows), sure, near)
