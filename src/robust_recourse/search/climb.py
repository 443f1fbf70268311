"""Rows with as much probability as can be had, column by column, where searches get no further."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.models.predictor import Probabilities
from robust_recourse.result.answer import Answer
from robust_recourse.result.status import Status
from robust_recourse.sampling.ranking import best_of_each
from robust_recourse.search.deadline import Deadline
from robust_recourse.search.method import Method
from robust_recourse.search.run import decides, make_task
from robust_recourse.search.space import Space
from robust_recourse.search.verify import Outcome, verify_points

__all__ = ["Climb"]

_VALUES = 17  # of a number that are tried: from the smallest to the largest of the accepted training rows
_BACK = (0.0, 0.5, 0.75, 0.9)  # of a change that are tried instead of it
_ROUNDS = 40  # of changes of one column, at most
_PEOPLE = 64  # whose rows are asked about together
_GRAIN = 1e-9  # of probabilities: their last bits depend on what else is in a batch
_FOUND = "The search towards accepted rows ended short of this row. Raising the probability column by column found it."


class Climb:
    """Climbs from rows of people to rows that the present model accepts with more probability.

    Parameters
    ----------
    method, space, people, masks, deadline
        As for :func:`robust_recourse.search.run.run`.
    """

    def __init__(
        self, method: Method, space: Space, people: IntArray, masks: BoolArray, deadline: Deadline | None
    ) -> None:
        lenient = method.asking(None, None)
        self._task = make_task(lenient, space.take(people), masks, deadline)
        self._question = Probabilities(method.model, **decides(method))
        ends = np.linspace(0.0, 1.0, _VALUES)
        self._values = np.quantile(lenient.candidates_, ends, axis=0, method="nearest")

    @property
    def n_queries(self) -> IntArray:
        """How many questions were asked about each person."""
        return self._task.oracle.n_queries

    def up(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Change one column at a time, as long as that raises the probability; return the rows and what they have."""

        def better(offers: _Offers) -> FloatArray:
            return np.where(offers.gain > 0.5 * _GRAIN, offers.gain, 0.0)

        rows, every = points.copy(), np.arange(len(points))
        has = self._asked(rows, every)
        self._walk(rows, has, every, self._values_of, better)
        return rows, has

    def back(self, points: FloatArray, has: FloatArray, people: IntArray, least: FloatArray) -> FloatArray:
        """Take changes of some people back, wholly or in part, as long as they have at least so much probability."""

        def better(offers: _Offers) -> FloatArray:
            return np.where((offers.has >= least[offers.owner]) & (offers.saved > _GRAIN), offers.saved, 0.0)

        rows = points.copy()
        self._walk(rows, has.copy(), people, self._less_of, better)
        return rows

    def answers(self, points: FloatArray, people: IntArray) -> list[Answer]:
        """Describe the rows of some people, after asking the present model once more."""
        known = np.zeros(len(self._task), dtype=bool)
        known[people] = True
        told = verify_points(self._task, points, known, [Outcome(Status.OK, _FOUND)] * len(self._task))
        return [told[i] for i in people]

    def _walk(
        self,
        rows: FloatArray,
        has: FloatArray,
        people: IntArray,
        offers_of: Callable[[FloatArray, IntArray], tuple[FloatArray, IntArray]],
        better: Callable[[_Offers], FloatArray],
    ) -> None:
        """Take the best of what is offered to each, as long as something is better."""
        room = self._task.room
        for first in range(0, len(people), _PEOPLE):
            going = people[first : first + _PEOPLE]
            for _ in range(_ROUNDS):
                points, owner = offers_of(rows, going)
                asked = self._asked(points, owner)
                saved = room.cost(rows[owner], owner) - room.cost(points, owner)
                worth = better(_Offers(owner, asked, asked - has[owner], saved))
                some = np.flatnonzero(worth > 0.0)
                best = some[best_of_each(owner[some], -worth[some])]
                going = owner[best]
                if not len(going):
                    break
                rows[going], has[going] = points[best], asked[best]

    def _asked(self, points: FloatArray, owner: IntArray) -> FloatArray:
        """Return the probabilities of rows, -1 of those that break a rule or have too many changes."""
        task, most = self._task, self._task.space.moves.max_changes
        able = task.oracle.keeps_rules(points, owner)
        if most is not None:
            able &= ((points != task.x0[owner]) & task.free[owner]).sum(axis=1) <= most
        has, some = np.full(len(owner), -1.0), np.flatnonzero(able)
        if len(some):
            said = task.oracle.put(self._question, points[some], owner[some])
            has[some] = np.round(said / _GRAIN) * _GRAIN
        return has

    def _values_of(self, rows: FloatArray, people: IntArray) -> tuple[FloatArray, IntArray]:
        """Return rows in which one column has another value, for all columns and values, and whose they are."""
        task, offered = self._task, []
        for k in np.flatnonzero(task.free[people].any(axis=0)).tolist():
            targets = task.limits.targets[k]
            values = np.unique(self._values[:, k]) if targets is None else np.flatnonzero(targets).astype(float)
            for value in values:
                able = task.free[people, k] if targets is None else task.room.may_switch(k, people, value)
                offered.append(_with(rows, people[able], k, value))
        return self._told(rows, offered)

    def _less_of(self, rows: FloatArray, people: IntArray) -> tuple[FloatArray, IntArray]:
        """Return rows in which one column has changed less, or not at all, and whose they are."""
        task, offered = self._task, []
        changed = (rows != task.x0) & task.free
        for k in np.flatnonzero(changed[people].any(axis=0)).tolist():
            some = people[changed[people, k]]
            for share in _BACK[:1] if task.limits.categories[k] else _BACK:
                own = task.x0[some, k]
                offered.append(_with(rows, some, k, own + share * (rows[some, k] - own)))
        return self._told(rows, offered)

    def _told(self, rows: FloatArray, offered: list[tuple[FloatArray, IntArray]]) -> tuple[FloatArray, IntArray]:
        """Move offered points to the rows that they stand for, and leave out the rows as they are."""
        owner = np.concatenate([np.zeros(0, dtype=np.int64), *(people for _, people in offered)])
        points = np.concatenate([rows[:0], *(some for some, _ in offered)])
        points = self._task.snap(self._task.room.clipped(points, owner), owner)
        new = (points != rows[owner]).any(axis=1)
        return points[new], owner[new]


class _Offers(NamedTuple):
    """Rows that are offered to people instead of those that they have."""

    owner: IntArray  # (n,)
    has: FloatArray  # (n,): their probabilities
    gain: FloatArray  # (n,): in probability
    saved: FloatArray  # (n,): of the cost


def _with(rows: FloatArray, people: IntArray, k: int, value: FloatArray | float) -> tuple[FloatArray, IntArray]:
    points = rows[people]
    points[:, k] = value
    return points, people
