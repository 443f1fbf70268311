"""What kind of thing a column holds, and how precisely: inferred from training rows."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from pandas.api import types

from robust_recourse._typing import FloatArray
from robust_recourse._validation import briefly
from robust_recourse.math.scales import spread
from robust_recourse.tables.types import decimal_places

__all__ = ["Column", "Kind", "decimals", "holds_numbers", "learn_column", "numbers_of"]

Kind: TypeAlias = Literal["number", "category", "ordered", "fixed"]

_MOST_DECIMALS, _MOST_ZEROS = 4, 3  # digits behind the point, and zeros before it, that data may be recorded with
_TOLD = 1e-3  # part of a unit of cost that is told of numbers with many digits
_EXACT, _LARGEST = 2.0**53, 1e150  # beyond these whole numbers are rounded, and squares are infinite
_MOST_TEXTS = 100  # different texts that are categories, even if most rows have their own
_WRITTEN = 1e-14  # relative: what numbers lose that are written with 15 digits
_MANY = 30  # different values that show how precisely a column is recorded
_NUMBERS = frozenset({"integer", "floating", "mixed-integer-float", "integer-na"})


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : hashable
        Its name, or its position in an array.
    kind : {"number", "category", "ordered", "fixed"}
        Numbers, categories, categories with an order, or what never changes.
    unit : float
        Unit of cost: one robust standard deviation of a number, 1 for categories.
    step : float
        Numbers are multiples of it; 0 if they may be anything.
    digits : int or None
        Digits behind the point with which a number is told; None: all that it has.
    low, high : float
        Smallest and largest training value of a number.
    values : tuple
        The categories; their positions are their codes.
    why : str
        Why a fixed column never changes.
    partners : tuple of pairs
        Of a column that another determines: values of that one, and what it is with each.
    effort : tuple of pairs
        Of a number that is not as dear everywhere: values, and what it costs to get to each from any other is the
        difference of these; linear between and beyond them. Then there is no unit.
    """

    name: Hashable
    kind: Kind
    unit: float = 1.0
    step: float = 0.0
    digits: int | None = None
    low: float = -np.inf
    high: float = np.inf
    values: tuple[Any, ...] = ()
    why: str = ""
    partners: tuple[tuple[Any, Any], ...] = ()
    effort: tuple[tuple[float, float], ...] = ()

    @property
    def categorical(self) -> bool:
        """Whether it holds categories, ordered or not."""
        return self.kind in {"category", "ordered"}

    @property
    def grid(self) -> float:
        """What a number that is told to a person is a multiple of: the step, or one of the last digit; 0: nothing."""
        if self.step > 0.0 or self.digits is None:
            return self.step
        return float(f"1e{-self.digits}")


def decimals(step: float) -> int:
    """Digits behind the point of a step, as it is written."""
    exponent = Decimal(repr(float(step))).normalize().as_tuple().exponent
    return max(0, -int(exponent))


def numbers_of(series: pd.Series) -> FloatArray:
    """Return a column of numbers as floats, NaN where it has none.

    Raises
    ------
    ValueError
        For a whole number that no float can hold.
    """
    try:
        return series.to_numpy(dtype=float, na_value=np.nan)
    except OverflowError as error:
        label, cell = next((label, cell) for label, cell in series.items() if not _is_float(cell))
        raise ValueError(
            f"column {series.name!r} has {briefly(cell)} in the row {label!r}, which is more than a float can hold. "
            "Use another unit for the column, or turn its values into text."
        ) from error


def _is_float(cell: Any) -> bool:
    try:
        float(cell)
    except OverflowError:
        return False
    except (TypeError, ValueError):
        pass
    return True


def holds_numbers(series: pd.Series) -> bool:
    """Whether a column holds numbers, by its type or, if that says nothing, by its values."""
    if types.is_bool_dtype(series.dtype) or types.is_complex_dtype(series.dtype):
        return False
    if types.is_numeric_dtype(series.dtype):
        return True
    return types.is_object_dtype(series.dtype) and types.infer_dtype(series, skipna=True) in _NUMBERS


