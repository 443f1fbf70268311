r"""Which of two recourses of a table is steadier: the last choice.

Odds are known where samples are. With many columns a descent may end far from all of them, where the row up to which
the budget reaches would have survived better. So the end is compared with that row: by how *sure* the model is of each,
the score behind its answer. Where it says the same of both, as a model of labels always does, and where the search asks
for more than the model's consent, by the share of the rows around each that the criterion accepts,

.. math:: \hat s(x) = \frac1n \sum_{i=1}^n \mathbb 1\bigl[\text{accepted}(x + \tau \xi_i)\bigr],
    \qquad \xi_i \sim \mathcal N(0, I),

with the same noise for both, in the numbers that the person may change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.methods._odds_problem import Problem
from robust_recourse.sampling.neighbourhood import MOST_GROWTHS

__all__ = ["Steadiness"]

_NOISE = 0.25  # of a sampling radius
_DRAW = MOST_GROWTHS + 1  # neighbourhoods have used those before
_SAME = 1e-6  # of a score: its last bits depend on what else is in a batch


@dataclass(frozen=True, eq=False)
class Steadiness:
    """How two rows are compared.

    Attributes
    ----------
    radius : float
        Sampling radius.
    n : int
        How many rows around each are asked about.
    """

    radius: float
    n: int

    def prefers_reach(self, problem: Problem, x: FloatArray) -> BoolArray:
        """Return for whom the row up to which the budget reaches is within it, and steadier than the row `x`.

        Parameters
        ----------
        problem : Problem
            The people, their budgets and how far these reach.
        x : ndarray of shape (m, p)
            What they would be told.
        """
        found = np.zeros(len(problem), dtype=bool)
        every = np.arange(len(problem))
        if problem.reach is None:
            return found
        near = problem.reach.rows
        able = (near != x).any(axis=1) & ~problem.safe & (problem.cost(near, every) <= problem.budget)
        people = np.flatnonzero(able)
        if len(people) and not problem.task.oracle.asks_for_more:
            scores = problem.task.oracle.scores(np.concatenate([x[people], near[people]]), np.tile(people, 2))
            assert scores is not None
            own, other = scores.reshape(2, len(people))
            differs = np.abs(other - own) > _SAME * (1.0 + np.abs(own))
            found[people] = differs & (other > own)
            people = people[~differs]
        if len(people):
            own, other = self._shares(problem, [x, near], people)
            found[people] = other > own
        return found

    def _shares(self, problem: Problem, both: list[FloatArray], people: IntArray) -> IntArray:
        task, room, n = problem.task, problem.task.before or problem.task.room, self.n
        noise = np.stack(
            [task.generator(i, _DRAW).normal(0.0, _NOISE * self.radius, (n, both[0].shape[1])) for i in people.tolist()]
        )
        noise *= (room.free & ~task.limits.categories)[people, None, :]
        low, high = (side[people, None, :] for side in task.limits.reach(room.x0))
        around = [np.clip(rows[people, None, :] + noise, low, high) for rows in both]
        owner = np.tile(np.repeat(people, n), 2)
        accepted = task.oracle(np.concatenate(around).reshape(len(owner), -1), owner)
        counts: IntArray = accepted.reshape(2, len(people), n).sum(-1)
        return counts
