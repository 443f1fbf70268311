"""Rows as they were given, as numbers, and as a model wants them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import BoolArray, FloatArray, IntArray
from robust_recourse.tables.columns import Column
from robust_recourse.tables.types import alike, cast, decimal_places, gapped, replaced_in

__all__ = ["MISSING", "UNSEEN", "Table"]

MISSING, UNSEEN = -1.0, -2.0
"""Codes of no category, and of one that no training row has."""


@dataclass(frozen=True, eq=False)
class Table:
    """Rows that were read with a schema.

    Attributes
    ----------
    columns : tuple of Column
        What the columns hold.
    values : ndarray of shape (m, p)
        Numbers as they are, categories as codes, 0 where there is no number.
    missing : ndarray of bool, shape (m, p)
        Which cells are empty.
    asked : DataFrame or None
        The rows with the columns and types that a model gets; None if it gets arrays.
    given : DataFrame or None
        The rows as they were given; None for an array.
    back : callable or None
        Turns a frame of pandas into one like that which was given; None for frames of pandas, and for arrays.
    native : callable or None
        Turns frames into those that a model gets; None for frames of pandas.
    trained : tuple
        Types of the columns of the training rows; empty if the model gets arrays.
    """

    columns: tuple[Column, ...]
    values: FloatArray
    missing: BoolArray
    asked: pd.DataFrame | None
    given: pd.DataFrame | None
    back: Any
    native: Any
    trained: tuple[Any, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: IntArray) -> Table:
        """Keep some of the rows."""
        asked, given = (None if part is None else part.iloc[rows] for part in (self.asked, self.given))
        return replace(self, values=self.values[rows], missing=self.missing[rows], asked=asked, given=given)

    @property
    def order(self) -> IntArray:
        """Where the columns, in the order in which they were given, are in the table."""
        if self.asked is None or self.given is None:
            return np.arange(len(self.columns))
        return self.asked.columns.get_indexer(self.given.columns)

    @cached_property
    def _arrays(self) -> list[Any]:
        assert self.asked is not None
        return [self.asked.iloc[:, k].array for k in range(len(self.columns))]

    @cached_property
    def names(self) -> pd.Index[Any]:
        """The names of the columns that a model gets."""
        assert self.asked is not None
        return self.asked.columns

    @cached_property
    def kinds(self) -> tuple[Any, ...]:
        """The types of the columns that a model gets."""
        assert self.asked is not None
        return tuple(self.asked.dtypes)

    @cached_property
    def places(self) -> dict[Hashable, int]:
        """Where the columns are that a model gets, by name."""
        return {name: k for k, name in enumerate(self.names)}

    @cached_property
    def gaps(self) -> bool:
        """Whether some cells are empty."""
        return bool(self.missing.any())

    @cached_property
    def unpacked(self) -> dict[Any, Any]:
        """What is known of how columns are unpacked, see :mod:`robust_recourse.tables.decoded`."""
        return {}

    @cached_property
    def is_array(self) -> bool:
        """Whether all columns are numbers in double precision, so that a frame is one array."""
        doubles = all(kind == np.dtype(float) for kind in self.kinds)
        return doubles and all(column.kind == "number" for column in self.columns)

    @cached_property
    def _categories(self) -> list[Any]:
        """The categories of every column in the type that the column has."""
        return [_typed(column, array) for column, array in zip(self.columns, self._arrays, strict=True)]

    def decode(self, values: FloatArray, rows: IntArray) -> Any:
        """Return rows as the model gets them: those of the table at `rows`, with other `values`.

        A cell whose value is that of the table keeps its bits, and so does an empty one.
        """
        if self.asked is None:
            return values
        if self.is_array:
            cells = values.copy()
            cells[self.missing[rows]] = np.nan
            frame = pd.DataFrame(cells, columns=self.asked.columns, copy=False)
        else:
            arrays = (_series(array) if _untyped(array) else array for array in self._decoded(values, rows))
            frame = pd.DataFrame(dict(enumerate(arrays)), copy=False)
            frame.columns = self.asked.columns
        return frame if self.native is None else self.native(frame)

    def _decoded(self, values: FloatArray, rows: IntArray) -> list[Any]:
        changed = (values != self.values[rows]) & ~self.missing[rows]
        return [
            _replaced(array, rows, changed[:, k], values[:, k], categories)
            for k, (array, categories) in enumerate(zip(self._arrays, self._categories, strict=True))
        ]

    def given_at(self, rows: IntArray) -> Any:
        """Return rows as they were given; if the model gets arrays, all columns are floats."""
        if self.given is None:
            return self.values[rows]
        if self.asked is None:
            frame = pd.DataFrame(self.values[rows], index=self.given.index[rows], columns=self.given.columns)
        else:
            frame = self.given.iloc[rows]
        return frame if self.back is None else self.back(frame)

    def restore(self, values: FloatArray, rows: IntArray, found: BoolArray) -> Any:
        """Return rows as they were given, with the same index and other `values`; empty where not `found`.

        The types are those that were given, or the next ones that hold gaps and everything that a recourse may say,
        see :func:`gapped`; they do not depend on the rows. If the model gets arrays, all columns are floats.
        """
        if self.asked is None:
            cells = np.where(found[:, None], values, np.nan)
            if self.given is None:
                return cells
            frame = pd.DataFrame(cells, index=self.given.index[rows], columns=self.given.columns)
        else:
            assert self.given is not None
            changed = (values != self.values[rows]) & ~self.missing[rows] & found[:, None]
            series = (self._restored(k, values[:, k], rows, changed[:, k]) for k in self.order)
            frame = pd.DataFrame(dict(enumerate(series if found.all() else (part.where(found) for part in series))))
            frame.columns = self.given.columns
            frame.index = self.given.index[rows]
        return frame if self.back is None else self.back(frame)

    def _restored(self, k: int, values: FloatArray, rows: IntArray, changed: BoolArray) -> pd.Series:
        assert self.given is not None
        own, asked, dtype = self.given.iloc[:, self._places[k]].array, self._arrays[k], self._types[k]
        if alike(own.dtype, asked.dtype):
            # The type holds all of its own values: nothing to check.
            return _series(_replaced(asked, rows, changed, values, self._categories[k])).astype(dtype)
        cells = cast(_series(own.take(rows)), dtype)
        if not changed.any():
            return cells
        new = _replaced(asked, rows[changed], changed[changed], values[changed], self._categories[k])
        if decimal_places(new.dtype) is not None and decimal_places(dtype) is None:
            new = new.astype(float)
        return replaced_in(cells, changed, new.astype(object))

    @cached_property
    def _places(self) -> IntArray:
        """Where the columns are in the table that was given."""
        return np.argsort(self.order)

    @cached_property
    def _types(self) -> list[Any]:
        """The types of the columns of recourses."""
        assert self.given is not None
        return [
            gapped(self.given.dtypes.iloc[place], dtype if column.kind == "number" else None, column.values)
            for column, dtype, place in zip(self.columns, self.trained, self._places, strict=True)
        ]


def _typed(column: Column, array: Any) -> Any:
    """Return the categories of a column, by code, as its array holds them; None for other columns."""
    if not column.categorical:
        return None
    if isinstance(array, pd.Categorical):
        return array.categories.get_indexer(pd.Index(column.values))
    if not isinstance(array, pd.arrays.NumpyExtensionArray) or isinstance(array.dtype, pd.StringDtype):
        return cast(pd.Series([*column.values], dtype=object), array.dtype).array
    cells = np.array([*column.values, None], dtype=object)[:-1]
    plain = isinstance(array, pd.arrays.NumpyExtensionArray) and array.dtype.kind in "iufb"
    return cells.astype(array.to_numpy().dtype) if plain else cells


def _replaced(array: Any, rows: IntArray, changed: BoolArray, values: FloatArray, categories: Any) -> Any:
    """Take the cells at `rows` and write `values` where they changed."""
    if not changed.any():
        return array.take(rows)
    if isinstance(array, pd.Categorical):
        codes = array.codes.take(rows)
        codes[changed] = categories[values[changed].astype(np.int64)]
        return pd.Categorical.from_codes(codes, dtype=array.dtype, validate=False)
    if isinstance(array.dtype, pd.StringDtype) and categories is not None and (values >= 0.0).all():
        return categories.take(values.astype(np.int64))  # many times faster than to write into such an array
    cells = array.take(rows)
    new = values[changed] if categories is None else categories[values[changed].astype(np.int64)]
    kept, places = getattr(cells.dtype, "numpy_dtype", cells.dtype), decimal_places(cells.dtype)
    if categories is None and _untyped(cells):
        new = np.array([*map(_like, cells[changed], new), None], dtype=object)[:-1]
    elif categories is None and places is not None:
        if (new != np.round(new, places[1])).any():
            cells = cells.astype(float)
        else:
            new = np.array([*(Decimal(f"{number:.{places[1]}f}") for number in new), None], dtype=object)[:-1]
    elif categories is None and isinstance(kept, np.dtype) and kept != np.dtype(float):
        # Derivatives ask between integers; nothing that is returned lies there.
        if kept.kind in "iu" and (new != np.round(new)).any():
            cells = cells.astype(float)
        else:
            new = new.astype(kept)
    cells[changed] = new
    return cells


def _series(array: Any) -> pd.Series:
    # Without its type, texts in a column of objects would get another.
    return pd.Series(array, dtype=object if _untyped(array) else None)


def _untyped(array: Any) -> bool:
    # Arrays of texts may be such arrays, too, and have a type of their own.
    untyped = isinstance(array, pd.arrays.NumpyExtensionArray) and not isinstance(array.dtype, pd.StringDtype)
    return untyped and array.dtype.kind == "O"


def _like(own: Any, new: float) -> Any:
    """Return a whole number as an int where the cell of an untyped column was one."""
    return int(new) if isinstance(own, Integral) and new.is_integer() else float(new)
