"""What Alembic runs: the migrations, in the transaction of the connection that it is given."""

from alembic import context

from robust_recourse.ledger.migrating import VERSION_TABLE

context.configure(connection=context.config.attributes["connection"], version_table=VERSION_TABLE)
context.run_migrations()
