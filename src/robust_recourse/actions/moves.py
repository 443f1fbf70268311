"""What an action set means for the columns of a table, in their own units."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from robust_recourse._typing import BoolArray, FloatArray, Rounding
from robust_recourse.actions.column_rule import ColumnRule
from robust_recourse.actions.consequences import Consequence, consequences_of
from robust_recourse.actions.names import Names
from robust_recourse.actions.rules import Rule
from robust_recourse.actions.validation import check_schema
from robust_recourse.math.limits import Limits
from robust_recourse.math.piecewise import piecewise_linear
from robust_recourse.tables import Column, Schema
from robust_recourse.tables.columns import decimals
from robust_recourse.tables.types import decimal_places

if TYPE_CHECKING:
    from robust_recourse.actions.action_set import ActionSet

__all__ = ["Moves", "limits_of", "moves_of"]

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
    never : tuple of ndarray of bool, or None for each column
        Switches that are forbidden, from code to code; None where there are none.
    max_changes : int or None
        How many columns may change.
    rules : tuple of Rule, Follow or Effect
        What rows must satisfy: inequalities between columns, and what follows from what a person does, in the order in
        which it does.
    dtypes : tuple
        Types of the columns; empty for arrays.
    told_in : mapping
        Units in which values are told to people, by column.
    """

    columns: tuple[Column, ...]
    lower: FloatArray
    upper: FloatArray
    rises: BoolArray
    falls: BoolArray
    weights: FloatArray
    targets: tuple[BoolArray | None, ...]
    never: tuple[BoolArray | None, ...] = ()
    max_changes: int | None = None
    rules: tuple[Rule | Consequence, ...] = ()
    dtypes: tuple[Any, ...] = ()
    told_in: Mapping[Hashable, str] = field(default_factory=dict)

    @property
    def units(self) -> FloatArray:
        """Units of cost of the columns."""
        return np.array([column.unit for column in self.columns])

    @property
    def plain(self) -> bool:
        """Whether the table is an array: no grids, no categories, no types."""
        return not self.dtypes

    @property
    def numbers(self) -> BoolArray:
        """Which columns hold numbers."""
        return np.array([column.kind == "number" for column in self.columns])

    @cached_property
    def followers(self) -> tuple[Consequence, ...]:
        """The rules by which some columns follow others."""
        return tuple(rule for rule in self.rules if not isinstance(rule, Rule))

    @property
    def proportional(self) -> bool:
        """Whether every row is its point times the units: numbers, as dear everywhere, none of which follows others."""
        return bool(self.numbers.all()) and not self.followers and not self._efforts

    @cached_property
    def _efforts(self) -> dict[int, tuple[FloatArray, FloatArray]]:
        """Values of the numbers that are not as dear everywhere, and what they cost."""
        return {k: tuple(np.array(column.effort).T) for k, column in enumerate(self.columns) if column.effort}

    @property
    def linear(self) -> BoolArray:
        """Which columns are as dear everywhere, so that a number is its point times its unit."""
        return np.array([not column.effort for column in self.columns])

    def to_points(self, values: FloatArray) -> FloatArray:
        """Return numbers, in the last axis by column, in coordinates whose differences are costs before weights."""
        points: FloatArray = values / self.units
        for k, (known, effort) in self._efforts.items():
            points[..., k] = piecewise_linear(values[..., k], known, effort)
        return points

    def to_values(self, points: FloatArray) -> FloatArray:
        """Return what :meth:`to_points` came from: what it is told of exactly, the rest but for rounding."""
        values: FloatArray = points * self.units
        for k, (known, effort) in self._efforts.items():
            back = piecewise_linear(points[..., k], effort, known)
            told = self.told(k)(back)
            values[..., k] = np.where(piecewise_linear(told, known, effort) == points[..., k], told, back)
        return values

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
        low, high = map(self.to_points, self.range())
        return Limits(low, high, self.rises, self.falls, self.weights, self.targets, self.never)

    def settle(self, values: FloatArray, own: FloatArray, rounding: Rounding = "nearest") -> FloatArray:
        """Return what can be told to a person: within bounds, on the grid of the column, in its type.

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
            if not (self.lower[k] <= start.min() and start.max() <= self.upper[k]):
                # Who is out of the bounds may stay there, but goes nowhere else out of them.
                value = _entering(value, start, self.lower[k], self.upper[k], rounding)
                bottom, top = np.maximum(bottom, self.lower[k]), np.minimum(top, self.upper[k])
            short = _short(self.dtypes[k]) if self.dtypes else None
            if column.grid > 0.0:
                around = _multiples(value, column.grid, short)
                value = _choose(value, start, bottom, top, around, rounding, column.grid)
            elif short is not None:
                value = _choose(value, start, bottom, top, _nearby(value, short), rounding)
            settled[rows, k] = np.where(value == start, start, value)
        return settled

    def consequences(
        self, values: FloatArray, own: FloatArray, missing: BoolArray, *, smoothly: bool = False
    ) -> FloatArray:
        """Return what becomes of instances if they do something: that, and the columns that follow.

        Parameters
        ----------
        values, own : ndarray of shape (n, p)
            What they do, in the units of the columns, and what they are.
        missing : ndarray of bool, shape (n, p)
            Which of their cells are empty.
        smoothly : bool
            Whether nothing is rounded, for derivatives.
        """
        if not self.followers:
            return values
        values = values.copy()
        for rule in self.followers:
            told = None if smoothly else self.told(rule.column)
            values[:, rule.column] = rule.become(values, own, missing, told)
        return values

    def keeps_rules(self, values: FloatArray, own: FloatArray, missing: BoolArray) -> BoolArray:
        """Whether all rules hold in what becomes of instances; the parameters are those of :meth:`consequences`."""
        kept = np.ones(len(values), dtype=bool)
        for _, holds in self._held_rules(values, own, missing):
            kept &= holds
        return kept

    def broken_rule(self, values: FloatArray, own: FloatArray, missing: BoolArray) -> str:
        """Return the first rule that does not hold in what becomes of a single instance; empty if all do."""
        held = self._held_rules(values[None], own[None], missing[None])
        return next((text for text, holds in held if not holds[0]), "")

    def _held_rules(self, values: FloatArray, own: FloatArray, missing: BoolArray) -> Iterator[tuple[str, BoolArray]]:
        if not self.rules:
            return
        became = self.consequences(values, own, missing)
        cells = self._cells(became, missing)
        for rule in self.rules:
            if isinstance(rule, Rule):
                yield rule.text, rule.holds(cells)
            else:
                yield rule.text, rule.holds(values, became, own, missing, self.told(rule.column))

    def told(self, k: int) -> Callable[[FloatArray], FloatArray]:
        """Return what rounds numbers of a column to its grid, in its type."""
        step, short = self.columns[k].step, _short(self.dtypes[k]) if self.dtypes else None
        if step > 0.0:
            return lambda value: _multiples(value, step, short)[1]
        if short is not None:
            return lambda value: value.astype(short).astype(float)
        return lambda value: value

    @property
    def rule_names(self) -> list[Any]:
        """What rules call the columns: those of an array are x0, x1, ..."""
        return [column.name if self.dtypes else f"x{column.name}" for column in self.columns]

    def _cells(self, values: FloatArray, missing: BoolArray) -> Mapping[Any, FloatArray]:
        return {name: np.where(missing[:, k], np.nan, values[:, k]) for k, name in enumerate(self.rule_names)}


def limits_of(rules: Sequence[ColumnRule]) -> Limits:
    """Return directions, bounds and weights as arrays, in the units of the table."""
    fixed = np.array([rule.immutable or rule.link is not None for rule in rules], dtype=bool)
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
    said = list(zip(rules, schema.columns, strict=True))
    moves = Moves(
        columns=schema.columns,
        lower=limits.lower,
        upper=limits.upper,
        rises=rises,
        falls=falls,
        weights=limits.weights,
        targets=tuple(_targets(rule, column, _followed(rule, rules, schema)) for rule, column in said),
        never=tuple(_never(rule, column) for rule, column in said),
        max_changes=actions.max_changes,
        dtypes=schema.dtypes,
        told_in={rule.column: rule.units for rule in rules if rule.units is not None},
    )
    names, free = Names.of(schema), rises | falls
    followers = consequences_of(rules, names, moves)
    for follower in followers:
        free[follower.column] = True
    # Nobody can do anything about a rule between columns that never change.
    between = [Rule(text) for text in actions.rules]
    kept = [rule for rule in between if any(free[names.find_in_rule(name, rule.text)] for name in rule.columns)]
    return replace(moves, rules=(*kept, *followers))


def _followed(rule: ColumnRule, rules: Sequence[ColumnRule], schema: Schema) -> list[Set[Any]]:
    """Return the values of a column for which it is known what follows, for each column that follows it."""
    led = zip(rules, schema.columns, strict=True)
    return [dict(column.partners).keys() for other, column in led if other.link and other.link[0] == rule.column]


def _targets(rule: ColumnRule, column: Column, followed: Sequence[Set[Any]]) -> BoolArray | None:
    if not column.categorical:
        return None
    allowed = set(column.values if rule.categories is None else rule.categories).intersection(*followed)
    return np.array([value in allowed for value in column.values], dtype=bool)


def _never(rule: ColumnRule, column: Column) -> BoolArray | None:
    if not column.categorical or not rule.never:
        return None
    forbidden = np.zeros((len(column.values), len(column.values)), dtype=bool)
    for pair in rule.never:
        forbidden[tuple(map(column.values.index, pair))] = True
    return forbidden


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


def _entering(value: FloatArray, start: FloatArray, low: float, high: float, rounding: Rounding) -> FloatArray:
    """Move values between an instance out of the bounds and the nearer bound to one of the two."""
    bound = np.clip(start, low, high)
    between = np.clip(value, low, high) != value
    enters = np.abs(value - bound) < np.abs(value - start) if rounding == "nearest" else rounding == "outward"
    # What goes further away from the bounds than the instance is stays.
    enters = enters & ((value - start) * (bound - start) > 0.0)
    return np.where(between, np.where(enters, bound, start), value)


def _choose(
    value: FloatArray,
    start: FloatArray,
    bottom: FloatArray,
    top: FloatArray,
    around: FloatArray,
    rounding: Rounding,
    step: float = 0.0,
) -> FloatArray:
    """Choose one of the numbers around a value, between `bottom` and `top`, or `start`."""
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
