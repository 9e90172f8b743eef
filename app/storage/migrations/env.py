"""Alembic's entry point: runs the migrations on the connection that app.storage.database passes to it."""

from alembic import context

from app.storage.tables import metadata as website
from graders.ledger.tables import metadata as ledger

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=[ledger, website],
    render_as_batch=True,
    compare_type=True,
    transaction_per_migration=False,
)

with context.begin_transaction():
    context.run_migrations()
