"""From answers in units of cost to the table that was given."""

from __future__ import annotations

from typing import Any

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.notices.values import plain
from robust_recourse.result import Answer, Provenance, Recourses, Trace
from robust_recourse.search.method import Method
from robust_recourse.search.space import Space
from robust_recourse.tables.values import take

__all__ = ["collect"]


def collect(method: Method, space: Space, found: list[list[Answer]]) -> Recourses:
    """Put the answers of a search together, in the order of the rows; each row has at least one."""
    entries = [answer for answers in found for answer in answers]
    person = np.repeat(np.arange(len(found)), [len(answers) for answers in found])
    rank = np.concatenate([np.zeros(0, dtype=np.int64), *(np.arange(1, len(known) + 1) for known in found)])

    def column(name: str, dtype: Any = float) -> Any:
        return np.array([getattr(entry, name) for entry in entries], dtype=dtype)

    status = np.empty(len(entries), dtype=object)
    status[:] = [entry.status for entry in entries]
    x, boundary = (column(name).reshape(len(entries), len(space.moves.columns)) for name in ("x", "boundary"))
    order = space.table.order
    exists = np.isfinite(column("cost"))
    costs = np.full(x.shape, np.nan)
    costs[exists] = space.column_costs(x[exists], person[exists])
    columns = [space.moves.columns[k] for k in order]
    there = np.append(exists, ~np.isnan(boundary).any(axis=1))
    # Together: to make a table takes longer than to fill it.
    rows, n = _restored(space, np.concatenate([x, boundary]), np.tile(person, 2), there), len(entries)
    return Recourses(
        x0=space.table.given_at(person),
        x=take(rows, np.arange(n)),
        boundary=take(rows, np.arange(n, 2 * n)),
        cost=column("cost"),
        budget=column("budget"),
        valid=column("valid", bool),
        status=status,
        reason=column("reason", object),
        log_worst_case_odds=column("log_worst_case_odds"),
        n_queries=column("n_queries", np.int64),
        jury_share=column("jury_share"),
        survival_bound=column("survival_bound"),
        person=person,
        rank=rank,
        column_costs=costs[:, order],
        kinds=tuple(known.kind for known in columns),
        orders={known.name: known.values for known in columns if known.kind == "ordered"},
        units=space.moves.told_in,
        digits={known.name: known.digits for known in columns if known.digits is not None},
        favourable=plain(method.favourable),
        threshold=method.threshold,
        provenance=Provenance.of(method),
        _traces=tuple(_trace(answer, space, who, order) for answer, who in zip(entries, person.tolist(), strict=True)),
    )


def _trace(answer: Answer, space: Space, person: int, order: IntArray) -> Trace:
    return Trace(
        x0=answer.x0,
        x=answer.x,
        boundary=answer.boundary,
        moves=space.moves,
        own=space.table.values[person],
        missing=space.table.missing[person],
        path=answer.path,
        neighbourhood=answer.neighbourhood,
        scales=answer.scales,
        weights=answer.weights,
        order=order,
    )


def _restored(space: Space, points: FloatArray, people: IntArray, found: BoolArray) -> Any:
    # People without a point get any: their cells are emptied.
    points = np.where(found[:, None], points, space.points[people])
    return space.table.restore(space.consequences(space.legal(points, people), people), people, found)
