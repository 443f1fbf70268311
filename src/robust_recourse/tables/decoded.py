"""Rows of a table with other values: numbers and codes as they are, and a frame only for whoever wants one.

A search asks about thousands of rows. To write their codes as texts into a frame, of which an encoder then makes codes
again, would take longer than most models do to answer.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from robust_recourse._typing import FloatArray, IntArray
from robust_recourse.tables.table import MISSING, Table
from robust_recourse.tables.unpacked import OfFrame, Unpacked

__all__ = ["decoded"]

_PLAIN = (np.dtype(float), np.dtype(np.int64), np.dtype(bool))


def decoded(table: Table, values: FloatArray, rows: IntArray) -> Any:
    """Return rows as a model gets them, as :meth:`Table.decode` does, but unpacked where that is a frame of pandas.

    Parameters
    ----------
    table : Table
        The table.
    values : ndarray of shape (n, p)
        Numbers and codes that its rows can hold. They may not change any more.
    rows : ndarray of int, shape (n,)
        Which rows of the table have these values.
    """
    if table.asked is None or table.native is not None:
        return table.decode(values, rows)
    return Unpacked(_OfTable(table, values, rows))


class _Recipe(NamedTuple):
    """How some columns become an array of numbers."""

    places: IntArray
    coded: list[tuple[int, FloatArray]]  # where categories are among them, and what number each is
    kept: list[tuple[int, FloatArray]]  # where columns are that never change, and their cells
    order: Literal["C", "F"]  # in which a frame would be unpacked, which decides how products are rounded


class _OfTable:
    """Rows of a table with other values."""

    def __init__(self, table: Table, values: FloatArray, rows: IntArray) -> None:
        self._table, self._values, self._rows = table, values, rows

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def columns(self) -> pd.Index[Any]:
        """The names of the columns."""
        return self._table.names

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The types of the columns."""
        return self._table.kinds

    def frame(self) -> pd.DataFrame:
        """Return the rows as a frame."""
        frame: pd.DataFrame = self._table.decode(self._values, self._rows)
        return frame

    def numbers(self, columns: tuple[Hashable, ...]) -> Any:
        """Return some columns of numbers and booleans as an array, None if there are others among them."""
        table, key = self._table, ("numbers", columns)
        if key not in table.unpacked:
            table.unpacked[key] = _recipe(table, columns)
        recipe: _Recipe | None = table.unpacked[key]
        if recipe is None:
            return OfFrame(self.frame()).numbers(columns)
        cells = self._values[:, recipe.places]
        codes = cells[:, [place for place, _ in recipe.coded]].astype(np.int64)
        fixed = [place for place, _ in recipe.kept]
        moved = fixed and (cells[:, fixed] != table.values[np.ix_(self._rows, recipe.places[fixed])]).any()
        if moved or (codes < 0).any():  # of no category of the training rows
            return OfFrame(self.frame()).numbers(columns)
        for (place, numbers), code in zip(recipe.coded, codes.T, strict=True):
            cells[:, place] = numbers[code]
        for place, numbers in recipe.kept:
            cells[:, place] = numbers[self._rows]
        if table.gaps:
            cells[table.missing[np.ix_(self._rows, recipe.places)]] = np.nan
        return np.asarray(cells, order=recipe.order)

    def codes(self, column: Hashable) -> tuple[Any, list[Any]]:
        """Return the values of a column as codes, -1 where there is none, and the values that these stand for."""
        place = self._table.places[column]
        known = self._table.columns[place]
        if known.categorical:
            codes = self._values[:, place].astype(np.int64)
            if (codes >= int(MISSING)).all():
                return codes, list(known.values)
        elif known.kind == "fixed":
            kept, key = self._table.unpacked, ("codes", column)
            if key not in kept:
                assert self._table.asked is not None
                kept[key] = OfFrame(self._table.asked).codes(column)
            codes, values = kept[key]
            return codes[self._rows], values
        return OfFrame(self.frame()).codes(column)


def _recipe(table: Table, columns: tuple[Hashable, ...]) -> _Recipe | None:
    """Return how columns become numbers; None if only a frame knows."""
    places = np.array([table.places[column] for column in columns])
    if not all(table.kinds[k] in _PLAIN for k in places):
        return None
    assert table.asked is not None
    coded, kept = [], []
    for place, k in enumerate(places):
        column = table.columns[k]
        if column.categorical:
            coded.append((place, np.array(column.values, dtype=float)))
        elif column.kind == "fixed":
            kept.append((place, table.asked.iloc[:, k].to_numpy(dtype=float)))
    return _Recipe(places, coded, kept, "C" if table.is_array and len(places) == len(table.kinds) else "F")
