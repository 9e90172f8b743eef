"""The ledger's tables: submissions, their events, and the workers."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    _create_submissions()
    op.create_table(
        "events",
        sa.Column("submission", sa.String(32), nullable=False),
        sa.Column("seq", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("submission", "seq", name="pk_events"),
        sa.ForeignKeyConstraint(
            ["submission"], ["submissions.id"], name="fk_events_submission_submissions", ondelete="CASCADE"
        ),
    )
    op.create_table(
        "workers",
        sa.Column("worker", sa.String(120), nullable=False),
        sa.Column("queue", sa.String(8), nullable=False),
        sa.Column("slots", sa.Integer, nullable=False),
        sa.Column("hello", sa.Text, nullable=False),
        sa.Column("seen_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("worker", name="pk_workers"),
    )


def _create_submissions() -> None:
    op.create_table(
        "submissions",
        sa.Column("number", sa.Integer, autoincrement=True, nullable=False),
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("learner", sa.String(64), nullable=False),
        sa.Column("token", sa.String(64), nullable=False),
        sa.Column("kind", sa.String(8), nullable=False),
        sa.Column("exercise", sa.String(80)),
        sa.Column("queue", sa.String(8), nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("job", sa.Text, nullable=False),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("attempt", sa.Integer, nullable=False),
        sa.Column("deaths", sa.Integer, nullable=False),
        sa.Column("worker", sa.String(120)),
        sa.Column("lease_until", sa.Double),
        sa.Column("last_seq", sa.Integer, nullable=False),
        sa.Column("submitted_at", sa.Double, nullable=False),
        sa.Column("started_at", sa.Double),
        sa.Column("finished_at", sa.Double),
        sa.Column("outcome", sa.String(24)),
        sa.Column("result", sa.Text),
        sa.PrimaryKeyConstraint("number", name="pk_submissions"),
        sa.UniqueConstraint("id", name="uq_submissions_id"),
        sa.UniqueConstraint("learner", "token", name="uq_submissions_learner_token"),
        sqlite_autoincrement=True,
    )
    _create_partial_index("queued", ["queue", "priority", "number"], "state = 'queued'")
    _create_partial_index("running", ["lease_until"], "state = 'running'")
    _create_partial_index("pending", ["learner"], "state != 'finished'")
    _create_partial_index("finished_runs", ["finished_at"], "kind = 'run' AND state = 'finished'")
    op.create_index("ix_submissions_history", "submissions", ["learner", "exercise", "number"])


def _create_partial_index(name: str, columns: list[str], condition: str) -> None:
    where = sa.text(condition)
    op.create_index(f"ix_submissions_{name}", "submissions", columns, sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    op.drop_table("workers")
    op.drop_table("events")
    op.drop_table("submissions")
