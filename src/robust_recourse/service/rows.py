"""Rows of JSON as the tables that a method was fitted with, in the types that its model knows."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from robust_recourse._validation import LARGEST
from robust_recourse.notices.values import json_value
from robust_recourse.result.document import text_names
from robust_recourse.service.problems import Fault, Problem
from robust_recourse.tables import Column, Schema

__all__ = ["RowReader", "key_of", "kind_of", "names_of"]

_MOST_FAULTS = 20  # that an answer lists
_LONGEST = 10_000  # signs of a text


class _CellError(ValueError):
    """A cell that its column cannot hold; the message goes behind its name."""


@dataclass(frozen=True)
class _Reader:
    """Reads the cells of one column."""

    column: Column
    dtype: Any
    kind: str
    empty: bool  # whether it may be missing
    known: Mapping[Any, Any]

    def __call__(self, value: Any, *, strict: bool) -> Any:
        if value is None:
            if not self.empty:
                raise _CellError("is missing, which it never is in the training rows.")
            return None
        if isinstance(value, dict | list):
            raise _CellError(f"must be a single value, got {_type(value)}.")
        if isinstance(value, str) and len(value) > _LONGEST:
            raise _CellError(f"is a text of {len(value):,} signs; {_LONGEST:,} are enough.")
        if self.column.categorical:
            return self._category(value, strict=strict)
        if self.kind == "number":
            return self._number(value)
        return self._text(value)

    def _category(self, value: Any, *, strict: bool) -> Any:
        try:
            return self.known[key_of(value)]
        except KeyError:
            if strict:
                some = ", ".join(repr(json_value(known)) for known in self.column.values[:10])
                more = ", ..." if len(self.column.values) > 10 else ""
                raise _CellError(
                    f"is none of the values of the training rows ({some}{more}). Correct it, or accept it with "
                    '"unseen": "ignore".'
                ) from None
            return value

    def _number(self, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _CellError(f"must be a number, got {_type(value)}.")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not abs(number) <= LARGEST:
            raise _CellError(f"must be a number of at most {LARGEST:g}.")
        kept = getattr(self.dtype, "numpy_dtype", self.dtype)
        if isinstance(kept, np.dtype) and kept.kind in "iu":
            if not number.is_integer():
                raise _CellError("must be a whole number, as in the training rows.")
            held = np.iinfo(kept)
            if not held.min <= int(value) <= held.max:
                raise _CellError(f"must be a whole number from {held.min} to {held.max}.")
            return int(value)
        return value

    def _text(self, value: Any) -> Any:
        if types.is_datetime64_any_dtype(self.dtype):
            try:
                moment = pd.Timestamp(value) if isinstance(value, str) else None
                if moment is None or (moment.tz is None) != (getattr(self.dtype, "tz", None) is None):
                    raise ValueError
                return pd.Series([moment]).astype(self.dtype)[0]
            except (ValueError, TypeError, OverflowError):
                raise _CellError("must be a date or a time as text, such as 2027-05-31.") from None
        if types.is_bool_dtype(self.dtype) and not isinstance(value, bool):
            raise _CellError(f"must be true or false, got {_type(value)}.")
        if isinstance(self.dtype, pd.StringDtype) and not isinstance(value, str):
            raise _CellError(f"must be a text, got {_type(value)}.")
        return value


class RowReader:
    """Reads rows of JSON.

    Parameters
    ----------
    schema : Schema
        The columns, as a method has learnt them.

    Attributes
    ----------
    texts : list of str
        The names of the columns in JSON.
    names : dict
        The columns by these names.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self.texts = names_of(schema)
        self.names: dict[str, Hashable] = {
            text: column.name for text, column in zip(self.texts, schema.columns, strict=True)
        }
        dtypes = schema.dtypes or (np.dtype(float),) * len(self.texts)
        self.readers = {
            text: _reader(column, dtype, array=schema.names is None)
            for text, column, dtype in zip(self.texts, schema.columns, dtypes, strict=True)
        }

    def cells(self, rows: Sequence[Any], field: str = "rows", *, strict: bool) -> list[list[Any]]:
        """Return the cells of rows, column by column.

        Parameters
        ----------
        rows : sequence of dict
            The rows.
        field : str
            What they are called in messages; a single row if it has no brackets of its own, see below.
        strict : bool
            Whether categories that no training row has are refused.

        Raises
        ------
        Problem
            That names every row and column at fault.
        """
        faults: list[Fault] = []
        found: list[list[Any]] = [[] for _ in self.texts]
        for i, row in enumerate(rows):
            place = f"{field}[{i}]" if field == "rows" else field
            self._row(row, i, place, found, faults, strict=strict)
            if len(faults) >= _MOST_FAULTS:
                break
        if faults:
            raise Problem("invalid-request", faults=faults[:_MOST_FAULTS])
        return found

    def _row(self, row: Any, i: int, place: str, found: list[list[Any]], faults: list[Fault], *, strict: bool) -> None:
        if not isinstance(row, dict):
            faults.append(Fault(place, f"must be an object with the columns, got {_type(row)}.", i))
            return
        unknown = [name for name in row if name not in self.readers]
        if unknown:
            faults.append(Fault(f"{place}.{_shown(unknown[0])}", "is no column of the table.", i, _shown(unknown[0])))
        for cells, (text, reader) in zip(found, self.readers.items(), strict=True):
            try:
                if text not in row:
                    raise _CellError("is lacking. Write null if it is missing." if reader.empty else "is lacking.")
                cells.append(reader(row[text], strict=strict))
            except _CellError as error:
                faults.append(Fault(f"{place}.{text}", str(error), i, text))

    def table(self, cells: Sequence[Sequence[Any]], index: Sequence[int]) -> Any:
        """Return cells, column by column, as a frame in the types of the training rows, or as an array."""
        if self._schema.names is None:
            return np.array(cells, dtype=float).T.reshape(len(index), len(self.texts))
        arrays = {
            k: _array(held, dtype) for k, (held, dtype) in enumerate(zip(cells, self._schema.dtypes, strict=True))
        }
        frame = pd.DataFrame(arrays, index=pd.Index(np.asarray(index, dtype=np.int64)), copy=False)
        frame.columns = self._schema.names
        return frame

    def is_typed(self, table: Any) -> bool:
        """Whether a table has exactly the types that the model knows."""
        return not isinstance(table, pd.DataFrame) or tuple(table.dtypes) == self._schema.dtypes

    def category(self, text: str, value: Any) -> Any:
        """Return a category by its value in JSON; the value itself if there is none."""
        return self.readers[text].known.get(key_of(value), value)


