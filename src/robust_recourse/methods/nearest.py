r"""The cheapest accepted training row: the plain yardstick.

.. math:: \min_{z \in Z} \sum_k w_k |P(z)_k - x_{0k}| \quad\text{s.t.}\quad P(z) \text{ is accepted},

with :math:`Z` the accepted training rows and :math:`P` the move into the action set of the instance: columns that
may not change keep its values, the others are clipped to its bounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robust_recourse.actions import ActionSet
from robust_recourse.futures import Jury
from robust_recourse.methods.base import RecourseMethod
from robust_recourse.result import Answer, Status
from robust_recourse.sampling.nearest import nearest_accepted
from robust_recourse.search import Outcome, Task, verify_points
from robust_recourse.search.run import no_candidate

__all__ = ["NearestAccepted"]

_PAIRS = 2**16  # candidates of all instances that are held together


class NearestAccepted(RecourseMethod):
    """The cheapest accepted training row that the action set lets the instance reach.

    Without an action set it is a training row, and always a plausible one; the boundary is closer. A number that a
    training row lacks is the median of its column.

    Parameters
    ----------
    model, actions, favourable, threshold, margin, jury, n_jobs
        As for :class:`robust_recourse.RobustBayesianRecourse`.
    random_state : int, Generator, RandomState or None
        Not used; nothing is random here.

    Attributes
    ----------
    candidates_ : ndarray
        The accepted training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from robust_recourse import ActionSet
    >>> X = np.array([[0.0, 0.0], [3.0, 1.0], [1.0, 4.0]])
    >>> method = NearestAccepted(lambda X: X.sum(axis=1) > 2).fit(X)
    >>> method.explain([[0.5, 0.5]]).x
    array([[3., 1.]])
    >>> method.set_params(actions=ActionSet(immutable=[0])).fit(X).explain([[0.5, 0.5]]).x
    array([[0.5, 4. ]])
    """

    switches = True

    def __init__(
        self,
        model: Any,
        actions: ActionSet | None = None,
        favourable: Any = None,
        threshold: float | None = None,
        margin: float | None = None,
        jury: Jury | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.model = model
        self.actions = actions
        self.favourable = favourable
        self.threshold = threshold
        self.margin = margin
        self.jury = jury
        self.random_state = random_state
        self.n_jobs = n_jobs

    def people_at_once(self, width: int) -> int:
        """How many people fit in memory together, with so many columns."""
        return _PAIRS // width

    def solve(self, task: Task) -> list[Answer]:
        """Find the cheapest candidate of every person."""
        points, found = nearest_accepted(task.oracle, task.room, self.candidates_)
        reached = Outcome(Status.OK, "The recourse is the cheapest accepted training row within the action set.")
        missing = Outcome(Status.NO_CANDIDATE, no_candidate(self))
        return verify_points(task, points, found, [reached if yes else missing for yes in found])
