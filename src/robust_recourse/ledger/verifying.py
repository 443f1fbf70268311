"""Whether a ledger is as it was written: every cell of every table is covered by the chain."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from robust_recourse.ledger.chain import Head, block_hash, entry_hash, personal_hash
from robust_recourse.ledger.schema import FIRST, blocks, entries, head, personal

__all__ = ["Flaw", "flaws", "read_all"]

_BATCH = 5_000


class Flaw(NamedTuple):
    """An entry that does not add up.

    Attributes
    ----------
    number : int
        Number of the entry.
    why : str
        What is wrong with it, in a sentence.
    """

    number: int
    why: str

    def __str__(self) -> str:
        return f"entry {self.number}: {self.why}"


def read_all(connection: Connection) -> Iterator[Any]:
    """Yield all entries in order, each with its personal data."""
    columns = (*entries.c, personal.c.number.label("owner"), personal.c.person, personal.c.key, personal.c.salt)
    joined = entries.outerjoin(personal, personal.c.number == entries.c.number)
    chosen, last = select(*columns, personal.c.data).select_from(joined).order_by(entries.c.number).limit(_BATCH), None
    while True:
        rows = connection.execute(chosen if last is None else chosen.where(entries.c.number > last)).all()
        yield from rows
        if len(rows) < _BATCH:
            return
        last = rows[-1][0]


def flaws(connection: Connection, known: Head | None = None) -> Iterator[Flaw]:
    """Yield what does not add up, in the order of the entries.

    Parameters
    ----------
    connection : Connection
        One that reads.
    known : Head, optional
        An earlier head, which somebody has kept elsewhere: the chain must still have it.
    """
    erased, hashes = _tombstones(connection)
    expected, before = 1, (FIRST, FIRST)
    for number, kind, about, made, facts, sealed, previous, said, *own in read_all(connection):
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
        if known is not None and number == known.number and said != known.hash:
            yield Flaw(number, "it is not the one that was kept elsewhere: the chain was written anew.")
        if kind == "promise" and '"block"' in str(facts):
            hashes.setdefault(number, _block_of(facts))
        expected, before = number + 1, (said, hashed)
    yield from _ends(connection, Head(expected - 1, before[0]), known)
    yield from _blocks(connection, hashes)


def _personal(number: int, sealed: str | None, own: list[Any], erased: set[int]) -> Iterator[Flaw]:
    """Compare personal data with the hash of them."""
    owner, person, key, salt, data = own
    if owner is None:
        if sealed is not None and number not in erased:
            yield Flaw(number, "its personal data are missing, and no entry says that they were erased.")
    elif number in erased:
        yield Flaw(number, "its personal data are there, and an entry says that they were erased.")
    elif sealed is None or personal_hash(salt, person, key, data) != sealed:
        yield Flaw(number, "its personal data were changed after they were written.")


def _ends(connection: Connection, last: Head, known: Head | None) -> Iterator[Flaw]:
    """Compare the last entry with the head, and with a head that was kept elsewhere."""
    rows = connection.execute(select(head.c.id, head.c.number, head.c.hash)).all()
    said = [Head(number, digest) for mark, number, digest in rows if mark == 1]
    if len(rows) != 1 or not said:
        yield Flaw(last.number, "the head of the ledger, which names this entry, is missing or not the only one.")
    elif said[0].number > last.number:
        yield Flaw(
            last.number + 1, f"it is missing: the head of the ledger names entry {said[0].number} as the last one."
        )
    elif said[0].number != last.number or (last.number and said[0].hash != last.hash):
        yield Flaw(last.number, "the head of the ledger names another entry as the last one.")
    elif not last.number and said[0].hash != FIRST:
        yield Flaw(0, "the head of the ledger was changed.")
    if known is not None and known.number > last.number:
        yield Flaw(known.number, "it is missing: it was kept elsewhere as the last one.")


def _tombstones(connection: Connection) -> tuple[set[int], dict[int, str]]:
    """Return the entries whose personal data were erased, and the hashes of the blocks that were rewritten for it."""
    erased: set[int] = set()
    hashes: dict[int, str] = {}
    chosen = select(entries.c.facts).where(entries.c.kind == "forgotten").order_by(entries.c.number)
    for text in connection.execute(chosen).scalars():
        try:
            facts = json.loads(text)
            erased.update(facts["entries"])
            hashes |= {int(first): digest for first, digest in facts["blocks"].items()}
        except (ValueError, KeyError, TypeError, AttributeError):
            continue  # its own hash tells
    return erased, hashes


def _block_of(facts: str) -> str:
    try:
        return str(json.loads(facts)["block"])
    except (ValueError, KeyError, TypeError):
        return ""


def _blocks(connection: Connection, hashes: dict[int, str]) -> Iterator[Flaw]:
    """Compare the blocks of promised rows with their hashes."""
    found: set[int] = set()
    numbers = connection.execute(select(blocks.c.first).order_by(blocks.c.first)).scalars().all()
    for first in numbers:
        row = connection.execute(select(blocks).where(blocks.c.first == first)).one_or_none()
        if first not in hashes:
            yield Flaw(first, "no entry knows of the block of rows that begins with it.")
        elif row is None or block_hash(row.salt, row.first, row.run, row.made, _bytes(row.content)) != hashes[first]:
            yield Flaw(first, "the block of rows that begins with it was changed after it was written.")
        found.add(first)
    for first in sorted(hashes.keys() - found):
        yield Flaw(first, "the block of rows that begins with it is missing.")


def _bytes(content: Any) -> bytes:
    return content.encode("utf-8", "surrogatepass") if isinstance(content, str) else bytes(content)