def _holds_booleans(series: pd.Series) -> bool:
    if types.is_object_dtype(series.dtype):
        return types.infer_dtype(series, skipna=True) == "boolean"
    return types.is_bool_dtype(series.dtype)


def learn_column(
    series: pd.Series,
    *,
    integer: bool = False,
    step: float | None = None,
    categories: Sequence[Any] | None = None,
    ordered: Sequence[Any] | None = None,
    bounded: bool = False,
) -> Column:
    """Infer what a column holds from its training values.

    Numbers are as precise as the training values are: a column of whole numbers has step 1, one with two digits
    behind the point 0.01, and one of round hundreds 100; doubles that came from a file in single precision have the
    digits that they had there. Those with many digits may be anything, but people are told no more of them than a
    thousandth of the unit of cost needs. Whole numbers that are 0 or 1, and booleans, are ordered categories.

    Parameters
    ----------
    series : Series
        The training values.
    integer : bool
        Whether the numbers must be whole.
    step : float, optional
        What numbers must be multiples of.
    categories, ordered : sequence, optional
        That it holds categories, and their order.
    bounded : bool
        Whether the numbers have bounds, so that their inferred step is at most 1.
    """
    if isinstance(series.dtype, pd.SparseDtype):
        raise TypeError(f"Column {series.name!r} is sparse; make it dense, as in X.sparse.to_dense().")
    name, present = series.name, series[series.notna().to_numpy()]
    if not len(present):
        return Column(name, "fixed", why="it has no values in the training rows")
    if ordered is not None:
        return Column(name, "ordered", values=tuple(ordered))
    if categories is not None:
        return Column(name, "category", values=_distinct([*_categories(present), *categories]))
    if isinstance(series.dtype, pd.CategoricalDtype):
        kind: Kind = "ordered" if series.dtype.ordered else "category"
        return _at_least_two(Column(name, kind, values=tuple(series.dtype.categories)), present)
    if _holds_booleans(series):
        return Column(name, "ordered", values=(False, True))
    if holds_numbers(series):
        values, dtype = numbers_of(present), series.dtype
        return _learn_number(name, values, integer=integer, step=step, dtype=dtype, bounded=bounded)
    if types.is_object_dtype(series.dtype) or types.is_string_dtype(series.dtype):
        column = Column(name, "category", values=_categories(present))
        if len(column.values) > max(_MOST_TEXTS, 0.5 * len(present)):
            return Column(name, "fixed", why="it names rows: most training rows have a text of their own")
        return _at_least_two(column, present)
    return Column(name, "fixed", why=f"values of type {series.dtype} are kept as they are")


def _learn_number(
    name: Hashable, values: FloatArray, *, integer: bool, step: float | None, dtype: Any, bounded: bool
) -> Column:
    if not np.isfinite(values).all():
        raise ValueError(f"Column {name!r} must have finite numbers, got {values[~np.isfinite(values)][0]}.")
    low, high = float(values.min()), float(values.max())
    asked = integer or step is not None
    if types.is_integer_dtype(dtype) and not asked and {low, high} == {0.0, 1.0}:
        return Column(name, "ordered", values=(0, 1))
    if low == high:
        return Column(name, "fixed", why="it has the same value in all training rows")
    if types.is_integer_dtype(dtype) and max(-low, high) > _EXACT:
        return Column(name, "fixed", why="its whole numbers are too large to calculate with")
    if max(-low, high) > _LARGEST:
        raise ValueError(f"Column {name!r} has numbers as large as {max(-low, high):g}; use another unit for them.")
    if high - low < 1.0 / _LARGEST:
        return Column(name, "fixed", why="its numbers differ too little to calculate with; use another unit for them")
    unit = float(spread(values[:, None])[0])
    precision = _held_in(values, dtype)
    digits = _digits(values, unit, precision)
    if digits is not None and precision != _numpy(dtype) and _have_digits(values, digits, precision):
        low, high = round(low, digits), round(high, digits)  # as they were recorded
    if step is None:
        step = _precision(values, precision, coarse=not bounded)
        if integer or types.is_integer_dtype(dtype):
            step = max(step, 1.0)
        step = max(step, _finest(dtype))
    elif types.is_integer_dtype(dtype) and not float(step).is_integer():
        raise ValueError(f"Column {name!r} has integers, so its step must be a whole number, got {step}.")
    elif _finest(dtype) and round(step, decimals(_finest(dtype))) != step:
        finest = f"a multiple of {_finest(dtype):g}"
        raise ValueError(f"Column {name!r} has the type {dtype}, so its step must be {finest}, got {step}.")
    if digits is not None and step > 0.0:
        digits = max(digits, decimals(step))
    return Column(name, "number", unit=unit, step=float(step), digits=digits, low=low, high=high)


