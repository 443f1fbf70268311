"""Whether an action set makes sense for a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain
from numbers import Real
from typing import TYPE_CHECKING, Any

import pandas as pd

from robust_recourse.actions.column_rule import ColumnRule, checked_rules
from robust_recourse.actions.names import Names
from robust_recourse.actions.rules import Rule
from robust_recourse.notices.writing import PERCENT, SINCE
from robust_recourse.tables import Column, Schema
from robust_recourse.tables.columns import decimals

if TYPE_CHECKING:
    from robust_recourse.actions.action_set import ActionSet

__all__ = ["check_schema", "check_training"]

_CONTINUOUS = "the columns of an array are continuous. Give a DataFrame, as X_train or to fit."


def check_training(rules: list[ColumnRule], frame: pd.DataFrame) -> None:
    """Check the lists of categories against the training rows."""
    for rule in rules:
        if rule.ordered is None and rule.categories is None:
            continue
        series = frame[rule.column]
        seen = list(dict.fromkeys(series[series.notna().to_numpy()].tolist()))
        if rule.ordered is not None:
            missing = [value for value in seen if value not in rule.ordered]
            if missing:
                raise ValueError(
                    f"actions.ordered[{rule.column!r}] must list every value of the training rows, from low to high; "
                    f"{missing[0]!r} is missing."
                )
        elif seen:  # an order is said to be complete, and may know more than these rows
            known = series.dtype.categories.tolist() if isinstance(series.dtype, pd.CategoricalDtype) else seen
            _check_known(rule.categories or (), known, f"actions.categories[{rule.column!r}]")


def _check_known(values: Iterable[Any], known: Sequence[Any], name: str) -> None:
    for value in values:
        if value not in known:
            shown = ", ".join(map(repr, known[:10])) + ", ..." * (len(known) > 10)
            raise ValueError(f"{name} has {value!r}, which no training row has. They have {shown}.")


def check_schema(actions: ActionSet, schema: Schema) -> list[ColumnRule]:
    """Return the rules of the columns of a table, if they fit what these hold.

    Columns that never change anyway may be named by any rule.
    """
    names = Names.of(schema)
    rules = checked_rules(actions, names)
    for rule, column in zip(rules, schema.columns, strict=True):
        _check_column(rule, column, schema)
    if isinstance(actions.cost, str) and schema.names is None:
        raise ValueError(f"actions.cost is {actions.cost!r}, but {_CONTINUOUS}")
    for k, rule in enumerate(rules):
        _check_link(rule, schema, k, names)
        for target in rule.effects or ():
            _check_effect(rule, schema, k, names.find(target, "effects"))
    for text in actions.rules:
        for name in Rule(text).columns:
            _check_term(schema, names.find_in_rule(name, text), text)
    return rules


def _check_column(rule: ColumnRule, column: Column, schema: Schema) -> None:
    numeric = {"bounds": rule.bounds != (None, None), "integer": rule.integer, "step": rule.step is not None}
    listed = {"categories": rule.categories is not None, "ordered": rule.ordered is not None}
    if column.kind == "category" and rule.way:
        raise ValueError(
            f"actions.{rule.way} names column {rule.column!r}, whose categories have no order. "
            f"Give it: ordered={{{rule.column!r}: [lowest, ..., highest]}}."
        )
    if column.categorical:
        for word in (word for word, said in numeric.items() if said):
            raise ValueError(
                f"actions.{word} names column {rule.column!r}, which holds categories. "
                "Use categories or ordered for it."
            )
        _check_known(chain.from_iterable(rule.never or ()), column.values, f"actions.never[{rule.column!r}]")
    if rule.cost is not None and column.categorical:
        raise ValueError(f"actions.cost names column {rule.column!r}, which holds categories. Use weights for it.")
    _check_unit(rule, column)
    if column.kind != "number":
        return
    if rule.never is not None and rule.categories is None and rule.ordered is None:
        raise ValueError(
            f"actions.never names column {rule.column!r}, which holds numbers. Use bounds or a direction for it, "
            "or list its values in categories."
        )
    unlearnt = {
        "integer": rule.integer and not (column.step > 0.0 and column.step.is_integer()),
        "step": rule.step is not None and column.step != rule.step,
        "cost": rule.cost is not None and not column.effort,
        **listed,
    }
    for word in (word for word, said in unlearnt.items() if said):
        why = (
            _CONTINUOUS
            if schema.names is None
            else "its kind was learnt without it. Learn the columns with ActionSet.schema_for."
        )
        raise ValueError(f"actions.{word} names column {rule.column!r}, but {why}")
    _check_room(rule, column)


def _check_link(rule: ColumnRule, schema: Schema, place: int, names: Names) -> None:
    if rule.link is None:
        return
    column, leader = schema.columns[place], schema.columns[names.find(rule.link[0], "link")]
    word = f"actions.link[{rule.column!r}]"
    if schema.names is None:
        raise ValueError(f"{word} cannot hold: {_CONTINUOUS}")
    if not column.partners:
        raise ValueError(
            f"{word} has no pairs: it was learnt without it, or no training row has both columns. "
            "Learn the columns with ActionSet.schema_for, or give the pairs."
        )
    if column.kind == "fixed" and leader.kind != "fixed" and len(dict.fromkeys(p for _, p in column.partners)) > 1:
        raise ValueError(f"{word} cannot hold, because the column never changes: {column.why}.")
    for led, partner in column.partners:
        if not _is_of(leader, led):
            raise ValueError(f"{word} has {led!r}, which column {leader.name!r} never has.")
        if not _is_of(column, partner):
            grid = f" or is no multiple of its step {column.step:g}" if column.kind == "number" and column.step else ""
            raise ValueError(f"{word} makes it {partner!r} with {led!r}, which it never has{grid}.")


def _is_of(column: Column, value: Any) -> bool:
    if column.categorical:
        return value in column.values
    if column.kind == "fixed":
        return True
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        return False
    step = column.step
    return not step or round(round(float(value) / step) * step, decimals(step)) == value


def _check_effect(rule: ColumnRule, schema: Schema, source: int, target: int) -> None:
    for place in (source, target):
        column = schema.columns[place]
        if column.categorical or (column.kind == "fixed" and place == target):
            what = f"never changes: {column.why}" if column.kind == "fixed" else "holds categories"
            hint = " If its 0 and 1 are numbers, give it the bounds 0 and 1." if _is_binary(column) else ""
            raise ValueError(f"actions.effects[{rule.column!r}] is about column {column.name!r}, which {what}.{hint}")


def _is_binary(column: Column) -> bool:
    return column.values == (0, 1) and not any(isinstance(value, bool) for value in column.values)


def _check_unit(rule: ColumnRule, column: Column) -> None:
    name = f"actions.units[{rule.column!r}]"
    if column.categorical and rule.units is not None and not any(isinstance(value, Real) for value in column.values):
        raise ValueError(f"{name} is {rule.units!r}, but the column holds categories, which are told as they are.")
    if column.kind == "fixed" and rule.units not in (None, "date") and "datetime" in column.why:
        raise ValueError(f"{name} is {rule.units!r}, but the column holds moments. Write 'date' to leave out the time.")
    if column.kind != "number":
        return
    whole = column.step > 0.0 and column.step.is_integer()
    if rule.units is not None and rule.units.startswith(SINCE) and math.isfinite(column.high) and not whole:
        raise ValueError(f"{name} is {rule.units!r}, but the training rows have fractions there, which are no days.")
    if rule.units == "date":
        raise ValueError(
            f"{name} is 'date', but the column holds numbers. Say what they count: 'days since 1970-01-01'."
        )
    if rule.units == PERCENT and math.isfinite(column.high) and max(-column.low, column.high) <= 1.0:
        raise ValueError(
            f"{name} is '%', but the training rows have only numbers from {column.low:g} to {column.high:g} there. "
            "Write 'fraction' if 0.07 means 7 %, and 'percent' if it means 0.07 %."
        )


def _check_room(rule: ColumnRule, column: Column) -> None:
    low, high = rule.low, rule.high
    if column.step == 0.0 or math.isinf(low) or math.isinf(high):
        return
    # The quotient is rounded, so the multiples next to it are tried too.
    first = math.ceil(low / column.step)
    near = (round((first + k) * column.step, decimals(column.step)) for k in (-1, 0, 1))
    if not any(low <= value <= high for value in near):
        raise ValueError(
            f"actions.bounds[{rule.column!r}] leaves nothing: there is no multiple of {column.step:g} "
            f"between {low:g} and {high:g}. Give other bounds or another step."
        )


def _check_term(schema: Schema, place: int, text: str) -> None:
    column = schema.columns[place]
    if column.kind == "number":
        return
    constant = column.kind == "fixed" and schema.names is not None and _is_number(schema.dtypes[place])
    if not constant:
        what = "categories" if column.categorical else "no numbers"
        raise ValueError(f"actions.rules: {text!r} names column {column.name!r}, which holds {what}.")


def _is_number(dtype: Any) -> bool:
    return bool(pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype))
