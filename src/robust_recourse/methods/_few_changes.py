"""Recourses that change no more columns than allowed."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.methods._collect import column_costs
from robust_recourse.methods._small_sets import SmallSets
from robust_recourse.methods._space import OutOfTime, Question, Space
from robust_recourse.methods._tasks import out_of_time, run
from robust_recourse.result import Answer, Status
from robust_recourse.sampling.oracle import Oracle
from robust_recourse.sampling.segments import mixed_cost

__all__ = ["few_changes"]

_FEW = "The recourse is an accepted point with few enough changes; the method found none that is better."
_TOO_MANY = (
    "What the method found changes {} columns, and no point with at most {} changes was found that the model accepts. "
    "Allow more changes with max_changes, or more columns to change."
)
_SETS = 24  # of columns, searched for a promise
_INCONSISTENT = "The model refuses a point that it accepted before: its answers do not depend on the row alone."


def few_changes(
    method: Any,
    space: Space,
    rows: IntArray,
    masks: BoolArray,
    found: list[Answer],
    most: int,
    deadline: float | None,
) -> list[Answer]:
    """Replace recourses with more than `most` changes.

    Changes of a recourse are taken back, the dearest first, as long as the model still accepts. Where that does not end
    with few enough, small sets of columns are tried. The columns in which such a point differs are few enough, and the
    method searches again in these. If the method promises more than the model's consent, it searches in small sets of
    columns instead.

    The other parameters are those of :func:`robust_recourse.methods._plans.plan`; `found` has one recourse for every
    row.
    """
    found = list(found)
    own = space.points[space.place(rows)]
    many = np.array([i for i, x0 in enumerate(own) if _count(found[i].x, x0) > most], dtype=np.int64)
    if not len(many):
        return found
    if method._promises:
        return _promised(method, space, rows, masks, found, many, most, deadline)
    search = _Search(method, space, rows[many], masks[many], most, deadline)
    try:
        points = search.run(np.array([found[i].x for i in many]))
    except OutOfTime:
        for j, i in enumerate(many):
            found[i] = out_of_time(own[i], found[i].n_queries + search.asked(j))
        return found
    reached: BoolArray = np.asarray(~np.isnan(points).any(axis=1))
    columns: BoolArray = np.not_equal(points, own[many])
    again = iter(run(method, space, rows[many[reached]], columns[reached], deadline))
    for j, i in enumerate(many):
        if reached[j]:
            recourse = search.better(next(again), points[j], j)
        else:
            reason = _TOO_MANY.format(_count(found[i].x, own[i]), most)
            recourse = Answer.missing(own[i], Status.TOO_MANY_CHANGES, reason)
        # Every search counts the question about the row itself.
        asked = found[i].n_queries + search.asked(j) + recourse.n_queries - 1
        found[i] = replace(recourse, n_queries=asked)
    return found


def _promised(
    method: Any,
    space: Space,
    rows: IntArray,
    masks: BoolArray,
    found: list[Answer],
    many: IntArray,
    most: int,
    deadline: float | None,
) -> list[Answer]:
    """Search in small sets of columns, those that cost most first: a point that is merely accepted keeps no promise."""
    searches = [
        (i, columns)
        for i in many
        for columns in _sets_of_columns(column_costs(space, found[i].x[None], rows[i : i + 1])[0], masks[i], most)
    ]
    tried = run(
        method,
        space,
        np.array([rows[i] for i, _ in searches]),
        np.array([columns for _, columns in searches]),
        deadline,
    )
    for i in many:
        own = [recourse for (j, _), recourse in zip(searches, tried, strict=True) if j == i]
        # Every search counts the question about the row itself.
        asked = found[i].n_queries + sum(recourse.n_queries - 1 for recourse in own)
        best = min(own, key=lambda recourse: (not recourse.valid, recourse.cost))
        found[i] = replace(best, n_queries=asked)
    return found


def _sets_of_columns(cost: FloatArray, mask: BoolArray, most: int) -> list[BoolArray]:
    """Return sets of columns that may change, each of the size that is allowed."""
    free = np.flatnonzero(mask)
    ranked = free[np.argsort(-cost[free], kind="stable")]
    n = min(most, len(ranked))
    while comb(len(ranked), n) > _SETS and len(ranked) > n:
        ranked = ranked[:-1]
    return [np.isin(np.arange(len(mask)), chosen) for chosen in combinations(ranked.tolist(), n)]


def _count(x: FloatArray, x0: FloatArray) -> int:
    return int(((x != x0) & ~np.isnan(x)).sum())


class _Search:
    """The search for accepted points with few changes."""

    def __init__(
        self, method: Any, space: Space, rows: IntArray, masks: BoolArray, most: int, deadline: float | None
    ) -> None:
        self._space, self._rows, self._masks, self._most = space, rows, masks, most
        self._candidates, self._limits = method.candidates_, method.limits_
        self._own = space.points[space.place(rows)]
        self._oracle = Oracle(Question(method._predictor(space), space, deadline), self._own, rows)

    def asked(self, i: int) -> int:
        """How many questions about a row were asked here."""
        return int(self._oracle.n_queries[i])

    def run(self, points: FloatArray) -> FloatArray:
        """Return points with few enough changes, NaN where none was found; `points` have too many."""
        accepted = self._oracle(points.copy(), np.arange(len(points)))
        few = self._taken_back(points, accepted)
        for i in np.flatnonzero([_count(x, x0) > self._most for x, x0 in zip(few, self._own, strict=True)]):
            few[i] = self._small_sets(int(i))
        return few

    def _taken_back(self, points: FloatArray, active: BoolArray) -> FloatArray:
        """Take back one change of every row at a time, the dearest that the model lets us."""
        points = points.copy()
        while active.any():
            changed = (points != self._own) & active[:, None]
            changed &= (changed.sum(axis=1) > self._most)[:, None]
            owner, column = np.nonzero(changed)
            if not len(owner):
                break
            trials = points[owner]
            trials[np.arange(len(owner)), column] = self._own[owner, column]
            yes = self._oracle(trials.copy(), owner)
            saved = self._cost(points[owner], owner) - self._cost(trials, owner)
            order = np.flatnonzero(yes)[np.argsort(saved[yes], kind="stable")]
            points[owner[order]] = trials[order]  # the last of a row is the dearest
            active = np.zeros(len(points), dtype=bool)
            active[owner[order]] = True
        return points

    def _small_sets(self, i: int) -> FloatArray:
        """Return the cheapest accepted point of a row in which a few columns have other values."""
        sets = SmallSets(self._own[i], self._masks[i], self._candidates, self._limits)
        best: FloatArray = np.full_like(self._own[i], np.nan)
        least = np.inf
        for points in sets.points(self._most):
            snapped = self._space.snap(points, np.full(len(points), self._rows[i]))
            # Rounding may lead back to the row itself.
            snapped = snapped[(snapped != self._own[i]).any(axis=1)]
            owner = np.full(len(snapped), i)
            accepted = self._oracle(snapped.copy(), owner)
            cost = np.where(accepted, self._cost(snapped, owner), np.inf)
            if len(cost) and cost.min() < least:
                best, least = snapped[cost.argmin()], cost.min()
        return best

    def better(self, recourse: Answer, point: FloatArray, i: int) -> Answer:
        """Return what the method found in the columns of a point, or else the point, after asking once more."""
        own = self._own[i]
        if recourse.valid and _count(recourse.x, own) <= self._most:
            return recourse
        try:
            valid = bool(self._oracle(point[None].copy(), np.array([i]))[0])
        except OutOfTime:
            valid = True  # it was accepted when it was found
        if not valid:
            return Answer.missing(own, Status.INCONSISTENT_MODEL, _INCONSISTENT, recourse.n_queries)
        cost = float(self._cost(point[None], np.array([i]))[0])
        return Answer.point(own, point, cost, valid, Status.OK, _FEW, recourse.n_queries, self._limits.weights)

    def _cost(self, points: FloatArray, owner: IntArray) -> FloatArray:
        return mixed_cost(points, self._own[owner], self._limits)
