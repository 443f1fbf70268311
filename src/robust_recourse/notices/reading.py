"""From two tables, before and after, to notices."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from robust_recourse._typing import FloatArray
from robust_recourse.notices.notice import Change
from robust_recourse.notices.values import plain
from robust_recourse.notices.writing import Writer
from robust_recourse.tables.foreign import is_frame

__all__ = ["Columns", "Pair", "Row", "orders_of"]

Row: TypeAlias = tuple[dict[Hashable, Any], dict[Hashable, Any] | None, tuple[Change, ...]]
"""Before, after (None where there is no recourse), and what changes."""


@dataclass(frozen=True)
class Columns:
    """What is known about the columns of a table, to tell people about them.

    Attributes
    ----------
    kinds : sequence of str
        Kind of every column: "number", "category", "ordered" or "fixed".
    orders : mapping
        Values of the ordered categories, lowest first, by column.
    units, digits : mapping
        Units of the values, and digits behind the point of numbers, by column; see :class:`Writer`.
    like : DataFrame (pandas or polars) or None
        The table without its rows, for its types; None for an array.
    """

    kinds: Sequence[str]
    orders: Mapping[Hashable, Sequence[Any]] = field(default_factory=dict)
    units: Mapping[Hashable, str] = field(default_factory=dict)
    digits: Mapping[Hashable, int] = field(default_factory=dict)
    like: Any = None

    def writer(self, name: Hashable, locale: str | None = None) -> Writer:
        """Return what writes the values of a column."""
        return Writer(self.units.get(name, ""), self.digits.get(name), locale)


@dataclass(frozen=True)
class Pair:
    """Two tables with the same rows and columns.

    Attributes
    ----------
    before, after : DataFrame (pandas or polars) or ndarray
        The rows as they are, and as they should be.
    costs : ndarray of shape (n, p)
        What the change of every cell costs.
    columns : Columns
        What is known about their columns.
    renamed : mapping
        What to call columns; the others keep their names.
    locale : str or None
        Whose signs values are written with.
    """

    before: Any
    after: Any
    costs: FloatArray
    columns: Columns
    renamed: Mapping[Hashable, str] = field(default_factory=dict)
    locale: str | None = None

    @property
    def names(self) -> list[Hashable]:
        """The names of the columns in the tables."""
        table = self.after
        return list(table.columns) if is_frame(table) else list(range(np.shape(table)[1]))

    def writers(self) -> dict[Hashable, Writer]:
        """Return what writes the values of every column, by what it is called."""
        told = zip(self._new_names(), self.names, strict=True)
        return {new: self.columns.writer(name, self.locale) for new, name in told}

    def rows(self, chosen: Sequence[int]) -> list[Row]:
        """Return rows before, after, and what changes between the two."""
        names, kinds = self._new_names(), self.columns.kinds
        orders = [self.columns.orders.get(name, ()) for name in self.names]
        before, after = (zip(*_cells(table, chosen), strict=True) for table in (self.before, self.after))
        rows: list[Row] = []
        for row, old, new in zip(chosen, before, after, strict=True):
            if np.isnan(self.costs[row]).any():
                rows.append((dict(zip(names, old, strict=True)), None, ()))
                continue
            changes = [
                Change(
                    name,
                    kinds[k],
                    old[k],
                    new[k],
                    float(self.costs[row, k]),
                    direction(kinds[k], old[k], new[k], orders[k]),
                )
                for k, name in enumerate(names)
                if differs(old[k], new[k])
            ]
            rows.append((dict(zip(names, old, strict=True)), dict(zip(names, new, strict=True)), tuple(changes)))
        return rows

    def _new_names(self) -> list[Hashable]:
        own = self.names
        unknown = [name for name in self.renamed if name not in own]
        if unknown:
            raise ValueError(f"names has {unknown[0]!r}, which is no column. The columns are {own}.")
        new = [self.renamed.get(name, name) for name in own]
        twice = [name for name in new if new.count(name) > 1] if self.renamed else []
        if twice:
            raise ValueError(f"names calls two columns {twice[0]!r}. Give each a name of its own.")
        return new


def orders_of(table: Any) -> dict[Hashable, Sequence[Any]]:
    """Return the categories of the ordered categoricals of a table, lowest first, by column."""
    if not isinstance(table, pd.DataFrame):
        return {}
    ordered = {name: dtype for name, dtype in table.dtypes.items() if isinstance(dtype, pd.CategoricalDtype)}
    return {name: list(dtype.categories) for name, dtype in ordered.items() if dtype.ordered}


def differs(before: Any, after: Any) -> bool:
    """Say whether two values of a column differ; missing ones are None."""
    return before is not after if before is None or after is None else bool(before != after)


def direction(kind: str, before: Any, after: Any, order: Sequence[Any] = ()) -> int:
    """Return 1 if a value rises, -1 if it falls, 0 if there is no order to tell.

    >>> direction("ordered", "college", "school", ["school", "college"])
    -1
    """
    if kind not in ("number", "ordered") or isinstance(before, bool) or before is None or after is None:
        return 0
    if kind == "ordered" and before in order and after in order:
        before, after = order.index(before), order.index(after)
    elif isinstance(before, str | bytes):
        return 0
    return int(after > before) - int(after < before)


def _cells(table: Any, rows: Sequence[int]) -> list[list[Any]]:
    """Return the values of every column of a table in these rows."""
    if isinstance(table, pd.DataFrame):
        columns: list[Any] = [table.iloc[:, k].array.take(list(rows)) for k in range(table.shape[1])]
    elif is_frame(table):
        columns = [_of_polars(table[name].gather(list(rows))) for name in table.columns]
    else:
        columns = list(np.asarray(table)[list(rows)].T)
    return [_plain(column) for column in columns]


def _of_polars(column: Any) -> Any:
    # As a list, numbers in short precision would grow digits that nobody gave.
    return column.to_numpy() if str(column.dtype) == "Float32" else column.to_list()


def _plain(column: Any) -> list[Any]:
    """Return values as plain ones; None for those that are missing."""
    numbers = column
    if isinstance(column, pd.arrays.NumpyExtensionArray):
        numbers = column.to_numpy()
    elif isinstance(getattr(column, "dtype", None), pd.ArrowDtype) and column.dtype.numpy_dtype.kind == "f":
        numbers = column = column.to_numpy(dtype=column.dtype.numpy_dtype, na_value=np.nan)  # in its own precision
    if isinstance(numbers, np.ndarray) and numbers.dtype == np.float64:
        return [None if value != value else value for value in numbers.tolist()]
    return [plain(value) for value in column]
