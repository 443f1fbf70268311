"""Promised changes on the rows that people have by now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse.ledger.errors import LedgerError
from robust_recourse.ledger.given import read_person
from robust_recourse.ledger.rows import Columns
from robust_recourse.ledger.state import Promise
from robust_recourse.result.cells import from_plain
from robust_recourse.result.stored import assembled, columns_of
from robust_recourse.tables import to_pandas

__all__ = ["Current"]


@dataclass(frozen=True, eq=False)
class Current:
    """Present rows of some people.

    Parameters
    ----------
    frame : DataFrame
        Their rows; the index has their ids.
    """

    frame: pd.DataFrame

    @classmethod
    def of(cls, given: Any) -> Current:
        """Read what was given: a frame whose index has the ids of people."""
        frame = to_pandas(given)
        if not isinstance(frame, pd.DataFrame):
            raise TypeError(f"current must be a frame whose index has the ids of people, got {type(given).__name__}.")
        people = [read_person(person) for person in frame.index]
        if len(set(people)) < len(people):
            raise LedgerError("current has more than one row for a person.")
        return cls(frame.set_axis(pd.Index(people, dtype=object), axis=0))

    def with_changes(self, promised: Any, columns: Columns, known: Sequence[Promise]) -> Any:
        """Return the present rows of people with what each was promised; of others, the rows as promised.

        Parameters
        ----------
        promised : DataFrame or array
            The promised rows.
        columns : Columns
            Their columns.
        known : sequence of Promise
            The promises, in the order of the rows.
        """
        names = list(columns.texts if columns.names is None else columns.names)
        lacking = [name for name in names if name not in self.frame.columns]
        if lacking:
            raise LedgerError(f"current lacks the column {lacking[0]!r} of the promises.")
        rows = self.frame.index.get_indexer(pd.Index([promise.person for promise in known], dtype=object))
        kept = np.repeat((rows < 0)[:, None], len(names), axis=1)
        for i, promise in enumerate(known):
            kept[i, [k for k, _ in promise.data["changes"]]] = True
        series = []
        for k, (column, name) in enumerate(zip(columns_of(promised), names, strict=True)):
            present = self.frame[name].take(np.maximum(rows, 0)) if len(self.frame) else column
            series.append(_mixed(column.reset_index(drop=True), present.reset_index(drop=True), kept[:, k], name))
        types = from_plain(columns.types["promised"])
        return assembled(series, types, columns.library, columns.names, pd.RangeIndex(len(known)), len(known))


def _mixed(promised: pd.Series[Any], present: pd.Series[Any], kept: Any, name: Any) -> Any:
    """Return promised cells where they are kept, and present ones elsewhere, in the type of the promised ones."""
    if kept.all():
        return promised
    try:
        typed = present.astype(promised.dtype)
    except (TypeError, ValueError) as error:
        raise LedgerError(f"current, column {name!r}: {error}. The promises have the type {promised.dtype}.") from error
    lost = typed.isna() & present.notna() & ~kept
    if lost.any():
        raise LedgerError(f"current, column {name!r}: {present[lost].iloc[0]!r} is none of the values of the promises.")
    return typed.where(~kept, promised)
