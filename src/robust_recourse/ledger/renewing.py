"""New promises in place of broken ones."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from robust_recourse.ledger import recording
from robust_recourse.ledger.chain import Book
from robust_recourse.ledger.recording import Prepared
from robust_recourse.ledger.remedies import find_additions
from robust_recourse.ledger.runs import read_runs
from robust_recourse.ledger.state import promises
from robust_recourse.methods.base import RecourseMethod

if TYPE_CHECKING:
    from robust_recourse.ledger.check import Check

__all__ = ["append", "prepare"]


@dataclass(frozen=True, eq=False)
class Renewed:
    """New promises, and the old ones that they replace."""

    prepared: Prepared
    numbers: tuple[int, ...]


def prepare(check: Check, method: RecourseMethod, *, until: date | None, note: str, now: datetime) -> list[Renewed]:
    """Find what broken promises need, and write it as text; those that hold until the same day go together."""
    additions = find_additions(check, method)
    known = {promise.number: promise for promise in check.source.promises(additions.numbers)}
    days: dict[date, list[int]] = {}
    for i, (number, valid) in enumerate(zip(additions.numbers.tolist(), additions.found.valid, strict=True)):
        if valid and known[number].status == "open":
            days.setdefault(until or known[number].run.until, []).append(i)
    return [
        Renewed(
            recording.prepare(
                additions.found[places],
                [additions.people[i] for i in places],
                method,
                model=check.name,
                until=day,
                note=note,
                told=None,
                sent=now.isoformat(timespec="seconds"),
                radius=None,
            ),
            tuple(int(additions.numbers[i]) for i in places),
        )
        for day, places in sorted(days.items())
    ]


def append(connection: Connection, book: Book, renewed: Renewed, today: date) -> tuple[dict[str, int], list[str]]:
    """Append the new promises of those whose old ones are still open."""
    runs = read_runs(connection)
    listed = list(renewed.numbers)
    still = {p.person for p in promises(connection, runs, today, numbers=listed, data=False) if p.status == "open"}
    prepared = renewed.prepared.of([i for i, person in enumerate(renewed.prepared.people) if person in still])
    return recording.append(connection, book, prepared, today, replace=False, renews=renewed.numbers)
