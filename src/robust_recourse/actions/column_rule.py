"""What an action set says about one column: its words, gathered by column and checked."""

from __future__ import annotations

import math
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robust_recourse._validation import LARGEST, check_integer, check_real
from robust_recourse.actions.following import following
from robust_recourse.actions.names import Names
from robust_recourse.notices.writing import SINCE, check_unit

if TYPE_CHECKING:
    from robust_recourse.actions.action_set import ActionSet

__all__ = ["PERCENTILE", "ColumnRule", "checked_rules", "gathered_rules"]

_LISTS = ("immutable", "increase", "decrease", "integer")
_MAPPINGS = ("bounds", "step", "categories", "ordered", "never", "link", "effects", "weights", "cost", "units")
PERCENTILE = "percentile"
_LIGHTEST, _HEAVIEST = 1e-50, 1e50  # weights whose squares are numbers
_FINEST = 1e-50  # a step of which the numbers of a table are multiples that can be counted


@dataclass(frozen=True)
class ColumnRule:
    """What is asked for about one column. Nothing in it was learnt from a table.

    Attributes
    ----------
    column : hashable
        Name of the column, or its position in an array.
    immutable, increase, decrease, integer : bool
        Whether the column never changes, may only go up, may only go down, holds whole numbers.
    bounds : tuple
        Smallest and largest value, None where there is no bound.
    step : float or None
        What a changed value is a multiple of.
    categories, ordered : list or None
        Values that it may switch to, and the order of its values.
    never : list or None
        Pairs of values: it may not switch from the first to the second.
    link : tuple or None
        The column that determines it, and a dictionary from values of that one to its own; None for those of the
        training rows.
    effects : dict or None
        The columns that it moves, each with how far for each 1 of its own.
    weights : float
        Price of one unit of change.
    cost : str, list or None
        "percentile" if a change costs the share of the training rows that it overtakes, or pairs of values and what
        they cost; None for its distance in units.
    units : str or None
        What its numbers count, for people.
    """

    column: Hashable
    immutable: bool = False
    increase: bool = False
    decrease: bool = False
    integer: bool = False
    bounds: Any = (None, None)
    step: float | None = None
    categories: list[Any] | None = None
    ordered: list[Any] | None = None
    never: list[Any] | None = None
    link: tuple[Hashable, dict[Any, Any] | None] | None = None
    effects: dict[Hashable, float] | None = None
    weights: float = 1.0
    cost: Any = None
    units: str | None = None

    @property
    def low(self) -> float:
        """The smallest value, infinite if there is none."""
        return -math.inf if self.bounds[0] is None else float(self.bounds[0])

    @property
    def high(self) -> float:
        """The largest value, infinite if there is none."""
        return math.inf if self.bounds[1] is None else float(self.bounds[1])

    @property
    def way(self) -> str:
        """The word for the only direction in which the column may go; empty if it is free or never changes."""
        return "increase" if self.increase else "decrease" if self.decrease else ""

    def check(self) -> None:
        """Raise for what cannot be, or contradicts itself."""
        column = self.column
        if self.increase and self.decrease:
            raise ValueError(
                f"actions: column {column!r} is in both increase and decrease. "
                "Put it in immutable if it may not change."
            )
        _check_bounds(self.bounds, f"actions.bounds[{column!r}]")
        check_real(self.weights, f"actions.weights[{column!r}]", minimum=0.0, strict=True)
        check_real(self.weights, f"actions.weights[{column!r}]", minimum=_LIGHTEST, maximum=_HEAVIEST)
        if self.step is not None:
            step = check_real(self.step, f"actions.step[{column!r}]", minimum=0.0, strict=True)
            check_real(self.step, f"actions.step[{column!r}]", minimum=_FINEST, maximum=LARGEST)
            if self.integer and not step.is_integer():
                raise ValueError(f"actions: column {column!r} is in integer, but its step is {self.step}.")
        if self.units is not None:
            _check_unit(self.units, f"actions.units[{column!r}]")
        for word, values in (("categories", self.categories), ("ordered", self.ordered)):
            if values is None:
                continue
            _check_list(values, f"actions.{word}[{column!r}]")
            if self.integer or self.step is not None or self.bounds != (None, None):
                raise ValueError(
                    f"actions: column {column!r} is in {word}, so it cannot have bounds, a step or be integer."
                )
        if self.never is not None:
            _check_pairs(self.never, f"actions.never[{column!r}]")
        for target, rate in (self.effects or {}).items():
            check_real(rate, f"actions.effects[{column!r}][{target!r}]")
        for pair in ((self.link and self.link[1]) or {}).items():
            if not all(map(_is_value, pair)):
                raise ValueError(f"actions.link[{column!r}] must pair values, got {pair!r}.")
        if self.cost is not None and self.cost != PERCENTILE:
            _check_effort(self.cost, f"actions.cost[{column!r}]")
        if self.ordered is not None:
            unknown = [value for value in self.categories or [] if value not in self.ordered]
            if unknown:
                raise ValueError(
                    f"actions.categories[{column!r}] has {unknown[0]!r}, which actions.ordered does not list."
                )


