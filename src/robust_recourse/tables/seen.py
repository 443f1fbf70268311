"""What the training rows had in every column, and what other rows have that is none of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.tables.columns import holds_numbers
from robust_recourse.tables.table import Table

__all__ = ["Seen"]

_FEWEST = 10  # values of a column that say something about those that it lacks
_WIDTHS = 3.0  # of the range of a number: what is farther away than that is far outside
_WRITTEN = 1e-14  # of numbers, relative: what is lost by writing them
_ROUNDING = 1e-6  # of numbers, relative: it makes no other value
_COLUMNS, _MOST = 10, 3  # columns that a message names, and values of a column and rows of a value
_LONGEST = 40  # signs of a value in a message


@dataclass(frozen=True, eq=False)
class Seen:
    r"""What training rows have in their columns.

    A category is unseen if no training row has it, unless most rows have one of their own. A number :math:`v` is unseen
    if it is

    - a third one, in a column that has only two, or is 0, or 1, everywhere,
    - no whole number, in a column that has only such,
    - far outside: :math:`\max(l - v, v - u) > 3 w`, with :math:`l` the smallest and :math:`u` the largest one, and
      :math:`w = u - l`, or :math:`|l|` if they are the same.

    Numbers are judged by columns with at least ten of them; a column of integers has whole numbers in any case.

    Attributes
    ----------
    low, high : ndarray of shape (p,)
        Smallest and largest number; NaN where nothing can be said.
    whole : ndarray of bool, shape (p,)
        Whether all numbers are whole.
    few : ndarray of bool, shape (p,)
        Whether there are no other numbers than `low` and `high`.
    codes : mapping
        By the positions of columns of categories, which of them there are.
    constants : mapping
        By the positions of columns of anything else that have one value only, this value.
    """

    low: FloatArray
    high: FloatArray
    whole: BoolArray
    few: BoolArray
    codes: Mapping[int, BoolArray]
    constants: Mapping[int, Any]

    @classmethod
    def of(cls, table: Table) -> Seen:
        """Learn what training rows have."""
        low, high = np.full((2, len(table.columns)), np.nan)
        whole, few = np.zeros((2, len(table.columns)), dtype=bool)
        codes, constants = {}, {}
        for k, column in enumerate(table.columns):
            known = np.flatnonzero(~table.missing[:, k])
            values = table.values[known, k]
            cells = None if table.asked is None else table.asked.iloc[known, k]
            if column.categorical:
                there = np.isin(np.arange(len(column.values)), values)
                if np.count_nonzero(there) <= max(_FEWEST, 0.5 * len(known)):
                    codes[k] = there
            elif cells is None or column.kind == "number" or holds_numbers(cells):
                whole[k] = cells is not None and types.is_integer_dtype(cells.dtype)
                if len(known) >= _FEWEST:
                    low[k], high[k] = values.min(), values.max()
                    whole[k] |= not _broken(values).any()
                    few[k] = not _between(values, low[k], high[k]).any() and (low[k] < high[k] or low[k] in (0.0, 1.0))
            elif len(known) and (cells == cells.iloc[0]).all():
                constants[k] = cells.tolist()[0]
        return cls(low, high, whole, few, codes, constants)

    def unseen(self, table: Table, name: str) -> str:
        """Name what other rows have, with columns, values and rows; empty if there is nothing.

        Parameters
        ----------
        table : Table
            The rows.
        name : str
            What the message calls them.
        """
        found = [_told(table, k, rows, known) for k, rows, known in self._find(table)]
        if not found:
            return ""
        return f"{name} has values that no training row has: {_some(found, '; ', ' columns', _COLUMNS)}."

    def _find(self, table: Table) -> Iterator[tuple[int, IntArray, str]]:
        """Yield columns, the rows in which they have something else, and what the training rows have."""
        for k, known in self.codes.items():
            # The codes of what is missing, and of what no training row has, are the last place and that before.
            new = ~np.append(known, (False, True))[table.values[:, k].astype(np.int64)]
            if new.any():
                values = [value for value, seen in zip(table.columns[k].values, known, strict=True) if seen]
                yield k, np.flatnonzero(new), _some([_shown(value) for value in values], ", ")
        for k, value in self.constants.items():
            assert table.asked is not None
            new = (table.asked.iloc[:, k].astype(object) != value).to_numpy() & ~table.missing[:, k]
            if new.any():
                yield k, np.flatnonzero(new), _shown(value)
        for cells, known_in in self._numbers(table.values):
            cells &= ~table.missing
            for k in np.flatnonzero(cells.any(axis=0)).tolist():
                yield k, np.flatnonzero(cells[:, k]), known_in(k)

    def _numbers(self, values: FloatArray) -> Iterator[tuple[BoolArray, Callable[[int], str]]]:
        """Yield which numbers are unseen, and a function that says what the training rows have in such a column."""

        def ends(k: int, between: str) -> str:
            return between.join(_shown(end) for end in dict.fromkeys((self.low[k], self.high[k])))

        with np.errstate(over="ignore"):
            other = self.few & _between(values, self.low, self.high)
            width = np.where(self.low < self.high, self.high - self.low, np.abs(self.low))
            far = ~self.few & (np.maximum(self.low - values, values - self.high) > _WIDTHS * width)
        yield other, lambda k: ends(k, ", ")
        yield far, lambda k: ends(k, " to ")
        yield self.whole & ~self.few & ~far & _broken(values), lambda _: "whole numbers"


def _between(values: FloatArray, low: Any, high: Any) -> BoolArray:
    """Which numbers are neither of two."""
    apart = [np.abs(values - end) > _ROUNDING * np.abs(end) for end in (low, high)]
    return np.asarray(apart[0] & apart[1])


def _broken(values: FloatArray) -> BoolArray:
    """Which numbers are not whole."""
    return np.asarray(np.abs(values - np.rint(values)) > _ROUNDING * np.maximum(1.0, np.abs(values)))


def _told(table: Table, k: int, rows: IntArray, known: str) -> str:
    """Name the values of a column, each with its rows."""
    cells = table.values[rows, k] if table.asked is None else table.asked.iloc[rows, k].astype(object)
    codes, values = pd.factorize(cells)
    places = _places(table)
    named = [_placed(value, rows[codes == code], places) for code, value in enumerate(values[:_MOST])]
    left = f" and {len(values) - _MOST} more values" if len(values) > _MOST else ""
    return f"column {table.columns[k].name!r}: {', '.join(named)}{left} (training rows have {known})"


def _places(table: Table) -> Callable[[int], str]:
    """Return what names a row: its number, and its label if a frame has some that are no numbers of rows."""
    index = getattr(table.given, "index", None)
    if not isinstance(index, pd.Index) or index.equals(pd.RangeIndex(len(index))):
        return str
    return lambda row: f"{row} (label {_shown(index[row])})"


def _placed(value: Any, rows: IntArray, places: Callable[[int], str]) -> str:
    return f"{_shown(value)} in row{'s' if len(rows) > 1 else ''} {_some([places(int(row)) for row in rows], ', ')}"


def _some(parts: Sequence[str], between: str, what: str = "", most: int = _MOST) -> str:
    """Put the first parts together, and say how many are left."""
    shown = between.join(parts[:most])
    return shown if len(parts) <= most else f"{shown} and {len(parts) - most} more{what}"


def _shown(value: Any) -> str:
    if isinstance(value, float | np.floating):
        # Doubles that were once recorded in single precision are shown as they were recorded.
        full, short = f"{value:.10g}", f"{value:.7g}"
        recorded = "e" not in short and math.isclose(np.float32(short), value, rel_tol=_WRITTEN)
        return short if recorded and len(short) < len(full) else full
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."
