"""The schema of a ledger: made, upgraded, or refused."""

from __future__ import annotations

from importlib.resources import as_file, files

from sqlalchemy import Connection, inspect, text

from robust_recourse.ledger.database import Database
from robust_recourse.ledger.errors import LedgerError
from robust_recourse.ledger.schema import SCHEMA, VERSIONS

__all__ = ["VERSION_TABLE", "confirm", "need_schema", "upgrade"]

VERSION_TABLE = "ledger_version"
_LOCK = 0x6C6564676572  # of PostgreSQL, held while the schema changes


def need_schema(database: Database, *, create: bool) -> None:
    """Bring a ledger to the present schema, and make it if there is none and one may be made.

    Raises
    ------
    LedgerError
        If there is none, or if a later release has made it.
    """
    file = database.file
    if file is not None and not file.exists() and not create:
        raise LedgerError(f"{database.name}: there is no ledger.")
    database.make()
    with database.reading() as connection:
        found = _version(connection, database.name)
    if found == SCHEMA:
        return
    if found is None and not create:
        raise LedgerError(f"{database.name}: there is no ledger in this database.")
    with database.writing() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        if _version(connection, database.name) != SCHEMA:  # nobody else has been faster
            upgrade(connection, SCHEMA)


def upgrade(connection: Connection, schema: str) -> None:
    """Run the migrations up to a schema, in the transaction of the connection."""
    from alembic import command
    from alembic.config import Config

    with as_file(files("robust_recourse.ledger").joinpath("migrations")) as folder:
        config = Config()
        config.set_main_option("script_location", str(folder).replace("%", "%%"))
        config.attributes["connection"] = connection
        command.upgrade(config, schema)


def confirm(connection: Connection, name: str) -> None:
    """Raise if the schema is not the present one, in a ledger that had it when it was opened."""
    if _stored(connection, name) != SCHEMA:
        raise LedgerError(f"{name}: the ledger was exchanged for another one. Open it again.")


def _version(connection: Connection, name: str) -> str | None:
    """Return the schema of a ledger, None if there is none; only schemas that are known are returned."""
    return _stored(connection, name) if inspect(connection).has_table(VERSION_TABLE) else None


def _stored(connection: Connection, name: str) -> str:
    found = connection.execute(text(f"SELECT version_num FROM {VERSION_TABLE}")).scalars().all()
    if len(found) != 1 or found[0] not in VERSIONS:
        raise LedgerError(
            f"{name}: the ledger has the schema {', '.join(map(repr, found)) or 'of nobody'}, and this release knows "
            f"{VERSIONS[0]} to {VERSIONS[-1]}. If a newer release made it: pip install --upgrade robust-recourse"
        )
    return str(found[0])
