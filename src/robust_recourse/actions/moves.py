"""What an action set means for the columns of a table, in their own units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray
from robust_recourse.actions.column_rule import ColumnRule
from robust_recourse.actions.names import Names
from robust_recourse.actions.rules import Rule
from robust_recourse.actions.validation import check_schema
from robust_recourse.math.limits import Limits
from robust_recourse.tables import Column, Schema
from robust_recourse.tables.columns import decimals
from robust_recourse.tables.types import decimal_places

if TYPE_CHECKING:
    from robust_recourse.actions.action_set import ActionSet

__all__ = ["Moves", "Rounding", "limits_of", "moves_of"]

Rounding: TypeAlias = Literal["nearest", "inward", "outward"]

_CLOSE = 16.0 * float(np.finfo(float).eps)  # relative distance within which a number is a multiple of its step
_FEW_DIGITS = 12  # behind the point


@dataclass(frozen=True, eq=False)
class Moves:
    """What may change in a table, and to what.

    Attributes
    ----------
    columns : tuple of Column
        The columns of the table.
    lower, upper : ndarray of shape (p,)
        Bounds that were asked for, infinite where there are none.
    rises, falls : ndarray of bool, shape (p,)
        Whether the column may go up, and whether it may go down; neither for one that may not change.
    weights : ndarray of shape (p,)
        Price of one unit of change, or of another category.
    targets : tuple of ndarray of bool, or None for each column
        Which categories a column may switch to; None for numbers.
    max_changes : int or None
        How many columns may change.
    rules : tuple of Rule
        Inequalities between columns.
    dtypes : tuple
        Types of the columns; empty for arrays.
    """

    columns: tuple[Column, ...]
    lower: FloatArray
    upper: FloatArray
    rises: BoolArray
    falls: BoolArray
    weights: FloatArray
    targets: tuple[BoolArray | None, ...]
    max_changes: int | None = None
    rules: tuple[Rule, ...] = ()
    dtypes: tuple[Any, ...] = ()

    @property
    def units(self) -> FloatArray:
        """Units of cost of the columns."""
        return np.array([column.unit for column in self.columns])

    @property
    def numbers(self) -> BoolArray:
        """Which columns hold numbers."""
        return np.array([column.kind == "number" for column in self.columns])

    def range(self) -> tuple[FloatArray, FloatArray]:
        """Return the bounds of the numbers: those asked for or, on a side without one, the range of the training rows.

        What a type cannot hold is out of bounds, too.
        """
        lowest = np.array([column.low for column in self.columns])
        highest = np.array([column.high for column in self.columns])
        # A bound may lie beyond the training rows: then it is their range on the other side, too.
        low = np.where(np.isneginf(self.lower), np.minimum(lowest, self.upper), self.lower)
        high = np.where(np.isposinf(self.upper), np.maximum(highest, self.lower), self.upper)
        for k, dtype in enumerate(self.dtypes):
            if self.columns[k].kind == "number":
                smallest, largest = _held(dtype)
                low[k], high[k] = max(low[k], smallest), min(high[k], largest)
        return low, high

    def limits(self) -> Limits:
        """Return the same in units of cost; categories have no bounds."""
        low, high = self.range()
        units = self.units
        return Limits(low / units, high / units, self.rises, self.falls, self.weights, self.targets)

    def outside(self, values: FloatArray, missing: BoolArray) -> BoolArray:
        """Which cells are out of the bounds that were asked for, although they may change; of shape (m, p)."""
        beyond = (values < self.lower) | (values > self.upper)
        return np.asarray(beyond & (self.rises | self.falls) & self.numbers & ~missing)

    def settle(self, values: FloatArray, own: FloatArray, rounding: Rounding = "nearest") -> FloatArray:
        """Return what can be told to a person: within bounds, on the grid of steps, in the type of the column.

        Parameters
        ----------
        values : ndarray of shape (n, p)
            Numbers in their own units, and codes of categories.
        own : ndarray of shape (n, p)
            The instances. A number that is an instance's own is kept, be it on the grid or not.
        rounding : {"nearest", "inward", "outward"}
            Where to: to the nearest possible value, towards the instance, or away from it.
        """
        low, high = self.range()
        settled = values.copy()
        for k, column in enumerate(self.columns):
            rows = np.flatnonzero(values[:, k] != own[:, k]) if column.kind == "number" else ()
            if not len(rows):
                continue
            start, value = own[rows, k], values[rows, k]
            bottom = np.minimum(low[k], start) if self.falls[k] else start
            top = np.maximum(high[k], start) if self.rises[k] else start
            value = np.clip(value, bottom, top)
            short = _short(self.dtypes[k]) if self.dtypes else None
            if column.step > 0.0:
                around = _multiples(value, column.step, short)
                value = _choose(value, start, bottom, top, around, rounding, column.step)
            elif short is not None:
                value = _choose(value, start, bottom, top, _nearby(value, short), rounding)
            settled[rows, k] = np.where(value == start, start, value)
        return settled

    def keeps_rules(self, values: FloatArray, missing: BoolArray) -> BoolArray:
        """Whether all rules hold in each row."""
        kept = np.ones(len(values), dtype=bool)
        if self.rules:
            cells = self._cells(values, missing)
            for rule in self.rules:
                kept &= rule.holds(cells)
        return kept

    def broken_rule(self, values: FloatArray, missing: BoolArray) -> str:
        """Return the first rule that a single row breaks."""
        cells = self._cells(values[None], missing[None])
        return next((rule.text for rule in self.rules if not rule.holds(cells)[0]), "")

    def _cells(self, values: FloatArray, missing: BoolArray) -> Mapping[Any, FloatArray]:
        # The columns of an array are called x0, x1, ... in rules.
        names = [column.name if self.dtypes else f"x{column.name}" for column in self.columns]
        return {name: np.where(missing[:, k], np.nan, values[:, k]) for k, name in enumerate(names)}


def limits_of(rules: Sequence[ColumnRule]) -> Limits:
    """Return directions, bounds and weights as arrays, in the units of the table."""
    fixed = np.array([rule.immutable for rule in rules], dtype=bool)
    return Limits(
        lower=np.array([rule.low for rule in rules], dtype=float),
        upper=np.array([rule.high for rule in rules], dtype=float),
        rises=~fixed & [not rule.decrease for rule in rules],
        falls=~fixed & [not rule.increase for rule in rules],
        weights=np.array([rule.weights for rule in rules], dtype=float),
    )


def moves_of(actions: ActionSet, schema: Schema) -> Moves:
    """Say what an action set means for the columns of a table."""
    rules = check_schema(actions, schema)
    limits = limits_of(rules)
    changing = np.array([column.kind != "fixed" for column in schema.columns])
    rises, falls = limits.rises & changing, limits.falls & changing
    # Nobody can do anything about a rule between columns that never change.
    names, free = Names.of(schema), rises | falls
    between = [Rule(text) for text in actions.rules]
    kept = [rule for rule in between if any(free[names.find_in_rule(name, rule.text)] for name in rule.columns)]
    return Moves(
        columns=schema.columns,
        lower=limits.lower,
        upper=limits.upper,
        rises=rises,
        falls=falls,
        weights=limits.weights,
        targets=tuple(map(_targets, rules, schema.columns)),
        max_changes=actions.max_changes,
        rules=tuple(kept),
        dtypes=schema.dtypes,
    )


def _targets(rule: ColumnRule, column: Column) -> BoolArray | None:
    if not column.categorical:
        return None
    allowed = set(column.values if rule.categories is None else rule.categories)
    return np.array([value in allowed for value in column.values], dtype=bool)


def _held(dtype: Any) -> tuple[float, float]:
    """Return the smallest and the largest number of a type; infinite if it says nothing about numbers."""
    kept = getattr(dtype, "numpy_dtype", dtype)
    if isinstance(kept, np.dtype) and kept.kind in "iu":
        info = np.iinfo(kept)
        highest = float(info.max)
        # The largest integers are no floats.
        return float(info.min), highest if int(highest) <= info.max else float(np.nextafter(highest, 0.0))
    if isinstance(kept, np.dtype) and kept.kind == "f":
        return float(np.finfo(kept).min), float(np.finfo(kept).max)
    places = decimal_places(dtype)
    if places is not None:
        # Below the next power of ten, which has one digit more.
        largest = float(np.nextafter(10.0 ** places[0], 0.0))
        return -largest, largest
    return -np.inf, np.inf


def _short(dtype: Any) -> Any:
    """Return the type of a column of floats in less than double precision, None for others."""
    kept = getattr(dtype, "numpy_dtype", dtype)
    return kept if isinstance(kept, np.dtype) and kept.kind == "f" and kept.itemsize < 8 else None


def _multiples(value: FloatArray, step: float, short: Any = None) -> FloatArray:
    """Return three multiples of a step, in a type that is shorter: the nearest one, and those around it."""
    if short is not None:
        with np.errstate(over="ignore"):  # one may be more than the type holds
            return _multiples(value, step).astype(short).astype(float)
    count = np.round(value / step) + np.array([[-1.0], [0.0], [1.0]])
    digits = decimals(step)
    if digits <= _FEW_DIGITS:
        return np.asarray(np.round(count * step, digits))
    # Scaled by such a power of ten numbers are not exact, as they are in Python.
    rounded = [round(number, digits) for number in (count * step).ravel().tolist()]
    return np.array(rounded).reshape(count.shape)


def _nearby(value: FloatArray, short: Any) -> FloatArray:
    """Return three numbers of a type: the nearest one, and those around it."""
    middle = value.astype(short)
    ends = np.array([-np.inf, np.inf], dtype=short)
    with np.errstate(over="ignore"):
        return np.stack([np.nextafter(middle, ends[0]), middle, np.nextafter(middle, ends[1])]).astype(float)


def _choose(
    value: FloatArray,
    start: FloatArray,
    bottom: FloatArray,
    top: FloatArray,
    around: FloatArray,
    rounding: Rounding,
    step: float = 0.0,
) -> FloatArray:
    """Choose one of the numbers around a value, between `bottom` and `top`, or `start`, which both always hold."""
    close = _CLOSE * np.maximum(np.abs(start), step)
    possible = np.concatenate([np.where((bottom <= around) & (around <= top), around, np.nan), start[None]])
    # What differs from one of them by rounding only is that.
    possible = np.where(np.abs(possible - start) <= close, start, possible)
    for known in (possible[1], start):
        value = np.where(np.abs(value - known) <= _CLOSE * np.maximum(np.abs(known), step), known, value)
    below = np.where(possible <= value, possible, -np.inf).max(axis=0)
    above = np.where(possible >= value, possible, np.inf).min(axis=0)
    rising = value >= start
    inner, outer = np.where(rising, below, above), np.where(rising, above, below)
    further = np.isfinite(outer) & (rounding != "inward")
    if rounding == "nearest":
        further &= np.abs(outer - value) < np.abs(inner - value)
    return np.asarray(np.where(further, outer, inner))
