"""What people were told before, and are told again where nothing better is found.

A search may miss the cheapest row, and may miss it where more is allowed although it found it where less was. Whoever
explains people again, with an action set that allows more, passes on what they were told: then nobody pays more for
being allowed more, whatever the search misses.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.result import Recourses
from robust_recourse.result.answer import Answer
from robust_recourse.result.status import Status
from robust_recourse.sampling.ranking import best_of_each
from robust_recourse.search.doing import done_to_become, movable
from robust_recourse.search.method import Method
from robust_recourse.search.run import make_task
from robust_recourse.search.space import Space
from robust_recourse.search.task import Task
from robust_recourse.tables import Table, to_pandas
from robust_recourse.tables.values import same_value, stack, take

__all__ = ["Earlier", "keep_earlier", "read_earlier"]

_ONLY = "This is what the person was told before: it is still allowed and accepted, and nothing as good was found now."
_AGAIN = (
    "This is what the person was told before: it is still allowed, costs less than what was found now, and the model "
    "is no less sure of it."
)
_OUT_OF_REACH = frozenset({Status.QUORUM_OUT_OF_REACH, Status.MARGIN_OUT_OF_REACH})  # valid, but less than is asked for
_OF_THE_ROW = frozenset({Status.SURE, Status.NEAREST, Status.AT_THE_EDGE})  # statuses that say something about a row
_SAME = 1e-6  # of a score: its last bits depend on what else is in a batch


class Earlier(NamedTuple):
    """Rows that people were told of before: recourses, then boundary points."""

    rows: Table
    person: IntArray  # (n,)
    status: list[Status | None]  # None for boundary points
    log_odds: FloatArray  # (n,)


def read_earlier(method: Method, table: Table, earlier: Recourses) -> Earlier:
    """Read what the people of a table were told before.

    Raises
    ------
    TypeError, ValueError
        If these are no recourses, or those of other people.
    """
    if not isinstance(earlier, Recourses):
        raise TypeError(f"earlier must be Recourses, as explain returns them, got {type(earlier).__name__}.")
    people, first = np.unique(earlier.person, return_index=True)
    if len(people) != len(table):
        raise ValueError(f"earlier must be of the {len(table)} rows of X, in their order; it is of {len(people)}.")
    own = method.schema_.read(take(earlier.x0, first), "earlier.x0", fewest=0)
    differs = np.flatnonzero(~_same_people(own, table))
    if len(differs):
        raise ValueError(
            f"earlier must be of the rows of X, in their order, but row {differs[0]} of X is another one there: what "
            "was told to somebody else is no recourse."
        )
    told = np.flatnonzero(earlier.valid & (earlier.status != Status.ALREADY_FAVOURABLE))
    bounds = np.flatnonzero(~pd.DataFrame(to_pandas(earlier.boundary)).isna().all(axis=1).to_numpy())
    rows = stack([take(earlier.x, told), take(earlier.boundary, bounds)])
    every = np.append(told, bounds)
    return Earlier(
        method.schema_.read(rows, "earlier.x", fewest=0),
        np.searchsorted(people, earlier.person[every]),
        [*earlier.status[told], *([None] * len(bounds))],
        earlier.log_worst_case_odds[every],
    )


def keep_earlier(method: Method, space: Space, earlier: Earlier, found: list[list[Answer]]) -> list[list[Answer]]:
    """Tell people again what they were told, where that is accepted and cheaper, and the model no less sure of it.

    The first answer of a person is replaced, and the boundary point of every one. Where the model is as sure of both
    rows, as one of labels always is, the one that was told may not have worse odds than it has now. Recourses that keep
    a promise of odds, or of survival, are left alone. Who has nothing, or less than the criterion asks for, gets what
    was told whatever it costs.

    Parameters
    ----------
    method : Method
        The method.
    space : Space
        The people.
    earlier : Earlier
        What they were told.
    found : list of list of Answer
        What was found now, of every person.
    """
    needy = np.array([answers[0].status is not Status.ALREADY_FAVOURABLE for answers in found], dtype=bool)
    some = np.flatnonzero(needy[earlier.person])
    before = space.take(earlier.person[some])
    points, able = done_to_become(before, earlier.rows.take(some))
    able &= (points != before.points).any(axis=1)
    some, points, before = some[able], points[able], before.take(np.flatnonzero(able))
    if not len(some):
        return found
    person, task = earlier.person[some], make_task(method, before, movable(method.limits_, before))
    accepted = task.oracle.verify(points, np.arange(len(some)))
    accepted &= task.oracle.consents(points, np.arange(len(some)), accepted)
    cost = task.room.cost(points, np.arange(len(some)))
    yes = np.flatnonzero(accepted)
    cheapest = {person[i]: (points[i], cost[i]) for i in yes[best_of_each(person[yes], cost[yes])]}
    found = [
        [_bounded(task, answer, cheapest.get(i)) if answer.valid else answer for answer in answers]
        for i, answers in enumerate(found)
    ]
    promised = method.promises or (method.jury is not None and method.jury.survival is not None)
    told = yes[np.array([earlier.status[k] is not None and not promised for k in some[yes]], dtype=bool)]
    told = told[_better(task, told, points, cost, earlier.log_odds[some], [found[p][0] for p in person[told]])]
    for i in told[best_of_each(person[told], cost[told])]:
        first, *others = found[person[i]]
        known, odds = first.valid and first.status not in _OUT_OF_REACH, float(earlier.log_odds[some[i]])
        status = earlier.status[some[i]] if earlier.status[some[i]] in _OF_THE_ROW else Status.OK
        assert status is not None
        if status is Status.OK and odds > 0.0:
            status = Status.AT_THE_EDGE
        again = Answer.point(
            first.x0,
            points[i],
            float(cost[i]),
            True,
            status,
            _AGAIN if known else _ONLY,
            first.n_queries,
            task.limits.weights,
        )
        # A method that knows of no odds has none of those of another one.
        odds = np.nan if known and np.isnan(first.log_worst_case_odds) else odds
        again = replace(again, boundary=first.boundary, budget=first.budget, log_worst_case_odds=odds)
        changed = points[i] != first.x0
        # What changes all of that, and more, is no other recourse.
        others = [other for other in others if (changed & (other.x == first.x0)).any()]
        found[person[i]] = [_bounded(task, again, cheapest[person[i]]), *others]
    asked = np.bincount(person, task.oracle.n_queries, minlength=len(space)).astype(np.int64)
    counted = zip(found, asked.tolist(), strict=True)
    return [[replace(first, n_queries=first.n_queries + n), *others] for (first, *others), n in counted]


def _better(
    task: Task, told: IntArray, points: FloatArray, cost: FloatArray, log_odds: FloatArray, now: list[Answer]
) -> BoolArray:
    """Return which points are better than what was found now: cheaper, and the model no less sure of them."""
    better = np.array([not answer.valid or answer.status in _OUT_OF_REACH for answer in now], dtype=bool)
    least = np.array([answer.cost for answer in now])
    rivals = np.flatnonzero(~better & (cost[told] < least))
    if not len(rivals):
        return better
    some = told[rivals]
    both = np.concatenate([points[some], np.array([now[i].x for i in rivals])])
    scores = task.oracle.scores(both, np.tile(some, 2))
    odds = np.array([now[i].log_worst_case_odds for i in rivals])
    # Without odds there is nothing to compare.
    even = np.isnan(odds) | (log_odds[some] <= odds)
    if scores is not None:
        own, other = scores.reshape(2, len(some))
        same = np.abs(own - other) <= _SAME * (1.0 + np.abs(other))
        even = np.where(same, even, own > other)
    better[rivals] = even
    return better


def _bounded(task: Task, answer: Answer, cheapest: tuple[FloatArray, float] | None) -> Answer:
    """Replace a boundary point that costs more than an accepted point does, or is not there."""
    if cheapest is None or task.limits.cost(answer.boundary, answer.x0) <= cheapest[1]:
        return answer
    return replace(answer, boundary=cheapest[0])


def _same_people(one: Table, other: Table) -> BoolArray:
    """Return which rows of two tables are the same, in all columns, and have the same label."""
    same: BoolArray = (one.missing == other.missing).all(axis=1) & (one.values == other.values).all(axis=1)
    if one.given is not None and other.given is not None:
        labels = zip(one.given.index.tolist(), other.given.index.tolist(), strict=True)
        same &= np.array([same_value(*pair) or _equal(*pair) for pair in labels], dtype=bool)
    if one.asked is None or other.asked is None:
        return same
    for k in range(len(one.columns)):
        cells, others = (asked.iloc[:, k].astype(object).to_numpy() for asked in (one.asked, other.asked))
        there = np.flatnonzero(same & ~one.missing[:, k])
        same[there] = [_equal(*pair) for pair in zip(cells[there], others[there], strict=True)]
    return same


def _equal(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except (TypeError, ValueError):  # some things that are missing are neither
        return False
