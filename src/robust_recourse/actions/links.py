"""Columns that others determine: learnt from training rows, and proposed where they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from robust_recourse._typing import IntArray
from robust_recourse.actions.column_rule import ColumnRule
from robust_recourse.tables import Schema

__all__ = ["proposed_links", "with_partners"]

_SEEN = 10  # training rows for each value of a column, on average, that make it credible that it determines another
_FIRST = 500  # training rows that are looked at first


def with_partners(schema: Schema, rules: Sequence[ColumnRule], frame: pd.DataFrame) -> Schema:
    """Return columns that know what they are with each value of the column that determines them.

    Raises
    ------
    ValueError
        If the training rows do not agree on it; the message names two that do not.
    """
    columns = list(schema.columns)
    for k, rule in enumerate(rules):
        if rule.link is not None:
            leader, given = rule.link
            pairs = learnt_pairs(frame, leader, rule.column) if given is None else given
            columns[k] = replace(columns[k], partners=tuple(pairs.items()))
    return replace(schema, columns=tuple(columns))


def learnt_pairs(frame: pd.DataFrame, leader: Any, column: Any) -> dict[Any, Any]:
    """Return what a column is with each value of its leader; a row in which one of them is missing says nothing."""
    pairs: dict[Any, Any] = {}
    first: dict[Any, Any] = {}
    for label, led, value in _pairs(frame, leader, column):
        if pairs.setdefault(led, value) != value:
            raise ValueError(
                f"actions.link: column {column!r} does not follow {leader!r} in the training rows: with {led!r} it is "
                f"{pairs[led]!r} in row {first[led]!r}, but {value!r} in row {label!r}. Leave the link out, or give "
                f"pairs: link={{{column!r}: {{{leader!r}: {{value: partner, ...}}}}}}."
            )
        first.setdefault(led, label)
    return pairs


def proposed_links(schema: Schema, frame: pd.DataFrame) -> dict[Any, Any]:
    """Return columns that another one determines in all training rows, with it.

    There must be many rows for each value. Where two determine each other, the one that holds numbers follows, or the
    later one; a column that others follow does not follow itself.
    """
    found: dict[Any, Any] = {}
    codes = {column.name: pd.factorize(frame[column.name])[0] for column in schema.columns if column.kind != "fixed"}
    leaders = [column.name for column in schema.columns if column.categorical]
    for follower in [name for name in reversed(codes) if name not in leaders] + leaders[::-1]:
        for leader in leaders:
            if leader in {follower, *found} or follower in found.values():
                continue
            if _determines(codes[leader], codes[follower]):
                found[follower] = leader
                break
    return found


def _determines(leader: IntArray, follower: IntArray) -> bool:
    both = (leader >= 0) & (follower >= 0)
    for rows in (slice(_FIRST), slice(None)):  # most columns say so early
        led, value = leader[rows][both[rows]], follower[rows][both[rows]]
        partners = np.full(leader.max() + 1, -1)
        partners[led] = value
        if (partners[led] != value).any():
            return False
    known = partners[partners >= 0]
    return len(np.unique(known)) > 1 and len(led) >= _SEEN * len(known)


def _pairs(frame: pd.DataFrame, leader: Any, column: Any) -> list[tuple[Any, Any, Any]]:
    known = frame[(frame[leader].notna() & frame[column].notna()).to_numpy()]
    return list(zip(known.index, known[leader].tolist(), known[column].tolist(), strict=True))
