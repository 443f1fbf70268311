"""The tables of a ledger.

``ledger_entries`` is the chain: a line is never changed, and carries the hash of the one before. What belongs to a
person is in ``ledger_personal``, of which the chain only holds salted hashes, so that it can be erased.
``ledger_blocks`` has the promised rows once more, many in a piece, for models to be asked about. ``ledger_head`` names
the last entry.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, ForeignKey, Index, Integer, LargeBinary, MetaData, Table, Text

__all__ = ["CLOCK", "CLOSING", "FIRST", "SCHEMA", "VERSIONS", "blocks", "entries", "head", "metadata", "personal"]

SCHEMA = "2"
"""The schema that this release writes, as Alembic names it."""
VERSIONS = ("1", "2")
FIRST = "0" * 64
"""What stands for the hash of the entry before the first."""
CLOSING = ("fulfilled", "withdrawn", "renewed")
"""Kinds of entries after which a promise is open no more; its last day alone ends it without one."""
CLOCK = "clock"
"""Kind of the entry in which somebody says, with a reason, that the clock is right."""

_NUMBER = BigInteger().with_variant(Integer, "sqlite")

metadata = MetaData()

entries = Table(
    "ledger_entries",
    metadata,
    Column("number", _NUMBER, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("about", _NUMBER, ForeignKey("ledger_entries.number")),
    Column("made", Text, nullable=False),
    Column("facts", Text, nullable=False),
    Column("sealed", Text),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
    # Since schema 2.
    Index("ledger_entries_kind", "kind", "about"),
    Index("ledger_entries_about", "about"),
)

personal = Table(
    "ledger_personal",
    metadata,
    Column("number", _NUMBER, ForeignKey("ledger_entries.number"), primary_key=True, autoincrement=False),
    Column("person", Text, nullable=False, index=True),
    Column("key", Text, unique=True),
    Column("salt", Text, nullable=False),
    Column("data", Text, nullable=False),
)

blocks = Table(
    "ledger_blocks",
    metadata,
    Column("first", _NUMBER, ForeignKey("ledger_entries.number"), primary_key=True, autoincrement=False),
    Column("run", _NUMBER, ForeignKey("ledger_entries.number"), nullable=False),
    Column("made", Text, nullable=False),
    Column("salt", Text, nullable=False),
    Column("content", LargeBinary, nullable=False),
)

head = Table(
    "ledger_head",
    metadata,
    Column("id", _NUMBER, primary_key=True, autoincrement=False),
    Column("number", _NUMBER, nullable=False),
    Column("hash", Text, nullable=False),
)
