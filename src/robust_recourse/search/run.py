"""Many searches: cut into tasks that fit in memory, in parallel, until the time is over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from robust_recourse._progress import track
from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.math.limits import Room
from robust_recourse.models.criteria import Consent, Criterion, Margin
from robust_recourse.models.predictor import Predictor, Sureness
from robust_recourse.result.answer import Answer
from robust_recourse.result.status import Status
from robust_recourse.sampling.asking import OutOfTime
from robust_recourse.search.deadline import Deadline, check_time, is_timed
from robust_recourse.search.method import Method, score_unit
from robust_recourse.search.oracle import Oracle
from robust_recourse.search.space import Space
from robust_recourse.search.starting import find_starts
from robust_recourse.search.switching import solve_switched, switch, with_price
from robust_recourse.search.task import Task
from robust_recourse.search.verify import Outcome, verify_points

__all__ = [
    "HURRIED",
    "asks_for_more",
    "criterion",
    "decides",
    "make_task",
    "no_candidate",
    "out_of_time",
    "predictor",
    "run",
    "sureness",
]

_PEOPLE = 512  # of a task
_LIMITED = 64  # of a task if there is a time limit: a task that is not begun is lost
_TASKS = 2  # at least, if there is one: most of the time of a task is that of its calls, however few its people are
HURRIED = Outcome(
    Status.HURRIED,
    "The time limit passed while this row was searched for: it is the cheapest accepted point so far, and was neither "
    "improved any further nor given a margin. Explain it again, with a longer time_limit or none.",
)
_IMPOSSIBLE = (
    "The model adds up what the columns contribute, and all changes that the action set allows together do not make up "
    "for what this row lacks. Allow more columns to change, or wider bounds."
)
_OUT_OF_TIME = (
    "The time limit passed before this row was explained. Explain it again, with a longer time_limit or none."
)


def run(
    method: Method,
    space: Space,
    people: IntArray,
    masks: BoolArray,
    deadline: Deadline | None,
    boundary: FloatArray | None = None,
) -> list[Answer]:
    """Find one recourse for every search: a person, and the columns that may change.

    Parameters
    ----------
    method : Method
        The method.
    space : Space
        The table.
    people : ndarray of int, shape (n,)
        Who is searched for; they may repeat.
    masks : ndarray of bool, shape (n, p)
        The columns that may change.
    deadline : Deadline or None
        When to stop.
    boundary : ndarray of shape (n, p), optional
        Accepted points from which methods start that would look for boundary points.
    """
    if not len(people):
        return []
    jobs = effective_n_jobs(method.n_jobs)
    most = min(_LIMITED, -(-len(people) // _TASKS)) if is_timed(deadline) else _PEOPLE
    size = int(np.clip(method.people_at_once(masks.shape[1]), 1, min(most, -(-len(people) // jobs))))
    # All of a size: a small last one would cost as many calls as the others.
    parts = np.array_split(np.arange(len(people)), -(-len(people) // size))
    pieces = (
        (method, space.take(people[part]), masks[part], deadline, None if boundary is None else boundary[part])
        for part in parts
    )
    results: Iterator[list[Answer]]
    if jobs == 1 or len(parts) < 2:
        results = (_explain(*piece) for piece in pieces)
    else:
        results = Parallel(n_jobs=method.n_jobs, return_as="generator")(delayed(_explain)(*piece) for piece in pieces)
    return [answer for answers in track(results, "explaining", len(parts)) for answer in answers]


def make_task(method: Method, space: Space, free: BoolArray, deadline: Deadline | None = None) -> Task:
    """Put people together who are searched together."""
    sure = sureness(method)
    more = asks_for_more(method)
    oracle = Oracle(
        space,
        criterion(method),
        predictor(method),
        deadline,
        asks_for_more=more,
        sure=sure,
        least=None
        if sure is None or more
        else Predictor(method.model, **decides(method), quickly=True).least_score(sure),
    )
    return Task(space, Room(method.limits_, space.points, free), oracle, method.seed_)


def predictor(method: Method, data: str = "X") -> Predictor:
    """Return the present model."""
    return Predictor(method.model, **decides(method, data))


def decides(method: Method, data: str = "X") -> dict[str, Any]:
    """Return what makes an answer of a model a decision, as it is asked."""
    return {"data": data, "favourable": method.favourable, "threshold": method.threshold}


def criterion(method: Method, data: str = "X") -> Criterion:
    """Return what a row must satisfy in the search."""
    how = {**decides(method, data), "quickly": True}
    present = Predictor(method.model, **how) if method.margin is None else Margin(method.model, method.margin, **how)
    if method.jury is None or method.counts_votes:
        return present
    return Consent(present, method.jury.votes(how, method.jury_order_))


def sureness(method: Method, data: str = "X", *, quickly: bool = True) -> Sureness | None:
    """Return what tells how sure the model is that a row satisfies the criterion; None where a jury votes, too."""
    if method.jury is not None and not method.counts_votes:
        return None
    how = decides(method, data)
    if method.margin is not None:
        how["threshold"] = method.margin
    return Sureness(method.model, unit=score_unit(method), **how, quickly=quickly)


def asks_for_more(method: Method) -> bool:
    """Whether the criterion of the search is more than the consent of the present model."""
    return method.margin is not None or (method.jury is not None and not method.counts_votes)


def _explain(
    method: Method, space: Space, free: BoolArray, deadline: Deadline | None, boundary: FloatArray | None
) -> list[Answer]:
    try:
        check_time(deadline)
        task = replace(make_task(method, space, free, deadline), boundary=boundary)
        return method.solve(task) if method.switches else _explain_numbers(method, task)
    except OutOfTime:
        return [out_of_time(x0) for x0 in space.points]


def _explain_numbers(method: Method, task: Task) -> list[Answer]:
    """Switch categories where that is cheaper, and let the method move the numbers."""
    switchable: BoolArray = np.asarray((task.free & task.limits.categories).any(axis=1))
    searched = np.ones(len(task), dtype=bool) if method.needs_boundary else switchable
    plain = iter(method.solve(task.take(~searched)) if not searched.all() else [])
    from_boundary = iter(_explain_from_boundary(method, task.take(searched)) if searched.any() else [])
    return [next(from_boundary if yes else plain) for yes in searched]


def _explain_from_boundary(method: Method, task: Task) -> list[Answer]:
    """Find the boundary, switch categories to those of its points, and let the method solve."""
    starts = find_starts(method, task)
    found: BoolArray = np.asarray(~np.isnan(starts.boundary).any(axis=1))
    reached, boundary = replace(task, sure=starts.sure).take(found), starts.boundary[found]
    answers: list[Answer] = []
    if len(reached):
        try:
            answers = _solve(method, reached, boundary)
        except OutOfTime:
            if method.promises:
                raise
            outcomes = [HURRIED] * len(reached)
            answers = verify_points(reached, boundary, np.ones(len(reached), dtype=bool), outcomes)
    solved_people = iter(answers)
    lost = Outcome(Status.NO_CANDIDATE, no_candidate(method)), Outcome(Status.IMPOSSIBLE, _IMPOSSIBLE)
    return [
        next(solved_people)
        if held
        else out_of_time(task.x0[i], 1 + int(task.oracle.n_queries[i]))
        if starts.late[i]
        else task.missing(i, *lost[int(starts.impossible[i])])
        for i, held in enumerate(found)
    ]


def _solve(method: Method, task: Task, boundary: FloatArray) -> list[Answer]:
    """Switch categories to those of boundary points, and let the method move the numbers."""
    switched = switch(task, boundary)
    price = task.limits.cost(switched.x0, task.x0)
    solved = zip(solve_switched(method, switched), task.x0, price, strict=True)
    answers = [with_price(answer, x0, float(add)) for answer, x0, add in solved]
    return _with_own_categories(method, task, switched, answers)


def _with_own_categories(method: Method, task: Task, switched: Task, answers: list[Answer]) -> list[Answer]:
    """Search once more where a promise is out of reach: it may need the categories that made the boundary dear."""
    numbers = task.free & ~task.limits.categories
    lost = np.array([answer.status is Status.OUT_OF_REACH for answer in answers], dtype=bool)
    lost &= numbers.any(axis=1) & (switched.x0 != task.x0).any(axis=1)
    if not lost.any():
        return answers
    room = Room(task.limits, task.x0, numbers)
    again = iter(_explain_from_boundary(method, replace(task, room=room, boundary=None).take(lost)))
    others = [next(again) if yes else answer for yes, answer in zip(lost, answers, strict=True)]
    asked = task.oracle.n_queries
    return [
        replace(other if other.valid else answer, n_queries=1 + int(asked[i])) if lost[i] else answer
        for i, (other, answer) in enumerate(zip(others, answers, strict=True))
    ]


def no_candidate(method: Method) -> str:
    """Say why a person has no candidate."""
    rules = ", ".join(repr(rule.text) for rule in method.moves_.rules)
    kept = f" and keeps the rules ({rules})" if rules else ""
    return (
        f"None of the {len(method.candidates_)} accepted training rows, moved into the action set of this row, "
        f"is accepted by the model{kept}. Allow more columns to change, wider bounds or smaller steps"
        f"{', or change the rules' if rules else ''}."
    )


def out_of_time(x0: FloatArray, n_queries: int = 1) -> Answer:
    """Describe a person whom the time limit left out."""
    return Answer.missing(x0, Status.TIME_LIMIT, _OUT_OF_TIME, n_queries)
