"""The gate: asking a new model about all open promises, and recording what it says."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np

from robust_recourse._typing import IntArray
from robust_recourse.ledger.asking import Decision, ask
from robust_recourse.ledger.chain import Head
from robust_recourse.ledger.check import Check
from robust_recourse.ledger.current import Current
from robust_recourse.ledger.runs import read_runs
from robust_recourse.ledger.source import Source
from robust_recourse.ledger.verifying import must_hold, must_verify
from robust_recourse.result.provenance import fingerprint

__all__ = ["check", "spans", "within"]


def check(
    source: Source,
    model: Any,
    *,
    name: str,
    decision: Decision,
    current: Current | None,
    level: float,
    known: Head | str | None,
    dry_run: bool,
) -> Check:
    """Verify the ledger, and ask a model about all open promises of it; a dry run records nothing."""
    ledger = source.database.name
    with source.reading_only() as connection:
        verified = must_verify(connection, ledger, known)
        now = source.clock.following(connection, ledger)
        runs = read_runs(connection)
        asked = ask(connection, runs, now.date(), model, decision, current)
    made, number = now.isoformat(timespec="microseconds"), None
    if not dry_run:
        facts = {
            "model": name,
            "fingerprint": fingerprint(model),
            "promises": len(asked.numbers),
            "kept": int(asked.accepted.sum()),
            "asked": spans(asked.numbers),
            "broken": spans(asked.numbers[~asked.accepted]),
            "present_rows": current is not None,
            "verified": str(verified),
        }
        with source.writing() as (connection, book):
            must_hold(connection, ledger, verified)
            number = book.add("checked", facts)
    return Check(name, made, level, number, verified, model, decision, asked, runs, source, current)


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
