"""Recourses that change no more columns than allowed."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.result.answer import Answer
from robust_recourse.result.status import Status
from robust_recourse.sampling.asking import Ask, Dearer, OutOfTime
from robust_recourse.sampling.exchanging import exchange
from robust_recourse.sampling.few import cheapest_few, cheapest_of_each
from robust_recourse.sampling.options import Ladder, ladder_of, options_of
from robust_recourse.search.deadline import Deadline
from robust_recourse.search.exact import Exact
from robust_recourse.search.known import known_points
from robust_recourse.search.method import Method
from robust_recourse.search.run import HURRIED, make_task, out_of_time, run
from robust_recourse.search.space import Space
from robust_recourse.search.task import Task
from robust_recourse.search.verify import Outcome

__all__ = ["few_changes"]

_FEW = "The recourse is an accepted point with few enough changes; the method found none that is better."
_TOO_MANY = (
    "None was found in {} tries with at most {} changes, which does not prove that there is none; a recourse with {} "
    "changes was found. Allow more changes with max_changes, or more columns to change."
)
_PROVEN_TOO_MANY = (
    "The model adds up what the columns contribute, and no {} of the changes that the action set allows make up for "
    "what this row lacks; a recourse with {} changes was found. Allow more changes with max_changes, or wider bounds."
)
_INCONSISTENT = "The model refuses a point that it accepted before: its answers do not depend on the row alone."
_SETS = 24  # of columns, searched for a promise
_COARSE, _FINE = 5, 12  # halvings of the way to an accepted point, to tell how much a column does
_CLOSELY = 64  # columns that are looked at closely
_STRONG = 64  # sets of strong columns that are tried


def few_changes(
    method: Method,
    space: Space,
    people: IntArray,
    masks: BoolArray,
    found: list[Answer],
    most: int,
    deadline: Deadline | None,
) -> list[Answer]:
    """Replace recourses with more than `most` changes.

    Where the boundary point has few enough, that is the one. Else single columns, sets of two and of three are tried,
    and then those columns that do most; see :class:`_Search`. The method then starts from that point, in its columns
    and in those that its first recourse changed most, as long as these are few enough. If the method promises more than
    the model's consent, it searches in small sets of columns instead.

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
    wide = np.array([found[i].x for i in many])
    points, proven, late = _fewest(method, task, wide, np.array([found[i].boundary for i in many]), most)
    reached = np.flatnonzero(~np.isnan(points).any(axis=1))
    columns = _filled_up(task, points, wide, most)[reached]
    again = iter(run(method, space, people[many[reached]], columns, deadline, points[reached]))
    valid = np.zeros(len(many), dtype=bool)
    valid[reached] = task.oracle.verify(points[reached], reached)
    for j, i in enumerate(many):
        if j in reached:
            answer = _better(task, next(again), points[j], bool(valid[j]), j, most)
        elif late[j]:
            answer = out_of_time(own[i])
        else:
            counts = most, _count(found[i].x, own[i])
            asked = int(task.oracle.n_queries[j])
            reason = _PROVEN_TOO_MANY.format(*counts) if proven[j] else _TOO_MANY.format(asked, *counts)
            answer = Answer.missing(own[i], Status.TOO_MANY_CHANGES, reason)
        # Every search counts the question about the row itself.
        asked = found[i].n_queries + int(task.oracle.n_queries[j]) + answer.n_queries - 1
        found[i] = replace(answer, n_queries=asked)
    return found


