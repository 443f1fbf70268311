"""Tables as columns of plain data: arrays, frames of pandas and frames of polars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import BoolArray
from robust_recourse.result.cells import Exact, from_plain, read_column, to_plain, write_column
from robust_recourse.tables.values import same_table

__all__ = ["Stored", "assembled", "columns_of", "library_of"]


def library_of(table: Any) -> str:
    """Return what a table is: "array", "pandas" or "polars"."""
    if isinstance(table, np.ndarray):
        return "array"
    return "pandas" if isinstance(table, pd.DataFrame) else "polars"


def columns_of(table: Any) -> list[pd.Series[Any]]:
    """Return the columns of a table; those of polars hold plain values of Python."""
    if isinstance(table, np.ndarray):
        return [pd.Series(column, name=k) for k, column in enumerate(table.T)]
    if isinstance(table, pd.DataFrame):
        return [table.iloc[:, k] for k in range(table.shape[1])]
    return [pd.Series(table[name].to_list(), name=name, dtype=object) for name in table.columns]


@dataclass(frozen=True, eq=False)
class Stored:
    """A table as plain data.

    Attributes
    ----------
    cells : list of list
        The cells of every column, as people read them.
    exact : list of list
        For every column the rows whose cells do not tell the value, with the value.
    types : object
        What the types of the columns are.
    """

    cells: list[list[Any]]
    exact: list[Exact]
    types: Any

    @classmethod
    def of(cls, table: Any, name: str, shown: BoolArray) -> Stored:
        """Write a table, with empty cells in rows that are not `shown`.

        Raises TypeError for a table that could not be read back, calling it `name`.
        """
        columns, written = columns_of(table), []
        for column in columns:
            try:
                written.append(write_column(column, shown))
            except TypeError as error:
                raise TypeError(f"{name}, column {column.name!r}: {error}") from error
        types = [column.dtype for column in columns] if library_of(table) != "polars" else table.clear()
        stored = cls([cells for cells, _ in written], [exact for _, exact in written], to_plain(types))
        if library_of(table) == "polars" and not same_table(stored.read("polars", None, None, len(table)), table):
            raise TypeError(f"{name} is a frame of polars with types that cannot be stored: {dict(table.schema)}.")
        return stored

    def read(self, library: str, names: pd.Index[Any] | None, index: pd.Index[Any] | None, n: int) -> Any:
        """Return the table.

        Parameters
        ----------
        library : {"array", "pandas", "polars"}
            What it was.
        names, index : Index or None
            Names of its columns and labels of its rows, if it is a frame of pandas.
        n : int
            Number of its rows.
        """
        types = from_plain(self.types)
        dtypes = [np.dtype(object)] * len(self.cells) if library == "polars" else types
        columns = []
        for k, (cells, exact, dtype) in enumerate(zip(self.cells, self.exact, dtypes, strict=True)):
            try:
                columns.append(read_column(cells, exact, dtype))
            except (TypeError, ValueError, OverflowError) as error:
                raise ValueError(f"column {k}: {error}") from error
        return assembled(columns, types, library, names, index, n)


def assembled(
    columns: Sequence[Any], types: Any, library: str, names: pd.Index[Any] | None, index: pd.Index[Any] | None, n: int
) -> Any:
    """Return the table that has these columns; `types` are those of :class:`Stored`, the rest is as in its `read`."""
    if library == "polars":
        pairs = zip(types.schema.items(), columns, strict=True)
        make = type(types)
        return make([make({name: cells.tolist()}, schema={name: kind})[name] for (name, kind), cells in pairs])
    if library == "array":
        return np.column_stack(columns) if columns else np.empty((n, 0))
    assert names is not None
    assert index is not None
    frame = pd.DataFrame(dict(enumerate(columns)), index=pd.RangeIndex(n))
    frame.columns = names
    return frame.set_axis(index, axis=0)
