"""Notices as one JSON document, and its schema."""

from __future__ import annotations

import json
from collections.abc import Hashable, Mapping, Sequence
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import numpy as np

from robust_recourse.notices.notice import Change, Notice
from robust_recourse.notices.values import json_value

__all__ = ["VERSION", "json_document", "json_schema"]

VERSION = 1  # of the format; a change that breaks readers is a new version


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the documents.

    >>> json_schema()["title"]
    'Recourses'
    """
    schema: dict[str, Any] = json.loads(files(__package__).joinpath("recourses.schema.json").read_text("utf-8"))
    return schema


def json_document(
    notices: Sequence[Notice], columns: Sequence[Hashable], kinds: Sequence[str], indent: int | None
) -> str:
    """Return the document as text, in ASCII.

    Parameters
    ----------
    notices : sequence of Notice
        What it holds.
    columns, kinds : sequence
        The columns of the table.
    indent : int or None
        Spaces of a level; None: everything in one line.
    """
    names = _names(columns)
    document = {
        "version": VERSION,
        "created_by": {"name": "robust-recourse", "version": version("robust-recourse")},
        "columns": [{"name": name, "kind": kind} for name, kind in zip(names.values(), kinds, strict=True)],
        "rows": [_row(notice, names) for notice in notices],
    }
    return json.dumps(document, indent=indent, allow_nan=False) + "\n"


def _names(columns: Sequence[Hashable]) -> dict[Hashable, str]:
    """Return a name for every column; no two are the same, not even of the columns 1 and "1"."""
    names: dict[Hashable, str] = {}
    taken: set[str] = set()
    for column in columns:
        name = first = "/".join(map(str, column)) if isinstance(column, tuple) else str(column)
        n = 1
        while name in taken:
            n += 1
            name = f"{first} ({n})"
        taken.add(name)
        names[column] = name
    return names


def _row(notice: Notice, names: Mapping[Hashable, str]) -> dict[str, Any]:
    after = notice.after
    return {
        "label": json_value(notice.label),
        "person": notice.person,
        "rank": notice.rank,
        "status": notice.status,
        "reason": notice.reason,
        "valid": notice.valid,
        "cost": _measure(notice.cost),
        "worst_case_odds": _measure(notice.worst_case_odds),
        "log_worst_case_odds": _measure(notice.log_worst_case_odds),
        "changes": [_change(change, names) for change in notice.changes],
        "before": {names[column]: json_value(value) for column, value in notice.before.items()},
        "after": None if after is None else {names[column]: json_value(value) for column, value in after.items()},
    }


def _change(change: Change, names: Mapping[Hashable, str]) -> dict[str, Any]:
    return {
        "column": names[change.column],
        "from": json_value(change.before),
        "to": json_value(change.after),
        "cost": _measure(change.cost),
    }


def _measure(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None
