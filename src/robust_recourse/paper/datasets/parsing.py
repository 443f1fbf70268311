"""Turn the content of a file into columns, or say which column and row cannot be read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse.paper.datasets.files import DatasetError, Found

__all__ = ["categories", "numbers", "read_text"]


def read_text(file: Found, columns: Sequence[str], *, separator: str, header: bool = True) -> pd.DataFrame:
    """Read these columns as text; a missing entry is the empty text.

    Parameters
    ----------
    file : Found
        The file.
    columns : sequence of str
        Columns to return. A file without a header must have exactly these.
    separator : str
        What separates entries.
    header : bool
        Whether the first line names the columns.
    """
    options: dict[str, Any] = {"sep": separator, "dtype": str, "keep_default_na": False, "encoding": "utf-8-sig"}
    try:
        table: pd.DataFrame = pd.read_csv(BytesIO(file.content), header=0 if header else None, **options)
    except ValueError as error:  # pandas' own parser errors are of this class, as are those of decoding
        raise DatasetError(f"{file.path} cannot be read as a table: {' '.join(str(error).split())}.") from error
    if not isinstance(table.index, pd.RangeIndex):
        raise DatasetError(f"{file.path} has rows with more entries than the {table.shape[1]} columns of its header.")
    if not header:
        if table.shape[1] != len(columns):
            raise DatasetError(f"{file.path} must have {len(columns)} columns without a header, got {table.shape[1]}.")
        table.columns = pd.Index(columns)
    missing = [column for column in columns if column not in table.columns]
    if missing:
        there = ", ".join(map(str, table.columns))
        raise DatasetError(
            f"{file.path} lacks the column(s) {', '.join(missing)}; it has {there}. Rename the columns back, or remove "
            "the file and get the original."
        )
    if table.empty:
        raise DatasetError(f"{file.path} has no rows.")
    return table[list(columns)]


def numbers(text: pd.Series, file: Found, *, whole: bool = False, missing: Sequence[str] = ()) -> pd.Series:
    """Return text as floats, without dollar signs and commas.

    Parameters
    ----------
    text : Series
        The column.
    file : Found
        Where it comes from, for messages.
    whole : bool
        Whether only integers are allowed.
    missing : sequence of str
        What stands for a missing entry, which becomes NaN.
    """
    plain = text.str.strip()
    values = pd.to_numeric(plain, errors="coerce").astype(float)
    priced = values.isna()
    if priced.any():
        bare = plain[priced].str.replace("[$, ]", "", regex=True)
        values[priced] = pd.to_numeric(bare, errors="coerce").astype(float)
    bad = ~plain.isin(list(missing)) & ~np.isfinite(values)
    if bad.any():
        raise DatasetError(f"{_place(text, bad, file)} is not a number.")
    bad = values.notna() & (values != values.round())
    if whole and bad.any():
        raise DatasetError(f"{_place(text, bad, file)} is not an integer.")
    return values


def categories(text: pd.Series, meanings: Mapping[str, str], file: Found) -> pd.Series:
    """Return the meaning of every code, as text."""
    plain = text.str.strip()
    bad = ~plain.isin(list(meanings))
    if bad.any():
        raise DatasetError(f"{_place(text, bad, file)} is not in the code book, which has {', '.join(meanings)}.")
    return plain.map(dict(meanings))


def _place(text: pd.Series, bad: pd.Series, file: Found) -> str:
    row = int(np.flatnonzero(bad)[0])
    return f"{file.path}: column {text.name}, row {row} (from 0): {str(text.iloc[row])!r}"
