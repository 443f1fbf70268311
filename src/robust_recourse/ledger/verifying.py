"""Whether a ledger is as it was written: every cell of every table is covered by the chain."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import partial
from itertools import product
from types import NoneType
from typing import Any

from sqlalchemy import Connection, inspect, literal, select

from robust_recourse.ledger.beside import added_personal, altered_blocks, block_of, last_clock, tombstones, wrong_head
from robust_recourse.ledger.chain import Head, entry_hash, personal_hash, read_head
from robust_recourse.ledger.clocks import BEHIND, read_time
from robust_recourse.ledger.errors import Flaw, LedgerDamagedError
from robust_recourse.ledger.schema import FIRST, blocks, entries, head, personal

__all__ = ["Flaw", "flaws", "must_hold", "must_verify", "read_all"]

_BATCH = 5_000
_TEXT, _MAYBE = (str,), (str, NoneType)
# What cells may hold, whatever the tables of a database were made to allow.
_ENTRY = set(product((int,), _TEXT, (int, NoneType), _TEXT, _TEXT, _MAYBE, _TEXT, _TEXT))
_PERSONAL = set(product((int,), _TEXT, _MAYBE, _TEXT, _TEXT))


def must_verify(connection: Connection, ledger: str, known: Head | str | None = None) -> Head:
    """Return the head of a ledger that adds up; raise and name the first entry that does not."""
    found = flaws(connection, known)
    if found:
        raise LedgerDamagedError(ledger, found)
    return read_head(connection)


def must_hold(connection: Connection, ledger: str, verified: Head) -> None:
    """Raise if an entry is no longer what it was when it was verified; others may have followed on it."""
    found = connection.execute(select(entries.c.hash).where(entries.c.number == verified.number)).scalar()
    if verified.number and found != verified.hash:
        raise LedgerDamagedError(ledger, [Flaw(verified.number, "it was altered while the model was asked.")])


def flaws(connection: Connection, known: Head | str | None = None) -> list[Flaw]:
    """Return what does not add up, in the order of the entries.

    Parameters
    ----------
    connection : Connection
        One that reads.
    known : Head or str, optional
        An earlier head, or the hash of one, which somebody has kept elsewhere: the chain must still have it.
    """
    if connection.dialect.name == "sqlite":
        # What is no text has another hash, and must not end the reading of everything else.
        reading: Any = connection.connection.driver_connection
        reading.text_factory = partial(str, encoding="utf-8", errors="surrogateescape")
    return sorted(_flaws(connection, known), key=lambda flaw: flaw.number) or _contradictions(connection)


def _contradictions(connection: Connection) -> list[Flaw]:
    """Find indexes that do not say what the tables say: promises are looked up in these, and no hash covers them."""
    if connection.dialect.name != "sqlite":
        return []
    said = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
    return [] if said == "ok" else [Flaw(0, f"no entry was changed, but the file contradicts itself: {said}.")]


def read_all(connection: Connection, *, alone: bool = False) -> Iterator[Any]:
    """Yield all entries in order, each with its personal data, or `alone`."""
    names = ("number", "person", "key", "salt", "data")
    if alone:
        chosen = select(*entries.c, *(literal(None).label(f"no_{name}") for name in names))
    else:
        joined = entries.outerjoin(personal, personal.c.number == entries.c.number)
        chosen = select(*entries.c, *(personal.c[name].label(f"own_{name}") for name in names)).select_from(joined)
    # Not page by page: a number that is there twice must not be passed over.
    yield from connection.execute(chosen.order_by(entries.c.number).execution_options(yield_per=_BATCH))


def _flaws(connection: Connection, known: Head | str | None) -> Iterator[Flaw]:
    tables = set(inspect(connection).get_table_names())  # one that was dropped is as one without rows
    has_entries, has_personal = entries.name in tables, personal.name in tables
    erased, hashes = tombstones(connection) if has_entries else (set(), {})
    explained = last_clock(connection) if has_entries else 0
    hash_known = known if isinstance(known, str) else None
    expected, last, before, time = 1, Head(0, FIRST), (FIRST, FIRST), None
    for cells in read_all(connection, alone=not has_personal) if has_entries else ():
        number, kind, about, made, facts, sealed, previous, said, *own = cells
        if tuple(map(type, cells[:8])) not in _ENTRY:
            yield Flaw(expected, "it was changed after it was written.")
            expected, before = expected + 1, (said, said)
            continue
        if number < expected:
            yield Flaw(number, "it is there twice, or was added.")
            continue
        if number != expected:
            others = f", and so are those up to entry {number - 1}" if number - 1 > expected else ""
            yield Flaw(expected, f"it is missing{others}.")
            before = previous, previous
        hashed = entry_hash(number, kind, about, made, facts, sealed, previous)
        if hashed != said:
            yield Flaw(number, "it was changed after it was written.")
        elif previous not in before:
            yield Flaw(number, f"it does not follow on entry {number - 1}, which was changed or exchanged.")
        else:
            yield from _personal(number, sealed, own, erased)
            if made != time:
                yield from () if number <= explained else _backwards(number, made, time)
                time = made
        if isinstance(known, Head) and number == known.number and said != known.hash:
            yield Flaw(number, "it is not the one that was kept elsewhere: the chain was written anew.")
        if said == hash_known:
            hash_known = None
        if kind == "promise" and '"block"' in facts:
            hashes.setdefault(number, block_of(facts))
        expected, last, before = number + 1, Head(number, said), (said, hashed)
    yield from wrong_head(connection, last, there=head.name in tables)
    yield from _kept(known if isinstance(known, Head) else hash_known, last)
    if has_entries and has_personal:
        yield from added_personal(connection)
    yield from altered_blocks(connection, hashes, there=blocks.name in tables)


def _personal(number: int, sealed: str | None, own: list[Any], erased: set[int]) -> Iterator[Flaw]:
    """Compare personal data with the hash of them."""
    owner, person, key, salt, data = own
    if owner is None:
        if sealed is not None and number not in erased:
            yield Flaw(number, "its personal data are missing, and no entry says that they were erased.")
    elif number in erased:
        yield Flaw(number, "its personal data are there, and an entry says that they were erased.")
    elif tuple(map(type, own)) not in _PERSONAL or personal_hash(salt, person, key, data) != sealed:
        yield Flaw(number, "its personal data were changed after they were written.")


def _backwards(number: int, made: str, before: str | None) -> Iterator[Flaw]:
    """Compare the times of two entries that follow on each other."""
    try:
        now = read_time(number, made)
        then: datetime | None = None if before is None else read_time(number, before)
    except LedgerDamagedError:
        yield Flaw(number, "its time cannot be read.")
        return
    if then is not None and now < then - BEHIND:
        yield Flaw(number, f"its time, {made}, is before that of the entry before, {before}.")


def _kept(known: Head | str | None, last: Head) -> Iterator[Flaw]:
    """Say whether the chain ends before a head that was kept elsewhere, or has none with its hash."""
    if isinstance(known, str) and known != FIRST:
        yield Flaw(last.number, "no entry up to this one has the hash that was kept elsewhere.")
    elif isinstance(known, Head) and known.number > last.number:
        yield Flaw(known.number, "it is missing: it was kept elsewhere as the last one.")
    elif isinstance(known, Head) and not known.number and known.hash != FIRST:
        yield Flaw(0, "no ledger begins with the hash that was kept elsewhere.")
