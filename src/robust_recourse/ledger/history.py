"""What became of promises: the story of one person, and of all by month."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import pandas as pd
from sqlalchemy import Connection, func, select

from robust_recourse.ledger.checking import within
from robust_recourse.ledger.errors import LedgerError
from robust_recourse.ledger.schema import CLOSING, entries, personal
from robust_recourse.ledger.source import Source
from robust_recourse.ledger.state import STATUSES, Promise, promises

__all__ = ["of_everybody", "of_numbers", "of_person", "timeline"]

_EVENTS = ("made", *STATUSES[1:])
_TOLD = (*CLOSING, "expired")  # earlier releases wrote an entry for what expired, which closes nothing any more


def of_person(source: Source, person: str) -> list[dict[str, Any]]:
    """Return everything that is kept about a person."""
    with source.reading() as (connection, runs):
        known = list(promises(connection, runs, source.today(), people=[person]))
        if not known:
            raise LedgerError(f"The ledger has no promise to {person!r}.")
        events, checks = _events(connection, [promise.number for promise in known]), _checks(connection)
        return [_story(promise, events[promise.number], checks) for promise in known]


def of_numbers(source: Source, numbers: list[int]) -> list[dict[str, Any]]:
    """Return everything that is kept about promises with these numbers."""
    with source.reading() as (connection, runs):
        known = promises(connection, runs, source.today(), numbers=numbers)
        events, checks = _events(connection, numbers), _checks(connection)
        return [_story(promise, events[promise.number], checks) for promise in known]


def of_everybody(source: Source, status: str | None = None) -> list[dict[str, Any]]:
    """Return everything that is kept about everybody, or about promises of which the same has become."""
    with source.reading() as (connection, runs):
        events, checks = _events(connection), _checks(connection)
        known = promises(connection, runs, source.today())
        return [_story(one, events[one.number], checks) for one in known if status in (None, one.status)]


def _story(
    promise: Promise, events: list[dict[str, Any]], checks: list[tuple[int, str, dict[str, Any]]]
) -> dict[str, Any]:
    """Return a promise with all of its events, as data for JSON."""
    run, data, names = promise.run, promise.data, promise.run.columns.texts
    rows = {which: dict(zip(names, data[which], strict=True)) for which in ("before", "promised")}
    facts = {name: run.facts[name] for name in ("model", "until", "note", "version", "provenance", "actions")}
    return {
        "promise": promise.number,
        "person": promise.person,
        "status": promise.status,
        "made": promise.made,
        **facts,
        "training_fingerprint": run.facts["training_fingerprint"],
        **rows,
        "changes": [
            {"column": names[k], "from": data["before"][k], "to": data["promised"][k], "cost": cost}
            for k, cost in data["changes"]
        ],
        "cost": data["cost"],
        "bounds": data["bounds"],
        "notice": data["notice"],
        "events": sorted([*events, *_checked(promise, checks)], key=lambda event: int(event["entry"])),
    }


def _events(connection: Connection, numbers: list[int] | None = None) -> defaultdict[int, list[dict[str, Any]]]:
    """Return what entries say about promises, about some or about all, by the numbers of these."""
    chosen = (
        select(entries.c.about, entries.c.number, entries.c.kind, entries.c.made, entries.c.facts, personal.c.data)
        .outerjoin_from(entries, personal, personal.c.number == entries.c.number)
        .where(entries.c.kind.in_(_TOLD))
    )
    found: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    rows = connection.execute(chosen if numbers is None else chosen.where(entries.c.about.in_(numbers)))
    for about, number, kind, made, facts, data in rows:
        told = {"entry": number, "event": kind, "made": made, **json.loads(facts), **json.loads(data or "{}")}
        found[about].append(told)
    return found


def _checked(promise: Promise, checks: list[tuple[int, str, dict[str, Any]]]) -> list[dict[str, Any]]:
    return [
        {
            "entry": number,
            "event": "checked",
            "made": made,
            "model": facts["model"],
            "kept": not within(promise.number, facts["broken"]),
        }
        for number, made, facts in checks
        if within(promise.number, facts["asked"])
    ]


def _checks(connection: Connection) -> list[tuple[int, str, dict[str, Any]]]:
    chosen = select(entries.c.number, entries.c.made, entries.c.facts).where(entries.c.kind == "checked")
    rows = connection.execute(chosen.order_by(entries.c.number))
    return [(number, made, json.loads(facts)) for number, made, facts in rows]


def timeline(source: Source) -> pd.DataFrame:
    """Return what happened in every month, from the first entry to the last one.

    The columns are made, fulfilled, withdrawn, expired, renewed, and of the last check of the month: model, kept and
    broken. A promise expires on the day after its last one.
    """
    counts: dict[str, Counter[str]] = {name: Counter() for name in _EVENTS}
    with source.reading() as (connection, runs):
        for promise in promises(connection, runs, source.today(), data=False):
            if promise.status == "expired":
                counts["expired"][(pd.Timestamp(promise.run.until) + pd.Timedelta(days=1)).strftime("%Y-%m")] += 1
        kinds = {"promise": "made", **{kind: kind for kind in CLOSING}}
        month = func.substr(entries.c.made, 1, 7)
        chosen = (
            select(entries.c.kind, month, func.count()).where(entries.c.kind.in_(kinds)).group_by(entries.c.kind, month)
        )
        for kind, text, n in connection.execute(chosen):
            counts[kinds[kind]][text] += n
        checks = {made[:7]: facts for _, made, facts in _checks(connection)}
    return _by_month(counts, checks)


def _by_month(counts: Mapping[str, Counter[str]], checks: Mapping[str, Mapping[str, Any]]) -> pd.DataFrame:
    known = sorted({month for counter in counts.values() for month in counter} | set(checks))
    months = pd.period_range(known[0], known[-1], freq="M") if known else pd.PeriodIndex([], freq="M")
    texts = [str(month) for month in months]
    frame = pd.DataFrame({name: [counter[text] for text in texts] for name, counter in counts.items()}, index=months)
    asked = [checks.get(text) for text in texts]
    frame["model"] = pd.Series(
        [None if facts is None else facts["model"] for facts in asked], index=months, dtype=object
    )
    kept = [None if facts is None else facts["kept"] for facts in asked]
    broken = [None if facts is None else facts["promises"] - facts["kept"] for facts in asked]
    frame["kept"], frame["broken"] = (pd.Series(cells, index=months, dtype="Int64") for cells in (kept, broken))
    return frame.rename_axis("month")
