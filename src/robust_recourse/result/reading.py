"""Reading recourses from a document; what is wrong with one is named."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse.result._parts import CONSENT
from robust_recourse.result.cells import from_plain
from robust_recourse.result.document import FORMAT, MEASURES, TABLES, checksum
from robust_recourse.result.provenance import Provenance
from robust_recourse.result.status import Status
from robust_recourse.result.stored import Stored

__all__ = ["fields_of", "guarded", "parsed", "provenance_of", "text_of"]

_MOST = 2**63  # integers are below
_CHANGED = "It was changed after it was written, or is damaged."


def text_of(source: str | PathLike[str]) -> str:
    """Return the text of a document: itself, or that of a file."""
    if isinstance(source, str) and source.lstrip().startswith("{"):
        return source
    return Path(source).read_text("utf-8")


def parsed(text: str) -> dict[str, Any]:
    """Return a document from its text."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"The document is no JSON: {error}") from error
    return _mapping(document, "The document")


def fields_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of the result that a document holds.

    Raises
    ------
    ValueError
        If something is missing, is none of what it must be, or was changed.
    """
    number = _get(document, "version", int)
    if number != FORMAT:
        raise ValueError(f"The document has the version {number} of the format, and this release reads {FORMAT}.")
    rows = [_mapping(row, f"rows[{i}]") for i, row in enumerate(_get(document, "rows", list))]
    columns = [_mapping(column, f"columns[{k}]") for k, column in enumerate(_get(document, "columns", list))]
    names = [_get(column, "name", str, f"columns[{k}]") for k, column in enumerate(columns)]
    exact = _get(document, "exact", dict)
    library = _get(exact, "table", str, "exact")
    if library not in ("array", "pandas", "polars"):
        raise ValueError(f"exact.table must be 'array', 'pandas' or 'polars', got {library!r}.")
    index = _Index(exact, library, len(rows), len(names))
    fields = {field: _table(exact, rows, names, name, index) for name, field in TABLES.items()}
    fields |= _measured(rows)
    fields["column_costs"] = _costs(exact, rows, names)
    fields["kinds"] = tuple(_get(column, "kind", str, f"columns[{k}]") for k, column in enumerate(columns))
    fields |= {name: _plain(exact, name) for name in ("orders", "favourable", "threshold")}
    fields |= {"units": _told(fields["x"], columns, "unit", str), "digits": _told(fields["x"], columns, "digits", int)}
    fields["provenance"] = provenance_of(_get(document, "provenance", list))
    if _get(document, "checksum", str) != checksum(dict(document)):
        raise ValueError(f"The document does not have the checksum that it names. {_CHANGED}")
    return fields


class _Index:
    """What the tables of a document have in common."""

    def __init__(self, exact: Mapping[str, Any], library: str, n: int, p: int) -> None:
        self.library, self.n = library, n
        self.names = _plain(exact, "names") if library == "pandas" else None
        self.labels = _plain(exact, "index") if library == "pandas" else None
        for name, index, length in (("names", self.names, p), ("index", self.labels, n)):
            if index is not None and (not isinstance(index, pd.Index) or len(index) != length):
                raise ValueError(f"exact.{name} must be an index of {length} labels. {_CHANGED}")


def _table(exact: Mapping[str, Any], rows: list[Any], names: list[str], name: str, index: _Index) -> Any:
    cells: list[list[Any]] = [[] for _ in names]
    for i, row in enumerate(rows):
        values = _get(row, name, dict, f"rows[{i}]", none=name != "before")
        if values is not None and set(values) != set(names):
            raise ValueError(f"rows[{i}].{name} must have the columns {names}, got {list(values)}.")
        for column, key in zip(cells, names, strict=True):
            column.append(None if values is None else values[key])
    told: list[list[Any]] = [[] for _ in names]
    for entry in _get(_get(exact, "cells", dict, "exact"), name, list, "exact.cells"):
        i, k, value = _entry(entry, f"exact.cells.{name}", len(rows), len(names))
        told[k].append([i, value])
    types = _get(_get(exact, "types", dict, "exact"), name, list, "exact.types")
    stored = Stored(cells, told, types)
    return guarded(lambda: stored.read(index.library, index.names, index.labels, index.n), f"The table {name!r}")


def _measured(rows: list[Any]) -> dict[str, Any]:
    def column(name: str, kind: type, dtype: Any) -> Any:
        return np.array([_get(row, name, kind, f"rows[{i}]") for i, row in enumerate(rows)], dtype=dtype)

    fields = {name: column(name, int, np.int64) for name in ("person", "rank", "n_queries")}
    fields |= {name: np.array([_number(row, name, i) for i, row in enumerate(rows)], dtype=float) for name in MEASURES}
    for name in CONSENT:
        told = [_number(row, name, i) if name in row else np.nan for i, row in enumerate(rows)]
        fields[name] = np.array(told, dtype=float)
    fields["valid"] = column("valid", bool, bool)
    fields["reason"], fields["status"] = column("reason", str, object), np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows):
        word = _get(row, "status", str, f"rows[{i}]")
        if word not in set(Status):
            raise ValueError(f"rows[{i}].status is {word!r}, which is no status that this release knows.")
        fields["status"][i] = Status(word)
    return fields


def _costs(exact: Mapping[str, Any], rows: list[Any], names: list[str]) -> Any:
    costs, places = np.zeros((len(rows), len(names))), {name: k for k, name in enumerate(names)}
    for i, row in enumerate(rows):
        if row["after"] is None:
            costs[i] = np.nan
        for change in _get(row, "changes", list, f"rows[{i}]"):
            name = _get(_mapping(change, f"rows[{i}].changes"), "column", str, f"rows[{i}].changes")
            if name not in places:
                raise ValueError(f"rows[{i}].changes names the column {name!r}, which is none of {names}.")
            costs[i, places[name]] = _number(change, "cost", i)
    for entry in _get(exact, "costs", list, "exact"):
        i, k, cost = _entry(entry, "exact.costs", len(rows), len(names))
        costs[i, k] = _number({"costs": cost}, "costs", i)
    return costs


def _told(table: Any, columns: list[Any], key: str, kind: type) -> dict[Any, Any]:
    """Return what columns have under a key that not all of them have, by their names in the table."""
    names = getattr(table, "columns", range(len(columns)))
    told = enumerate(zip(names, columns, strict=True))
    return {name: _get(column, key, kind, f"columns[{k}]") for k, (name, column) in told if key in column}


def provenance_of(known: list[Any]) -> Any:
    """Return what made recourses, from the facts about it."""
    several = guarded(lambda: tuple(Provenance(**facts) for facts in known), "The provenance")
    return several if len(several) > 1 else next(iter(several), None)


def _plain(exact: Mapping[str, Any], name: str) -> Any:
    data = _get(exact, name, list, "exact")
    return guarded(lambda: from_plain(data), f"exact.{name}")


def guarded(read: Callable[[], Any], what: str) -> Any:
    """Read what a library may stumble over: damage has many faces."""
    try:
        return read()
    except ImportError:
        raise
    except Exception as error:
        raise ValueError(f"{what} cannot be read: {error}. {_CHANGED}") from error


def _number(row: Mapping[str, Any], name: str, i: int) -> float:
    value = _get(row, name, object, f"rows[{i}]", none=True)
    if value is None:
        return float("nan")
    if isinstance(value, bool) or not (isinstance(value, int | float) or value in ("inf", "-inf")):
        raise ValueError(f"rows[{i}].{name} must be a number, got {value!r:.100}.")
    return float(guarded(lambda: float(value), f"rows[{i}].{name}"))


def _entry(entry: Any, what: str, n: int, p: int) -> tuple[int, int, Any]:
    if not (isinstance(entry, list) and len(entry) == 3 and _within(entry[0], 0, n) and _within(entry[1], 0, p)):
        raise ValueError(f"{what} must have entries of a row, a column and a value, got {entry!r}.")
    return entry[0], entry[1], entry[2]


def _within(value: Any, first: int, end: int) -> bool:
    return type(value) is int and first <= value < end


def _mapping(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{what} must be an object, got {type(value).__name__}.")
    return value


def _get(mapping: Mapping[str, Any], key: str, kind: type, where: str = "The document", *, none: bool = False) -> Any:
    """Return what a document has under a key, of this type; or None if that is allowed."""
    if key not in mapping:
        raise ValueError(f"{where} lacks {key!r}.")
    value: Any = mapping[key]
    if none and value is None:
        return None
    if not isinstance(value, kind) or (kind is int and not _within(value, -_MOST, _MOST)):
        raise ValueError(f"{where}.{key} must be of the type {kind.__name__}, got {value!r:.100}.")
    return value
