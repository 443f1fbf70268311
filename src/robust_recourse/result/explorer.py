"""What the page shows of a result: people, their plans, and what models say on the way."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from datetime import date
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from robust_recourse._typing import IntArray
from robust_recourse.futures import Jury
from robust_recourse.models.acceptance import accepted_by
from robust_recourse.notices.explorer import background
from robust_recourse.notices.values import json_value
from robust_recourse.result.document import document_of
from robust_recourse.tables.foreign import is_frame, native, to_pandas
from robust_recourse.tables.types import ungapped

if TYPE_CHECKING:
    from robust_recourse.result._entries import Entries

__all__ = ["explorer_data"]

VERSION = 1
_ALL_ORDERS = 4  # changes of a plan up to which models are asked about every order
_TOLD = ("rank", "status", "reason", "valid", "cost", "worst_case_odds", "jury_share", "survival_bound")


def explorer_data(
    found: Entries,
    *,
    title: str,
    when: date,
    names: Mapping[Hashable, str] | None = None,
    model: Any = None,
    jury: Any = None,
    rows: Any = None,
    notices: Sequence[str] = (),
) -> dict[str, Any]:
    """Return what the page shows, as data for JSON; see ``Recourses.to_explorer``.

    `notices` are the addresses of the people's notices, in their order.
    """
    document = document_of(found)
    columns, entries = document["columns"], document["rows"]
    places = {column["name"]: k for k, column in enumerate(columns)}
    plans = [_plan(entry, places) for entry in entries]
    if model is not None:
        for plan, said in zip(plans, _steps(found, plans, model, _jury(jury)), strict=True):
            plan["steps"] = said
    people: list[dict[str, Any]] = []
    for _, group in groupby(range(len(entries)), key=lambda i: entries[i]["person"]):
        own = list(group)
        first = entries[own[0]]
        people.append(
            {
                "label": first["label"],
                "row": [first["before"][column["name"]] for column in columns],
                "plans": [plans[i] for i in own],
                **({"notice": notices[len(people)]} if notices else {}),
            }
        )
    return {
        "version": VERSION,
        "title": title,
        "when": when.isoformat(),
        "columns": list(_columns(found, columns, names or {})),
        "people": people,
        "jurors": _jurors(found, jury),
        # Models that took part in the search cannot judge what it found, and no others are known to the page then.
        "guided": any("jury_share" in entry for entry in entries),
        "background": [] if rows is None or model is None else background(rows, _accepted(found, model, rows)),
    }


def _plan(entry: dict[str, Any], places: dict[str, int]) -> dict[str, Any]:
    told = {name: entry[name] for name in _TOLD if entry.get(name) is not None}
    changes = [[places[change["column"]], change["to"], change["cost"]] for change in entry["changes"]]
    return {**told, "exists": entry["after"] is not None, "changes": changes}


def _columns(
    found: Entries, columns: Sequence[dict[str, Any]], names: Mapping[Hashable, str]
) -> Iterator[dict[str, Any]]:
    own = list(found.x.columns) if is_frame(found.x) else list(range(len(columns)))
    unknown = [name for name in names if name not in own]
    if unknown:
        raise ValueError(f"names has {unknown[0]!r}, which is no column. The columns are {own}.")
    orders = found._columns.orders
    for name, column in zip(own, columns, strict=True):
        told = {key: value for key, value in column.items() if key != "type"}
        if name in names:
            told["title"] = names[name]
        if name in orders:
            told["categories"] = [json_value(value) for value in orders[name]]
        yield told


def _jury(jury: Any) -> Jury | None:
    return jury if jury is None or isinstance(jury, Jury) else Jury(jury)


def _jurors(found: Entries, jury: Any) -> int | None:
    """Return how many models the shares are shares of, as far as that is known."""
    if jury is not None:
        return len(_jury(jury) or ())
    makers = found.provenance if isinstance(found.provenance, tuple) else (found.provenance,)
    known = {(maker.parameters.get("jury") or {}).get("models") for maker in makers if maker is not None}
    sizes = {size for size in known if isinstance(size, int)}
    return sizes.pop() if len(sizes) == 1 else None


def _accepted(found: Entries, model: Any, rows: Any) -> Any:
    return accepted_by(model, rows, favourable=found.favourable, threshold=found.threshold, like=found.x0)


def _masks(n: int) -> list[int]:
    """Return which changes have been made after each step, as bits: in every order, or in the given one alone."""
    return list(range(2**n)) if n <= _ALL_ORDERS else [2**k - 1 for k in range(n + 1)]


def _steps(found: Entries, plans: Sequence[dict[str, Any]], model: Any, jury: Jury | None) -> list[dict[str, Any]]:
    """Return for every plan what models say once some of its changes are made, by their bits.

    A column that follows from others (it costs nothing) changes with the last step.
    """
    own = [[change[0] for change in plan["changes"] if change[2]] for plan in plans]
    asked = [(i, mask) for i, columns in enumerate(own) for mask in (_masks(len(columns)) if columns else ())]
    said: list[dict[str, Any]] = [{} for _ in plans]
    if not asked:
        return said
    made = np.zeros((len(asked), len(found.kinds)), dtype=bool)
    for place, (i, mask) in enumerate(asked):
        if mask == 2 ** len(own[i]) - 1:
            made[place] = True
        made[place, [column for k, column in enumerate(own[i]) if mask >> k & 1]] = True
    table = _mixed(found, np.array([i for i, _ in asked]), made)
    decides = {"favourable": found.favourable, "threshold": found.threshold}
    accepted = accepted_by(model, table, **decides, like=found.x0)
    shares = np.full(len(asked), np.nan)
    if jury is not None:
        plain = ungapped(table, to_pandas(found.x0)) if isinstance(table, pd.DataFrame) else table
        shares = jury.accepts(plain, np.arange(len(asked)), {**decides, "data": "the steps"}).mean(axis=1)
    for (i, mask), yes, share in zip(asked, accepted, shares, strict=True):
        said[i][str(mask)] = [bool(yes)] if np.isnan(share) else [bool(yes), float(share)]
    return said


def _mixed(found: Entries, entries: IntArray, made: Any) -> Any:
    """Return rows with the values of the recourses where changes were `made`, and those of the people elsewhere."""
    if not is_frame(found.x):
        return np.where(made, found.x[entries], found.x0[entries])
    before, after = (to_pandas(table).iloc[entries] for table in (found.x0, found.x))
    mixed = after.copy()
    for k in range(after.shape[1]):
        new = after.iloc[:, k]
        mixed.isetitem(k, new.where(made[:, k], before.iloc[:, k].astype(new.dtype)))
    make = native(found.x0)
    return mixed if make is None else make(mixed)
