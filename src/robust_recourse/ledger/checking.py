"""The gate: asking a new model about all open promises, and recording what it says."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import date, datetime
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from robust_recourse._typing import IntArray
from robust_recourse.ledger.asking import Decision, ask
from robust_recourse.ledger.chain import Book
from robust_recourse.ledger.check import Check
from robust_recourse.ledger.current import Current
from robust_recourse.ledger.runs import Run
from robust_recourse.ledger.schema import entries
from robust_recourse.ledger.source import Source
from robust_recourse.ledger.state import unclosed
from robust_recourse.result.provenance import fingerprint

__all__ = ["Writing", "check", "spans", "within"]

Writing = Callable[[datetime], AbstractContextManager[tuple[Connection, Book]]]


def check(
    source: Source,
    writing: Writing | None,
    model: Any,
    *,
    name: str,
    decision: Decision,
    current: Current | None,
    level: float,
    now: datetime,
) -> Check:
    """Ask a model about all open promises; without `writing`, nothing is recorded."""
    with source.reading() as (connection, runs):
        asked = ask(connection, runs, now.date(), model, decision, current)
    made, number = now.isoformat(timespec="microseconds"), None
    if writing is not None:
        with writing(now) as (connection, book):
            expire(connection, book, runs, now.date())
            number = book.add(
                "checked",
                {
                    "model": name,
                    "fingerprint": fingerprint(model),
                    "promises": len(asked.numbers),
                    "kept": int(asked.accepted.sum()),
                    "asked": spans(asked.numbers),
                    "broken": spans(asked.numbers[~asked.accepted]),
                    "present_rows": current is not None,
                },
            )
    return Check(name, made, level, number, model, decision, asked, runs, source, current)


def expire(connection: Connection, book: Book, runs: Mapping[int, Run], today: date) -> None:
    """Append an entry for every promise whose last day has passed, and that nobody has closed.

    What had expired before the last check was recorded then.
    """
    chosen = select(entries.c.made).where(entries.c.kind == "checked").order_by(entries.c.number.desc()).limit(1)
    last = connection.execute(chosen).scalar()
    since = date.min if last is None else datetime.fromisoformat(last).date()
    over = [number for number, run in sorted(runs.items()) if since <= run.until < today]
    for number, run, _ in unclosed(connection, over):
        book.add("expired", {"until": runs[run].until.isoformat()}, about=number)


def spans(numbers: IntArray) -> list[list[int]]:
    """Return numbers, which rise, as spans without gaps: first and last of each.

    >>> spans(np.array([2, 3, 4, 9]))
    [[2, 4], [9, 9]]
    """
    if not len(numbers):
        return []
    breaks = np.flatnonzero(np.diff(numbers) > 1)
    firsts, lasts = np.concatenate([[0], breaks + 1]), np.concatenate([breaks, [len(numbers) - 1]])
    return np.column_stack([numbers[firsts], numbers[lasts]]).tolist()  # type: ignore[no-any-return]


def within(number: int, listed: Sequence[Sequence[int]]) -> bool:
    """Whether a number is in one of some spans, which rise."""
    place = bisect_right(listed, number, key=lambda span: span[0]) - 1
    return place >= 0 and number <= listed[place][1]
