"""Erasing what is known about a person; the chain of hashes still verifies."""

from __future__ import annotations

import numpy as np
from sqlalchemy import Connection, delete, select, update

from robust_recourse.ledger.blocks import read_block, write_block
from robust_recourse.ledger.chain import Book
from robust_recourse.ledger.errors import LedgerError
from robust_recourse.ledger.runs import Run
from robust_recourse.ledger.schema import blocks, personal
from robust_recourse.tables.values import take

__all__ = ["forget"]


def forget(connection: Connection, book: Book, runs: dict[int, Run], person: str) -> int:
    """Erase all personal data of a person, append a tombstone, and return in how many entries they were."""
    chosen = select(personal.c.number).where(personal.c.person == person).order_by(personal.c.number)
    numbers = list(connection.execute(chosen).scalars())
    if not numbers:
        raise LedgerError(f"The ledger knows nothing of {person!r}.")
    rewritten = _erase_rows(connection, book, runs, numbers)
    connection.execute(delete(personal).where(personal.c.person == person))
    book.add("forgotten", {"entries": numbers, "blocks": rewritten})
    return len(numbers)


def _erase_rows(connection: Connection, book: Book, runs: dict[int, Run], numbers: list[int]) -> dict[str, str]:
    """Take rows out of the blocks that hold them; return the new hashes, by the first entries of the blocks."""
    rewritten: dict[str, str] = {}
    for number in numbers:
        chosen = select(blocks).where(blocks.c.first <= number).order_by(blocks.c.first.desc()).limit(1)
        row = connection.execute(chosen).one_or_none()
        if row is None:
            continue
        positions, table = read_block(row.content, runs[row.run].columns)
        left = np.flatnonzero(positions != number - row.first)
        if len(left) == len(positions):
            continue  # an event, which has no row
        digest, new = book.block(row.first, row.run, row.made, write_block(take(table, left), positions[left].tolist()))
        connection.execute(update(blocks).where(blocks.c.first == row.first).values(**new))
        rewritten[str(row.first)] = digest
    return rewritten
