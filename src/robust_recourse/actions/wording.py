"""Columns and what may happen to them, in words."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pandas as pd

from robust_recourse.actions.column_rule import PERCENTILE, ColumnRule, checked_rules
from robust_recourse.actions.following import following
from robust_recourse.actions.names import Names
from robust_recourse.tables import Column, Schema

if TYPE_CHECKING:
    from robust_recourse.actions.action_set import ActionSet

__all__ = ["facts", "overview", "printable", "readable", "summary"]

_WIDTH = 60  # of a list of categories
_LINES = 100  # columns of an overview
_FREE = "anything"
_WAYS = {"increase": "up", "decrease": "down"}


def readable(number: float, digits: int = 4) -> str:
    """Write a number with commas between its thousands; a fraction with some digits, a whole number with all."""
    if number == 0.0 or not math.isfinite(number):
        return f"{number:g}"
    if float(number).is_integer() and abs(number) < 1e15:
        return f"{number:,.0f}"
    behind = digits - 1 - math.floor(math.log10(abs(number)))
    if behind > digits + 3 or abs(number) >= 1e15:
        return f"{number:.{digits}g}"
    text = f"{round(number, behind):,.{max(behind, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def facts(column: Column) -> str:
    """Say what the training rows have in a column, in one line."""
    if column.kind == "fixed":
        return f"never changes: {column.why}"
    if column.kind == "number":
        grid = f" in steps of {column.step:.15g}" if column.step else ""
        span = f" from {readable(column.low, 6)} to {readable(column.high, 6)}" if math.isfinite(column.low) else ""
        return f"number{span}{grid}" + (f"; a unit of cost is {readable(column.unit)}" * (not column.effort))
    if column.kind == "ordered":
        return f"ordered: {_listed(column.values, ' < ')}"
    return f"category: {_listed(column.values, ', ')}"


def summary(actions: ActionSet, schema: Schema) -> pd.DataFrame:
    """Return what may happen to every column, as a table."""
    rules = checked_rules(actions, Names.of(schema))
    moved = following(rules)
    rows = [
        {
            "kind": column.kind,
            "may become": _may_become(rule, column, moved.get(rule.column, [])),
            "step": column.step or math.nan,
            "unit": column.unit if column.kind != "fixed" and not column.effort else math.nan,
            "weight": float(rule.weights),
        }
        for rule, column in zip(rules, schema.columns, strict=True)
    ]
    index = pd.Index([rule.column for rule in rules], name="column", tupleize_cols=False)
    return pd.DataFrame(rows, index=index)


def overview(actions: ActionSet, schema: Schema) -> str:
    """Return an action set as text, one line for each column."""
    table = summary(actions, schema)
    cells = [["column", "kind", "may become", "step", "unit of cost", "weight"]]
    for (name, row), _ in zip(table.iterrows(), range(_LINES), strict=False):
        numbers = [f"{row['step']:.15g}", readable(row["unit"]), readable(row["weight"])]
        cells.append(
            [printable(str(name)), row["kind"], row["may become"], *(text.replace("nan", "") for text in numbers)]
        )
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]
    if len(table) > _LINES:
        lines.append(f"... and {len(table) - _LINES} more columns")
    for column in (column for column in schema.columns if column.effort):
        own = not isinstance(actions.cost, str) and actions.cost.get(column.name) != PERCENTILE
        what = "as its table says" if own else "the share of the training rows that is overtaken"
        lines.append(f"{printable(str(column.name))} costs {what}")
    if actions.max_changes is not None:
        lines.append(f"at most {actions.max_changes} of them may change")
    lines += [f"rule: {text}" for text in actions.rules]
    lines += [
        f"effect: each 1 of {source} adds {readable(rate)} to {target}"
        for source, moved in actions.effects.items()
        for target, rate in moved.items()
    ]
    return "\n".join([f"{type(actions).__name__} of {len(table)} columns", *(f"  {line}" for line in lines)])


def _may_become(rule: ColumnRule, column: Column, causes: Sequence[Hashable]) -> str:
    if column.kind == "fixed":
        return f"never changes: {column.why}"
    if rule.link is not None:
        return f"follows {rule.link[0]}"
    if rule.immutable:
        return f"only moves with {', '.join(map(str, causes))}" if causes else "never changes"
    if column.categorical:
        ordered = column.kind == "ordered" and rule.categories is None
        parts = [_listed(rule.categories or column.values, " < " if ordered else ", ")]
    else:
        parts = _span(rule, column)
    if rule.way:
        parts.append(f"only {_WAYS[rule.way]}")
    if rule.never and column.categorical:
        parts.append(f"never {_joined([f'{old!r} to {new!r}' for old, new in rule.never], ', ')}")
    return ", ".join(parts) or _FREE


def _span(rule: ColumnRule, column: Column) -> list[str]:
    """Say how far a number may go: to its bounds or, on a side without one, as far as the training rows."""
    low = rule.low if math.isfinite(rule.low) else min(column.low, rule.high)
    high = rule.high if math.isfinite(rule.high) else max(column.high, low)
    if math.isfinite(low) and math.isfinite(high):
        return [f"{readable(low, 6)} to {readable(high, 6)}"]
    ends = ((f"at least {readable(low, 6)}", low), (f"at most {readable(high, 6)}", high))
    return [text for text, end in ends if math.isfinite(end)]


def printable(text: str) -> str:
    """Return a text that stays on its line."""
    return "".join(sign if sign.isprintable() else " " for sign in text)


def _listed(values: Sequence[Any], separator: str) -> str:
    """List categories, as many as fit on a line."""
    return _joined([repr(value) for value in values], separator)


def _joined(texts: list[str], separator: str) -> str:
    ends = accumulate(len(text) + len(separator) for text in texts)
    shown = max(1, sum(end <= _WIDTH for end in ends))
    if shown >= len(texts):
        return separator.join(texts)
    return separator.join([*texts[:shown], f"... ({len(texts)} values)"])