def names_of(schema: Schema) -> list[str]:
    """Return the names of columns in JSON, those of a result."""
    return text_names(range(len(schema.columns)) if schema.names is None else schema.names)


def kind_of(column: Column, dtype: Any) -> str:
    """Return what a column holds in JSON: "number", "boolean", "category" or "text"."""
    if column.categorical:
        return "boolean" if all(isinstance(value, bool | np.bool_) for value in column.values) else "category"
    if column.kind == "number":
        return "number"
    if types.is_bool_dtype(dtype):
        return "boolean"
    return "number" if types.is_numeric_dtype(dtype) else "text"


def key_of(value: Any) -> Any:
    """Return what two values of JSON have in common that are the same: true is not 1, and 1 is 1.0."""
    if isinstance(value, bool | np.bool_):
        return "boolean", bool(value)
    if isinstance(value, int | float):
        return "number", value
    return "text", value


def _reader(column: Column, dtype: Any, *, array: bool) -> _Reader:
    gaps = not array and (types.is_extension_array_dtype(dtype) or np.dtype(dtype).kind in "fOM")
    known: dict[Any, Any] = {key_of(json_value(value)): value for value in column.values}
    return _Reader(column, dtype, kind_of(column, dtype), gaps, known)


def _array(cells: Sequence[Any], dtype: Any) -> Any:
    """Return the cells of a column in its type; as objects if it does not hold them."""
    if isinstance(dtype, np.dtype) and dtype.kind in "iub":
        kind = bool if dtype.kind == "b" else int
        # Of categories that nobody had; NumPy would take every text for true.
        own = all(type(cell) is kind for cell in cells)
        return np.array(cells, dtype=dtype) if own else pd.Series([*cells, None], dtype=object)[:-1]
    if isinstance(dtype, np.dtype) and dtype.kind == "f":
        return np.array([np.nan if cell is None else cell for cell in cells], dtype=dtype)
    whole = np.empty(len(cells), dtype=object)
    whole[:] = cells
    if isinstance(dtype, np.dtype) and dtype.kind == "O":
        return pd.Series(whole, dtype=object)
    if isinstance(dtype, pd.CategoricalDtype):
        codes = dtype.categories.get_indexer(pd.Index(whole, dtype=object))
        if any(code < 0 and cell is not None for code, cell in zip(codes, cells, strict=True)):
            return pd.Series(whole, dtype=object)
        return pd.Categorical.from_codes(codes, dtype=dtype)
    try:
        return pd.array(whole, dtype=dtype)
    except (TypeError, ValueError):
        return pd.Series(whole, dtype=object)


def _type(value: Any) -> str:
    named: dict[type, Callable[[Any], str]] = {
        bool: lambda held: "true" if held else "false",
        dict: lambda _: "an object",
        list: lambda _: "a list",
        str: lambda _: "a text",
        type(None): lambda _: "null",
    }
    return named.get(type(value), lambda _: "a number")(value)


def _shown(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:57]}..."
