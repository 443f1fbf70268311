"""Where a ledger is: a path, or the URL of a database."""

from __future__ import annotations

import os

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from robust_recourse.ledger.errors import LedgerError

__all__ = ["read_address", "shown"]

_SECRET = ("pass", "key", "secret")
_POSTGRES = ("postgres", "postgresql")


def read_address(where: str | os.PathLike[str] | URL) -> URL:
    """Return the URL of a ledger; what has no ``://`` is the path of a file of SQLite.

    >>> read_address("promises.db").drivername, read_address("postgresql://me@localhost/promises").drivername
    ('sqlite', 'postgresql+psycopg')
    """
    if not isinstance(where, str | os.PathLike | URL):
        raise TypeError(f"A ledger is a path or a URL, got {type(where).__name__}.")
    if isinstance(where, os.PathLike) or (isinstance(where, str) and "://" not in where):
        url = URL.create("sqlite", database=os.fspath(where))
    else:
        try:
            url = make_url(where)
        except (ArgumentError, ValueError):
            # The text may hold a password: it is not quoted.
            raise LedgerError(
                "The URL of the ledger cannot be read. Write postgresql+psycopg://user@host/name."
            ) from None
    kind = url.get_backend_name()
    if kind in _POSTGRES:
        return url.set(drivername="postgresql+psycopg")
    if kind != "sqlite":
        raise LedgerError(f"{shown(url)}: a ledger is kept in SQLite or in PostgreSQL, not in {kind}.")
    if not url.database or url.database == ":memory:" or "mode=memory" in str(url):
        raise LedgerError("A ledger must outlive the process: name a file.")
    return url


def shown(url: URL) -> str:
    """Return what messages call a ledger: its file, or its URL without secrets.

    >>> shown(read_address("postgresql://me:secret@localhost/promises?sslpassword=secret"))
    'postgresql+psycopg://me:***@localhost/promises?sslpassword=...'
    """
    if url.get_backend_name() == "sqlite":
        return str(url.database)
    query = {
        name: "..." if any(word in name.lower() for word in _SECRET) else value for name, value in url.query.items()
    }
    return url.set(query=query).render_as_string(hide_password=True)
