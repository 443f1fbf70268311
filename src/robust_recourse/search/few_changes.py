"""Recourses that change no more columns than allowed."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math.limits import Room
from robust_recourse.result.answer import Answer
from robust_recourse.result.status import Status
from robust_recourse.sampling.polishing import polish
from robust_recourse.search.method import Method
from robust_recourse.search.oracle import OutOfTime
from robust_recourse.search.run import make_task, out_of_time, run
from robust_recourse.search.small_sets import SmallSets
from robust_recourse.search.space import Space
from robust_recourse.search.task import Task

__all__ = ["few_changes"]

_FEW = "The recourse is an accepted point with few enough changes; the method found none that is better."
_TOO_MANY = (
    "What the method found changes {} columns, and no point with at most {} changes was found that the model accepts. "
    "Allow more changes with max_changes, or more columns to change."
)
_INCONSISTENT = "The model refuses a point that it accepted before: its answers do not depend on the row alone."
_SETS = 24  # of columns, searched for a promise
_NUMBERS = 2**22  # in the points that are asked about together
_COARSE, _FINE = 5, 12  # halvings of the way to an accepted point, to tell how much a column does
_CLOSELY = 64  # columns that are looked at closely
_STRONG = 64  # sets of strong columns that are tried
_FOLLOWED = 4  # sets of columns of a person whose points are polished
_ENDS = {False: (3,), True: ()}  # candidates whose values are tried of somebody who has few changes already, or not


def few_changes(
    method: Method,
    space: Space,
    people: IntArray,
    masks: BoolArray,
    found: list[Answer],
    most: int,
    deadline: float | None,
) -> list[Answer]:
    """Replace recourses with more than `most` changes.

    Changes of a recourse are taken back, the dearest first, as long as the model still accepts. Where that does not end
    with few enough, small sets of columns are tried, and then those columns that do most. The columns in which such a
    point differs are few enough, and the method searches again in these. If the method promises more than the model's
    consent, it searches in small sets of columns instead.

    The other parameters are those of :func:`robust_recourse.search.several.several`; `found` has one answer for every
    person.
    """
    found, own = list(found), space.points[people]
    many = np.array([i for i, x0 in enumerate(own) if _count(found[i].x, x0) > most], dtype=np.int64)
    if not len(many):
        return found
    if method.promises:
        return _promised(method, space, people, masks, found, many, most, deadline)
    task = make_task(method, space.take(people[many]), masks[many], deadline)
    try:
        points = _Search(task, method.candidates_, most).run(np.array([found[i].x for i in many]))
        reached = np.flatnonzero(~np.isnan(points).any(axis=1))
        columns = points[reached] != task.x0[reached]
        again = iter(run(method, space, people[many[reached]], columns, deadline, points[reached]))
        valid = np.zeros(len(many), dtype=bool)
        valid[reached] = task.oracle.verify(points[reached], reached)
    except OutOfTime:
        for j, i in enumerate(many):
            found[i] = out_of_time(own[i], found[i].n_queries + int(task.oracle.n_queries[j]))
        return found
    for j, i in enumerate(many):
        if j in reached:
            answer = _better(task, next(again), points[j], bool(valid[j]), j, most)
        else:
            reason = _TOO_MANY.format(_count(found[i].x, own[i]), most)
            answer = Answer.missing(own[i], Status.TOO_MANY_CHANGES, reason)
        # Every search counts the question about the row itself.
        asked = found[i].n_queries + int(task.oracle.n_queries[j]) + answer.n_queries - 1
        found[i] = replace(answer, n_queries=asked)
    return found


def _better(task: Task, answer: Answer, point: FloatArray, valid: bool, i: int, most: int) -> Answer:
    """Return what the method found in the columns of a point, or else the point, which was verified."""
    own = task.x0[i]
    if answer.valid and _count(answer.x, own) <= most:
        return answer
    if not valid:
        return Answer.missing(own, Status.INCONSISTENT_MODEL, _INCONSISTENT, answer.n_queries)
    cost, weights = float(task.limits.cost(point, own)), task.limits.weights
    return Answer.point(own, point, cost, valid, Status.OK, _FEW, answer.n_queries, weights)


def _promised(
    method: Method,
    space: Space,
    people: IntArray,
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
        for columns in _sets_of_columns(space.column_costs(found[i].x[None], people[i : i + 1])[0], masks[i], most)
    ]
    searched, columns = np.array([people[i] for i, _ in searches]), np.array([columns for _, columns in searches])
    tried = run(method, space, searched, columns, deadline)
    for i in many:
        own = [answer for (j, _), answer in zip(searches, tried, strict=True) if j == i]
        # Every search counts the question about the row itself.
        asked = found[i].n_queries + sum(answer.n_queries - 1 for answer in own)
        best = min(own, key=lambda answer: (not answer.valid, answer.cost))
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

    def __init__(self, task: Task, candidates: FloatArray, most: int) -> None:
        self._task, self._candidates, self._most = task, candidates, most

    def run(self, points: FloatArray) -> FloatArray:
        """Return points with few enough changes, NaN where none was found; `points` have too many."""
        accepted = self._task.oracle(points, np.arange(len(points)))
        few = self._taken_back(points, accepted)
        enough = accepted & ((few != self._task.x0).sum(axis=1) <= self._most)
        found, owner = few[enough], np.flatnonzero(enough)
        others, owners = self._small_sets(~enough)
        strong = np.setdiff1d(np.flatnonzero(accepted), np.append(owner, owners))
        more = [self._strong_columns(int(i), points[i]) for i in strong]
        found = np.concatenate([found, others, *(part for part, _ in more)])
        owner = np.concatenate([owner, owners, *(part for _, part in more)])
        found = self._polished(found, owner)
        best = np.full_like(self._task.x0, np.nan)
        order = np.lexsort((np.arange(len(owner)), self._cost(found, owner), owner))
        first = order[np.diff(owner[order], prepend=-1) != 0]
        best[owner[first]] = found[first]
        return best

    def _taken_back(self, points: FloatArray, active: BoolArray) -> FloatArray:
        """Take back one change of every person at a time, the dearest that the model lets us."""
        points, own = points.copy(), self._task.x0
        while active.any():
            changed = (points != own) & active[:, None]
            changed &= (changed.sum(axis=1) > self._most)[:, None]
            owner, column = np.nonzero(changed)
            if not len(owner):
                break
            trials = points[owner]
            trials[np.arange(len(owner)), column] = own[owner, column]
            yes = self._task.oracle(trials, owner)
            saved = self._cost(points[owner], owner) - self._cost(trials, owner)
            order = np.flatnonzero(yes)[np.argsort(saved[yes], kind="stable")]
            points[owner[order]] = trials[order]  # the last of a person is the dearest
            active = np.zeros(len(points), dtype=bool)
            active[owner[order]] = True
        return points

    def _small_sets(self, thoroughly: BoolArray) -> tuple[FloatArray, IntArray]:
        """Return accepted points in which a few columns have other values, the cheapest of several sets of columns."""
        task, room = self._task, self._task.room
        found, owners = [np.zeros((0, room.x0.shape[1]))], [np.zeros(0, dtype=np.int64)]
        size = max(1, _NUMBERS // (4096 * room.x0.shape[1]))
        for people in np.array_split(np.arange(len(task)), -(-len(task) // size)):
            sets = []
            for i in people:
                small = SmallSets(room.x0[i], room.free[i], self._candidates, room.limits, *_ENDS[bool(thoroughly[i])])
                sets.append(np.concatenate(list(small.points(self._most))))
            owner = np.repeat(people, [len(points) for points in sets])
            some, whose = self._cheapest(np.concatenate(sets), owner)
            found.append(some)
            owners.append(whose)
        return np.concatenate(found), np.concatenate(owners)

    def _cheapest(self, points: FloatArray, owner: IntArray) -> tuple[FloatArray, IntArray]:
        """Return the cheapest accepted points of a few sets of columns of each owner, as rows that can be told."""
        points = self._task.snap(points, owner)
        # Rounding may lead back to the row itself.
        moved = (points != self._task.x0[owner]).any(axis=1)
        points, owner = points[moved], owner[moved]
        yes = self._task.oracle(points, owner)
        points, owner = points[yes], owner[yes]
        order = np.lexsort((np.arange(len(owner)), self._cost(points, owner), owner))
        points, owner = points[order], owner[order]
        sets = np.column_stack([owner, points != self._task.x0[owner]])
        first = np.sort(np.unique(sets, axis=0, return_index=True)[1])
        few = np.arange(len(first)) - np.searchsorted(owner[first], owner[first]) < _FOLLOWED
        return points[first[few]], owner[first[few]]

    def _strong_columns(self, i: int, x: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return accepted points in which the columns change that do most.

        What a column does is told by which part of the way to the accepted point `x` is enough if that column is at the
        end of its range, compared with its own value: for a linear model 1 less the ratio of the two is the part of
        what is needed that the column contributes.
        """
        task, own = self._task, self._task.x0[i]
        column, value = SmallSets(own, task.free[i], self._candidates, task.limits).ends()
        coarse = self._enough(i, x, column, value, 1.0, _COARSE)
        close = np.lexsort((np.arange(len(column)), coarse))[:_CLOSELY]
        column, value = column[close], value[close]
        ends = self._enough(i, x, column, value, 1.0, _FINE)
        # Without the column the accepted point itself may not be enough.
        order = np.lexsort((np.arange(len(column)), ends / self._enough(i, x, column, own[column], 2.0, _FINE)))
        _, first = np.unique(column[order], return_index=True)
        strong = order[np.sort(first)]  # the better end of every column, the strongest first
        size = min(self._most, len(strong))
        while comb(len(strong), size) > _STRONG and len(strong) > size:
            strong = strong[:-1]
        chosen = np.array(list(combinations(strong.tolist(), size)))
        points = np.tile(own, (len(chosen), 1))
        points[np.arange(len(chosen))[:, None], column[chosen]] = value[chosen]
        return self._cheapest(points, np.full(len(points), i))

    def _enough(
        self, i: int, x: FloatArray, column: IntArray, value: FloatArray, farthest: float, halvings: int
    ) -> FloatArray:
        """Return the parts of the way to `x` that are enough if a column has a value, for each of some columns."""
        own, each = self._task.x0[i], np.arange(len(column))
        low, high = np.zeros(len(column)), np.full(len(column), farthest)
        for _ in range(halvings):
            part = 0.5 * (low + high)
            moved = x * part[:, None] + own * (1.0 - part[:, None])
            trial = np.where(self._task.limits.categories, own, moved)
            trial[each, column] = value
            yes = self._task.oracle(self._task.room.clipped(trial, np.full(len(column), i)), np.full(len(column), i))
            low, high = np.where(yes, low, part), np.where(yes, part, high)
        return high

    def _polished(self, points: FloatArray, owner: IntArray) -> FloatArray:
        """Make accepted points cheaper in the columns that they change; they are rows that can be told."""
        task, x0 = self._task, self._task.x0[owner]
        room = Room(task.limits, x0, points != x0)
        polished = task.snap(polish(task.oracle.take(owner), room, points), owner)
        better = (self._cost(polished, owner) < self._cost(points, owner)) & (polished != x0).any(axis=1)
        return np.where(better[:, None], polished, points)

    def _cost(self, points: FloatArray, owner: IntArray) -> FloatArray:
        return self._task.limits.cost(points, self._task.x0[owner])
