"""A survival that is promised to every person: the cheapest recourse of which a check proves it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robust_recourse._typing import BoolArray, IntArray
from robust_recourse.futures import Jury
from robust_recourse.result.answer import Answer
from robust_recourse.result.status import Status
from robust_recourse.search.deadline import Deadline
from robust_recourse.search.method import Method
from robust_recourse.search.most import best_reachable
from robust_recourse.search.plans import asked_about, counting, each
from robust_recourse.search.run import decides
from robust_recourse.search.several import several
from robust_recourse.search.space import Space

__all__ = ["bounded", "promises_survival", "proved", "undominated"]

_SURVIVAL = (
    "A survival of {:g} could not be proved at a confidence of {:g}: after {} searches, each with a stricter jury, at "
    "least {:.3g} of the models retrained like those of the check accept this row."
)
_FINAL = frozenset(
    {Status.QUORUM_OUT_OF_REACH, Status.MARGIN_OUT_OF_REACH, Status.HURRIED}
)  # no use in asking for more


def promises_survival(method: Method) -> bool:
    """Whether every person was promised a survival."""
    return method.jury is not None and method.jury.survival is not None and not method.counts_votes


def proved(
    method: Method, space: Space, people: IntArray, masks: BoolArray, n_recourses: int, deadline: Deadline | None
) -> list[list[Answer]]:
    """Find the cheapest recourses of which the check proves the promised survival.

    Every attempt has a stricter criterion than the one before. Its first recourse is the cheapest of several, also for
    whoever wants one only: which that is does not depend on the check, so that a promise rests on one row of every
    attempt. A further recourse is kept if it has a better bound than all that cost less; because the check chooses it,
    its bound shares the confidence with those of the others.
    """
    jury = method.jury
    assert jury is not None
    n = max(n_recourses, method.n_compared)
    survival = float(jury.survival or 0.0)
    found: list[list[Answer]] = [[] for _ in people]
    attempts, left = _attempts(method, jury), np.arange(len(people))
    for k, attempt in enumerate(attempts):
        again = several(attempt, space, people[left], masks[left], n, deadline, n_recourses)
        if k == 0:
            again = best_reachable(attempt, space, people[left], masks[left], n, deadline, again)
        for i, answers in zip(left, bounded(jury, attempt, space.take(people[left]), again, n - 1), strict=True):
            if not found[i]:
                found[i] = answers
                continue
            better = answers[0].valid and answers[0].survival_bound > found[i][0].survival_bound
            found[i] = counting(found[i], answers) if better else counting(answers, found[i])
        left = np.flatnonzero([_may_improve(answers[0]) and _bound(answers[0]) < survival for answers in found])
        if not len(left):
            break

    def told(answer: Answer, _: int) -> Answer:
        if answer.survival_bound >= survival or not _may_improve(answer):
            return answer
        reason = _SURVIVAL.format(survival, jury.confidence, len(attempts), answer.survival_bound)
        return replace(answer, status=Status.SURVIVAL_OUT_OF_REACH, reason=reason)

    return each([_offered(answers, survival, n_recourses) for answers in found], told)


def bounded(jury: Jury, method: Method, space: Space, found: list[list[Answer]], among: int = 1) -> list[list[Answer]]:
    """Give recourses the bounds that the check proves, where they have none.

    A first one is given, the others of a person are chosen `among` so many.
    """
    how = decides(method)
    # Of those that have one nothing is asked: they are left out like those that do not exist.
    unknown = [[answer if np.isnan(answer.survival_bound) else _nowhere(answer) for answer in known] for known in found]
    first = np.array([answer is known[0] for known in found for answer in known], dtype=bool)
    accepted = asked_about(space, unknown, lambda X, rows: jury.survives(X, rows, how).sum(axis=1).astype(float))

    def told(answer: Answer, at: int) -> Answer:
        if np.isnan(accepted[at]):
            return answer
        bound = jury.bounds_of(accepted[at], 1 if first[at] else max(among, 1))
        return replace(answer, survival_bound=float(bound))

    return each(found, told)


def _attempts(method: Method, jury: Jury) -> list[Method]:
    """Return the searches that are made one after the other; they are fixed before anything is checked.

    What a method spends by default beyond the cheapest row buys other things than what was promised. So it spends
    nothing, but in the last attempt, which is to keep the promise whatever it costs.
    """
    juries, thrifty = jury.attempts(), method.without_default_budget()
    if thrifty is method:
        return [method.asking(method.margin, stricter) for stricter in juries]
    before = juries if len(juries) < jury.most_attempts else juries[:-1]
    searches = [thrifty.asking(method.margin, stricter) for stricter in before]
    return [*searches, method.asking(method.margin, juries[-1])]


def undominated(answers: list[Answer]) -> list[Answer]:
    """Keep the first recourse, and those that have a better bound than all that cost less."""
    kept = answers[:1]
    for answer in answers[1:]:
        if _bound(answer) > _bound(kept[-1]):
            kept.append(answer)
    return _answering_for(answers, kept)


def _offered(answers: list[Answer], survival: float, n_recourses: int) -> list[Answer]:
    """Keep the first recourse and, if it keeps the promise, better ones as far as somebody wants them."""
    kept = undominated(answers)[:n_recourses] if _bound(answers[0]) >= survival else answers[:1]
    return _answering_for(answers, kept)


def _answering_for(answers: list[Answer], kept: list[Answer]) -> list[Answer]:
    """Let the first of those that are kept answer for the questions about the others."""
    asked = sum(answer.n_queries for answer in answers) - sum(answer.n_queries for answer in kept)
    return [replace(kept[0], n_queries=kept[0].n_queries + asked), *kept[1:]]


def _nowhere(answer: Answer) -> Answer:
    return replace(answer, x=np.full_like(answer.x, np.nan))


def _may_improve(answer: Answer) -> bool:
    return answer.valid and answer.status not in _FINAL


def _bound(answer: Answer) -> float:
    """Return the bound of a recourse, 0 if it has none."""
    return float(np.nan_to_num(answer.survival_bound))
