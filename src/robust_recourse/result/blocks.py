"""All that a result holds, but for its traces, in one piece of bytes: column by column."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robust_recourse.result._parts import TABLES, VECTORS
from robust_recourse.result.cells import from_plain, to_plain
from robust_recourse.result.columnar import pack_column, unpack_column
from robust_recourse.result.document import provenance_facts
from robust_recourse.result.reading import guarded, provenance_of
from robust_recourse.result.status import Status
from robust_recourse.result.stored import assembled, columns_of, library_of
from robust_recourse.tables.values import same_table

if TYPE_CHECKING:
    from robust_recourse.result.recourses import Recourses

__all__ = ["read_block", "write_block"]

_FORMAT = 1
_LENGTH = 8  # bytes that say how long the head is
_TEXTS = ("status", "reason")
_VECTORS = tuple(name for name in (*VECTORS, "person") if name not in (*_TEXTS, "column_costs"))
_SETTINGS = ("kinds", "units", "digits", "favourable", "threshold")


def write_block(found: Recourses) -> bytes:
    """Return a result as bytes, which :func:`read_block` reads.

    Raises
    ------
    TypeError
        If a column could not be read back; the message names it.
    """
    library = library_of(found.x)
    index = found.x.index if library == "pandas" else None
    plain = index is not None and not isinstance(index, pd.MultiIndex | pd.RangeIndex)
    packed = list(_columns(found, index if plain else None))
    head = {
        "format": _FORMAT,
        "entries": len(found),
        "table": library,
        "names": to_plain(found.x.columns) if library == "pandas" else None,
        "index": to_plain((index.dtype, index.name) if plain and index is not None else index),
        "plain_index": plain,
        "types": {name: to_plain(_types(getattr(found, name))) for name in TABLES},
        "orders": to_plain({name: tuple(values) for name, values in found.orders.items()}),
        **{name: to_plain(_settled(getattr(found, name))) for name in _SETTINGS},
        "provenance": provenance_facts(found),
        "columns": [facts for facts, _ in packed],
    }
    text = json.dumps(head, allow_nan=False).encode("ascii")
    content = len(text).to_bytes(_LENGTH, "little") + text + b"".join(content for _, content in packed)
    if library == "polars":
        back = read_block(content)
        for name in TABLES:
            table = getattr(found, name)
            if not same_table(back[name], table):
                raise TypeError(f"found.{name} is a frame of polars with types that cannot be stored: {table.schema}.")
    return content


def read_block(content: bytes) -> dict[str, Any]:
    """Return the fields of the result that was written.

    Raises
    ------
    ValueError
        If it cannot be read.
    """
    fields: dict[str, Any] = guarded(lambda: _read(content), "The block of recourses")
    return fields


def _read(content: bytes) -> dict[str, Any]:
    at = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    head = json.loads(content[_LENGTH:at])
    if head["format"] != _FORMAT:
        raise ValueError(f"it has the version {head['format']} of its format, and this release reads {_FORMAT}")
    n, library, view = head["entries"], head["table"], memoryview(content)
    facts = iter(head["columns"])

    def column(dtype: Any) -> Any:
        nonlocal at
        read, at = unpack_column(next(facts), view, at, n, dtype)
        return read

    names = None if head["names"] is None else from_plain(head["names"])
    index = from_plain(head["index"])
    if head["plain_index"]:
        dtype, name = index
        index = pd.Index(column(dtype), dtype=dtype, name=name, tupleize_cols=False)
    fields: dict[str, Any] = {}
    for table in TABLES:
        types = from_plain(head["types"][table])
        width = types.width if library == "polars" else len(types)
        dtypes = [np.dtype(object)] * width if library == "polars" else types
        fields[table] = assembled([column(dtype) for dtype in dtypes], types, library, names, index, n)
    for name, dtype in ((name, _dtype(name)) for name in _VECTORS):
        fields[name] = column(dtype).to_numpy(copy=True)
    for name in _TEXTS:
        fields[name] = column(np.dtype(object)).to_numpy(copy=True)
    known = {word: Status(word) for word in set(fields["status"])}
    fields["status"][:] = [known[word] for word in fields["status"]]
    costs = [column(np.dtype(float)) for _ in from_plain(head["kinds"])]
    fields["column_costs"] = np.column_stack(costs) if costs else np.empty((n, 0))
    fields |= {name: from_plain(head[name]) for name in ("orders", *_SETTINGS)}
    fields["provenance"] = provenance_of(head["provenance"])
    return fields


def _columns(found: Recourses, index: pd.Index[Any] | None) -> Iterator[tuple[list[Any], bytes]]:
    if index is not None:
        yield pack_column(pd.Series(index.array, dtype=index.dtype))
    for name in TABLES:
        for series in columns_of(getattr(found, name)):
            try:
                yield pack_column(series)
            except TypeError as error:
                raise TypeError(f"found.{name}, column {series.name!r}: {error}") from error
    for name in _VECTORS:
        yield pack_column(pd.Series(np.asarray(getattr(found, name), dtype=_dtype(name))))
    for name in _TEXTS:
        yield pack_column(pd.Series([str(text) for text in getattr(found, name)], dtype=object))
    for costs in found.column_costs.T:
        yield pack_column(pd.Series(costs))


def _dtype(name: str) -> np.dtype[Any]:
    return np.dtype({"valid": bool, "n_queries": np.int64, "rank": np.int64, "person": np.int64}.get(name, float))


def _types(table: Any) -> Any:
    return table.clear() if library_of(table) == "polars" else [column.dtype for column in columns_of(table)]


def _settled(value: Any) -> Any:
    return dict(value) if hasattr(value, "items") else value