def _fewest(
    method: Method, task: Task, wide: FloatArray, boundary: FloatArray, most: int
) -> tuple[FloatArray, BoolArray, BoolArray]:
    """Return accepted points with few enough changes, NaN where none was found; those of `wide` have too many.

    The second array tells for whom it is proven that there is none, the third for whom the time was over. What is found
    costs at least as much as the boundary point, which is the cheapest that was found in all columns: so nobody pays
    more for being allowed more. Only who has nothing else is told of something cheaper.
    """
    points = task.snap(np.where(np.isnan(boundary), task.x0, boundary), np.arange(len(task)))
    changed = (points != task.x0).sum(axis=1)
    few, nobody = (changed > 0) & (changed <= most), np.zeros(len(task), dtype=bool)
    try:
        points[~_asked(task, points, few)] = np.nan
        exact = known_points(method, task, most) or Exact.nothing(task.x0)
    except OutOfTime:
        points[~few] = np.nan  # boundary points are accepted
        return points, nobody, np.asarray(np.isnan(points).any(axis=1))
    least = np.nan_to_num(task.limits.cost(boundary, task.x0), nan=0.0)
    points, late = np.where(np.isnan(points), exact.x, points), nobody
    ladder = ladder_of(method.candidates_)
    for tried, floor in ((least > 0.0, least), (least >= 0.0, np.zeros_like(least))):
        left = np.flatnonzero(np.isnan(points).any(axis=1) & tried & ~exact.impossible)
        if len(left):
            some = task.take(left)
            search = _Search(some, Dearer(some.oracle, some.room, floor[left]), ladder)
            points[left] = search.run(wide[left], most)
            if not search.in_time:
                late = np.isnan(points).any(axis=1) & ~exact.impossible
                break
    return points, exact.impossible, late


def _asked(task: Task, points: FloatArray, which: BoolArray) -> BoolArray:
    """Return which of some points are accepted; the others are not asked about."""
    accepted, asked = np.zeros(len(points), dtype=bool), np.flatnonzero(which)
    accepted[asked] = task.oracle(points[asked], asked)
    return accepted


def _better(task: Task, answer: Answer, point: FloatArray, valid: bool, i: int, most: int) -> Answer:
    """Return what the method found in the columns of a point, or else the point, which was verified."""
    own = task.x0[i]
    if answer.valid and _count(answer.x, own) <= most:
        return answer
    if not valid:
        return Answer.missing(own, Status.INCONSISTENT_MODEL, _INCONSISTENT, answer.n_queries)
    cost, weights = float(task.limits.cost(point, own)), task.limits.weights
    outcome = HURRIED if answer.status is Status.TIME_LIMIT else Outcome(Status.OK, _FEW)
    return Answer.point(own, point, cost, valid, *outcome, answer.n_queries, weights)


