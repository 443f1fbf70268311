"""Where methods start: the cheapest accepted points of people, and the cheapest of which the model is sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse.models.decisions import Decision
from robust_recourse.sampling.asking import OutOfTime
from robust_recourse.sampling.boundary import Boundary, find_boundary
from robust_recourse.search.exact import Exact
from robust_recourse.search.known import known_points
from robust_recourse.search.method import Method, score_unit
from robust_recourse.search.task import Task

__all__ = ["Starts", "find_starts", "sure_points"]

_CONSENT = np.nan  # in place of a least score: what the criterion accepts


class Starts(NamedTuple):
    """Points of people, NaN where there is none."""

    boundary: FloatArray  # (m, p)
    impossible: BoolArray  # (m,): for whom it is proven that there is no boundary point
    late: BoolArray  # (m,): who has none because the time was over
    sure: FloatArray | None  # (m, p): of which the model is as sure as the method wants; None if it does not


def find_starts(method: Method, task: Task) -> Starts:
    """Find the boundary points of people, unless the task has them, and if the method wants them the sure ones."""
    least, given = method.sureness, task.boundary
    goals = [_CONSENT] if given is None else []
    if least is not None and least > 0.0:
        goals.append(least)
    nobody = np.zeros(len(task), dtype=bool)
    try:
        found = _cheapest(method, task, goals)
    except OutOfTime:
        if given is None:
            raise
        return Starts(given, nobody, nobody, None)  # boundary points are enough to be told
    boundary = found[0] if given is None else _Found(given, nobody, nobody)
    if least is None or len(found) < len(goals):
        return Starts(*boundary, None)
    return Starts(*boundary, found[-1].x if least > 0.0 else boundary.x)


def sure_points(method: Method, task: Task) -> FloatArray | None:
    """Find the sure points of people who have boundary points."""
    assert task.boundary is not None
    return find_starts(method, task).sure


class _Found(NamedTuple):
    x: FloatArray
    impossible: BoolArray
    late: BoolArray


def _cheapest(method: Method, task: Task, goals: Sequence[float]) -> list[_Found]:
    """Return the cheapest points with least scores, in one search for all goals: so many calls of the model less.

    If the time is over, those of the last goals may be missing, but for the first.
    """
    found: list[_Found] = []
    left, known, n, impossible = [], [], len(task), np.zeros(len(task), dtype=bool)
    for goal in goals:
        exact = Exact.nothing(task.x0)
        able = np.flatnonzero(~impossible)  # who cannot be accepted cannot be so surely
        asking, some = _towards(method, task.take(able), goal)
        try:
            seen = known_points(asking, some) if len(able) else None
        except OutOfTime:
            if not found:
                raise
            break  # what is known of the goals before is good enough
        if seen is not None:
            exact.x[able], impossible[able] = seen.x, impossible[able] | seen.impossible
        done = impossible | (exact.known & (seen is not None and seen.cheapest))
        left.append(np.flatnonzero(~done) + n * len(found))
        known.append(exact.x)
        late = np.zeros(n, dtype=bool)
        found.append(_Found(np.where(done[:, None], exact.x, np.nan), impossible.copy(), late))
    searched = np.concatenate([np.zeros(0, dtype=np.int64), *left])
    if len(searched):
        oracle = task.oracle.take(searched % n)
        if not np.isnan(goals).all():
            oracle = oracle.surer(np.asarray(goals)[searched // n])
        start = np.concatenate(known)[searched]
        room = task.room.take(searched % n)
        try:
            ends = find_boundary(oracle, room, method.candidates_, method.look(), start)
        except OutOfTime:
            ends = Boundary(start, ~np.isnan(start).any(axis=1), in_time=False)
            if not ends.found.any() and all(np.isnan(one.x).any(axis=1).all() for one in found):
                raise
        for goal, one in enumerate(found):
            mine = searched // n == goal
            people = searched[mine] % n
            one.x[people] = ends.x[mine]
            one.late[people] = ~ends.found[mine] & (not ends.in_time)
    return found


def _towards(method: Method, task: Task, goal: float) -> tuple[Method, Task]:
    """Return a method and a task that ask for a least score."""
    if np.isnan(goal):
        return method, task
    decisive = next(level for level in (method.margin, method.threshold, 0.5) if level is not None)
    decision = Decision.of(method.model, method.favourable, method.threshold)
    if decision.regressor:
        beyond = decisive + (decision.side or 1.0) * goal * score_unit(method)
    else:
        beyond = float(expit(goal + logit(decisive)))
    surer = replace(task, oracle=task.oracle.surer(np.full(len(task), goal)), boundary=None)
    return method.asking(beyond, method.jury), surer
