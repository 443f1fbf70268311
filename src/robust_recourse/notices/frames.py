"""Tables of pandas about recourses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse.notices.notice import Notice

__all__ = ["beside", "list_changes"]


def beside(frame: pd.DataFrame, extra: Mapping[str, Any]) -> pd.DataFrame:
    """Return the frame with more columns; one whose name is taken gets a name that starts with ``recourse_``."""
    taken = set(frame.columns.get_level_values(0))
    names = []
    for name in extra:
        while name in taken:
            name = f"recourse_{name}"
        taken.add(name)
        names.append(name)
    added = pd.DataFrame(dict(zip(names, extra.values(), strict=True)), index=frame.index)
    levels = frame.columns.nlevels
    if levels > 1:
        added.columns = pd.MultiIndex.from_tuples([(name, *[""] * (levels - 1)) for name in names])
    added.columns.names = frame.columns.names
    return pd.concat([frame, added], axis=1)


def list_changes(notices: Sequence[Notice], labels: pd.Index[Any]) -> pd.DataFrame:
    """Return one line for every change: row, rank, column, from, to and cost.

    Parameters
    ----------
    notices : sequence of Notice
        The recourses.
    labels : Index
        The label of each.
    """
    lines = [(i, change) for i, notice in enumerate(notices) for change in notice.changes]
    entries = np.array([i for i, _ in lines], dtype=np.int64)
    rows = labels[entries]
    columns = {
        "row": rows.to_flat_index() if isinstance(rows, pd.MultiIndex) else rows,
        "rank": np.array([notices[i].rank for i in entries], dtype=np.int64),
        "column": _objects([change.column for _, change in lines]),
        "from": _objects([change.before for _, change in lines]),
        "to": _objects([change.after for _, change in lines]),
        "cost": np.array([change.cost for _, change in lines], dtype=float),
    }
    return pd.DataFrame({name: pd.Series(cells) for name, cells in columns.items()})


def _objects(values: Sequence[Any]) -> pd.Series[Any]:
    """Return a column in which every value keeps its type, tuples included."""
    cells = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        cells[i] = value
    return pd.Series(cells, dtype=object)
