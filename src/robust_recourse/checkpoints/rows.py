"""A name for rows of a table: the same for the same cells in the same order, in every process."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pandas as pd

__all__ = ["rows_fingerprint"]


def rows_fingerprint(frame: pd.DataFrame) -> str:
    """Return a name that tables share only if names, types and cells of all columns and the index are the same.

    >>> table = pd.DataFrame({"age": [31, 40], "job": ["cook", None]})
    >>> rows_fingerprint(table) == rows_fingerprint(table.copy())
    True
    >>> len({rows_fingerprint(table), rows_fingerprint(table[::-1]), rows_fingerprint(table.replace(40, 41))})
    3
    """
    digest = hashlib.blake2b(digest_size=16)
    named: list[tuple[Any, Any]] = [
        (None, frame.index),
        *((name, frame.iloc[:, k]) for k, name in enumerate(frame.columns)),
    ]
    for name, cells in named:
        _add(digest, repr((type(name).__name__, name, str(cells.dtype), len(cells))).encode())
        _add(digest, _content(cells))
    return digest.hexdigest()


def _content(cells: Any) -> bytes:
    if isinstance(cells.dtype, np.dtype) and cells.dtype.kind in "biuf":
        return np.ascontiguousarray(cells.to_numpy()).tobytes()
    # With their types: 1, 1.0, True and "1" are different people.
    return "\0".join(f"{type(cell).__name__} {cell!r}" for cell in cells.tolist()).encode("utf-8", "surrogatepass")


def _add(digest: Any, content: bytes) -> None:
    # With its length, so that no two lists of contents run into the same text.
    digest.update(len(content).to_bytes(8, "little") + content)
