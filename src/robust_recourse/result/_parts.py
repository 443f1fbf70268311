"""Some of the recourses of a batch, several batches as one, and whether two are the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robust_recourse._typing import IntArray
from robust_recourse.tables.order import check_order
from robust_recourse.tables.values import same_array, same_index, same_table, same_value, stack, take

if TYPE_CHECKING:
    from robust_recourse.result._entries import Entries
    from robust_recourse.result.provenance import Provenance

__all__ = ["CONSENT", "TABLES", "VECTORS", "concatenated", "numbered", "places_of", "same"]

CONSENT = ("jury_share", "survival_bound")  # NaN where nobody was asked
TABLES = ("x", "boundary", "x0")
VECTORS = (
    "cost", "budget", "valid", "status", "reason", "log_worst_case_odds", "n_queries", "rank", "column_costs",
    *CONSENT,
)  # fmt: skip
_SETTINGS = ("kinds", "orders", "units", "digits", "favourable", "threshold")


def places_of(chosen: Any, found: Entries) -> IntArray:
    """Return the positions of the entries that are chosen: by a slice, a mask or a list of positions."""
    n = len(found)
    if isinstance(chosen, slice):
        return np.arange(n, dtype=np.int64)[chosen]
    if isinstance(chosen, pd.Series):
        check_order(chosen, "the mask", found.x, "found.x")
    places = np.asarray(chosen)
    if places.size == 0 and places.ndim == 1:
        places = places.astype(np.int64)
    if places.ndim != 1 or places.dtype.kind not in "biu":
        raise TypeError(f"found[i] takes a position, a slice, a mask or a list of positions, got {chosen!r}.")
    if places.dtype.kind == "b":
        if len(places) != n:
            raise IndexError(f"A mask must have one entry for each of the {n} entries, got {len(places)}.")
        return np.flatnonzero(places)
    if len(places) and not (-n <= places.min() and places.max() < n):
        wrong = places[(places < -n) | (places >= n)][0]
        raise IndexError(f"There are {len(found)} entries, and {wrong} is none of their positions.")
    return np.asarray(np.arange(n)[places])


def numbered(person: IntArray, rank: IntArray) -> IntArray:
    """Return the people numbered from 0 in their order: entries of one stand together, and their ranks rise."""
    another = (person[1:] != person[:-1]) | (rank[1:] <= rank[:-1])
    return np.concatenate([np.zeros(min(len(person), 1), dtype=np.int64), np.cumsum(another, dtype=np.int64)])


def concatenated(parts: Sequence[Entries]) -> dict[str, Any]:
    """Return the fields of one batch with the entries of all; see ``Recourses.concat``."""
    first = parts[0]
    for k, part in enumerate(parts[1:], start=1):
        _check_alike(first, part, k)
    fields: dict[str, Any] = {name: stack([getattr(part, name) for part in parts]) for name in TABLES}
    fields |= {name: np.concatenate([getattr(part, name) for part in parts]) for name in VECTORS}
    fields["person"] = _people(parts)
    fields |= {name: getattr(first, name) for name in _SETTINGS}
    fields["provenance"] = _together([part.provenance for part in parts])
    traces = [part._traces for part in parts]
    fields["_traces"] = None if None in traces else tuple(trace for some in traces for trace in some or ())
    return fields


def same(one: Entries, other: Entries) -> bool:
    """Whether two batches are the same to the last bit, but for their traces."""
    if len(one) != len(other) or not all(same_table(getattr(one, name), getattr(other, name)) for name in TABLES):
        return False
    vectors = (*VECTORS, "person")
    if not all(same_array(np.asarray(getattr(one, name)), np.asarray(getattr(other, name))) for name in vectors):
        return False
    return one.provenance == other.provenance and not _differing(one, other)


def _differing(one: Entries, other: Entries) -> str:
    for name in _SETTINGS:
        mine, its = (getattr(found, name) for found in (one, other))
        if isinstance(mine, Mapping):
            mine, its = (
                tuple((key, tuple(value) if name == "orders" else value) for key, value in each.items())
                for each in (mine, its)
            )
        if not same_value(mine, its):
            return name
    return ""


def _check_alike(first: Entries, part: Entries, k: int) -> None:
    for name in TABLES:
        mine, its = getattr(first, name), getattr(part, name)
        if type(mine) is not type(its):
            raise TypeError(
                f"parts[{k}].{name} is a {type(its).__name__}, and that of parts[0] a {type(mine).__name__}. Explain "
                "tables of the same kind."
            )
        columns = [list(table.columns) if hasattr(table, "columns") else table.shape[1] for table in (mine, its)]
        alike = same_index(mine.columns, its.columns) if isinstance(mine, pd.DataFrame) else columns[0] == columns[1]
        if not alike:
            raise ValueError(f"parts[{k}] has the columns {columns[1]}, and parts[0] has {columns[0]}.")
    setting = _differing(first, part)
    if setting:
        mine, its = (getattr(found, setting) for found in (first, part))
        raise ValueError(f"parts[{k}].{setting} is {its!r}, and that of parts[0] is {mine!r}.")


def _people(parts: Sequence[Entries]) -> IntArray:
    people: list[IntArray] = []
    following, last = 0, None
    for part in parts:
        if len(part):
            numbers = numbered(part.person, part.rank) + following
            if last is not None and _continues(last, part):
                numbers = numbers - 1
            people.append(numbers)
            following, last = int(numbers[-1]) + 1, part
    return np.concatenate([np.zeros(0, dtype=np.int64), *people])


def _continues(above: Entries, below: Entries) -> bool:
    """Whether a batch begins with more recourses of the person that another ends with, as slices may."""
    if below.rank[0] <= above.rank[-1]:
        return False
    ends = take(above.x0, np.array([len(above) - 1])), take(below.x0, np.array([0]))
    return same_table(*ends)


def _together(known: Sequence[Provenance | tuple[Provenance, ...] | None]) -> Any:
    """Return the one provenance of all parts, or each of several once."""
    several: list[Provenance] = []
    for one in known:
        for each in one if isinstance(one, tuple) else (one,):
            if each is not None and each not in several:
                several.append(each)
    if len(several) > 1:
        return tuple(several)
    return several[0] if several else None