def _promised(
    method: Method,
    space: Space,
    people: IntArray,
    masks: BoolArray,
    found: list[Answer],
    many: IntArray,
    most: int,
    deadline: Deadline | None,
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


def _filled_up(task: Task, points: FloatArray, wide: FloatArray, most: int) -> BoolArray:
    """Return the columns that points change, and others, as many as are allowed, on which the wide ones spent most."""
    changed = points != task.x0
    spent = np.where(task.limits.categories, wide != task.x0, np.abs(wide - task.x0)) * task.limits.weights
    spent = np.where(changed, np.inf, np.nan_to_num(spent, nan=0.0))
    rank = np.argsort(np.argsort(-spent, axis=1, kind="stable"), axis=1)
    return np.asarray((rank < most) & (spent > 0.0) & task.free)


class _Search:
    """The search for accepted points with few changes.

    With a limit of one change more nothing else is done first, and then something more: what is found is never dearer.
    """

    def __init__(self, task: Task, ask: Ask, ladder: Ladder) -> None:
        self._task, self._ask, self._ladder = task, ask, ladder
        self.in_time = True

    def run(self, wide: FloatArray, most: int) -> FloatArray:
        """Return points with few enough changes, NaN where none was found; those of `wide` have too many.

        If the time is over, these are the points so far.
        """
        found = np.full_like(wide, np.nan)
        try:
            self._search(wide, most, found)
        except OutOfTime:
            self.in_time = False
        return found

    def _search(self, wide: FloatArray, most: int, found: FloatArray) -> None:
        task, ask = self._task, self._ask
        accepted = ask(wide, np.arange(len(task)))
        strong: dict[int, tuple[IntArray, FloatArray]] = {}
        for size in range(1, most + 1):
            if size <= 3:
                found[:] = cheapest_few(ask, task.room, self._ladder, found, size)
            if size >= 3:
                for i in np.flatnonzero(np.isnan(found).any(axis=1) & accepted).tolist():
                    strong[i] = strong.get(i) or self._strong_columns(i, wide[i])
                    found[i] = self._strongest(i, *strong[i], size)
            full = np.flatnonzero(((found != task.x0) & ~np.isnan(found)).sum(axis=1) >= max(size - 1, 2))
            if len(full):
                found[full] = exchange(ask.take(full), task.room.take(full), found[full], size)
        left = self._taken_back(wide, accepted)
        few: BoolArray = np.asarray(accepted & ((left != task.x0).sum(axis=1) <= most))
        few &= ~(task.limits.cost(found, task.x0) <= task.limits.cost(left, task.x0))
        found[few] = left[few]

    def _taken_back(self, points: FloatArray, active: BoolArray) -> FloatArray:
        """Take back one change of every person at a time, the dearest that the model lets us."""
        points, own = points.copy(), self._task.x0
        while active.any():
            changed = (points != own) & active[:, None]
            changed &= (changed.sum(axis=1) > 1)[:, None]
            owner, column = np.nonzero(changed)
            if not len(owner):
                break
            trials = points[owner]
            trials[np.arange(len(owner)), column] = own[owner, column]
            yes = self._ask(trials, owner)
            saved = self._task.room.cost(points[owner], owner) - self._task.room.cost(trials, owner)
            order = np.flatnonzero(yes)[np.argsort(saved[yes], kind="stable")]
            points[owner[order]] = trials[order]  # the last of a person is the dearest
            active = np.zeros(len(points), dtype=bool)
            active[owner[order]] = True
        return points

    def _strong_columns(self, i: int, x: FloatArray) -> tuple[IntArray, FloatArray]:
        """Return the columns that do most, the strongest first, and the ends of their ranges at which they do.

        What a column does is told by which part of the way to the accepted point `x` is enough if that column is at the
        end of its range, compared with its own value: for a linear model 1 less the ratio of the two is the part of
        what is needed that the column contributes.
        """
        own, person = self._task.x0[i], np.array([i])
        ends = options_of(self._ask.take(person), self._task.room.take(person), self._ladder, np.array([np.inf]), 1)
        column, value = ends.column, ends.value
        coarse = self._enough(i, x, column, value, 1.0, _COARSE)
        close = np.lexsort((np.arange(len(column)), coarse))[:_CLOSELY]
        column, value = column[close], value[close]
        at_end = self._enough(i, x, column, value, 1.0, _FINE)
        # Without the column the accepted point itself may not be enough.
        order = np.lexsort((np.arange(len(column)), at_end / self._enough(i, x, column, own[column], 2.0, _FINE)))
        _, first = np.unique(column[order], return_index=True)
        strong = order[np.sort(first)]  # the better end of every column
        return column[strong], value[strong]

    def _strongest(self, i: int, column: IntArray, value: FloatArray, size: int) -> FloatArray:
        """Return an accepted point in which so many of the strong columns change, NaN if there is none."""
        size = min(size, len(column))
        while comb(len(column), size) > _STRONG and len(column) > size:
            column, value = column[:-1], value[:-1]
        chosen, person = np.array(list(combinations(range(len(column)), size))), np.array([i])
        points = np.tile(self._task.x0[i], (len(chosen), 1))
        points[np.arange(len(chosen))[:, None], column[chosen]] = value[chosen]
        ask, whose = self._ask.take(person), np.zeros(len(points), dtype=np.int64)
        points = points[ask(points, whose)]
        best: FloatArray = cheapest_of_each(ask, self._task.room.take(person), points, whose[: len(points)])[0]
        return best

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
            yes = self._ask(self._task.room.clipped(trial, np.full(len(column), i)), np.full(len(column), i))
            low, high = np.where(yes, low, part), np.where(yes, part, high)
        return high
