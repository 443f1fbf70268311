"""A frame as the cells of an HTML table: text, alignment, and which cells are headers."""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable, Collection, Hashable, Mapping
from itertools import groupby
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

__all__ = ["Cell", "Format", "body", "head"]

Format: TypeAlias = str | Callable[[Any], str]

_LONG = 32  # characters
_MISSING = "\N{EN DASH}"
_NUMBER = re.compile(r"[-+\N{MINUS SIGN}~<>≤≥]?\s*(\.?\d|∞|inf)")


class Cell(NamedTuple):
    """What stands in a cell; `scope` is empty unless it is a header."""

    text: str
    scope: str = ""
    number: bool = False
    span: int = 1

    @property
    def tag(self) -> str:
        """The element of HTML."""
        return "th" if self.scope else "td"

    @property
    def kind(self) -> str:
        """The class of the element: numbers are aligned, long text gets room."""
        return "number" if self.number else "long" if len(self.text) > _LONG else ""


def head(frame: pd.DataFrame) -> list[list[Cell]]:
    """Return the header rows: one, or two if the columns have more than one level."""
    n_labels, labels = _labels(frame)
    columns = [column if isinstance(column, tuple) else (column,) for column in frame.columns]
    is_number = [_is_number(frame.iloc[:, k]) for k in range(len(columns))]
    corner = [Cell(text, "col" if text else "") for text in labels]
    names = [
        Cell(" ".join(str(part) for part in column[1:] or column), "col", number)
        for column, number in zip(columns, is_number, strict=True)
    ]
    if frame.columns.nlevels == 1:
        return [corner + names]
    groups = [(str(name), len(list(run))) for name, run in groupby(column[0] for column in columns)]
    top = [Cell("")] * n_labels + [Cell(name, "colgroup" if name else "", span=span) for name, span in groups]
    return [top, corner + names]


def body(
    frame: pd.DataFrame, formats: Mapping[Hashable, Format], emphasis: Collection[Hashable]
) -> list[tuple[bool, list[Cell]]]:
    """Return for every row whether it is emphasised, and its cells.

    The index is the row headers; without an index of its own, the first column is.
    """
    unknown = [name for name in formats if name not in frame.columns]
    if unknown:
        known = ", ".join(repr(name) for name in frame.columns)
        raise ValueError(
            f"formats names column {unknown[0]!r}, which the table does not have. Its columns are {known}."
        )
    n_labels, _ = _labels(frame)
    columns = [frame.iloc[:, k] for k in range(frame.shape[1])]
    is_number = [_is_number(column) for column in columns]
    texts = [[_text(value, formats.get(column.name)) for value in column.tolist()] for column in columns]
    rows = []
    for i, label in enumerate(frame.index):
        parts = (label if isinstance(label, tuple) else (label,)) if n_labels else ()
        cells = [Cell(_text(part), "row") for part in parts]
        cells += [Cell(column[i], number=number) for column, number in zip(texts, is_number, strict=True)]
        first = cells[0]._replace(scope="row") if cells else Cell("")
        rows.append(((label if n_labels else first.text) in emphasis, [first, *cells[1:]]))
    return rows


def _labels(frame: pd.DataFrame) -> tuple[int, list[str]]:
    """Return the number of columns that the index fills, and their names."""
    if isinstance(frame.index, pd.RangeIndex):
        return 0, []
    return frame.index.nlevels, ["" if name is None else str(name) for name in frame.index.names]


def _text(value: Any, how: Format | None = None) -> str:
    """Write a value; what is missing is an en dash, whatever the format."""
    if value is None or (pd.api.types.is_scalar(value) and pd.isna(value)):
        return _MISSING
    if how is not None:
        return format(value, how) if isinstance(how, str) else how(value)
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        return f"{float(value):.3f}"
    return str(value)


def _is_number(column: pd.Series[Any]) -> bool:
    """Say whether a column is aligned as numbers are; text such as "0.99 ± 0.01" is, too."""
    if pd.api.types.is_bool_dtype(column):
        return False
    return pd.api.types.is_numeric_dtype(column) or all(_NUMBER.match(str(value)) for value in column.dropna())
