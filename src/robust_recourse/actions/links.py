"""Columns that others determine: learnt from training rows, and proposed where they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import gammaln

from robust_recourse._typing import IntArray
from robust_recourse.actions.column_rule import ColumnRule
from robust_recourse.tables import Schema

__all__ = ["proposed_links", "with_partners"]

_AGAIN = 50  # rows with values that other rows have: one exception in ten would show in 99 of 100 tables
_CHANCE = 1e-9  # that a pair of columns is proposed although they have nothing to do with each other
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
    """Return columns that another one determines in all training rows, with it, where that can hardly be chance.

    Where two determine each other, the one that holds numbers follows, or the later one; a column that others follow
    does not follow itself. Of several that determine a column it follows the one with the most values, which tends to
    determine the others.
    """
    found: dict[Any, Any] = {}
    free = [column for column in schema.columns if column.kind != "fixed"]
    numbers = [column.name for column in free if not column.categorical]
    codes = _without_copies({column.name: pd.factorize(frame[column.name])[0] for column in free})
    leaders = [name for name in codes if _repeats(codes[name])]
    leaders.sort(key=lambda name: (-codes[name].max(), name in numbers))
    for follower in numbers[::-1] + [name for name in reversed(codes) if name not in numbers]:
        for leader in leaders:
            if leader in {follower, *found} or follower in found.values():
                continue
            if _determines(codes[leader], codes[follower]):
                found[follower] = leader
                break
    return found


def _without_copies(codes: dict[Any, IntArray]) -> dict[Any, IntArray]:
    """Return each row once, where a table has more of them than it must: copies say nothing new about its columns."""
    table = pd.DataFrame(dict(enumerate(codes.values())))
    if np.log1p(table.max()).sum() <= np.log(max(len(table), 1)):
        return codes
    fresh = ~table.duplicated().to_numpy()
    return {name: code[fresh] for name, code in codes.items()}


def _determines(leader: IntArray, follower: IntArray) -> bool:
    both = (leader >= 0) & (follower >= 0)
    for rows in (slice(_FIRST), slice(None)):  # most columns say so early
        led, value = leader[rows][both[rows]], follower[rows][both[rows]]
        partners = np.full(led.max(initial=-1) + 1, -1)
        partners[led] = value
        if (partners[led] != value).any():
            return False
    return _repeats(led) and not _by_chance(led, value)


def _repeats(leader: IntArray) -> bool:
    """Whether the values of a column repeat so often that an exception to what they determine would have shown.

    The most common one does not count: where it is a 0 or "none" that columns share, it says nothing about the others.
    """
    others = np.sort(_counts(leader[leader >= 0]))[:-1]
    return bool(others.sum() - len(others) >= max(_AGAIN, len(others)))


def _by_chance(leader: IntArray, follower: IntArray) -> bool:
    r"""Whether a column in which the rows are shuffled could be determined as well.

    Of the :math:`n! / \prod_v m_v!` orders of a column with :math:`m_v` rows of each of :math:`V` values at most
    :math:`V^G` follow one with :math:`G` values: one for each way to give these a partner.
    """
    counts = _counts(follower)
    orders = gammaln(counts.sum() + 1) - gammaln(counts + 1).sum()
    return bool(len(_counts(leader)) * np.log(len(counts)) - orders > np.log(_CHANCE))


def _counts(codes: IntArray) -> IntArray:
    counts = np.bincount(codes)
    return counts[counts > 0]


def _pairs(frame: pd.DataFrame, leader: Any, column: Any) -> list[tuple[Any, Any, Any]]:
    known = frame[(frame[leader].notna() & frame[column].notna()).to_numpy()]
    return list(zip(known.index, known[leader].tolist(), known[column].tolist(), strict=True))
