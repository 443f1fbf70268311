"""Find what closes a promise, and the entries of a kind, without reading all of them."""

from alembic import op

revision = "2"
down_revision = "1"


def upgrade() -> None:
    """Add the indices."""
    op.create_index("ledger_entries_kind", "ledger_entries", ["kind", "about"])
    op.create_index("ledger_entries_about", "ledger_entries", ["about"])
