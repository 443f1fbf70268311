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
from robust_recourse.result.cells import from_plain
from robust_recourse.result.columnar import pack_column, unpack_column
from robust_recourse.result.stored import assembled, columns_of

__all__ = ["LARGEST", "read_block", "write_block"]

LARGEST = 4096
"""Rows of a block, at most."""


def write_block(table: Any, positions: Sequence[int]) -> bytes:
    """Return rows as bytes, with their positions in the block."""
    packed = [pack_column(series) for series in columns_of(table)]
    head, raw = [facts for facts, _ in packed], [content for _, content in packed]
    text = json.dumps({"positions": list(positions), "columns": head}, allow_nan=False).encode()
    return len(text).to_bytes(8, "little") + text + b"".join(raw)


def read_block(content: bytes, columns: Columns) -> tuple[IntArray, Any]:
    """Return positions and rows of a block."""
    at = 8 + int.from_bytes(content[:8], "little")
    head = json.loads(content[8:at])
    n, types = len(head["positions"]), from_plain(columns.types["promised"])
    read: list[Any] = []
    dtypes = [np.dtype(object)] * len(head["columns"]) if columns.library == "polars" else types
    for facts, dtype in zip(head["columns"], dtypes, strict=True):
        column, at = unpack_column(facts, memoryview(content), at, n, dtype)
        read.append(column)
    table = assembled(read, types, columns.library, columns.names, pd.RangeIndex(n), n)
    return np.array(head["positions"], dtype=np.int64), table
