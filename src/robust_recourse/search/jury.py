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
_ROUNDING = 1e-9  # of shares: 0.9 of 20 is 18, not a bit more
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

    Who cannot have it gets a recourse with the largest share of the jury that was found, or as much of the margin, and
    a status that says so. Where a survival was promised, and the check does not prove it, the person is searched for
    again with stricter juries.
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
    """Search for people with the most that they can have of the jury, or of the margin if that alone is too much."""
    if method.jury is None or method.margin is None:
        return _with_most(method, space, people, masks, n_recourses, deadline)
    alone = _weaker(method, method.margin, None)
    found = several(alone, space, people, masks, n_recourses, deadline)
    lost = np.array([answers[0].status in _LOST for answers in found])
    for other, some in ((alone, np.flatnonzero(lost)), (method, np.flatnonzero(~lost))):
        if len(some):
            again = _with_most(other, space, people[some], masks[some], n_recourses, deadline)
            for i, answers in zip(some, again, strict=True):
                found[i] = _counting(found[i], answers)
    return found


def _with_most(
    method: Method, space: Space, people: IntArray, masks: BoolArray, n_recourses: int, deadline: Deadline | None
) -> list[list[Answer]]:
    """Search for people with the most that they can have of one thing.

    That is what one of their nearest accepted training rows has, if it is found again; with fewer changes than it takes
    to become like that row it need not be, and levels are then halved.
    """
    most, (levels, limit) = _largest(method, space.take(people), masks), _levels(method)
    found: list[list[Answer]] = [[] for _ in people]

    def reached(group: IntArray, level: float) -> BoolArray:
        """Search for some of them with a level, keep what is better, and return who has it."""
        other = _asking_for(method, level)
        again = several(other, space, people[group], masks[group], n_recourses, deadline)
        lost = np.array([answers[0].status in _LOST for answers in again])
        for i, answers, nothing in zip(group, again, lost, strict=True):
            worse, better = (answers, found[i]) if nothing and found[i] else (found[i], answers)
            found[i] = _counting(worse, better) if worse else better
        return ~lost

    # The largest level that is known to be in reach, -1 for none, and the least that is taken to be out of it.
    low = np.full(len(people), -1)
    high = np.where(most < limit, np.searchsorted(levels, most + _ROUNDING, side="right"), len(levels))
    level = np.where(most < limit, high - 1, high // 2)
    while len(left := np.flatnonzero(high - low > 1)):
        for k in np.unique(level[left]):
            group = left[level[left] == k]
            held = reached(group, float(levels[k]))
            low[group[held]], high[group[~held]] = k, k
        level = (low + high) // 2
    if len(left := np.flatnonzero(low < 0)):
        reached(left, 0.0)
    return _with_status(method, space.take(people), found, limit)


def _levels(method: Method) -> tuple[FloatArray, float]:
    """Return what may be asked for instead of what was, from the least on; and that."""
    jury = method.jury
    limit = float(method.margin or 0.0) if jury is None else jury.level
    least = 0.0
    if jury is None:
        least = 0.5 if method.threshold is None else method.threshold
    n = len(jury) if jury is not None and jury.rule == "quorum" else _LEVELS
    levels = np.arange(1, n + 1) / n
    return levels[(levels > least) & (levels < limit - _ROUNDING)], limit


def _largest(method: Method, space: Space, masks: BoolArray) -> FloatArray:
    """Return the largest share of the jury, or probability, at the nearest accepted rows."""
    lenient = method.asking(None, None)
    task = make_task(lenient, space, masks)
    n, m = min(_NEAREST, len(lenient.candidates_)), len(space)
    segments, owner = nearest_segments(task.room, lenient.candidates_, 0, n), np.repeat(np.arange(m), n)
    rows = task.snap(segments.point(np.arange(m * n), segments.cost.ravel()), owner)
    accepted = np.flatnonzero(task.oracle(rows, owner))
    most = np.zeros(m)
    if len(accepted):
        value = _value(method, *_decoded(space, rows[accepted], owner[accepted]))
        np.maximum.at(most, owner[accepted], value)
    return most


def _value(method: Method, X: Any, rows: IntArray) -> FloatArray:
    """Return the shares of the jury that rows have, or their probabilities."""
    how = decides(method)
    if method.jury is None:
        return Probabilities(method.model, **how)(X, rows)
    share: FloatArray = method.jury.say(X, rows, how).mean(axis=1)
    return share


def _asking_for(method: Method, level: float) -> Method:
    if method.jury is None:
        return _weaker(method, level or None, None)
    if level == 0.0:
        return _weaker(method, method.margin, None)
    margin = None if method.jury.rule == "mean" else method.jury.margin
    return _weaker(method, method.margin, method.jury.asking(quorum=level, margin=margin))


def _weaker(method: Method, margin: float | None, jury: Jury | None) -> Method:
    """Return the method with a weaker criterion, which may be kept by rows that are no candidates of the method."""
    return method.asking(None, None).asking(margin, jury)


def _with_status(method: Method, space: Space, found: list[list[Answer]], limit: float) -> list[list[Answer]]:
    """Say of rows what they have instead of what was asked for."""
    value = _told(space, found, lambda X, rows: _value(method, X, rows))

    def told(answer: Answer, at: int) -> Answer:
        if not answer.valid or value[at] >= limit - _ROUNDING:
            return answer
        has = np.floor(1000.0 * value[at] + _ROUNDING) / 1000.0  # never rounded up to what was asked for
        if method.jury is None:
            return replace(answer, status=Status.MARGIN_OUT_OF_REACH, reason=_MARGIN.format(limit, has))
        asked = f"{'quorum' if method.jury.rule == 'quorum' else 'mean probability'} of {limit:g}"
        return replace(answer, status=Status.QUORUM_OUT_OF_REACH, reason=_QUORUM.format(asked, has))

    return _each(found, told)


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
