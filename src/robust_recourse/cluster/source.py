"""The input of a data set: which files, which parts of them, and the types that the whole table has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from robust_recourse._files import part_key
from robust_recourse.cluster.places import checksum, opened
from robust_recourse.cluster.reading import arrow, read_rows
from robust_recourse.cluster.types import Types, TypesBuilder

__all__ = ["File", "Part", "Source", "find_source", "read_part"]


@dataclass(frozen=True)
class File:
    """A file of the input.

    Attributes
    ----------
    name : str
        Its path or URL.
    fingerprint : str
        The same for the same content.
    rows : int
        Number of its rows; 0 if it cannot be read.
    broken : str
        Why it cannot be read; empty if it can.
    path : str
        The Parquet file with its rows: itself, if it is one.
    """

    name: str
    fingerprint: str
    rows: int
    broken: str
    path: str


@dataclass(frozen=True)
class Part:
    """Some rows of a file, which are explained together.

    Attributes
    ----------
    name : str
        The name of its result, which follows from what it is.
    file, path : str
        The path or URL of the file, and of the Parquet file with its rows.
    first, rows : int
        Its first row in the file, and the number of its rows.
    before : int
        Number of rows of the whole table before it.
    content : str
        The same for parts of the same content of a file.
    """

    name: str
    file: str
    path: str
    first: int
    rows: int
    before: int
    content: str

    def __str__(self) -> str:
        return f"{self.file}, rows {self.first} to {self.first + self.rows - 1}"


@dataclass(frozen=True)
class Source:
    """The input of a data set.

    Attributes
    ----------
    files : tuple of File
        All files, in order.
    types : Types
        What the columns of the whole table are.
    """

    files: tuple[File, ...]
    types: Types

    @property
    def rows(self) -> int:
        """Number of rows in all files that can be read."""
        return sum(file.rows for file in self.files)

    @property
    def broken(self) -> dict[str, str]:
        """Files that cannot be read, with the reasons."""
        return {file.name: file.broken for file in self.files if file.broken}

    def parts(self, part_rows: int, *facts: Any) -> list[Part]:
        """Cut the input into parts; `facts` are what else their results depend on."""
        found, before = [], 0
        for number, file in enumerate(self.files):
            content = part_key(facts, self.types.digest, file.fingerprint)
            for first in range(0, file.rows, part_rows):
                rows = min(part_rows, file.rows - first)
                key = part_key(content, first, rows, before + first)[:16]
                name = f"part-{number:06d}-{first:012d}-{key}.parquet"
                found.append(Part(name, file.name, file.path, first, rows, before + first, content))
            before += file.rows
        return found


def find_source(
    names: Sequence[str],
    expected: Sequence[str] | None = None,
    *,
    index: str | None = None,
    drop: Sequence[str] = (),
    converted: Mapping[str, str] | None = None,
) -> Source:
    """Look at all files of the input: rows, types, gaps and categories. Nothing but metadata is kept.

    Parameters
    ----------
    names : sequence of str
        The files.
    expected : sequence of str or None
        The columns that a file must have; None for those of the first.
    index : str, optional
        The column that names the people.
    drop : sequence of str
        Columns that are left out.
    converted : mapping, optional
        The Parquet files with the rows of files that are none.

    Raises
    ------
    ValueError
        If no file can be read.
    """
    builder = TypesBuilder(expected, index, tuple(drop))
    files = [_looked_at(name, (converted or {}).get(name, name), builder) for name in names]
    if all(file.broken for file in files):
        raise ValueError(f"{files[0].name}: {files[0].broken}" + " No other file is better." * (len(files) > 1))
    return Source(tuple(files), builder.types(several=len(files) > 1))


def _looked_at(name: str, path: str, builder: TypesBuilder) -> File:
    pyarrow, parquet = arrow()
    fingerprint = checksum(name)
    try:
        with opened(path) as content, parquet.ParquetFile(content) as file:
            builder.add(file)
            return File(name, fingerprint, file.metadata.num_rows, "", path)
    except (pyarrow.ArrowException, OSError, ValueError, TypeError) as error:
        why = " ".join(str(error).split())
        if path != name and isinstance(error, pyarrow.ArrowException):
            with opened(path) as content:
                why = content.read().decode("utf-8", "replace")
        elif isinstance(error, pyarrow.ArrowException | OSError):
            why = f"it is no whole Parquet file ({why})."
        return File(name, fingerprint, 0, why, path)


def read_part(types: Types, part: Part) -> pd.DataFrame:
    """Return the rows of a part, in the types of the whole table."""
    return types.frame(read_rows(part.path, part.first, part.rows, types.columns, part.content), part.before)
