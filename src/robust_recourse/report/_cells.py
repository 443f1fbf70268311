"""A frame as the cells of an HTML table: text, alignment, and which cells are headers."""

from __future__ import annotations

import numbers
import re
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import replace
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from robust_recourse.notices.cells import Cell, Grid

__all__ = ["Format", "grid_of"]

Format: TypeAlias = str | Callable[[Any], str]

_MISSING = "\N{EN DASH}"
_NUMBER = re.compile(r"[-+\N{MINUS SIGN}~<>≤≥]?\s*(\.?\d|∞|inf)")


def grid_of(
    frame: pd.DataFrame, caption: str, formats: Mapping[Hashable, Format], emphasis: Collection[Hashable]
) -> Grid:
    """Return a frame as a table of a page: one row of headers, or two if the columns have more than one level.

    The index is the row headers; without an index of its own, the first column is. Rows whose header is in `emphasis`
    are emphasised.
    """
    unknown = [name for name in formats if name not in frame.columns]
    if unknown:
        known = ", ".join(repr(name) for name in frame.columns)
        raise ValueError(
            f"formats names column {unknown[0]!r}, which the table does not have. Its columns are {known}."
        )
    columns = [frame.iloc[:, k] for k in range(frame.shape[1])]
    is_number = [_is_number(column) for column in columns]
    texts = [[_text(value, formats.get(column.name)) for value in column.tolist()] for column in columns]
    counted = isinstance(frame.index, pd.RangeIndex)
    labels = [] if counted else [label if isinstance(label, tuple) else (label,) for label in frame.index]
    body, emphasised = [], []
    for i in range(len(frame)):
        cells = [] if counted else [Cell(_text(part), "row") for part in labels[i]]
        cells += [Cell(column[i], number=number) for column, number in zip(texts, is_number, strict=True)]
        body.append([replace(cell, scope="row") if k == 0 else cell for k, cell in enumerate(cells)])
        header = frame.index[i] if not counted else cells[0].text if cells else ""
        if header in emphasis:
            emphasised.append(i)
    return Grid(caption, _head(frame, is_number, counted), body, emphasised)


def _head(frame: pd.DataFrame, is_number: list[bool], counted: bool) -> list[list[Cell]]:
    columns = [column if isinstance(column, tuple) else (column,) for column in frame.columns]
    labels = [] if counted else ["" if name is None else str(name) for name in frame.index.names]
    names = [Cell(text, "col" if text else "") for text in labels]
    names += [
        Cell(" ".join(str(part) for part in column[1:] or column), "col", number)
        for column, number in zip(columns, is_number, strict=True)
    ]
    if frame.columns.nlevels == 1:
        return [names]
    groups = [(str(name), len(list(run))) for name, run in groupby(column[0] for column in columns)]
    top = [Cell("")] * len(labels) + [Cell(name, "colgroup" if name else "", span=span) for name, span in groups]
    return [top, names]


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
