"""Connections to the database of a ledger: one writer at a time, and readers who see one state."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.pool import NullPool

from robust_recourse.ledger.address import shown
from robust_recourse.ledger.errors import LedgerError, cannot_make, naming

__all__ = ["Database"]

_PATIENCE = 60.0  # seconds that a writer waits for another one
_BEGIN = {"read": "BEGIN", "write": "BEGIN IMMEDIATE"}


@dataclass(frozen=True)
class Database:
    """The database of a ledger; nothing is opened before it is used, and nothing stays open.

    Parameters
    ----------
    url : URL
        Where it is.
    """

    url: URL

    @property
    def name(self) -> str:
        """What messages call it."""
        return shown(self.url)

    @property
    def file(self) -> Path | None:
        """The file, if it is one."""
        return Path(str(self.url.database)) if self._lite else None

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Read in a transaction: others may write meanwhile, which is not seen."""
        with naming(self.name), self._engine.connect() as connection:
            # In SQLite every transaction sees one state.
            yield connection if self._lite else connection.execution_options(isolation_level="REPEATABLE READ")

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Write in a transaction: all of it is recorded at the end, or nothing."""
        with naming(self.name), self._engine.execution_options(ledger="write").begin() as connection:
            yield connection

    @contextmanager
    def outside(self) -> Iterator[Connection]:
        """Say something that no transaction can have, such as how the file is kept."""
        with naming(self.name), self._engine.connect() as connection:
            yield connection.execution_options(isolation_level="AUTOCOMMIT", ledger="none")

    def make(self) -> None:
        """Make the file, if it is one and is not there: only its owner can read it."""
        if self.file is None or self.file.exists():
            return
        # How a file is kept can only be changed while nobody else uses it: beside its place, where nobody looks.
        new = self.file.with_name(f"{self.file.name}.{secrets.token_hex(6)}")
        try:
            os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            with Database(self.url.set(database=str(new))).outside() as connection:
                connection.exec_driver_sql("PRAGMA journal_mode=WAL")
            _move(new, self.file)
        except OSError as error:
            raise cannot_make(self.name, error) from error
        finally:
            with suppress(OSError):  # what went wrong first is what counts
                new.unlink(missing_ok=True)

    def tidy(self) -> None:
        """Leave no copy of what was deleted in the log of the file."""
        if self._lite:
            with self.outside() as connection:
                connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")

    @property
    def _lite(self) -> bool:
        return self.url.get_backend_name() == "sqlite"

    @cached_property
    def _engine(self) -> Engine:
        wait: dict[str, Any] = {"timeout": _PATIENCE} if self._lite else {"connect_timeout": 10}
        try:
            engine = create_engine(self.url, poolclass=NullPool, hide_parameters=True, connect_args=wait)
        except ModuleNotFoundError as error:
            raise LedgerError(f"{self.name}: {error.name} is missing: pip install 'robust-recourse[ledger]'") from error
        if self._lite:
            event.listen(engine, "connect", _prepare)
            event.listen(engine, "begin", _begin)
        return engine


def _move(new: Path, target: Path) -> None:
    """Give a file its name, unless another process was faster."""
    try:
        os.link(new, target)
    except FileExistsError:
        pass
    except OSError:  # a file system without links
        os.rename(new, target)


def _prepare(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # transactions begin where we say so, not where sqlite3 guesses
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute("PRAGMA secure_delete=ON")  # what is erased is overwritten


def _begin(connection: Connection) -> None:
    statement = _BEGIN.get(connection.get_execution_options().get("ledger", "read"))
    if statement is not None:
        connection.exec_driver_sql(statement)
