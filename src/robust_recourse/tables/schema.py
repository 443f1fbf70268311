"""The columns of a table, learnt once, and the reading of tables that have them."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Number
from typing import Any

import numpy as np
import pandas as pd
from pandas.api import types

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse._validation import LARGEST, check_matrix
from robust_recourse.tables.columns import Column, holds_numbers, learn_column, numbers_of
from robust_recourse.tables.foreign import is_frame, native, to_pandas
from robust_recourse.tables.naming import check_columns
from robust_recourse.tables.shapes import check_table
from robust_recourse.tables.table import MISSING, UNSEEN, Table
from robust_recourse.tables.types import cast, holds
from robust_recourse.tables.written import doubt_texts

__all__ = ["Schema"]


@dataclass(frozen=True, eq=False)
class Schema:
    """What the columns of a table hold.

    Attributes
    ----------
    columns : tuple of Column
        Their kinds, units and steps.
    names : Index or None
        Their names; None for the columns of an array.
    dtypes : tuple
        Their types in the training frame: those that a model gets.
    """

    columns: tuple[Column, ...]
    names: pd.Index | None = None
    dtypes: tuple[Any, ...] = ()
    _native: Any = field(default=None, repr=False)

    @classmethod
    def of_array(cls, width: int) -> Schema:
        """Describe an array: every column is continuous, its unit is 1 and it may go anywhere."""
        return cls(tuple(Column(k, "number") for k in range(width)))

    @classmethod
    def learn(
        cls,
        X: Any,
        *,
        name: str = "X",
        integer: Collection[Hashable] = (),
        step: Mapping[Hashable, float] | None = None,
        categories: Mapping[Hashable, Sequence[Any]] | None = None,
        ordered: Mapping[Hashable, Sequence[Any]] | None = None,
        bounded: Collection[Hashable] = (),
    ) -> Schema:
        """Infer the columns from training rows: a frame, or an array.

        Parameters
        ----------
        X : DataFrame or array_like
            Training rows.
        name : str
            What messages call them.
        integer, step, categories, ordered
            What is known about some columns, see :class:`robust_recourse.ActionSet`.
        bounded
            Columns that have bounds.
        """
        check_table(X, name)
        if not is_frame(X):
            return cls.of_array(check_matrix(X, name).shape[1])
        frame = _checked(to_pandas(X), name)
        columns = []
        for column in frame.columns:
            try:
                series = frame[column].rename(column)  # whole numbers as the index tells them, not as NumPy has them
                columns.append(
                    learn_column(
                        series,
                        integer=column in integer,
                        step=(step or {}).get(column),
                        categories=(categories or {}).get(column),
                        ordered=(ordered or {}).get(column),
                        bounded=column in bounded,
                    )
                )
            except (TypeError, ValueError) as error:
                raise type(error)(f"{name}: {error}") from error
            if column not in (categories or {}):
                doubt_texts(series, columns[-1])
        return cls(tuple(columns), frame.columns, tuple(frame.dtypes), native(X))

    def typed(self, X: Any) -> Schema:
        """Return the same columns with the types of other training rows, which are those that the model knows."""
        frame = to_pandas(X)
        if self.names is None or not isinstance(frame, pd.DataFrame) or set(frame.columns) != set(self.names):
            return self  # reading them says what is wrong
        return replace(self, dtypes=tuple(frame[self.names].dtypes), _native=native(X))

    @property
    def units(self) -> FloatArray:
        """Units of cost of the columns."""
        return np.array([column.unit for column in self.columns])

    @property
    def categorical(self) -> BoolArray:
        """Which columns hold categories."""
        return np.array([column.categorical for column in self.columns])

    @property
    def foreign(self) -> bool:
        """Whether the model gets frames of another library than pandas."""
        return self._native is not None

    def label(self, position: int) -> str:
        """Name a column in a message."""
        return str(position) if self.names is None else repr(self.names[position])

    def read(self, X: Any, name: str, *, fewest: int = 1) -> Table:
        """Read rows with these columns, `fewest` at least; a frame may have them in another order.

        Raises
        ------
        ValueError, TypeError
            For other columns, for values that are not what the training rows had, and for infinite numbers.
        """
        texts = [(label, dtype) for label, dtype in self._named() if not types.is_numeric_dtype(dtype)]
        check_table(X, name, self.names, framed=bool(texts))
        if self.names is None:
            return self._read_array(X, name, fewest)
        if is_frame(X):
            return self._read_frame(_checked(to_pandas(X), name, fewest), native(X), name)
        if texts:
            label, dtype = texts[0]
            raise TypeError(
                f"{name} must be a frame, as the training rows were: their column {label!r} has the type {dtype}, "
                f"which an array does not hold. Pass pd.DataFrame({name}, columns=...)."
            )
        frame = pd.DataFrame(check_matrix(X, name, width=len(self.columns), fewest=fewest), columns=self.names)
        return self._read_frame(frame, _to_array, name)

    def _named(self) -> list[tuple[Any, Any]]:
        return [] if self.names is None else list(zip(self.names, self.dtypes, strict=True))

    def _read_array(self, X: Any, name: str, fewest: int) -> Table:
        frame = to_pandas(X)
        values = check_matrix(frame, name, width=len(self.columns), largest=LARGEST, fewest=fewest)
        given = frame if isinstance(frame, pd.DataFrame) else None
        return Table(self.columns, values, np.zeros(values.shape, dtype=bool), None, given, native(X), None)

    def _read_frame(self, frame: pd.DataFrame, back: Any, name: str) -> Table:
        names = self.names
        assert names is not None
        missing, unknown = names.difference(frame.columns), frame.columns.difference(names)
        if len(missing) or len(unknown):
            problems = [f"lacks {list(missing)}"] * bool(len(missing)) + [f"adds {list(unknown)}"] * bool(len(unknown))
            raise ValueError(f"{name} must have the columns of the training rows; it {' and '.join(problems)}.")
        given = frame
        frame = frame[names]
        asked = pd.DataFrame({k: self._asked(frame.iloc[:, k], k) for k in range(len(names))})
        asked.columns = names
        values = np.zeros(frame.shape)
        absent = frame.isna().to_numpy()
        for k, column in enumerate(self.columns):
            # Fixed numbers count in rules.
            if column.kind == "number" or (column.kind == "fixed" and holds_numbers(frame.iloc[:, k])):
                values[:, k] = _numbers(frame.iloc[:, k], name)
            elif column.categorical:
                values[:, k] = _codes(frame.iloc[:, k], column.values, absent[:, k], name)
        return Table(self.columns, values, absent, asked, given, back, self._native, self.dtypes)

    def _asked(self, series: pd.Series, k: int) -> pd.Series:
        """Return a column in the type that the model knows, else in its own, else as objects: all categories fit."""
        typed = cast(_plain(series) if self.columns[k].kind == "number" else series, self.dtypes[k])
        return typed if holds(typed.dtype, self.columns[k].values) else typed.astype(object)


def _checked(frame: pd.DataFrame, name: str, fewest: int = 1) -> pd.DataFrame:
    check_columns(frame, name)
    if frame.shape[0] < fewest or frame.shape[1] == 0:
        raise ValueError(f"{name} is empty: its shape is {frame.shape}, at least one row and one column are needed.")
    return frame


def _numbers(series: pd.Series, name: str) -> FloatArray:
    # Texts are no numbers, even if they could be read as such: the model would get the texts.
    plain = _plain(series)
    if not (holds_numbers(plain) or types.is_bool_dtype(plain.dtype) or plain.isna().all()):
        raise TypeError(
            f"{name}: column {series.name!r} must hold numbers, as the training rows do, got dtype {series.dtype}."
        )
    try:
        values = numbers_of(plain)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        row = int(infinite[0])
        raise ValueError(f"{name} must be finite, got {values[row]} in row {row}, column {series.name!r}.")
    return np.nan_to_num(values, nan=0.0)


def _plain(series: pd.Series) -> pd.Series:
    """Return numbers that were given as categories as numbers."""
    return series.astype(object).infer_objects() if isinstance(series.dtype, pd.CategoricalDtype) else series


def _codes(series: pd.Series, values: tuple[Any, ...], absent: BoolArray, name: str) -> FloatArray:
    if types.is_numeric_dtype(series.dtype) and not any(isinstance(value, Number) for value in values):
        raise TypeError(
            f"{name}: column {series.name!r} must hold categories, as the training rows do, for instance "
            f"{values[0]!r}; got numbers of dtype {series.dtype}."
        )
    places = {value: code for code, value in enumerate(values)}
    try:
        codes = np.array([places.get(value, UNSEEN) for value in series.astype(object).tolist()], dtype=float)
    except TypeError as error:
        raise TypeError(f"{name}: column {series.name!r} must hold categories: {error}.") from error
    codes[absent] = MISSING
    return codes


def _to_array(frame: pd.DataFrame) -> FloatArray:
    return frame.to_numpy(dtype=float, na_value=np.nan)
