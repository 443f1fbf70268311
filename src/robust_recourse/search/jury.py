"""What a jury adds to a search: less where its quorum is out of reach, more where a survival was promised."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.futures import Jury
from robust_recourse.models.predictor import Probabilities
from robust_recourse.result.answer import Answer
from robust_recourse.result.status import Status
from robust_recourse.sampling.segments import nearest_segments
from robust_recourse.search.deadline import Deadline
from robust_recourse.search.method import Method
from robust_recourse.search.run import asks_for_more, decides, make_task
from robust_recourse.search.several import several
from robust_recourse.search.space import Space

__all__ = ["consented", "judged"]

_NEAREST = 32  # accepted training rows among which the largest share of a jury is looked for
_LEVELS = 20  # of mean probabilities and margins that are tried again
_BATCH = 8192  # rows that a model is asked about together
_LOST = frozenset({Status.NO_CANDIDATE, Status.TOO_MANY_CHANGES})
_QUORUM = (
    "No row was found that the present model accepts with the jury's {}; the most that was found is {:.3g}, which this "
    "row has. Ask for less, or allow more columns to change."
)
_MARGIN = (
    "No row was found that the present model accepts with a probability of {:g}; this one has at least {:.3g}. Ask for "
    "a smaller margin, or allow more columns to change."
)
_SURVIVAL = (
    "A survival of {:g} could not be proved at a confidence of {:g}: after {} searches, each with a stricter jury, at "
    "least {:.3g} of the models retrained like those of the check accept this row."
)


def consented(
    method: Method, space: Space, people: IntArray, masks: BoolArray, n_recourses: int, deadline: Deadline | None
) -> list[list[Answer]]:
    """Find recourses with the consent that the method asks for; the parameters are those of :func:`several`.

    Who cannot have it gets a recourse with the largest share of the jury that was found among the nearest accepted
    training rows, or as much of the margin, and a status that says so. Where a survival was promised, and the check
    does not prove it, the person is searched for again with stricter juries.
    """
    found = several(method, space, people, masks, n_recourses, deadline)
    if not asks_for_more(method):
        return found
    lost = np.flatnonzero([answers[0].status in _LOST for answers in found])
    if len(lost):
        again = _with_less(method, space, people[lost], masks[lost], n_recourses, deadline)
        for i, answers in zip(lost, again, strict=True):
            found[i] = _counting(found[i], answers)
    if method.jury is None or method.jury.survival is None:
        return found
    return _proved(method, method.jury, space, people, masks, n_recourses, deadline, found)


def judged(method: Method, space: Space, found: list[list[Answer]]) -> list[list[Answer]]:
    """Ask the jury, and its check, about exactly the rows that are returned; one list of answers for every person."""
    jury = method.jury
    if jury is None:
        return found
    how = decides(method)
    share = _told(space, found, lambda X, rows: jury.accepts(X, rows, how).mean(axis=1))
    found = _each(found, lambda answer, at: replace(answer, jury_share=float(share[at])))
    return found if jury.check is None else _bounded(method, jury, space, np.arange(len(space)), found)


def _with_less(
    method: Method, space: Space, people: IntArray, masks: BoolArray, n_recourses: int, deadline: Deadline | None
) -> list[list[Answer]]:
    """Search for people with the most that their nearest accepted training rows have."""
    most, limit = _largest(method, space.take(people), masks)
    found: list[list[Answer]] = [[] for _ in people]
    for level in np.unique(most):
        group = np.flatnonzero(most == level)
        other = _asking_for(method, float(level))
        answers = several(other, space, people[group], masks[group], n_recourses, deadline)
        for i, several_ in zip(group, answers, strict=True):
            found[i] = [_with_status(answer, method, float(level), limit) for answer in several_]
    return found


def _largest(method: Method, space: Space, masks: BoolArray) -> tuple[FloatArray, float]:
    """Return the largest share of the jury, or probability, at the nearest accepted rows; and what was asked for."""
    jury, lenient = method.jury, method.asking(None, None)
    limit = float(method.margin or 0.0) if jury is None else jury.level
    task = make_task(lenient, space, masks)
    n, m = min(_NEAREST, len(lenient.candidates_)), len(space)
    segments, owner = nearest_segments(task.room, lenient.candidates_, 0, n), np.repeat(np.arange(m), n)
    rows = task.snap(segments.point(np.arange(m * n), segments.cost.ravel()), owner)
    accepted = np.flatnonzero(task.oracle(rows, owner))
    most = np.zeros(m)
    if len(accepted):
        X, numbers = _decoded(space, rows[accepted], owner[accepted])
        how = decides(method)
        value = (
            Probabilities(method.model, **how)(X, numbers) if jury is None else jury.say(X, numbers, how).mean(axis=1)
        )
        if jury is None or jury.rule == "mean":
            value = np.floor(_LEVELS * value) / _LEVELS
        np.maximum.at(most, owner[accepted], value)
    return np.where(most >= limit, 0.0, most), limit


def _asking_for(method: Method, level: float) -> Method:
    if method.jury is None:
        floor = 0.5 if method.threshold is None else method.threshold
        return method.asking(level if level > floor else None, None)
    if level == 0.0:
        return method.asking(None, None)
    margin = None if method.jury.rule == "mean" else method.jury.margin
    return method.asking(None, replace(method.jury, quorum=level, margin=margin))


def _with_status(answer: Answer, method: Method, level: float, limit: float) -> Answer:
    if not answer.valid:
        return answer
    if method.jury is None:
        return replace(answer, status=Status.MARGIN_OUT_OF_REACH, reason=_MARGIN.format(limit, level))
    asked = f"{'quorum' if method.jury.rule == 'quorum' else 'mean probability'} of {limit:g}"
    return replace(answer, status=Status.QUORUM_OUT_OF_REACH, reason=_QUORUM.format(asked, level))


def _proved(
    method: Method,
    jury: Jury,
    space: Space,
    people: IntArray,
    masks: BoolArray,
    n_recourses: int,
    deadline: Deadline | None,
    found: list[list[Answer]],
) -> list[list[Answer]]:
    """Search again, with stricter juries, for people whose survival the check does not prove."""
    survival = float(jury.survival or 0.0)
    found, attempts = _bounded(method, jury, space, people, found), jury.attempts()
    for stricter in attempts[1:]:
        left = np.flatnonzero([_may_improve(answers) and _least(answers) < survival for answers in found])
        if not len(left):
            break
        other = method.asking(method.margin, stricter)
        again = several(other, space, people[left], masks[left], n_recourses, deadline)
        for i, answers in zip(left, _bounded(method, jury, space, people[left], again), strict=True):
            better = answers if answers[0].valid and _least(answers) > _least(found[i]) else found[i]
            found[i] = _counting(found[i] if better is answers else answers, better)

    def told(answer: Answer, _: int) -> Answer:
        if answer.survival_bound >= survival or not (answer.valid and _may_improve([answer])):
            return answer
        reason = _SURVIVAL.format(survival, jury.confidence, len(attempts), answer.survival_bound)
        return replace(answer, status=Status.SURVIVAL_OUT_OF_REACH, reason=reason)

    return _each(found, told)


def _may_improve(answers: list[Answer]) -> bool:
    return answers[0].valid and answers[0].status not in {Status.QUORUM_OUT_OF_REACH, Status.HURRIED}


def _least(answers: list[Answer]) -> float:
    return min(answer.survival_bound for answer in answers)


def _counting(before: list[Answer], after: list[Answer]) -> list[Answer]:
    """Count the questions of a search that was in vain, too."""
    # Every search counts the question about the row itself.
    asked = sum(answer.n_queries for answer in before) - 1
    return [replace(after[0], n_queries=after[0].n_queries + asked), *after[1:]]


def _bounded(
    method: Method, jury: Jury, space: Space, people: IntArray, found: list[list[Answer]]
) -> list[list[Answer]]:
    """Give recourses the bounds that the check proves, where they have none."""
    how = decides(method)
    bound = _told(space.take(people), found, lambda X, rows: jury.bounds(jury.survives(X, rows, how)))
    return _each(found, lambda answer, at: replace(answer, survival_bound=float(bound[at])))


def _told(space: Space, found: list[list[Answer]], ask: Callable[[Any, IntArray], FloatArray]) -> FloatArray:
    """Ask about the rows that answers stand for, person by person; NaN where there is none."""
    people = np.repeat(np.arange(len(found)), [len(answers) for answers in found])
    points = np.array([answer.x for answers in found for answer in answers]).reshape(len(people), space.points.shape[1])
    value, some = np.full(len(people), np.nan), np.flatnonzero(~np.isnan(points).any(axis=1))
    for first in range(0, len(some), _BATCH):
        part = some[first : first + _BATCH]
        value[part] = ask(*_decoded(space, points[part], people[part]))
    return value


def _decoded(space: Space, points: FloatArray, people: IntArray) -> tuple[Any, IntArray]:
    """Return the rows that points stand for as models get them, and their numbers in messages."""
    return space.decode(space.legal(points, people), people), space.rows_of(people)


def _each(found: list[list[Answer]], change: Callable[[Answer, int], Answer]) -> list[list[Answer]]:
    """Change every answer; it is told its place among all."""
    places = iter(range(sum(map(len, found))))
    return [[change(answer, next(places)) for answer in answers] for answers in found]
