"""What stands beside the chain, and is verified with it: the head, personal data, blocks of promised rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, func, select, type_coerce
from sqlalchemy.types import NULLTYPE

from robust_recourse.ledger.chain import Head, block_hash
from robust_recourse.ledger.errors import Flaw
from robust_recourse.ledger.schema import CLOCK, FIRST, blocks, entries, head, personal

__all__ = ["added_personal", "altered_blocks", "block_of", "last_clock", "tombstones", "wrong_head"]

_TOGETHER = 8  # blocks that are read
_HEAD, _BLOCK = (int, int, str), (int, int, str, str, bytes)
_WRONG_HEAD = "the head of the ledger, which names this entry, is missing or not the only one."


def wrong_head(connection: Connection, last: Head, *, there: bool) -> Iterator[Flaw]:
    """Compare the last entry with the head."""
    rows = connection.execute(select(head.c.id, head.c.number, head.c.hash)).all() if there else []
    if len(rows) != 1 or tuple(map(type, rows[0])) != _HEAD or rows[0].id != 1:
        yield Flaw(last.number, _WRONG_HEAD)
        return
    said = Head(rows[0].number, rows[0].hash)
    if said.number > last.number:
        yield Flaw(last.number + 1, f"it is missing: the head of the ledger names entry {said.number} as the last one.")
    elif said.number != last.number or (last.number and said.hash != last.hash):
        yield Flaw(last.number, "the head of the ledger names another entry as the last one.")
    elif not last.number and said.hash != FIRST:
        yield Flaw(0, "the head of the ledger was changed.")


def added_personal(connection: Connection) -> Iterator[Flaw]:
    """Find personal data that belong to no entry."""
    joined = personal.outerjoin(entries, entries.c.number == personal.c.number)
    chosen = select(personal.c.number).select_from(joined).where(entries.c.number.is_(None))
    for number in connection.execute(chosen).scalars():
        yield Flaw(number if type(number) is int else 0, "there are personal data of it, and it is not there.")


def altered_blocks(connection: Connection, hashes: dict[int, str], *, there: bool) -> Iterator[Flaw]:
    """Compare the blocks of promised rows with their hashes, by the first entries of the blocks."""
    found: set[int] = set()
    content = type_coerce(blocks.c.content, NULLTYPE).label("content")  # as it is, whatever it is
    chosen = select(blocks.c.first, blocks.c.run, blocks.c.made, blocks.c.salt, content).order_by(blocks.c.first)
    for row in connection.execute(chosen.execution_options(yield_per=_TOGETHER)) if there else ():
        first = row.first if type(row.first) is int else 0
        if first not in hashes:
            yield Flaw(first, "no entry knows of the block of rows that begins with it.")
        elif first in found:
            yield Flaw(first, "the block of rows that begins with it is there twice.")
        elif (
            tuple(map(type, row)) != _BLOCK
            or block_hash(row.salt, first, row.run, row.made, row.content) != hashes[first]
        ):
            yield Flaw(first, "the block of rows that begins with it was changed after it was written.")
        found.add(first)
    for first in sorted(hashes.keys() - found):
        yield Flaw(first, "the block of rows that begins with it is missing.")


def block_of(facts: str) -> str:
    """Return the hash of a block, which the facts of its first promise have."""
    try:
        return str(json.loads(facts)["block"])
    except (LookupError, RecursionError, TypeError, ValueError):
        return ""


def tombstones(connection: Connection) -> tuple[set[int], dict[int, str]]:
    """Return the entries whose personal data were erased, and the hashes of the blocks that were rewritten for it."""
    erased: set[int] = set()
    hashes: dict[int, str] = {}
    chosen = select(entries.c.facts).where(entries.c.kind == "forgotten").order_by(entries.c.number)
    for text in connection.execute(chosen).scalars():
        try:
            facts = json.loads(text)
            erased.update(facts["entries"])
            hashes |= {int(first): digest for first, digest in facts["blocks"].items()}
        except (AttributeError, LookupError, RecursionError, TypeError, ValueError):
            continue  # its own hash tells
    return erased, hashes


def last_clock(connection: Connection) -> int:
    """Return the last entry in which somebody explained the times of those before it; 0 if there is none."""
    found: Any = connection.execute(select(func.max(entries.c.number)).where(entries.c.kind == CLOCK)).scalar()
    return found if type(found) is int else 0
