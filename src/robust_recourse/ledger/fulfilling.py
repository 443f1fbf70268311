"""Whether what a person did is what was promised, or better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse.ledger.errors import LedgerError
from robust_recourse.ledger.rows import Columns
from robust_recourse.notices.reading import differs, direction
from robust_recourse.notices.values import json_value, plain
from robust_recourse.result.stored import columns_of

__all__ = ["Fulfilment", "compare", "told"]


@dataclass(frozen=True, eq=False)
class Fulfilment:
    """What a person did, beside what was promised.

    Attributes
    ----------
    fulfilled : bool
        Whether every column that was to change has its promised value, or lies beyond it in the direction of the
        change. Only then is it recorded.
    exactly : bool
        Whether these columns have exactly the promised values: the model was asked about no others.
    columns : DataFrame
        One line for every column that was to change: column, before, promised, now, and whether that is "as promised",
        "better" or "short".
    moved : tuple of str
        Other columns that are not as they were. They are told, and not held against the person.
    """

    fulfilled: bool
    exactly: bool
    columns: pd.DataFrame
    moved: tuple[str, ...]

    def __repr__(self) -> str:
        said = "exactly as promised" if self.exactly else "better than promised" if self.fulfilled else "short of it"
        return f"Fulfilment({said})"


def compare(columns: Columns, data: Mapping[str, Any], row: Any) -> Fulfilment:
    """Compare a row with the promise that was made for it."""
    before, promised = (_cells(columns.table(which, [data])) for which in ("before", "promised"))
    now = _given(columns, row)
    names = columns.texts if columns.names is None else list(columns.names)
    wanted = {k for k, _ in data["changes"]}
    lines, moved = [], []
    for k, text in enumerate(columns.texts):
        if k in wanted:
            said = _said(columns, k, before[k], promised[k], now[k])
            lines.append((names[k], before[k], promised[k], now[k], said))
        elif differs(before[k], now[k]):
            moved.append(text)
    frame = pd.DataFrame(lines, columns=["column", "before", "promised", "now", "outcome"], dtype=object)
    outcomes = set(frame["outcome"])
    return Fulfilment("short" not in outcomes, outcomes <= {"as promised"}, frame, tuple(moved))


def _said(columns: Columns, k: int, before: Any, promised: Any, now: Any) -> str:
    if not differs(promised, now):
        return "as promised"
    order: Sequence[Any] = columns.orders.get(columns.texts[k], ())
    asked = direction(columns.kinds[k], before, promised, order)
    further = direction(columns.kinds[k], promised, now, order)
    return "better" if asked != 0 and further == asked else "short"


def _cells(table: Any) -> list[Any]:
    return [plain(column.array[0]) for column in columns_of(table)]


def _given(columns: Columns, row: Any) -> list[Any]:
    """Return the cells of a row in the order of the columns; a row with names is read by them."""
    if isinstance(row, pd.DataFrame):
        if len(row) != 1:
            raise LedgerError(f"row must be one row, got {len(row)}.")
        row = row.iloc[0]
    names = list(columns.texts if columns.names is None else columns.names)
    if isinstance(row, pd.Series | Mapping):
        lacking = [name for name in names if name not in row]
        if lacking:
            raise LedgerError(f"row lacks the column {lacking[0]!r} of the promise.")
        return [plain(row[name]) for name in names]
    cells = list(np.ravel(np.asarray(row, dtype=object)))
    if len(cells) != len(names):
        raise LedgerError(f"row must have the {len(names)} columns of the promise, got {len(cells)}.")
    return [plain(cell) for cell in cells]


def told(outcome: Fulfilment) -> dict[str, Any]:
    """Return what the ledger keeps of it, as data for JSON."""
    lines = outcome.columns.to_dict("records")
    return {
        "exactly": outcome.exactly,
        "columns": [{name: json_value(value) for name, value in line.items()} for line in lines],
        "moved": list(outcome.moved),
    }
