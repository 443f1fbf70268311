"""A table whose columns are unpacked once, however many models are asked about how many of its rows."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import IntArray

__all__ = ["Unpacked", "packed", "unpacked"]


class Unpacked:
    """Rows of a frame; those that are taken of them share what was unpacked.

    Parameters
    ----------
    frame : DataFrame
        The frame. It may not change any more.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self._whole = frame
        self._rows: IntArray | None = None
        self._known: dict[Any, Any] = {}
        self._packed: pd.DataFrame | None = None

    def __len__(self) -> int:
        return len(self._whole if self._rows is None else self._rows)

    def __getitem__(self, rows: IntArray) -> Unpacked:
        """Take some of the rows."""
        some = Unpacked(self._whole)
        some._rows, some._known = rows if self._rows is None else self._rows[rows], self._known
        return some

    @property
    def columns(self) -> pd.Index[Any]:
        """The names of the columns."""
        return self._whole.columns

    @property
    def kinds(self) -> tuple[Any, ...]:
        """The types of the columns."""
        if "kinds" not in self._known:
            self._known["kinds"] = tuple(self._whole.dtypes)
        kinds: tuple[Any, ...] = self._known["kinds"]
        return kinds

    def pack(self) -> pd.DataFrame:
        """Return the rows as a frame; whoever writes into it leaves the others alone."""
        if self._packed is None:
            self._packed = self._whole if self._rows is None else self._whole.iloc[self._rows]
        return self._packed.copy(deep=False)

    def numbers(self, columns: tuple[Hashable, ...]) -> Any:
        """Return some columns of numbers and booleans as an array, None if there are others among them.

        Types with gaps of their own are others: what they become in an array depends on the gaps.
        """
        key = "numbers", columns
        if key not in self._known:
            every = len(columns) == self._whole.shape[1] and columns == tuple(self._whole.columns)
            some = self._whole if every else self._whole[list(columns)]
            plain = all(isinstance(kind, np.dtype) and kind.kind in "biuf" for kind in some.dtypes)
            mixed = len({kind.kind == "b" for kind in some.dtypes}) > 1
            self._known[key] = None if not plain else some.to_numpy(dtype=float) if mixed else some.to_numpy()
        cells = self._known[key]
        return None if cells is None else self._of(cells)

    def codes(self, column: Hashable) -> tuple[Any, list[Any]]:
        """Return the values of a column as codes, -1 where there is none, and the values that these stand for."""
        key = "codes", column
        if key not in self._known:
            values = self._whole[column].array
            if isinstance(values, pd.Categorical):
                self._known[key] = values.codes.astype(np.int64), list(values.categories)
            else:
                codes, uniques = pd.factorize(values)
                self._known[key] = codes, list(uniques)
        codes, values = self._known[key]
        return self._of(codes), values

    def _of(self, cells: Any) -> Any:
        if self._rows is None:
            return cells
        # As in a frame rows lie in memory as the whole does, which decides how products are rounded.
        return cells[self._rows] if cells.flags.c_contiguous else cells.T.take(self._rows, axis=1).T


def unpacked(X: Any) -> Any:
    """Return a frame of pandas unpacked, and anything else as it is."""
    return Unpacked(X) if isinstance(X, pd.DataFrame) else X


def packed(X: Any) -> Any:
    """Return what a model takes."""
    return X.pack() if isinstance(X, Unpacked) else X
