"""CSV files as Parquet files: read in pieces, in the types that each column has as a whole."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse.cluster.places import Place, opened
from robust_recourse.cluster.reading import arrow

__all__ = ["as_parquet", "is_text"]

_ROWS = 65_536  # that are read together
# Until pandas 3.1 numbers are read to the last bit on request only, and since then always.
_OLD = tuple(int(part) for part in pd.__version__.split(".")[:2]) < (3, 1)
_EXACTLY: dict[str, Any] = {"float_precision": "round_trip"} if _OLD else {}


def is_text(name: str) -> bool:
    """Whether a file is one of text."""
    return name.lower().endswith(".csv")


@contextmanager
def as_parquet(
    names: Sequence[str],
    place: Place,
    texts: Collection[str],
    separator: str = ",",
    missing: Sequence[str] | None = None,
) -> Iterator[dict[str, str]]:
    """Give Parquet files with what ``pandas.read_csv`` reads from files of text, for as long as they are needed.

    In place of one that cannot be read there is a file that says why.

    Parameters
    ----------
    names : sequence of str
        Files, of text or not.
    place : Place
        A folder that workers see, too.
    texts : collection of str
        Columns that hold text, also where all of it looks like numbers.
    separator : str
        What stands between two fields.
    missing : sequence of str, optional
        What stands for a missing value; what pandas takes for one if None.
    """
    options: dict[str, Any] = {
        "sep": separator,
        "encoding": "utf-8-sig",
        "keep_default_na": missing is None,
        "na_values": None if missing is None else list(missing),
        "index_col": False,
        **_EXACTLY,
    }
    written: dict[str, str] = {}
    try:
        for number, name in enumerate(name for name in names if is_text(name)):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "table.parquet")
                _convert(name, path, texts, options)
                place.make()
                written[name] = place.path(f"_input-{number:06d}")
                place.write(f"_input-{number:06d}", path.read_bytes())
        yield written
    finally:
        for path_written in written.values():
            place.remove(path_written.rsplit("/", 1)[-1])


def _convert(name: str, path: Path, texts: Collection[str], options: dict[str, Any]) -> None:
    pyarrow, parquet = arrow()
    writer = None
    try:
        types = _types(name, texts, options)
        for chunk in _chunks(name, {**options, "dtype": types}):
            table = pyarrow.Table.from_pandas(chunk, preserve_index=False)
            if not len(chunk):  # whatever the other files say of these columns
                table = pyarrow.table({name: pyarrow.nulls(0) for name in table.column_names})
            writer = writer or parquet.ParquetWriter(path, table.schema)
            writer.write_table(table.cast(writer.schema))
    except ValueError as error:
        # No Parquet file either: whoever looks at it reads why.
        path.write_text(f"{error}", encoding="utf-8")
    finally:
        if writer is not None:
            writer.close()


def _chunks(name: str, options: dict[str, Any]) -> Iterator[pd.DataFrame]:
    with opened(name) as file:
        chunks: Iterator[pd.DataFrame] | None = None
        while True:
            try:
                with warnings.catch_warnings():
                    # Lines of other lengths are no small matter: cells would be lost.
                    warnings.simplefilter("error", pd.errors.ParserWarning)
                    chunks = pd.read_csv(file, chunksize=_ROWS, **options) if chunks is None else chunks
                    chunk = next(chunks, None)
            except (ValueError, pd.errors.ParserWarning) as error:
                raise ValueError(f"it is no table that can be read: {' '.join(str(error).split())}") from error
            if chunk is None:
                return
            yield chunk


def _types(name: str, texts: Collection[str], options: dict[str, Any]) -> dict[str, Any]:
    """Return the type that every column has as a whole."""
    found: dict[str, Any] = {}
    for chunk in _chunks(name, options):
        for column, dtype in chunk.dtypes.items():
            known = found.get(str(column), dtype)
            numbers = all(isinstance(one, np.dtype) and one.kind in "iuf" for one in (known, dtype))
            if known != dtype:
                dtype = np.result_type(known, dtype) if numbers else np.dtype(object)
            found[str(column)] = dtype
    return {name: str if name in texts or dtype == np.dtype(object) else dtype for name, dtype in found.items()}
