"""What goes wrong with a ledger, in a line that names it and tells no secret."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, NoSuchModuleError, SQLAlchemyError

__all__ = ["LedgerError", "LedgerUnavailableError", "naming"]

_TOLD = {
    "database or disk is full": "the disk is full. Nothing was recorded",
    "attempt to write a readonly database": "the file, or its folder, may not be written to. Nothing was recorded",
    "readonly": "the file, or its folder, may not be written to. Nothing was recorded",
    "unable to open database file": "the file cannot be opened: its folder must exist, and one may write to it",
    "file is not a database": "this is no ledger: the file is no database, or it is damaged",
    "malformed": "the file is damaged. Restore it from a copy; nothing was recorded",
    "disk i/o error": "the disk does not work, or is full. Nothing was recorded",
    "database is locked": "another process has been writing for too long. Nothing was recorded; try again",
}


class LedgerError(ValueError):
    """The ledger cannot be used, or does not allow what was asked; nothing was recorded."""


class LedgerUnavailableError(LedgerError):
    """The database of a ledger does not work, or does not answer; nothing was recorded."""


@contextmanager
def naming(ledger: str) -> Iterator[None]:
    """Turn what databases raise into errors that name the ledger, without its password and without personal data."""
    try:
        yield
    except DBAPIError as error:
        raise LedgerUnavailableError(f"{ledger}: {_reason(str(error.orig))}.") from error
    except NoSuchModuleError as error:
        raise LedgerError(f"{ledger}: there is no such kind of database. Use SQLite or PostgreSQL.") from error
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
