"""Answers can be judged again, and assignments have ids at other platforms."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

RUNNING = sa.text("state = 'running'")


def _key(table: str, column: str, target: str, ondelete: str = "CASCADE", key: str = "id") -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"{target}.{key}"], name=f"fk_{table}_{column}_{target}", ondelete=ondelete
    )


def upgrade() -> None:
    _create_regrades()
    _create_items()
    op.create_table(
        "platform_columns",
        sa.Column("assignment", sa.String(32), nullable=False),
        sa.Column("platform", sa.String(16), nullable=False),
        sa.Column("column_id", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("assignment", "platform", name="pk_platform_columns"),
        _key("platform_columns", "assignment", "assignments"),
    )


def _create_regrades() -> None:
    op.create_table(
        "regrades",
        sa.Column("number", sa.Integer, autoincrement=True, nullable=False),
        sa.Column("assignment", sa.String(32), nullable=False),
        sa.Column("scope", sa.String(8), nullable=False),
        sa.Column("policy", sa.String(8), nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("exercise_digest", sa.String(16), nullable=False),
        sa.Column("state", sa.String(8), nullable=False),
        sa.Column("made_by", sa.String(32)),
        sa.Column("made_at", sa.Double, nullable=False),
        sa.Column("ended_at", sa.Double),
        sa.PrimaryKeyConstraint("number", name="pk_regrades"),
        _key("regrades", "assignment", "assignments"),
        _key("regrades", "made_by", "accounts", "SET NULL"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_regrades_assignment", "regrades", ["assignment"])
    op.create_index("ix_regrades_made_by", "regrades", ["made_by"])
    op.create_index(
        "ix_regrades_running", "regrades", ["assignment"], unique=True, sqlite_where=RUNNING, postgresql_where=RUNNING
    )


def _create_items() -> None:
    op.create_table(
        "regrade_items",
        sa.Column("regrade", sa.Integer, nullable=False),
        sa.Column("submission", sa.String(32), nullable=False),
        sa.Column("learner", sa.String(64), nullable=False),
        sa.Column("job", sa.String(32), nullable=False),
        sa.Column("outcome_before", sa.String(24), nullable=False),
        sa.Column("passed_before", sa.Integer, nullable=False),
        sa.Column("total_before", sa.Integer, nullable=False),
        sa.Column("outcome_after", sa.String(24)),
        sa.Column("passed_after", sa.Integer),
        sa.Column("total_after", sa.Integer),
        sa.Column("counts", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.PrimaryKeyConstraint("regrade", "submission", name="pk_regrade_items"),
        _key("regrade_items", "regrade", "regrades", key="number"),
        _key("regrade_items", "learner", "learners"),
    )
    op.create_index("ix_regrade_items_submission", "regrade_items", ["submission"])
    op.create_index("ix_regrade_items_learner", "regrade_items", ["learner"])


def downgrade() -> None:
    for table in ("platform_columns", "regrade_items", "regrades"):
        op.drop_table(table)
