r"""Whether the model accepts what is around a row: the last choice between two recourses of a table.

Odds are known where samples are. With many columns a descent may end far from all of them, where a training row that is
accepted would have survived better. So the rows of a table are compared by their *steadiness*, the share of the rows
around them that the criterion accepts,

.. math:: \hat s(x) = \frac1n \sum_{i=1}^n \mathbb 1\bigl[\text{accepted}(x + \tau \xi_i)\bigr],
    \qquad \xi_i \sim \mathcal N(0, I),

with the same noise for both, in the numbers that the person may change.
"""

from __future__ import annotations

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse.methods._odds_problem import Problem
from robust_recourse.sampling.neighbourhood import MOST_GROWTHS

__all__ = ["steadier"]

_NOISE = 0.25  # of a sampling radius
_DRAW = MOST_GROWTHS + 1  # neighbourhoods have used those before


def steadier(problem: Problem, x: FloatArray, radius: float, n: int) -> BoolArray:
    """Return for whom the nearest accepted row is within the budget, and steadier than the row `x`.

    Parameters
    ----------
    problem : Problem
        The people, their budgets and their nearest accepted rows.
    x : ndarray of shape (m, p)
        What they would be told.
    radius : float
        Sampling radius.
    n : int
        How many rows around each are asked about.
    """
    found = np.zeros(len(problem), dtype=bool)
    near, every = problem.near, np.arange(len(problem))
    if near is None:
        return found
    able = (near != x).any(axis=1) & ~problem.safe & (problem.cost(near, every) <= problem.budget)
    people = np.flatnonzero(able)
    if not len(people):
        return found
    task, room = problem.task, problem.task.before or problem.task.room
    noise = np.stack([task.generator(i, _DRAW).normal(0.0, _NOISE * radius, (n, x.shape[1])) for i in people.tolist()])
    noise *= (room.free & ~task.limits.categories)[people, None, :]
    low, high = (side[people, None, :] for side in task.limits.reach(room.x0))
    around = [np.clip(rows[people, None, :] + noise, low, high) for rows in (x, near)]
    owner = np.tile(np.repeat(people, n), 2)
    own, other = task.oracle(np.concatenate(around).reshape(len(owner), -1), owner).reshape(2, len(people), n).sum(-1)
    found[people] = other > own
    return found
