"""The chain of entries: what is hashed, and how entries are appended."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from datetime import date, datetime
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select, update

from robust_recourse.ledger.errors import LedgerError
from robust_recourse.ledger.schema import blocks, entries, head, personal

__all__ = ["Book", "Head", "block_hash", "entry_hash", "personal_hash", "read_head", "read_kept", "to_text"]

_SALT = 16  # bytes
_KEPT = re.compile(r"(?:([0-9]{1,18}):)?([0-9a-f]{64})")


class Head(NamedTuple):
    """The last entry: whoever has written it down elsewhere can tell later that no entry before it was changed."""

    number: int
    hash: str

    def __str__(self) -> str:
        return f"{self.number}:{self.hash}"


def to_text(facts: Any) -> str:
    """Return JSON that is the same for the same facts, in ASCII."""
    return json.dumps(facts, sort_keys=True, separators=(",", ":"), allow_nan=False)


def entry_hash(
    number: int, kind: str, about: int | None, made: str, facts: str, sealed: str | None, previous: str
) -> str:
    """Return the hash of an entry, which covers all of its cells."""
    return _hash(number, kind, about, made, facts, sealed, previous)


def personal_hash(salt: str, person: str, key: str | None, data: str) -> str:
    """Return what the chain holds of personal data: without the salt nobody can guess them from it."""
    return _hash(salt, person, key, data)


def block_hash(salt: str, first: int, run: int, made: str, content: bytes) -> str:
    """Return what the chain holds of a block of promised rows."""
    return _hash(salt, first, run, made, hashlib.sha256(content).hexdigest())


def _hash(*cells: object) -> str:
    # With their lengths, so that nothing can move from one cell to the next; nothing is not the same as no text.
    texts = ["~" if cell is None else f"{len(text := str(cell))}:{text}" for cell in cells]
    return hashlib.sha256("".join(texts).encode("utf-8", "surrogatepass")).hexdigest()


def read_head(connection: Connection, *, lock: bool = False) -> Head:
    """Return the last entry; with `lock`, nobody else appends until the transaction ends."""
    statement = select(head.c.number, head.c.hash).where(head.c.id == 1)
    found = connection.execute(statement.with_for_update() if lock else statement).one_or_none()
    if found is None:
        raise LedgerError("The ledger has lost its head, and takes no more entries. Verify it.")
    return Head(*found)


def read_kept(head: Any) -> Head | str | None:
    """Return a head that somebody kept, or its hash alone if that is all they have.

    >>> read_kept(f"12:{'0' * 64}").number
    12
    """
    if head is None:
        return None
    text = f"{head[0]}:{head[1]}" if isinstance(head, tuple) and len(head) == 2 else head
    found = _KEPT.fullmatch(text.strip().lower()) if isinstance(text, str) else None
    if found is None:
        raise LedgerError(f"head must be NUMBER:HASH, as 'ledger verify' prints it, or the hash alone, got {head!r}.")
    return found[2] if found[1] is None else Head(int(found[1]), found[2])


class Book:
    """Entries that are about to be appended.

    Parameters
    ----------
    head : Head
        The last entry that is there.
    now : datetime
        When they are made.
    """

    def __init__(self, head: Head, now: datetime) -> None:
        self.head, self.made = head, now.isoformat(timespec="microseconds")
        self.day: date = now.date()
        self._entries: list[dict[str, Any]] = []
        self._personal: list[dict[str, Any]] = []
        self._blocks: list[dict[str, Any]] = []

    @property
    def next(self) -> int:
        """The number of the next entry."""
        return self.head.number + 1

    def add(
        self,
        kind: str,
        facts: Any = None,
        *,
        about: int | None = None,
        person: str | None = None,
        data: str = "{}",
        key: str | None = None,
    ) -> int:
        """Append an entry, with personal data if there is a person, and return its number."""
        number, sealed = self.next, None
        if person is not None:
            salt = secrets.token_hex(_SALT)
            sealed = personal_hash(salt, person, key, data)
            self._personal.append({"number": number, "person": person, "key": key, "salt": salt, "data": data})
        row: dict[str, Any] = {"number": number, "kind": kind, "about": about, "made": self.made}
        row |= {"facts": to_text(facts or {}), "sealed": sealed, "previous": self.head.hash}
        row["hash"] = entry_hash(**row)
        self._entries.append(row)
        self.head = Head(number, row["hash"])
        return number

    def block(self, first: int, run: int, made: str, content: bytes) -> tuple[str, dict[str, Any]]:
        """Return the hash of a block, and its row with a new salt."""
        row: dict[str, Any] = {"first": first, "run": run, "made": made, "salt": secrets.token_hex(_SALT)}
        row["content"] = content
        return block_hash(**row), row

    def add_block(self, row: dict[str, Any]) -> None:
        """Keep a block; the facts of its first promise must have its hash."""
        self._blocks.append(row)

    def write(self, connection: Connection) -> None:
        """Write everything."""
        if not self._entries:
            return
        for table, rows in ((entries, self._entries), (personal, self._personal), (blocks, self._blocks)):
            if rows:
                connection.execute(insert(table), rows)
        connection.execute(update(head).where(head.c.id == 1).values(number=self.head.number, hash=self.head.hash))
