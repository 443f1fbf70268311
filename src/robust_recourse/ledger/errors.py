"""What goes wrong with a ledger, in a line that names it and tells no secret."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from sqlalchemy.exc import DBAPIError, NoSuchModuleError, SQLAlchemyError

__all__ = [
    "Flaw",
    "LedgerClockError",
    "LedgerDamagedError",
    "LedgerError",
    "LedgerUnavailableError",
    "naming",
    "reading_entry",
]

_TOLD = {
    "database or disk is full": "the disk is full. Nothing was recorded",
    "attempt to write a readonly database": "the file, or its folder, may not be written to. Nothing was recorded",
    "readonly": "the file, or its folder, may not be written to. Nothing was recorded",
    "unable to open database file": "the file cannot be opened: its folder must exist, and one may write to it",
    "file is not a database": "this is no ledger: the file is no database, or it is damaged",
    "malformed": "the file is damaged. Restore it from a copy; nothing was recorded",
    "could not decode": "the file is damaged: some text cannot be decoded. Verify the ledger; nothing was recorded",
    "disk i/o error": "the disk does not work, or is full. Nothing was recorded",
    "database is locked": "another process has been writing for too long. Nothing was recorded; try again",
}


class LedgerError(ValueError):
    """The ledger cannot be used, or does not allow what was asked; nothing was recorded."""


class LedgerUnavailableError(LedgerError):
    """The database of a ledger does not work, or does not answer; nothing was recorded."""


class LedgerClockError(LedgerError):
    """The clock is too far from the last entry for anything to be recorded or checked."""


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


class LedgerDamagedError(LedgerError):
    """Entries do not add up, so no answer can rely on the ledger; nothing was recorded.

    Attributes
    ----------
    flaws : tuple of Flaw
        What does not add up, the first entry first.
    """

    def __init__(self, ledger: str, flaws: Sequence[Flaw]) -> None:
        self.flaws = tuple(flaws)
        first, n = str(self.flaws[0]).rstrip("."), len(self.flaws)
        super().__init__(
            f"{ledger} does not add up: {first}{f' (the first of {n:,} flaws)' if n > 1 else ''}. Run "
            "'robust-recourse ledger verify' to see all that was altered."
        )


@contextmanager
def reading_entry(number: int) -> Iterator[None]:
    """Turn what is raised while the content of an entry is read into an error that names the entry."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        if isinstance(error, LedgerError):
            raise
        raise LedgerDamagedError("The ledger", [Flaw(number, "what it says cannot be read.")]) from error


@contextmanager
def naming(ledger: str) -> Iterator[None]:
    """Turn what databases raise into errors that name the ledger, without its password and without personal data."""
    try:
        yield
    except DBAPIError as error:
        raise LedgerUnavailableError(f"{ledger}: {_reason(str(error.orig))}.") from error
    except NoSuchModuleError as error:
        raise LedgerError(f"{ledger}: there is no such kind of database. Use SQLite or PostgreSQL.") from error
    except UnicodeDecodeError as error:  # what SQLite says of a damaged file quotes its bytes
        raise LedgerUnavailableError(f"{ledger}: {_TOLD['malformed']}.") from error
    except SQLAlchemyError as error:
        raise LedgerUnavailableError(f"{ledger}: {type(error).__name__}: {error}") from error


def cannot_make(ledger: str, error: OSError) -> LedgerError:
    """Say why the file of a ledger cannot be made."""
    return LedgerError(f"{ledger}: {os.strerror(error.errno or errno.EIO)}. The ledger cannot be made there.")


def _reason(text: str) -> str:
    for found, told in _TOLD.items():
        if found in text.lower():
            return told
    return " ".join(text.split()).rstrip(".") or "the database does not answer"
