"""What happens to the rows of a table, from beginning to end."""

from __future__ import annotations

import numpy as np

from robust_recourse._typing import BoolArray
from robust_recourse.actions.contradictions import contradiction
from robust_recourse.math.scales import spread
from robust_recourse.models.criteria import Criterion
from robust_recourse.result import Recourses
from robust_recourse.result.answer import Answer
from robust_recourse.result.status import Status
from robust_recourse.search.collect import collect
from robust_recourse.search.deadline import Deadline
from robust_recourse.search.doing import movable
from robust_recourse.search.earlier import Earlier, keep_earlier
from robust_recourse.search.jury import consented, judged
from robust_recourse.search.method import Method
from robust_recourse.search.run import out_of_time, predictor, sureness
from robust_recourse.search.space import Space
from robust_recourse.tables import Table

__all__ = ["accepted_rows", "explain", "learn_score_unit"]

_BATCH = 8192  # rows that the model is asked about together
_SCORED = 2000  # training rows whose scores are looked at
_NOTHING = "The action set lets no column of this row change."
_STAYS = (
    "No column of this row changes: values out of the bounds stay in an array. Give a DataFrame, whose values may come "
    "within, or wider bounds."
)
_CONTRADICTED = (
    "No row within the bounds keeps the rules {}. Widen the bounds, let more columns change, or drop a rule."
)


def explain(
    method: Method, table: Table, n_recourses: int, deadline: Deadline | None, earlier: Earlier | None = None
) -> Recourses:
    """Find recourses for every row of a table; the parameters are those of a method's `explain`."""
    space = Space.of(table, method.moves_)
    answers = _without_search(method, space, deadline)
    refused = np.array([person for person, known in enumerate(answers) if known is None], dtype=np.int64)
    masks = movable(method.limits_, space)[refused]
    found = iter(consented(method, space, refused, masks, n_recourses, deadline))
    everybody = [next(found) if known is None else [known] for known in answers]
    if earlier is not None:
        everybody = keep_earlier(method, space, earlier, everybody)
    return collect(method, space, judged(method, space, everybody, n_recourses))


def _without_search(method: Method, space: Space, deadline: Deadline | None) -> list[Answer | None]:
    """Answer people who need no search, or cannot be searched for; None for the others."""
    accepted, asked = accepted_rows(predictor(method), space, deadline)
    free = movable(method.limits_, space)
    values, missing = space.table.values, space.table.missing
    broken = ~space.keeps_rules(values, np.arange(len(space)))
    answers: list[Answer | None] = []
    for person, x0 in enumerate(space.points):
        if not asked[person]:
            answers.append(out_of_time(x0, 0))
        elif accepted[person]:
            answers.append(Answer.unchanged(x0))
        elif not free[person].any():
            stays = space.exact and not method.limits_.holds(x0[None])[0]
            answers.append(Answer.missing(x0, Status.NOTHING_MAY_CHANGE, _STAYS if stays else _NOTHING))
        elif broken[person] and (rules := contradiction(space.moves, values[person], missing[person], free[person])):
            answers.append(Answer.missing(x0, Status.IMPOSSIBLE, _CONTRADICTED.format(rules)))
        else:
            answers.append(None)
    return answers


def accepted_rows(predict: Criterion, space: Space, deadline: Deadline | None = None) -> tuple[BoolArray, BoolArray]:
    """Ask about the rows of a table as they are; return which are accepted, and which there was time for."""
    accepted, asked = np.zeros((2, len(space)), dtype=bool)
    for first in range(0, len(space), _BATCH):
        people = np.arange(first, min(first + _BATCH, len(space)))
        # The first block always: somebody who is accepted already is told so.
        if first and deadline is not None and deadline.passed:
            break
        values = space.table.values[people]  # a copy: a model may write into what it is given
        accepted[people] = predict(space.decode(values, people), space.rows_of(people))
        asked[people] = True
    return accepted, asked


def learn_score_unit(method: Method, space: Space) -> float:
    """Return the unit of a model's own scores: one robust standard deviation of those of training rows.

    So a search does not depend on what a score is counted in. Where the model answers with anything else, it is 1.
    """
    sure = sureness(method, "the training rows") if method.threshold is not None or method.margin is not None else None
    if sure is None:
        return 1.0
    rows = np.unique(np.linspace(0, len(space) - 1, min(_SCORED, len(space))).astype(np.int64))
    said = sure.verdicts(space.decode(space.table.values[rows], rows), space.rows_of(rows))
    return float(spread(said.value[:, None])[0]) if said.scale == "score" else 1.0
