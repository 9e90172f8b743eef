"""On PostgreSQL, Procrastinate's tables: a ticket for each queued submission, and nothing on SQLite.

The schema is that of the release that requirements-fleet.lock names. A later release comes with a migration of ours
that runs its own, from procrastinate/sql/migrations. What waits already gets tickets from the next reconciliation.
"""

from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    from procrastinate.schema import SchemaManager  # noqa: PLC0415 - SQLite has no such package

    # Straight to the driver, without parameters: the functions' texts are full of colons and percent signs.
    cursor = op.get_bind().connection.cursor()
    cursor.execute(SchemaManager.get_schema())


def downgrade() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    for table in ("events", "periodic_defers", "jobs", "workers"):
        op.execute(f"DROP TABLE procrastinate_{table} CASCADE")
    op.execute(
        "DO $$ DECLARE made record; BEGIN "
        "FOR made IN SELECT oid::regprocedure AS name FROM pg_proc WHERE proname LIKE 'procrastinate\\_%' LOOP "
        "EXECUTE 'DROP FUNCTION ' || made.name || ' CASCADE'; END LOOP; END $$"
    )
    for kind in ("procrastinate_job_to_defer_v1", "procrastinate_job_status", "procrastinate_job_event_type"):
        op.execute(f"DROP TYPE {kind}")
