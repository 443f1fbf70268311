"""Whether an action set makes sense: by itself, and for a table."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robust_recourse._typing import FloatArray
from robust_recourse._validation import check_integer, check_real
from robust_recourse.actions.names import Names
from robust_recourse.actions.rules import Rule
from robust_recourse.tables import Column, Schema
from robust_recourse.tables.columns import decimals

if TYPE_CHECKING:
    from robust_recourse.actions.action_set import ActionSet

__all__ = ["check_bounds", "check_schema", "check_training", "check_values", "check_weight", "names_of"]

_LIGHTEST, _HEAVIEST = 1e-50, 1e50  # so that their squares are numbers


def names_of(schema: Schema) -> Names:
    """Return the columns of a table."""
    return Names(len(schema.columns) if schema.names is None else list(schema.names))


def check_bounds(column: Hashable, pair: tuple[float | None, float | None]) -> FloatArray:
    """Return the bounds of a column, infinite where there is none."""
    name = f"actions.bounds[{column!r}]"
    if isinstance(pair, str) or not isinstance(pair, Sequence | np.ndarray) or len(pair) != 2:
        raise ValueError(f"{name} must be a pair (low, high), got {pair!r}.")
    low = -math.inf if pair[0] is None or pair[0] == -math.inf else check_real(pair[0], f"{name}[0]")
    high = math.inf if pair[1] is None or pair[1] == math.inf else check_real(pair[1], f"{name}[1]")
    if low > high:
        raise ValueError(f"{name} is empty: its low bound {low:g} is above its high bound {high:g}.")
    return np.array([low, high])


def check_weight(column: Hashable, weight: float) -> float:
    """Return the weight of a column."""
    name = f"actions.weights[{column!r}]"
    check_real(weight, name, minimum=0.0, strict=True)
    return check_real(weight, name, minimum=_LIGHTEST, maximum=_HEAVIEST)


def check_values(actions: ActionSet) -> None:
    """Check all that can be checked without knowing the columns."""
    for column in actions.increase:
        if column in actions.decrease:
            raise _both_directions(column)
    for column, pair in actions.bounds.items():
        check_bounds(column, pair)
    for column, weight in actions.weights.items():
        check_weight(column, weight)
    for column, step in actions.step.items():
        check_real(step, f"actions.step[{column!r}]", minimum=0.0, strict=True)
        if column in actions.integer and not float(step).is_integer():
            raise ValueError(f"actions: column {column!r} is in integer, but its step is {step}.")
    for rule, lists in (("categories", actions.categories), ("ordered", actions.ordered)):
        for column, values in lists.items():
            _check_list(f"actions.{rule}[{column!r}]", values)
            for other in (actions.bounds, actions.integer, actions.step):
                if column in other:
                    raise ValueError(
                        f"actions: column {column!r} is in {rule}, so it cannot have bounds, a step or be integer."
                    )
    for column in actions.categories.keys() & actions.ordered.keys():
        for value in actions.categories[column]:
            if value not in actions.ordered[column]:
                raise ValueError(f"actions.categories[{column!r}] has {value!r}, which actions.ordered does not list.")
    if actions.max_changes is not None:
        check_integer(actions.max_changes, "actions.max_changes", minimum=1)


def check_training(actions: ActionSet, frame: pd.DataFrame) -> None:
    """Check the lists of categories against the training rows."""
    for column, values in actions.ordered.items():
        for value in _distinct(frame[column]):
            if value not in values:
                raise ValueError(
                    f"actions.ordered[{column!r}] must list every value of the training rows, from low to high; "
                    f"{value!r} is missing."
                )
    for column, values in actions.categories.items():
        seen = _distinct(frame[column])
        if seen and not any(value in seen for value in values):
            shown = ", ".join(map(repr, seen[:10])) + ", ..." * (len(seen) > 10)
            raise ValueError(f"actions.categories[{column!r}] has no value of the training rows. They have {shown}.")


def check_schema(actions: ActionSet, schema: Schema) -> None:
    """Check an action set against the columns of a table.

    Columns that never change anyway may be named by any rule.
    """
    check_values(actions)
    names = names_of(schema)

    def find(column: Hashable, rule: str) -> Column:
        return schema.columns[names.find(column, rule)]

    for rule in ("immutable", "weights"):
        for name in getattr(actions, rule):
            find(name, rule)
    rising = [names.find(name, "increase") for name in actions.increase]
    for name in actions.decrease:
        if names.find(name, "decrease") in rising:
            raise _both_directions(name)
    for rule in ("increase", "decrease"):
        for name in getattr(actions, rule):
            if find(name, rule).kind == "category":
                raise ValueError(
                    f"actions.{rule} names column {name!r}, whose categories have no order. "
                    f"Give it: ordered={{{name!r}: [lowest, ..., highest]}}."
                )
    for rule in ("bounds", "integer", "step"):
        for name in getattr(actions, rule):
            if find(name, rule).categorical:
                raise ValueError(
                    f"actions.{rule} names column {name!r}, which holds categories. Use categories or ordered for it."
                )
            column = find(name, rule)
            whole = column.step > 0.0 and column.step.is_integer()
            learnt = whole if rule == "integer" else rule != "step" or column.step == actions.step[name]
            if column.kind == "number" and not learnt:
                raise ValueError(f"actions.{rule} names column {name!r}, {_continuous(schema)}")
    for rule in ("categories", "ordered"):
        for name in getattr(actions, rule):
            if find(name, rule).kind == "number":
                raise ValueError(f"actions.{rule} names column {name!r}, {_continuous(schema)}")
    for name, pair in actions.bounds.items():
        _check_room(name, check_bounds(name, pair), find(name, "bounds"))
    for text in actions.rules:
        for place in (names.find_in_rule(name, text) for name in Rule(text).columns):
            _check_term(schema, place, text)


def _both_directions(column: Hashable) -> ValueError:
    return ValueError(
        f"actions: column {column!r} is in both increase and decrease. Put it in immutable if it may not change."
    )


def _check_list(name: str, values: list[Any]) -> None:
    if not values:
        raise ValueError(f"{name} is empty. Put the column in immutable if it may not change.")
    for position, value in enumerate(values):
        if not pd.api.types.is_scalar(value) or pd.isna(value):
            raise ValueError(f"{name} must list values, got {value!r}; a missing cell always stays missing.")
        if value in values[:position]:
            raise ValueError(f"{name} has {value!r} twice.")


def _distinct(series: pd.Series) -> list[Any]:
    return list(dict.fromkeys(series[series.notna().to_numpy()].tolist()))


def _continuous(schema: Schema) -> str:
    if schema.names is None:
        return "but the columns of an array are continuous. Give a DataFrame, as X_train or to fit."
    return "but its kind was learnt without it. Learn the columns with ActionSet.schema_for."


def _check_room(name: Hashable, bounds: FloatArray, column: Column) -> None:
    if column.kind != "number" or column.step == 0.0 or not np.isfinite(bounds).all():
        return
    low, high = bounds
    # The quotient is rounded, so the multiples next to it are tried too.
    first = math.ceil(low / column.step)
    near = (round((first + k) * column.step, decimals(column.step)) for k in (-1, 0, 1))
    if not any(low <= value <= high for value in near):
        raise ValueError(
            f"actions.bounds[{name!r}] leaves nothing: there is no multiple of {column.step:g} "
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
