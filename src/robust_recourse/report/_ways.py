"""Rows on the way from a person to a recourse, and what retrained models say to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from robust_recourse._typing import FloatArray
from robust_recourse.futures import Juror, Jury, listed
from robust_recourse.models.acceptance import accepted_by
from robust_recourse.models.criteria import naming
from robust_recourse.notices.reading import differs
from robust_recourse.report._traces import has_boundary
from robust_recourse.result import Recourse
from robust_recourse.tables import to_pandas

__all__ = ["Way", "boundary_of", "jurors_of", "own_row", "share_of", "way_to"]


class Way(NamedTuple):
    """Rows, beginning with the person and its new categories, and what each costs."""

    rows: Any
    cost: FloatArray


def way_to(recourse: Recourse, steps: int) -> Way:
    """Return rows on the straight way to a recourse: categories switch at its beginning, whole numbers are rounded."""
    share, costs = np.linspace(0.0, 1.0, steps), np.asarray(recourse.column_costs, dtype=float)
    before, after = list(recourse.x0), list(recourse.x)
    moving = np.array(
        [_moves(kind, *pair) for kind, *pair in zip(recourse.columns.kinds, before, after, strict=True)], dtype=bool
    )
    cells = [
        [_between(old, new, float(part)) if moves else new for part in share]
        for old, new, moves in zip(before, after, moving, strict=True)
    ]
    return Way(_table(recourse, cells), share * costs[moving].sum() + costs[~moving].sum())


def own_row(recourse: Recourse) -> Any:
    """Return the row of the person."""
    return _table(recourse, [[cell] for cell in recourse.x0])


def boundary_of(recourse: Recourse) -> Way | None:
    """Return the boundary point, as a way of one row; None where there is none, or where its cost is not known."""
    trace = recourse.trace
    if trace is None or trace.weights is None or not has_boundary(trace):
        return None
    apart = np.abs(trace.boundary - trace.x0)
    apart = np.where(trace.moves.numbers, apart, apart != 0.0)
    return Way(_table(recourse, [[cell] for cell in recourse.boundary]), np.array([float(trace.weights @ apart)]))


def _table(recourse: Recourse, cells: list[list[Any]]) -> Any:
    """Return columns as a table like the one that was explained."""
    if not isinstance(recourse.x, pd.Series):
        return np.array(cells, dtype=float).T
    rows = pd.DataFrame(dict(zip(recourse.x.index, cells, strict=True)))
    like = to_pandas(recourse.columns.like)
    return rows.astype(dict(like.dtypes)) if isinstance(like, pd.DataFrame) else rows


def jurors_of(models: Any, favourable: Any, threshold: float | None) -> tuple[Juror, ...]:
    """Return models, or those of a jury, each with what decides: its own, or else what is given."""
    several = listed(models.models if isinstance(models, Jury) else models, "models")
    jurors = (model if isinstance(model, Juror) else Juror(model) for model in several)
    return tuple(
        Juror(
            juror.model,
            favourable if juror.favourable is ... else juror.favourable,
            threshold if juror.threshold is ... else juror.threshold,
        )
        for juror in jurors
    )


def share_of(jurors: Sequence[Juror], rows: Any) -> FloatArray:
    """Return the share of the jurors that accept each row."""
    accepted = []
    for k, juror in enumerate(jurors):
        with naming(f"models[{k}]"):
            decides = {"favourable": juror.favourable, "threshold": juror.threshold}
            accepted.append(accepted_by(juror.model, rows, **decides, like=rows))
    share: FloatArray = np.mean(accepted, axis=0)
    return share


def _moves(kind: str, before: Any, after: Any) -> bool:
    numbers = all(isinstance(value, int | float | np.number) for value in (before, after))
    return kind == "number" and numbers and not isinstance(before, bool | np.bool_) and differs(before, after)


def _between(before: Any, after: Any, share: float) -> Any:
    value = before + share * (after - before)
    return round(value) if isinstance(before, int | np.integer) else value
