"""What is open, and what has become of the rest: derived from the entries, and kept nowhere."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import ColumnElement, Connection, Select, select

from robust_recourse._typing import IntArray
from robust_recourse.ledger.errors import LedgerError
from robust_recourse.ledger.runs import Run
from robust_recourse.ledger.schema import CLOSING, entries, personal

__all__ = ["STATUSES", "Promise", "closed", "need_open", "of_people", "promises", "unclosed"]

STATUSES = ("open", "fulfilled", "withdrawn", "expired", "renewed")
"""What becomes of promises: an entry says it, but for "expired", which follows from the day on which it is asked."""
_BATCH = 5_000

_later = entries.alias("later")


class Promise(NamedTuple):
    """A promise as it is kept.

    Attributes
    ----------
    number : int
        The number of its entry.
    run : Run
        What it has in common with others.
    made : str
        When it was made.
    person : str
        To whom.
    key : str
        The same for the same promise to the same person.
    status : str
        What has become of it.
    data : mapping
        The rest; empty if it was not asked for.
    """

    number: int
    run: Run
    made: str
    person: str
    key: str
    status: str
    data: Mapping[str, Any]


def promises(
    connection: Connection,
    runs: Mapping[int, Run],
    today: date,
    *,
    people: Sequence[str] | None = None,
    numbers: Sequence[int] | None = None,
    data: bool = True,
) -> Iterator[Promise]:
    """Yield promises in order, all of them, or those of some people or with some numbers.

    They are read in batches. Those that were forgotten are left out.
    """
    if people is not None:
        for some in _batches(people):
            yield from _read(connection, runs, today, personal.c.person.in_(some), data)
    elif numbers is not None:
        for some in _batches(numbers):
            yield from _read(connection, runs, today, entries.c.number.in_(some), data)
    else:
        last = 0
        while True:
            found = list(_read(connection, runs, today, entries.c.number > last, data, _BATCH))
            yield from found
            if len(found) < _BATCH:
                return
            last = found[-1].number


def of_people(
    connection: Connection, runs: Mapping[int, Run], today: date, people: Sequence[str]
) -> dict[str, list[Promise]]:
    """Return the promises of people, without their data."""
    found: dict[str, list[Promise]] = {person: [] for person in people}
    for promise in promises(connection, runs, today, people=people, data=False):
        found[promise.person].append(promise)
    return found


def need_open(known: Iterable[Promise], person: str) -> Promise:
    """Return the open promise of a person; raise if there is none, and say what there was."""
    listed = list(known)
    still = [promise for promise in listed if promise.status == "open"]
    if still:
        return still[0]
    if not listed:
        raise LedgerError(f"The ledger has no promise to {person!r}.")
    last = listed[-1]
    when = f" on {last.run.until}" if last.status == "expired" else ""
    raise LedgerError(
        f"The ledger has no open promise to {person!r}: that of {last.made[:10]} was {last.status}{when}."
    )


def closed(connection: Connection) -> IntArray:
    """Return the numbers of the promises that an entry has closed, in order."""
    chosen = select(entries.c.about).where(entries.c.kind.in_(CLOSING)).execution_options(yield_per=_BATCH)
    return np.unique(np.fromiter(connection.execute(chosen).scalars(), dtype=np.int64))


def unclosed(connection: Connection, runs: Iterable[int]) -> Iterator[tuple[int, int, str]]:
    """Yield number, run and person of the promises of some runs that no entry has closed, but for forgotten ones."""
    ends = select(_later.c.number).where(_later.c.about == entries.c.number, _later.c.kind.in_(CLOSING)).exists()
    chosen = (
        select(entries.c.number, entries.c.about, personal.c.person)
        .join_from(entries, personal, personal.c.number == entries.c.number)
        .where(entries.c.kind == "promise", ~ends)
        .order_by(entries.c.number)
    )
    for run in runs:
        yield from (tuple(row) for row in connection.execute(chosen.where(entries.c.about == run)))


def _read(
    connection: Connection,
    runs: Mapping[int, Run],
    today: date,
    which: ColumnElement[bool],
    data: bool,
    most: int | None = None,
) -> Iterator[Promise]:
    ends = _closing(entries.c.number)
    columns: list[Any] = [entries.c.number, entries.c.about, entries.c.made, personal.c.person, personal.c.key]
    chosen = (
        select(*columns, ends, *([personal.c.data] if data else []))
        .join_from(entries, personal, personal.c.number == entries.c.number)
        .where(entries.c.kind == "promise", which)
        .order_by(entries.c.number)
    )
    for number, run, made, person, key, end, *rest in connection.execute(chosen.limit(most)):
        status = end or ("expired" if runs[run].until < today else "open")
        yield Promise(number, runs[run], made, person, key, status, json.loads(rest[0]) if rest else {})


def _closing(number: ColumnElement[int]) -> Any:
    """Return the kind of the first entry that closes a promise, as a part of a statement."""
    chosen: Select[Any] = select(_later.c.kind).where(_later.c.about == number, _later.c.kind.in_(CLOSING))
    return chosen.order_by(_later.c.number).limit(1).scalar_subquery()


def _batches(values: Collection[Any]) -> Iterator[list[Any]]:
    listed = list(values)
    for first in range(0, len(listed), _BATCH):
        yield listed[first : first + _BATCH]
