"""What numbers cost that are not as dear everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from robust_recourse.actions.column_rule import PERCENTILE, ColumnRule
from robust_recourse.math.piecewise import shares
from robust_recourse.tables import Schema
from robust_recourse.tables.columns import numbers_of

__all__ = ["with_efforts"]

_KNOTS = 257  # values at which the share of the training rows is kept


def with_efforts(schema: Schema, rules: Sequence[ColumnRule], frame: pd.DataFrame, *, everywhere: bool) -> Schema:
    """Return columns that know the effort of their values, where that is not linear.

    Parameters
    ----------
    schema : Schema
        The columns.
    rules : sequence of ColumnRule
        What is said about each.
    frame : DataFrame
        The training rows.
    everywhere : bool
        Whether all numbers cost the share of the training rows that they overtake.
    """
    columns = tuple(
        replace(column, effort=_effort(rule, frame[column.name]))
        if column.kind == "number" and (rule.cost is not None or everywhere)
        else column
        for rule, column in zip(rules, schema.columns, strict=True)
    )
    return replace(schema, columns=columns)


def _effort(rule: ColumnRule, series: pd.Series) -> tuple[tuple[float, float], ...]:
    if rule.cost is not None and rule.cost != PERCENTILE:
        return tuple((float(value), float(effort)) for value, effort in rule.cost)
    values, share = shares(numbers_of(series[series.notna().to_numpy()]), _KNOTS)
    return tuple(zip(values.tolist(), share.tolist(), strict=True))
