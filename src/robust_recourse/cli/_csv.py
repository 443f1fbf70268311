"""CSV files, checked line by line before they are read: what is wrong is told with its line."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from pandas.api.types import is_numeric_dtype

__all__ = ["EXACTLY", "harmless", "line_of", "read_csv", "write_csv"]

# Until pandas 3.1 numbers are read to the last bit on request only, and since then always.
_OLD = tuple(int(part) for part in pd.__version__.split(".")[:2]) < (3, 1)
EXACTLY: dict[str, Any] = {"float_precision": "round_trip"} if _OLD else {}

_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
_OTHER_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


def read_csv(
    path: Path, separator: str, missing: Sequence[str] | None, texts: Collection[str], *, fewest: int = 1
) -> pd.DataFrame:
    """Read a table.

    Parameters
    ----------
    path : Path
        The file, in UTF-8, with the names of the columns in its first line.
    separator : str
        What stands between two fields.
    missing : sequence of str, optional
        What stands for a missing value; what pandas takes for one if None.
    texts : collection of str
        Columns that hold text, also where all of it looks like numbers.
    fewest : int
        How many rows there must be.
    """
    names = _check(path, separator, fewest)
    try:
        frame: pd.DataFrame = pd.read_csv(
            path,
            sep=separator,
            encoding="utf-8-sig",
            dtype=dict.fromkeys([name for name in names if name in texts], str),
            keep_default_na=missing is None,
            na_values=None if missing is None else list(missing),
            index_col=False,
            low_memory=False,
            **EXACTLY,
        )
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
    return frame


def harmless(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a table in which texts that a spreadsheet would run as formulas begin with a quote, names of columns, too.

    >>> harmless(pd.DataFrame({"=a": ["=1+1", "-5", "a=b"], "b": [-1, 2, 3]})).to_dict("list")
    {"'=a": ["'=1+1", '-5', 'a=b'], 'b': [-1, 2, 3]}
    """
    texts = [name for name in frame.columns if not is_numeric_dtype(frame[name])]
    written = frame.astype(dict.fromkeys(texts, object))
    for name in texts:
        written[name] = written[name].map(_quoted)
    return written.rename(columns=_quoted)


def write_csv(frame: pd.DataFrame, path: Path, separator: str) -> None:
    """Write a table; every text comes back as it is."""
    texts = frame.select_dtypes(exclude=["number", "bool"])
    returns = any("\r" in str(name) for name in frame.columns) or any(
        "\r" in cell for name in texts for cell in texts[name] if isinstance(cell, str)
    )
    # Before Python 3.13 a carriage return alone gets no quotes, and what follows it would begin a line.
    frame.to_csv(path, index=False, sep=separator, quoting=csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL)


def _quoted(value: Any) -> Any:
    if not isinstance(value, str) or len(value) < 2 or not value.startswith(_FORMULAS):
        return value  # a single sign is no formula
    try:
        float(value)
    except ValueError:
        return f"'{value}"
    return value


def line_of(path: Path, separator: str, position: int) -> int:
    """Return the line on which the row with this number, counted from 0, ends."""
    for number, (line, _) in enumerate(_records(path, separator)):
        if number == position + 1:  # the first record is the header
            return line
    raise ValueError(f"{path} has no row {position}.")


def _check(path: Path, separator: str, fewest: int) -> list[str]:
    """Return the names of the columns; all lines must have as many fields."""
    records = _records(path, separator)
    try:
        _, names = next(records, (0, []))
        if not names:
            raise ValueError(f"{path} is empty: it needs a line with the names of the columns, and rows.")
        _check_names(path, names, separator)
        n_rows = 0
        for line, fields in records:
            n_rows += 1
            if len(fields) != len(names):
                raise ValueError(f"{path}, line {line}: there are {len(fields)} fields, the header has {len(names)}.")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not in UTF-8 ({error.reason}, byte {error.start}): save it as UTF-8.") from error
    if n_rows < fewest:
        raise ValueError(f"{path} has no rows, only the names of the columns.")
    return names


def _check_names(path: Path, names: list[str], separator: str) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if "" in names:
        raise ValueError(
            f"{path}: column {names.index('') + 1} has no name. Give it one, or write the table without the index of "
            "its rows (index=False in pandas)."
        )
    if twice:
        raise ValueError(f"{path} has the column {twice[0]!r} twice.")
    others = [called for sign, called in _OTHER_SEPARATORS.items() if sign in names[0] and sign != separator]
    if len(names) == 1 and others:
        raise ValueError(
            f"{path} has only one column, {names[0]!r}. If its fields are separated by {others[0]}, say so with "
            "--separator."
        )


def _records(path: Path, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines that are not blank, with their numbers."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader: Any = csv.reader(file, delimiter=separator, strict=True)
        try:
            for fields in reader:
                if len(fields) > 1 or (fields and fields[0].strip()):
                    yield reader.line_num, fields
        except csv.Error as error:
            raise ValueError(f"{path}, line {reader.line_num}: {error}.") from error
