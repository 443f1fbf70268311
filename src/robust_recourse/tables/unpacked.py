"""Rows whose columns are unpacked once, however many models are asked about how many of them."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Protocol

import numpy as np
import pandas as pd

from robust_recourse._typing import IntArray

__all__ = ["OfFrame", "Source", "Unpacked", "packed", "unpacked"]


class Source(Protocol):
    """Where rows come from."""

    @property
    def columns(self) -> pd.Index[Any]:
        """The names of the columns."""
        ...

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The types of the columns."""
        ...

    def __len__(self) -> int: ...

    def frame(self) -> pd.DataFrame:
        """Return the rows as a frame."""
        ...

    def numbers(self, columns: tuple[Hashable, ...]) -> Any:
        """Return some columns of numbers and booleans as an array, None if there are others among them."""
        ...

    def codes(self, column: Hashable) -> tuple[Any, list[Any]]:
        """Return the values of a column as codes, -1 where there is none, and the values that these stand for."""
        ...


class OfFrame:
    """Rows of a frame, which may not change any more."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def __len__(self) -> int:
        return len(self._frame)

    @property
    def columns(self) -> pd.Index[Any]:
        """The names of the columns."""
        return self._frame.columns

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The types of the columns."""
        return tuple(self._frame.dtypes)

    def frame(self) -> pd.DataFrame:
        """Return the rows as a frame."""
        return self._frame

    def numbers(self, columns: tuple[Hashable, ...]) -> Any:
        """Return some columns of numbers and booleans as an array, None if there are others among them.

        Types with gaps of their own are others: what they become in an array depends on the gaps.
        """
        every = len(columns) == self._frame.shape[1] and columns == tuple(self._frame.columns)
        some = self._frame if every else self._frame[list(columns)]
        if not all(isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in some.dtypes):
            return None
        mixed = len({kind.kind == "b" for kind in some.dtypes}) > 1
        return some.to_numpy(dtype=float) if mixed else some.to_numpy()

    def codes(self, column: Hashable) -> tuple[Any, list[Any]]:
        """Return the values of a column as codes, -1 where there is none, and the values that these stand for."""
        values = self._frame[column].array
        if isinstance(values, pd.Categorical):
            return values.codes.astype(np.int64), list(values.categories)
        codes, uniques = pd.factorize(values)
        return codes, list(uniques)


class Unpacked:
    """Rows of a table; those that are taken of them share what was unpacked.

    Parameters
    ----------
    source : Source
        Where they come from.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._rows: IntArray | None = None
        self._known: dict[Any, Any] = {}
        self._packed: pd.DataFrame | None = None

    def __len__(self) -> int:
        return len(self._source if self._rows is None else self._rows)

    def __getitem__(self, rows: IntArray) -> Unpacked:
        """Take some of the rows."""
        some = Unpacked(self._source)
        some._rows, some._known = rows if self._rows is None else self._rows[rows], self._known
        return some

    @property
    def columns(self) -> pd.Index[Any]:
        """The names of the columns."""
        return self._source.columns

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The types of the columns."""
        kinds: tuple[Any, ...] = self._once("kinds", lambda: self._source.kinds)
        return kinds

    def pack(self) -> pd.DataFrame:
        """Return the rows as a frame; whoever writes into it leaves the others alone."""
        if self._packed is None:
            whole = self._once("frame", self._source.frame)
            self._packed = whole if self._rows is None else whole.iloc[self._rows]
        return self._packed.copy(deep=False)

    def numbers(self, columns: tuple[Hashable, ...]) -> Any:
        """Return some columns of numbers and booleans as an array, None if there are others among them."""
        cells = self._once(("numbers", columns), lambda: self._source.numbers(columns))
        return None if cells is None else self._of(cells)

    def codes(self, column: Hashable) -> tuple[Any, list[Any]]:
        """Return the values of a column as codes, -1 where there is none, and the values that these stand for."""
        codes, values = self._once(("codes", column), lambda: self._source.codes(column))
        return self._of(codes), values

    def _once(self, key: Any, unpack: Any) -> Any:
        if key not in self._known:
            self._known[key] = unpack()
        return self._known[key]

    def _of(self, cells: Any) -> Any:
        if self._rows is None:
            return cells
        # As in a frame rows lie in memory as the whole does, which decides how products are rounded.
        return cells[self._rows] if cells.flags.c_contiguous else cells.T.take(self._rows, axis=1).T


def unpacked(X: Any) -> Any:
    """Return a frame of pandas unpacked, and anything else as it is."""
    return Unpacked(OfFrame(X)) if isinstance(X, pd.DataFrame) else X


def packed(X: Any) -> Any:
    """Return what a model takes."""
    return X.pack() if isinstance(X, Unpacked) else X
