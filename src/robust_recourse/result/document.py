"""Recourses as one JSON document, which people can read, and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import version
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

from robust_recourse._typing import BoolArray
from robust_recourse.notices.reading import differs
from robust_recourse.notices.values import json_value, plain
from robust_recourse.result.cells import to_plain
from robust_recourse.result.stored import Stored, columns_of, library_of

if TYPE_CHECKING:
    from robust_recourse.result._entries import Entries

__all__ = [
    "FORMAT",
    "MEASURES",
    "TABLES",
    "checksum",
    "document_of",
    "json_schema",
    "measure",
    "provenance_facts",
    "text_names",
    "written",
]

FORMAT = 2  # a change that breaks readers is a new version
TABLES = {"before": "x0", "after": "x", "boundary": "boundary"}
"""What the tables are called in a document, and in the result."""
MEASURES = ("cost", "budget", "log_worst_case_odds")


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of the documents.

    >>> json_schema()["title"]
    'Recourses'
    """
    schema: dict[str, Any] = json.loads(files(__package__).joinpath("recourses.schema.json").read_text("utf-8"))
    return schema


def written(document: dict[str, Any], indent: int | None = None) -> str:
    """Return a document as text, in ASCII."""
    return json.dumps(document, indent=indent, allow_nan=False) + "\n"


def checksum(document: dict[str, Any]) -> str:
    """Return what tells whether a document is as it was written, however it is laid out."""
    rest = {key: value for key, value in document.items() if key != "checksum"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def document_of(found: Entries) -> dict[str, Any]:
    """Return everything that a result holds, but for its traces, as data for JSON."""
    names = text_names(getattr(found.x, "columns", range(len(found.kinds))))
    library, exists = library_of(found.x), np.asarray(~np.isnan(found.column_costs).any(axis=1))
    shown = {name: exists if name == "after" else np.ones(len(found), dtype=bool) for name in TABLES}
    stored = {name: Stored.of(getattr(found, field), f"found.{field}", shown[name]) for name, field in TABLES.items()}
    changed = _changed(found, exists)
    document = {
        "version": FORMAT,
        "created_by": {"name": "robust-recourse", "version": version("robust-recourse")},
        "provenance": provenance_facts(found),
        "columns": [
            {"name": name, "kind": kind, "type": str(column.dtype), **_told(found, column.name)}
            for name, kind, column in zip(names, found.kinds, columns_of(found.x), strict=True)
        ],
        "rows": [_row(found, i, names, stored, changed[i], exists=bool(exists[i])) for i in range(len(found))],
        "exact": {
            "table": library,
            "names": to_plain(found.x.columns) if library == "pandas" else None,
            "index": to_plain(found.x.index) if library == "pandas" else None,
            "types": {name: table.types for name, table in stored.items()},
            "cells": {name: list(_exact(table)) for name, table in stored.items()},
            "costs": _costs(found, changed),
            "orders": to_plain({name: tuple(values) for name, values in found.orders.items()}),
            "favourable": to_plain(found.favourable),
            "threshold": to_plain(found.threshold),
        },
    }
    return {**document, "checksum": checksum(document)}


def _told(found: Entries, column: Hashable) -> dict[str, Any]:
    """Return how the values of a column are told, as far as that is known."""
    told = {"unit": found.units.get(column), "digits": found.digits.get(column)}
    return {key: value for key, value in told.items() if value is not None}


def measure(number: float) -> float | str | None:
    """Return a number as JSON has it: NaN is null, what is infinite is text."""
    if np.isnan(number):
        return None
    return float(number) if np.isfinite(number) else str(float(number))


def text_names(columns: Iterable[Hashable]) -> list[str]:
    """Return a text for the name of every column; no two are the same, not even of the columns 1 and "1"."""
    names: list[str] = []
    for column in columns:
        name = first = "/".join(str(part) for part in _parts(column) if part != "")
        n = 1
        while name in names:
            n += 1
            name = f"{first} ({n})"
        names.append(name)
    return names


def _parts(column: Hashable) -> tuple[Hashable, ...]:
    return column if isinstance(column, tuple) else (column,)


def _row(
    found: Entries, i: int, names: Sequence[str], stored: dict[str, Stored], changed: Sequence[int], *, exists: bool
) -> dict[str, Any]:
    odds = float(found.worst_case_odds[i])
    rows = {
        name: {key: cells[i] for key, cells in zip(names, table.cells, strict=True)} for name, table in stored.items()
    }
    bounded = any(cell is not None for cell in rows["boundary"].values())
    return {
        "label": json_value(found.labels[i]),
        "person": int(found.person[i]),
        "rank": int(found.rank[i]),
        "status": str(found.status[i]),
        "reason": str(found.reason[i]),
        "valid": bool(found.valid[i]),
        **{name: measure(getattr(found, name)[i]) for name in MEASURES},
        "worst_case_odds": odds if np.isfinite(odds) else None,
        "n_queries": int(found.n_queries[i]),
        **{name: float(value[i]) for name, value in found.consent.items() if not np.isnan(value[i])},
        "changes": [
            {
                "column": names[k],
                "from": rows["before"][names[k]],
                "to": rows["after"][names[k]],
                "cost": measure(found.column_costs[i, k]),
            }
            for k in changed
        ],
        "before": rows["before"],
        "after": rows["after"] if exists else None,
        "boundary": rows["boundary"] if bounded else None,
    }


def _changed(found: Entries, exists: BoolArray) -> list[list[int]]:
    """Return the columns that each recourse changes."""
    pairs = [
        [differs(plain(old), plain(new)) for old, new in zip(before.array, after.array, strict=True)]
        for before, after in zip(columns_of(found.x0), columns_of(found.x), strict=True)
    ]
    return [[k for k, column in enumerate(pairs) if column[i]] if exists[i] else [] for i in range(len(found))]


def _costs(found: Entries, changed: Sequence[Sequence[int]]) -> list[list[Any]]:
    """Return what the changes do not tell: rows, columns and costs."""
    told = np.zeros(found.column_costs.shape)
    told[np.isnan(found.column_costs).all(axis=1)] = np.nan
    for i, columns in enumerate(changed):
        told[i, columns] = found.column_costs[i, columns]
    same = (told == found.column_costs) & (np.signbit(told) == np.signbit(found.column_costs))
    same |= np.isnan(told) & np.isnan(found.column_costs)
    return [[int(i), int(k), measure(found.column_costs[i, k])] for i, k in np.argwhere(~same)]


def _exact(table: Stored) -> Iterator[list[Any]]:
    for k, exact in enumerate(table.exact):
        yield from ([i, k, value] for i, value in exact)


def provenance_facts(found: Entries) -> list[dict[str, Any]]:
    """Return what made the recourses, as data for JSON."""
    known = found.provenance
    several = known if isinstance(known, tuple) else (known,)
    return [asdict(one) for one in several if one is not None]
