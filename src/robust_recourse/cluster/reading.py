"""Rows of Parquet files, read forwards: whoever goes on where the last one stopped decodes no row twice."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from robust_recourse.cluster.places import opened

__all__ = ["arrow", "read_rows", "reading"]

_BUFFER = 1 << 20  # bytes of a column that are held
_LAST = threading.local()  # the file that this thread has read from last, open


@contextmanager
def reading() -> Iterator[None]:
    """Close, in the end, the file that was read last."""
    try:
        yield
    finally:
        left = vars(_LAST).pop("reader", None)
        if left is not None:
            left.close()


def read_rows(name: str, first: int, rows: int, columns: Sequence[str], content: str = "") -> Any:
    """Return some rows of a file as a table of Arrow; only their row groups are read, and a part at a time.

    Parameters
    ----------
    name : str
        The path or URL.
    first, rows : int
        The first row, and how many.
    columns : sequence of str
        Those that are wanted.
    content : str
        What tells the content of the file from others that had its name; a file with such a name stays open for whoever
        asks for the rows that follow.
    """
    reader = _reader((name, content, tuple(columns)), first)
    try:
        table = reader.take(first, rows)
    except BaseException:
        reader.close()
        raise
    if content and not reader.ended:
        _LAST.reader = reader
    else:
        reader.close()
    return table


def _reader(key: tuple[str, str, tuple[str, ...]], first: int) -> _Reader:
    """Return the reader that was left, if it is of the same file and can go on; else a new one."""
    left: _Reader | None = vars(_LAST).pop("reader", None)
    if left is not None and left.key == key and left.near(first):
        return left
    if left is not None:
        left.close()
    return _Reader(key)


class _Reader:
    """An open file, and the row that comes next."""

    def __init__(self, key: tuple[str, str, tuple[str, ...]]) -> None:
        _, parquet = arrow()
        self.key = key
        self._content = opened(key[0])
        try:
            self._file = parquet.ParquetFile(self._content, pre_buffer=False, buffer_size=_BUFFER)
        except BaseException:
            self._content.close()
            raise
        metadata = self._file.metadata
        self._ends = np.cumsum([metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)], dtype=int)
        self._known = [column for column in self._file.schema_arrow.names if column in set(key[2])]
        self._at = 0
        self._batches: Iterator[Any] | None = None
        self._rest: Any = None

    @property
    def ended(self) -> bool:
        return not len(self._ends) or bool(self._at >= self._ends[-1])

    def near(self, first: int) -> bool:
        """Whether a row comes next, or later in the same row group: others may be damaged."""
        group = self._group(first)
        return self._at <= first and (self._at == first or self._at >= (self._ends[group - 1] if group else 0))

    def take(self, first: int, rows: int) -> Any:
        """Return some rows; whatever comes before them in their row group is skipped."""
        pyarrow, _ = arrow()
        if self._batches is None or not self.near(first):
            group = self._group(first)
            self._at, self._rest = int(self._ends[group - 1]) if group else 0, None
            self._batches = self._from(group, max(rows, 1))
        found = []
        while self._at < first + rows:
            batch = next(self._batches, None) if self._rest is None else self._rest
            if batch is None:
                break
            taken = batch.slice(max(first - self._at, 0), first + rows - max(self._at, first))
            used = min(len(batch), first + rows - self._at)
            self._rest = batch.slice(used) if used < len(batch) else None
            self._at += used
            found += [taken] if len(taken) else []
        table = (
            pyarrow.Table.from_batches(found) if found else self._file.schema_arrow.empty_table().select(self._known)
        )
        if len(table) != rows:
            raise ValueError(f"it has fewer rows than it had: {len(table)} of {rows} from row {first}.")
        return table

    def close(self) -> None:
        self._batches = self._rest = None
        self._file.close()
        self._content.close()

    def _group(self, row: int) -> int:
        return int(np.searchsorted(self._ends, row, side="right"))

    def _from(self, group: int, rows: int) -> Iterator[Any]:
        for number in range(group, len(self._ends)):
            yield from self._file.iter_batches(rows, [number], self._known, use_threads=False)


def arrow() -> tuple[Any, Any]:
    """Return pyarrow, and what it knows about Parquet."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(f"Data sets need pyarrow ({error}): pip install 'robust-recourse[parquet]'") from error
    return pyarrow, pyarrow.parquet
