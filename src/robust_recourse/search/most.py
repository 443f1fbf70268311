"""The most of a margin, or of a jury, that people can have to whom what was asked for is out of reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.models.predictor import Probabilities
from robust_recourse.result.answer import Answer
from robust_recourse.result.status import Status
from robust_recourse.sampling.asking import OutOfTime
from robust_recourse.search.climb import Climb
from robust_recourse.search.deadline import Deadline
from robust_recourse.search.method import Method
from robust_recourse.search.plans import asked_about, counting, each
from robust_recourse.search.run import decides
from robust_recourse.search.several import several
from robust_recourse.search.space import Space

__all__ = ["best_reachable"]

_LEVELS = 128  # of probabilities: from what decides up to 1
_FINER, _TAIL = 0.8, 40  # steps of the last of them: probabilities that are close to 1
_ROUNDING = 1e-9  # of shares: 0.9 of 20 is 18, not a bit more
_NOWHERE = frozenset({Status.NO_CANDIDATE, Status.TOO_MANY_CHANGES})
_NO_POINT = frozenset({Status.NOT_FOUND})  # of methods that follow a gradient or a surrogate of the criterion
_QUORUM = (
    "No row was found that the present model accepts with the jury's {}; the most that was found is {:.3g}, which this "
    "row has. Ask for less, or allow more columns to change."
)
_MARGIN = (
    "No row was found that the present model accepts with a probability of {:g}; this one has at least {:.3g}. Ask for "
    "a smaller margin, or allow more columns to change."
)


def best_reachable(
    method: Method,
    space: Space,
    people: IntArray,
    masks: BoolArray,
    n_recourses: int,
    deadline: Deadline | None,
    found: list[list[Answer]],
) -> list[list[Answer]]:
    """Search again for people who cannot have what was asked for, with the most that they can have.

    Parameters
    ----------
    method, space, people, masks, n_recourses, deadline
        As for :func:`several`.
    found : list of list of Answer
        What a search with the criterion of the method has found.
    """
    lost = np.flatnonzero([_is_lost(method, answers[0]) for answers in found])
    if len(lost):
        again = _with_less(method, space, people[lost], masks[lost], n_recourses, deadline)
        for i, answers in zip(lost, again, strict=True):
            # A method that leads nowhere with less either keeps what it has said.
            kept = found[i] if found[i][0].valid and not answers[0].valid else answers
            found[i] = counting(answers if kept is found[i] else found[i], kept)
    return found


def _is_lost(method: Method, answer: Answer) -> bool:
    """Whether a search has found nothing, or nothing with what it asked for, that one with less may find."""
    if answer.status in _NOWHERE:
        return True
    if method.margin is None or method.jury is not None:
        return False
    return answer.status in _NO_POINT or answer.status is Status.QUORUM_OUT_OF_REACH


def _with_less(
    method: Method, space: Space, people: IntArray, masks: BoolArray, n_recourses: int, deadline: Deadline | None
) -> list[list[Answer]]:
    """Search for people with the most that they can have of the jury, or of the margin if that alone is too much."""
    if method.jury is None or method.margin is None:
        return _with_most(method, space, people, masks, n_recourses, deadline)
    alone = _weaker(method, method.margin, None)
    found = several(alone, space, people, masks, n_recourses, deadline)
    lost = np.array([_is_lost(alone, answers[0]) for answers in found])
    for other, some in ((alone, np.flatnonzero(lost)), (method, np.flatnonzero(~lost))):
        if len(some):
            again = _with_most(other, space, people[some], masks[some], n_recourses, deadline)
            for i, answers in zip(some, again, strict=True):
                found[i] = counting(found[i], answers)
    return found


def _with_most(
    method: Method, space: Space, people: IntArray, masks: BoolArray, n_recourses: int, deadline: Deadline | None
) -> list[list[Answer]]:
    """Search for people with the most that they can have of one thing.

    The level is found by bisection. The levels that are tried depend on what was reached, and not on what was asked
    for: so whoever asks for more, and cannot have it, gets no less than whoever asked for less.
    """
    levels, n_below, limit = _levels(method)
    found: list[list[Answer]] = [[] for _ in people]

    def reached(group: IntArray, level: float) -> BoolArray:
        """Search for some of them with a level, keep what is better, and return who has it."""
        other = _asking_for(method, level)
        again = several(other, space, people[group], masks[group], n_recourses, deadline)
        lost = np.array([_is_lost(other, answers[0]) or not answers[0].valid for answers in again])
        for i, answers, nothing in zip(group, again, lost, strict=True):
            worse, better = (answers, found[i]) if nothing and found[i] else (found[i], answers)
            found[i] = counting(worse, better) if worse else better
        return ~lost

    # The largest level that is known to be in reach, -1 for none, and the least that is taken to be out of it.
    low, high = np.full(len(people), -1), np.full(len(people), len(levels))
    while len(left := np.flatnonzero(high - low > 1)):
        level = (low[left] + high[left]) // 2
        high[left[level >= n_below]] = level[level >= n_below]
        for k in np.unique(level[level < n_below]):
            group = left[level == k]
            held = reached(group, float(levels[k]))
            high[group[~held]] = k
            if held.any():
                some = group[held]
                has = _level_of(levels, _least_of(method, space, people, some, found))
                low[some] = np.clip(has, k, high[some] - 1)
    if len(left := np.flatnonzero(low < 0)):
        reached(left, 0.0)
    if method.jury is None and method.goes_beyond:
        _climbed(method, space, people, masks, deadline, found, reached)
    return _with_status(method, space.take(people), found, limit)


def _climbed(
    method: Method,
    space: Space,
    people: IntArray,
    masks: BoolArray,
    deadline: Deadline | None,
    found: list[list[Answer]],
    reached: Callable[[IntArray, float], BoolArray],
) -> None:
    """Go on from what was found, column by column; where that leads to a higher level, search with that once more."""
    levels, n_below, limit = _levels(method)
    some = np.flatnonzero([answers[0].valid for answers in found])
    if not len(some):
        return
    climb = Climb(method, space, people[some], masks[some], deadline)
    now = _level_of(levels, _least_of(method, space, people, some, found))
    try:
        rows, has = climb.up(np.array([found[i][0].x for i in some]))
        level = _level_of(levels, has)
        higher, least = level > now, np.minimum(levels[np.maximum(level, 0)], limit)
        lost = higher & (level >= n_below)
        for k in np.unique(level[higher & ~lost]):
            group = np.flatnonzero(higher & (level == k))
            lost[group] = ~reached(some[group], float(levels[k]))
        own = np.flatnonzero(lost)
        answers = climb.answers(climb.back(rows, has, own, least), own) if len(own) else []
    except OutOfTime:
        return
    for i, asked in zip(some, climb.n_queries.tolist(), strict=True):
        found[i] = [replace(found[i][0], n_queries=found[i][0].n_queries + asked), *found[i][1:]]
    for i, answer in zip(some[own], answers, strict=True):
        if answer.valid:
            found[i] = [replace(answer, n_queries=sum(known.n_queries for known in found[i]))]


def _level_of(levels: FloatArray, value: FloatArray) -> IntArray:
    """Return the largest level that is reached, -1 for none."""
    level: IntArray = np.searchsorted(levels, value + _ROUNDING, side="right") - 1
    return level


def _levels(method: Method) -> tuple[FloatArray, int, float]:
    """Return what may be asked for instead of what was, from the least on; how many are below that; and that."""
    jury = method.jury
    if jury is not None:
        n, least, limit = len(jury) if jury.rule == "quorum" else _LEVELS, 0.0, jury.level
    else:
        n, least, limit = _LEVELS, 0.5 if method.threshold is None else method.threshold, float(method.margin or 0.0)
    room = max(1.0 - least, 0.0)
    levels = least + room * np.arange(1, n + 1) / n
    if jury is None or jury.rule == "mean":
        levels = np.append(levels[:-1], 1.0 - room / n * _FINER ** np.arange(_TAIL))
    return levels, int(np.searchsorted(levels, limit - _ROUNDING)), limit


def _least_of(method: Method, space: Space, people: IntArray, some: IntArray, found: list[list[Answer]]) -> FloatArray:
    """Return what some people have at least: the least of their recourses."""
    answers = [found[i] for i in some]
    value = asked_about(space.take(people[some]), answers, lambda X, rows: _value(method, X, rows))
    first = np.cumsum([0, *(len(known) for known in answers[:-1])])
    least: FloatArray = np.minimum.reduceat(value, first)
    return least


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


def _weaker(method: Method, margin: float | None, jury: Any) -> Method:
    """Return the method with a weaker criterion, which may be kept by rows that are no candidates of the method."""
    return method.asking(None, None).asking(margin, jury)


def _with_status(method: Method, space: Space, found: list[list[Answer]], limit: float) -> list[list[Answer]]:
    """Say of rows what they have instead of what was asked for."""
    value = asked_about(space, found, lambda X, rows: _value(method, X, rows))

    def told(answer: Answer, at: int) -> Answer:
        if not answer.valid or value[at] >= limit - _ROUNDING:
            return answer
        has = np.floor(1000.0 * value[at] + _ROUNDING) / 1000.0  # never rounded up to what was asked for
        if method.jury is None:
            return replace(answer, status=Status.MARGIN_OUT_OF_REACH, reason=_MARGIN.format(limit, has))
        asked = f"{'quorum' if method.jury.rule == 'quorum' else 'mean probability'} of {limit:g}"
        return replace(answer, status=Status.QUORUM_OUT_OF_REACH, reason=_QUORUM.format(asked, has))

    return each(found, told)
