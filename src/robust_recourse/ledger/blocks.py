"""Many promised rows in one piece: columns as they lie in memory, so that a model can be asked about all at once.

JSON is for people, and reading 100,000 rows of it takes ten times as long as a model takes to answer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import IntArray
from robust_recourse.ledger.rows import Columns
from robust_recourse.result.cells import from_plain, read_column, write_column
from robust_recourse.result.stored import assembled, columns_of

__all__ = ["LARGEST", "read_block", "write_block"]

LARGEST = 4096
"""Rows of a block, at most."""


def write_block(table: Any, positions: Sequence[int]) -> bytes:
    """Return rows as bytes, with their positions in the block."""
    head: list[list[Any]] = []
    raw: list[bytes] = []
    for series in columns_of(table):
        dtype = series.dtype
        if isinstance(dtype, pd.CategoricalDtype):
            numbers = series.cat.codes.to_numpy().astype("<i4")
        elif isinstance(dtype, np.dtype) and dtype.kind in "biuf":
            numbers = series.to_numpy().astype(dtype.newbyteorder("<"))
        else:
            head.append(["cells", *write_column(series, np.ones(len(series), dtype=bool))])
            continue
        head.append(["raw", numbers.dtype.str])
        raw.append(numbers.tobytes())
    text = json.dumps({"positions": list(positions), "columns": head}, allow_nan=False).encode()
    return len(text).to_bytes(8, "little") + text + b"".join(raw)


def read_block(content: bytes, columns: Columns) -> tuple[IntArray, Any]:
    """Return positions and rows of a block."""
    at = 8 + int.from_bytes(content[:8], "little")
    head = json.loads(content[8:at])
    n, types = len(head["positions"]), from_plain(columns.types["promised"])
    read: list[Any] = []
    dtypes = [np.dtype(object)] * len(head["columns"]) if columns.library == "polars" else types
    for (kind, *parts), dtype in zip(head["columns"], dtypes, strict=True):
        if kind == "cells":
            read.append(read_column(parts[0], parts[1], dtype))
            continue
        numbers = np.frombuffer(content, np.dtype(parts[0]), n, at).copy()
        at += numbers.nbytes
        if isinstance(dtype, pd.CategoricalDtype):
            read.append(pd.Series(pd.Categorical.from_codes(numbers, dtype=dtype, validate=False)))
        else:
            read.append(numbers if columns.library == "array" else pd.Series(numbers.astype(dtype, copy=False)))
    table = assembled(read, types, columns.library, columns.names, pd.RangeIndex(n), n)
    return np.array(head["positions"], dtype=np.int64), table