def _finest(dtype: Any) -> float:
    """Return what the numbers of a type are multiples of: those of decimal ones; 0 for others."""
    places = decimal_places(dtype)
    return 0.0 if places is None else float(f"1e{-places[1]}")


def _numpy(dtype: Any) -> Any:
    """Return the type of NumPy that a column is kept in, of whatever kind it is."""
    return getattr(dtype, "numpy_dtype", dtype)


def _held_in(values: FloatArray, dtype: Any) -> Any:
    """Return the type that the values come from: a shorter one than their own, if it holds all of them.

    A file in single precision that is read as doubles has 1.7999999523162842 where somebody recorded 1.8, or a few
    digits less if it was text on the way.
    """
    kept = _numpy(dtype)
    if kept == np.float64:
        with np.errstate(over="ignore", under="ignore"):
            short = values.astype(np.float32)
        if np.allclose(short, values, rtol=_WRITTEN, atol=0.0):
            return short.dtype
    return kept


def _precision(values: FloatArray, dtype: Any, *, coarse: bool) -> float:
    """Return the largest power of ten that all values are multiples of; 0 if they have many digits."""
    # Few values may be round by chance.
    first = -_MOST_ZEROS if coarse and len(np.unique(values)) >= _MANY else 0
    for digits in range(first, _MOST_DECIMALS + 1):
        if _have_digits(values, digits, dtype):
            return float(f"1e{-digits}")
    return 0.0


def _digits(values: FloatArray, unit: float, dtype: Any) -> int | None:
    """Return how many digits behind the point all values have, or those that tell a part of a unit of cost.

    None if they are more than the largest value has in floating point.
    """
    if np.abs(values).max() > 0.1 * _EXACT * _TOLD * unit:
        return None
    enough = max(0, math.ceil(-math.log10(_TOLD * unit)))
    return next((digits for digits in range(enough) if _have_digits(values, digits, dtype)), enough)


def _have_digits(values: FloatArray, digits: int, dtype: Any) -> bool:
    """Whether no value has more digits behind the point, in the precision of its type."""
    with np.errstate(over="ignore", invalid="ignore"):  # tiny numbers have more than powers of ten
        rounded = np.round(values, digits)
    kept = _numpy(dtype)
    # A short type says nothing about digits that it cannot hold.
    if (
        isinstance(kept, np.dtype)
        and kept.kind == "f"
        and 10.0**-digits > np.spacing(np.abs(values).max().astype(kept))
    ):
        rounded, values = rounded.astype(kept), values.astype(kept)
    return bool((rounded == values).all())


def _categories(present: pd.Series) -> tuple[Any, ...]:
    if isinstance(present.dtype, pd.CategoricalDtype):
        return tuple(present.dtype.categories)
    # Through lists, so that the values are plain ones of Python.
    try:
        distinct = _distinct(present.tolist())
    except TypeError as error:
        raise TypeError(
            f"Column {present.name!r} must hold numbers or categories, but {error}. Leave the column out, or turn its "
            "values into text."
        ) from error
    try:
        return tuple(sorted(distinct))
    except TypeError:
        return tuple(sorted(distinct, key=lambda value: (type(value).__name__, str(value))))


def _distinct(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(dict.fromkeys(values))


def _at_least_two(column: Column, present: pd.Series) -> Column:
    if len(present.unique()) > 1:
        return column
    return Column(column.name, "fixed", why="it has the same value in all training rows")
