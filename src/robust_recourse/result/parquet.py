"""Recourses in Parquet files: a table for everybody, and in its metadata all that it takes to read them back."""

from __future__ import annotations

import base64
import zlib
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from robust_recourse._files import replacing
from robust_recourse.notices.values import json_value, label_text, text
from robust_recourse.result.document import document_of, text_names, written
from robust_recourse.result.reading import fields_of, parsed

if TYPE_CHECKING:
    from robust_recourse.result.recourses import Recourses

__all__ = ["check_table", "read_parquet", "write_parquet"]

_KEY = "robust-recourse"
_MOST = 90_000_000  # bytes of metadata: readers refuse more than 100 million


def write_parquet(path: str | PathLike[str], found: Recourses) -> None:
    """Write ``found.to_frame()`` as a table, and the result itself into the metadata."""
    _, parquet = _pyarrow()
    # Metadata is text to other readers.
    facts = base64.b64encode(zlib.compress(written(document_of(found)).encode("ascii")))
    if len(facts) > _MOST:
        raise ValueError(
            f"These are too many recourses for one Parquet file: {len(found)}. Write them in parts, as in "
            f"found[:{len(found) // 2}].to_parquet(...), and join what is read with Recourses.concat."
        )
    table = _table(found.to_frame())
    with replacing(Path(path)) as whole, parquet.ParquetWriter(whole, table.schema) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({_KEY: facts})


def read_parquet(path: str | PathLike[str]) -> tuple[dict[str, Any], pd.DataFrame]:
    """Return the fields of the result in a file, and the table beside it."""
    arrow, parquet = _pyarrow()
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    try:
        with parquet.ParquetFile(path) as file:
            metadata, table = file.metadata.metadata or {}, file.read().to_pandas()
    except (arrow.ArrowException, OSError) as error:
        raise ValueError(f"{path} is no whole Parquet file: {error}") from error
    if _KEY.encode() not in metadata:
        raise ValueError(f"{path} holds no recourses: it was not written by to_parquet, or it was written anew since.")
    try:
        document = zlib.decompress(base64.b64decode(metadata[_KEY.encode()], validate=True)).decode("ascii")
    except (ValueError, zlib.error) as error:
        raise ValueError(f"{path} has damaged metadata: {error}") from error
    try:
        return fields_of(parsed(document)), table
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def check_table(path: str | PathLike[str], found: Recourses, table: pd.DataFrame) -> None:
    """Raise if the table in a file is not that of the recourses in its metadata."""
    arrow, parquet = _pyarrow()
    # Through a file, too, where some types lose something or get it back.
    sink = arrow.BufferOutputStream()
    parquet.write_table(_table(found.to_frame()), sink)
    expected = parquet.ParquetFile(arrow.BufferReader(sink.getvalue())).read().to_pandas()
    if _cells(table) != _cells(expected):
        raise ValueError(f"{Path(path)} has a table that is not that of its recourses: it was changed since.")


def _cells(table: pd.DataFrame) -> list[Any]:
    columns = (table.iloc[:, k] for k in range(table.shape[1]))
    return [list(map(str, table.columns)), *([json_value(value) for value in column] for column in columns)]


def _table(frame: pd.DataFrame) -> Any:
    """Return a frame as a table of Arrow; columns that it has no type for are text."""
    arrow, _ = _pyarrow()
    columns = {}
    for k in range(frame.shape[1]):
        column = frame.iloc[:, k]
        try:
            kind = arrow.array(column, from_pandas=True).type
            inner = kind.value_type if arrow.types.is_dictionary(kind) else None
            if isinstance(inner, arrow.BaseExtensionType) or (inner is not None and arrow.types.is_duration(inner)):
                raise TypeError(f"Parquet does not keep categories of the type {inner}")
            # There are types that pandas writes by a name which it does not understand when it reads.
            arrow.Table.from_pandas(pd.DataFrame({"column": column.array[:0]})).to_pandas()
        except (arrow.ArrowException, TypeError, ValueError, OverflowError, NotImplementedError):
            column = column.map(text, na_action="ignore").astype(object)
        columns[k] = column
    known = pd.DataFrame(columns, index=frame.index)
    known.columns = pd.Index(text_names(frame.columns), dtype=object)
    known.index = frame.index.set_names([None if name is None else str(name) for name in frame.index.names])
    try:
        return arrow.Table.from_pandas(known)
    except (arrow.ArrowException, TypeError, ValueError, KeyError, NotImplementedError):
        # Labels that Arrow has no type for.
        labels = [label_text(label) for label in known.index]
        return arrow.Table.from_pandas(known.set_axis(pd.Index(labels, dtype=object), axis=0))


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            f"Parquet files need pyarrow: {error}. Install it with: pip install 'robust-recourse[parquet]'"
        ) from error
    return pyarrow, pyarrow.parquet
