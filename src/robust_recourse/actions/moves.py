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
from robust_recourse.actions.rounding import Grid, has_few_digits, held, multiples, short_type
from robust_recourse.actions.rules import Rule
from robust_recourse.actions.validation import check_schema
from robust_recourse.math.limits import Limits
from robust_recourse.math.piecewise import piecewise_linear
from robust_recourse.tables import Column, Schema
from robust_recourse.tables.columns import decimals

if TYPE_CHECKING:
    from robust_recourse.actions.action_set import ActionSet

__all__ = ["Moves", "limits_of", "moves_of"]


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
                smallest, largest = held(dtype)
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
        settled = values.copy()
        for grid in self._grids:
            moved = (values != own) & grid.columns
            rows, columns = np.nonzero(moved)
            if len(rows):
                settled[rows, columns] = grid.settle(columns, values[moved], own[moved], rounding)
        return settled

    @cached_property
    def _grids(self) -> list[Grid]:
        """The columns of numbers, those that are rounded alike together."""
        steps = np.array([column.grid for column in self.columns])
        kinds: dict[tuple[Any, ...], list[int]] = {}
        for k in np.flatnonzero(self.numbers).tolist():
            short = short_type(self.dtypes[k]) if self.dtypes else None
            kinds.setdefault((short, has_few_digits(steps[k])), []).append(k)
        low, high = self.range()
        return [
            Grid(
                columns=np.isin(np.arange(len(steps)), some),
                low=low,
                high=high,
                lower=self.lower,
                upper=self.upper,
                rises=self.rises,
                falls=self.falls,
                steps=steps,
                short=short,
            )
            for (short, _), some in kinds.items()
        ]

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

    def rounded(self, values: FloatArray) -> FloatArray:
        """Return the nearest values that could be told without bounds: on the grids of the columns, in their types."""
        rounded = values.copy()
        for k in np.flatnonzero(self.numbers).tolist():
            rounded[:, k] = self._rounding(k, self.columns[k].grid)(values[:, k])
        return rounded

    def told(self, k: int) -> Callable[[FloatArray], FloatArray]:
        """Return what rounds numbers of a column to its steps, in its type."""
        return self._rounding(k, self.columns[k].step)

    def _rounding(self, k: int, step: float) -> Callable[[FloatArray], FloatArray]:
        short = short_type(self.dtypes[k]) if self.dtypes else None
        if step > 0.0:
            digits = np.array(decimals(step))
            return lambda value: multiples(value, np.array(step), digits, short)[1]
        if short is not None:
            return lambda value: value.astype(short).astype(float)
        return lambda value: value

    @property
    def rule_names(self) -> list[Any]:
        """What rules call the columns: those of an array are x0, x1, ..."""
        return [column.name if self.dtypes else f"x{column.name}" for column in self.columns]

    def _cells(self, values: FloatArray, missing: BoolArray) -> Mapping[Any, FloatArray]:
        """Return the cells of the columns that rules are about."""
        return {name: np.where(missing[:, k], np.nan, values[:, k]) for k, name in self._ruled}

    @cached_property
    def _ruled(self) -> list[tuple[int, Any]]:
        names = {name for rule in self.rules if isinstance(rule, Rule) for name in rule.columns}
        return [(k, name) for k, name in enumerate(self.rule_names) if name in names]


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
