"""What a jury adds to a search: less where its quorum is out of reach, more where a survival was promised."""

from __future__ import annotations

from dataclasses import replace

from robust_recourse._typing import BoolArray, IntArray
from robust_recourse.result.answer import Answer
from robust_recourse.search.deadline import Deadline
from robust_recourse.search.method import Method
from robust_recourse.search.most import best_reachable
from robust_recourse.search.plans import asked_about, each
from robust_recourse.search.run import asks_for_more, decides
from robust_recourse.search.several import several
from robust_recourse.search.space import Space
from robust_recourse.search.survival import bounded, promises_survival, proved, undominated

__all__ = ["consented", "judged"]


def consented(
    method: Method, space: Space, people: IntArray, masks: BoolArray, n_recourses: int, deadline: Deadline | None
) -> list[list[Answer]]:
    """Find recourses with the consent that the method asks for; the parameters are those of :func:`several`.

    Who cannot have it gets a recourse with the largest share of the jury that was found, or the most of the margin, and
    a status that says so. Where a survival was promised, and the check does not prove it, the person is searched for
    again with stricter juries.
    """
    if promises_survival(method):
        return proved(method, space, people, masks, n_recourses, deadline)
    found = several(method, space, people, masks, n_recourses, deadline)
    if not asks_for_more(method):
        return found
    return best_reachable(method, space, people, masks, n_recourses, deadline, found)


def judged(method: Method, space: Space, found: list[list[Answer]], n_recourses: int = 1) -> list[list[Answer]]:
    """Ask the jury, and its check, about exactly the rows that are returned; one list of answers for every person.

    Of up to `n_recourses` of a person, those stay of which the check proves more than of all that cost less.
    """
    jury = method.jury
    if jury is None:
        return found
    how = decides(method)
    share = asked_about(space, found, lambda X, rows: jury.accepts(X, rows, how).mean(axis=1))
    found = each(found, lambda answer, at: replace(answer, jury_share=float(share[at])))
    if jury.check is None:
        return found
    return [undominated(answers) for answers in bounded(jury, method, space, found, n_recourses - 1)]