def checked_rules(actions: ActionSet, names: Names | None = None) -> list[ColumnRule]:
    """Return the rules of an action set, as :func:`gathered_rules` does; raise for any that makes no sense."""
    rules = gathered_rules(actions, names)
    for rule in rules:
        rule.check()
    following(rules)
    if isinstance(actions.cost, str) and actions.cost != PERCENTILE:
        raise ValueError(f"actions.cost must be {PERCENTILE!r} or a dictionary from columns, got {actions.cost!r}.")
    if actions.max_changes is not None:
        check_integer(actions.max_changes, "actions.max_changes", minimum=1)
    return rules


def gathered_rules(actions: ActionSet, names: Names | None = None) -> list[ColumnRule]:
    """Return a rule for each column: of the table with these columns or, without, of those that are mentioned."""
    said: dict[Hashable, dict[str, Any]] = {column: {} for column in names.all} if names is not None else {}
    for word in (*_LISTS, *_MAPPINGS):
        given = getattr(actions, word)
        if word == "cost" and isinstance(given, str):
            continue  # it is about all columns
        for mentioned in given:
            column = mentioned if names is None else names.all[names.find(mentioned, word)]
            words = said.setdefault(column, {})
            if word in _LISTS:
                words[word] = True
                continue
            if word in words:
                raise ValueError(f"actions.{word} names column {column!r} twice, also as {mentioned!r}. Name it once.")
            words[word] = _said(word, given[mentioned], names)
    return [ColumnRule(column, **words) for column, words in said.items()]


def _said(word: str, value: Any, names: Names | None) -> Any:
    """Return what a word says about a column, in the form that a rule has it."""

    def named(column: Hashable) -> Hashable:
        return column if names is None else names.all[names.find(column, word)]

    if word == "bounds":
        return _pair(value)
    if word == "link":
        leader, pairs = next(iter(value.items())) if isinstance(value, dict) else (value, None)
        return named(leader), pairs
    if word == "effects":
        return {named(target): rate for target, rate in value.items()}
    return value


def _pair(bounds: Any) -> Any:
    """Return bounds with None for those that are infinite; what is no pair as it is."""
    if isinstance(bounds, str) or not isinstance(bounds, Sequence | np.ndarray) or len(bounds) != 2:
        return bounds
    return tuple(
        None if end is None or (isinstance(end, Real) and end == none) else end
        for end, none in zip(bounds, (-math.inf, math.inf), strict=True)
    )


def _check_unit(unit: Any, name: str) -> None:
    check_unit(unit, name)
    if re.match(r".* since [0-9]", unit) and not unit.startswith(SINCE):
        raise ValueError(
            f"{name} must count days, as in 'days since 1970-01-01', or be a column of dates, got {unit!r}."
        )


def _check_bounds(bounds: Any, name: str) -> None:
    if not isinstance(bounds, tuple):
        raise ValueError(f"{name} must be a pair (low, high), got {bounds!r}.")
    low, high = (None if end is None else check_real(end, f"{name}[{k}]") for k, end in enumerate(bounds))
    if low is not None and high is not None and low > high:
        raise ValueError(f"{name} is empty: its low bound {low:g} is above its high bound {high:g}.")


def _check_pairs(pairs: list[Any], name: str) -> None:
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2 or not all(map(_is_value, pair)) or pair[0] == pair[1]:
            raise ValueError(f"{name} must list pairs of different values, (from, to), got {pair!r}.")


def _is_value(value: Any) -> bool:
    return bool(pd.api.types.is_scalar(value) and not pd.isna(value))


def _check_effort(pairs: Any, name: str) -> None:
    if not isinstance(pairs, list) or len(pairs) < 2 or not all(isinstance(p, tuple) and len(p) == 2 for p in pairs):
        raise ValueError(f"{name} must be {PERCENTILE!r} or two or more pairs (value, effort), got {pairs!r}.")
    for one, other in pairwise(pairs):
        for word, end, more in zip(("values", "efforts"), one, other, strict=True):
            if not check_real(end, name) < check_real(more, name):
                raise ValueError(f"{name} must have rising {word}, got {end!r} before {more!r}.")


def _check_list(values: list[Any], name: str) -> None:
    if not values:
        raise ValueError(f"{name} is empty. Put the column in immutable if it may not change.")
    for position, value in enumerate(values):
        if not _is_value(value):
            raise ValueError(f"{name} must list values, got {value!r}; a missing cell always stays missing.")
        if value in values[:position]:
            raise ValueError(f"{name} has {value!r} twice.")
