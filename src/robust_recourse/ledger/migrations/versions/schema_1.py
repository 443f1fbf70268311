"""The first schema: entries, what is personal, blocks of promised rows, the head."""

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None


def upgrade() -> None:
    """Make the tables."""
    number = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    entry = "ledger_entries.number"
    op.create_table(
        "ledger_entries",
        sa.Column("number", number, primary_key=True, autoincrement=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("about", number, sa.ForeignKey(entry)),
        sa.Column("made", sa.Text, nullable=False),
        sa.Column("facts", sa.Text, nullable=False),
        sa.Column("sealed", sa.Text),
        sa.Column("previous", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
    )
    op.create_table(
        "ledger_personal",
        sa.Column("number", number, sa.ForeignKey(entry), primary_key=True, autoincrement=False),
        sa.Column("person", sa.Text, nullable=False),
        sa.Column("key", sa.Text, unique=True),
        sa.Column("salt", sa.Text, nullable=False),
        sa.Column("data", sa.Text, nullable=False),
    )
    op.create_index("ix_ledger_personal_person", "ledger_personal", ["person"])
    op.create_table(
        "ledger_blocks",
        sa.Column("first", number, sa.ForeignKey(entry), primary_key=True, autoincrement=False),
        sa.Column("run", number, sa.ForeignKey(entry), nullable=False),
        sa.Column("made", sa.Text, nullable=False),
        sa.Column("salt", sa.Text, nullable=False),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    head = op.create_table(
        "ledger_head",
        sa.Column("id", number, primary_key=True, autoincrement=False),
        sa.Column("number", number, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
    )
    op.bulk_insert(head, [{"id": 1, "number": 0, "hash": "0" * 64}])
