"""Recourses in Parquet files: a table for everybody, and behind it all that it takes to read them back."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pandas as pd

from robust_recourse._files import replacing
from robust_recourse.notices.values import json_value, label_text, text
from robust_recourse.result.blocks import read_block, write_block
from robust_recourse.result.document import text_names

if TYPE_CHECKING:
    from robust_recourse.result.recourses import Recourses

__all__ = [
    "MANIFEST",
    "check_table",
    "files_of",
    "parquet_bytes",
    "read_parquet",
    "read_parquet_file",
    "table_of",
    "write_parquet",
]

_KEY = "robust-recourse"
_CODEC = "zstd"
MANIFEST = "_manifest.json"
"""What a folder of parts says about itself, in a file that readers of Parquet leave out."""


def write_parquet(path: str | PathLike[str], found: Recourses) -> None:
    """Write ``found.to_frame()`` as a table, and the result itself between the table and the footer."""
    with replacing(Path(path)) as whole:
        whole.write_bytes(parquet_bytes(found, table_of(found.to_frame())))


def parquet_bytes(found: Recourses, table: Any, facts: Mapping[str, str] | None = None) -> bytes:
    """Return a Parquet file with a table, the result itself, and more metadata.

    The footer of a Parquet file says where its columns are, and readers look nowhere else: what is written between the
    columns and the footer is in nobody's way, and makes no footer longer.
    """
    arrow, parquet = _pyarrow()
    content = write_block(found)
    block = arrow.compress(content, codec=_CODEC, asbytes=True)
    file = io.BytesIO()
    with parquet.ParquetWriter(file, table.schema) as writer:
        writer.write_table(table)
        place = {"at": file.tell(), "bytes": len(block), "length": len(content), "checksum": _checksum(block)}
        file.write(block)
        writer.add_key_value_metadata({_KEY: json.dumps(place), **(facts or {})})
    return file.getvalue()


def files_of(path: str | PathLike[str]) -> list[Path]:
    """Return the files of a result: one, or all parts of a folder, which must be complete."""
    path = Path(path)
    if not path.is_dir():
        return [path]
    files = sorted(file for file in path.glob("*.parquet") if not file.name.startswith((".", "_")))
    manifest = path / MANIFEST
    asked = json.loads(manifest.read_text("utf-8"))["parts"] if manifest.exists() else len(files)
    if not files or len(files) != asked:
        raise ValueError(f"{path} has {len(files)} of {asked or 'its'} parts: it is not finished. Run the same again.")
    return files


def read_parquet(path: str | PathLike[str]) -> tuple[dict[str, Any], pd.DataFrame]:
    """Return the fields of the result in a file, and the table beside it."""
    _pyarrow()
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    with path.open("rb") as file:
        return read_parquet_file(file, str(path))


def read_parquet_file(file: BinaryIO, name: str) -> tuple[dict[str, Any], pd.DataFrame]:
    """Return the same of an open file; messages call it by a name."""
    arrow, parquet = _pyarrow()
    try:
        content = parquet.ParquetFile(file)
        metadata, table = content.metadata.metadata or {}, content.read().to_pandas()
    except (arrow.ArrowException, OSError) as error:
        raise ValueError(f"{name} is no whole Parquet file: {error}") from error
    if _KEY.encode() not in metadata:
        raise ValueError(f"{name} holds no recourses: it was not written by to_parquet, or it was written anew since.")
    try:
        return _fields(file, metadata[_KEY.encode()]), table
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _fields(file: BinaryIO, facts: bytes) -> dict[str, Any]:
    arrow, _ = _pyarrow()
    try:
        place = json.loads(facts)
        file.seek(place["at"])
        block = file.read(place["bytes"])
        if _checksum(block) != place["checksum"] or place["length"] < 0:
            raise ValueError("it does not have the checksum that is named")
        content = arrow.decompress(block, place["length"], codec=_CODEC, asbytes=True)
    except (KeyError, TypeError, ValueError, OverflowError, OSError) as error:
        raise ValueError(
            f"the file has no whole result any more ({error}): it was changed, or written anew by something else."
        ) from error
    return read_block(content)


def _checksum(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=16).hexdigest()


def check_table(path: str | PathLike[str], found: Recourses, table: pd.DataFrame) -> None:
    """Raise if the table in a file is not that of the recourses in its metadata."""
    arrow, parquet = _pyarrow()
    # Through a file, too, where some types lose something or get it back.
    sink = arrow.BufferOutputStream()
    parquet.write_table(table_of(found.to_frame()), sink)
    expected = parquet.ParquetFile(arrow.BufferReader(sink.getvalue())).read().to_pandas()
    if _cells(table) != _cells(expected):
        raise ValueError(f"{Path(path)} has a table that is not that of its recourses: it was changed since.")


def _cells(table: pd.DataFrame) -> list[Any]:
    columns = (table.iloc[:, k] for k in range(table.shape[1]))
    return [list(map(str, table.columns)), *([json_value(value) for value in column] for column in columns)]


def table_of(frame: pd.DataFrame, schema: Any = None) -> Any:
    """Return a frame as a table of Arrow; columns that it has no type for are text.

    With a `schema`, its types are taken: they must not depend on the rows where the table is a part of one.
    """
    arrow, _ = _pyarrow()
    if schema is not None:
        return _typed(frame, schema)
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


def _typed(frame: pd.DataFrame, schema: Any) -> Any:
    arrow, _ = _pyarrow()
    known = frame.set_axis(pd.Index(text_names(frame.columns), dtype=object), axis=1)
    texts = [
        k
        for k, name in enumerate(known.columns)
        if frame.dtypes.iloc[k] == np.dtype(object) and _is_text(schema.field(name).type)
    ]
    for k in texts:
        known.isetitem(k, frame.iloc[:, k].map(text, na_action="ignore").astype(object).array)
    known.index = frame.index.set_names([None if name is None else str(name) for name in frame.index.names])
    return arrow.Table.from_pandas(known, schema=schema)


def _is_text(kind: Any) -> bool:
    arrow, _ = _pyarrow()
    return bool(arrow.types.is_string(kind) or arrow.types.is_large_string(kind))


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError(
            f"Parquet files need pyarrow: {error}. Install it with: pip install 'robust-recourse[parquet]'"
        ) from error
    return pyarrow, pyarrow.parquet
