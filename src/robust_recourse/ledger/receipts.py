"""What a person keeps of a promise: its number, and a code by which it can be verified."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from robust_recourse.ledger.chain import entry_hash, personal_hash
from robust_recourse.ledger.errors import LedgerError
from robust_recourse.ledger.history import of_numbers
from robust_recourse.ledger.schema import entries, personal
from robust_recourse.ledger.source import Source

__all__ = ["Receipt", "read_receipt"]

_SIGNS, _GROUP = 16, 4  # of the code


@dataclass(frozen=True)
class Receipt:
    """A promise with what proves it.

    Attributes
    ----------
    promise : dict
        Everything that is kept about it, as :meth:`robust_recourse.ledger.Ledger.history` returns it.
    hash : str
        The hash of its entry, which covers everything that was promised.
    intact : bool
        Whether the entry, and what is kept of the person, is as it was written.
    """

    promise: dict[str, Any]
    hash: str
    intact: bool

    @property
    def code(self) -> str:
        """The beginning of the hash, in groups, for people to write down."""
        signs = self.hash[:_SIGNS].upper()
        return "-".join(signs[first : first + _GROUP] for first in range(0, _SIGNS, _GROUP))

    def has(self, code: str) -> bool:
        """Whether this is the code of the promise, however it is grouped."""
        given = "".join(sign for sign in code if sign.isalnum()).lower()
        return hmac.compare_digest(given.encode(), self.hash[:_SIGNS].encode())


def read_receipt(source: Source, number: int) -> Receipt:
    """Return the receipt of a promise.

    Raises
    ------
    LedgerError
        If there is no such promise, or if its person was forgotten.
    """
    chosen = (
        select(*entries.c, personal.c.salt, personal.c.person, personal.c.key, personal.c.data)
        .join_from(entries, personal, personal.c.number == entries.c.number)
        .where(entries.c.number == number, entries.c.kind == "promise")
    )
    with source.reading_only() as connection:
        found = connection.execute(chosen).one_or_none()
    if found is None:
        raise LedgerError(f"The ledger has no promise {number}.")
    *cells, said, salt, person, key, data = found
    intact = entry_hash(*cells) == said and personal_hash(salt, person, key, data) == found.sealed
    [story] = of_numbers(source, [number])
    return Receipt(story, said, intact)
