"""Recourses that somebody else chose: checked, asked about and priced as if they had been found."""

from __future__ import annotations

import numpy as np

from robust_recourse.result import Recourses
from robust_recourse.result.answer import Answer
from robust_recourse.result.status import Status
from robust_recourse.search.collect import collect
from robust_recourse.search.doing import done_to_become, movable
from robust_recourse.search.jury import judged
from robust_recourse.search.method import Method
from robust_recourse.search.run import make_task
from robust_recourse.search.space import Space
from robust_recourse.tables import Table

__all__ = ["state"]

_CHOSEN = "This row was chosen and not searched for; the present model accepts it."
_REFUSED = "The present model refuses this row."
_WITHOUT_CONSENT = (
    "The present model accepts this row, but not with the margin or the share of the jury that is asked for."
)
_OUT = "What a person can do does not lead to this row: it is out of bounds, off the grid, or not what follows."


def state(method: Method, before: Table, after: Table) -> Recourses:
    """Say of rows that people chose themselves what :func:`explain` says of those that it finds.

    Nothing is moved: a row that cannot be told to a person, or that no action leads to, has the status "impossible"
    and no point. The model is asked about exactly these rows, and so is the jury.

    Parameters
    ----------
    method : Method
        The method; of the action set only what a search obeys is checked, see also
        :meth:`robust_recourse.ActionSet.check`.
    before, after : Table
        The people as they are, and as they would be, row by row.
    """
    limits, space, people = method.moves_.limits(), Space.of(before, method.moves_), np.arange(len(before))
    points, reached = done_to_become(space, after)
    task = make_task(method, space, movable(limits, space))
    valid, consented = np.zeros((2, len(people)), dtype=bool)
    some = np.flatnonzero(reached)
    if len(some):
        valid[some] = task.oracle.verify(points[some], some)
        consented[some] = task.oracle.consents(points[some], some, valid[some])
    cost, answers = limits.cost(points, space.points), []
    for i in people:
        if not reached[i]:
            answers.append(Answer.missing(space.points[i], Status.IMPOSSIBLE, _OUT, 0))
            continue
        outcome = (Status.OK, _CHOSEN) if consented[i] else (Status.QUORUM_OUT_OF_REACH, _WITHOUT_CONSENT)
        status, reason = outcome if valid[i] else (Status.REFUSED, _REFUSED)
        asked = int(task.oracle.n_queries[i])
        x0, weights = space.points[i], limits.weights
        answers.append(Answer.point(x0, points[i], float(cost[i]), bool(valid[i]), status, reason, asked, weights))
    return collect(method, space, judged(method, space, [[answer] for answer in answers]))
