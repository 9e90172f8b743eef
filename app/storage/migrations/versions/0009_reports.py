"""Readers report what is wrong in the course, and see what was changed."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "reports",
        sa.Column("number", sa.Integer, autoincrement=True, nullable=False),
        sa.Column("learner", sa.String(64), nullable=False),
        sa.Column("page", sa.String(120), nullable=False),
        sa.Column("block", sa.String(200), nullable=False),
        sa.Column("content_hash", sa.String(16), nullable=False),
        sa.Column("course_version", sa.String(16), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("reported_at", sa.Double, nullable=False),
        sa.Column("closed_at", sa.Double),
        sa.Column("closed_by", sa.String(32)),
        sa.Column("note", sa.Text),
        sa.PrimaryKeyConstraint("number", name="pk_reports"),
        sa.ForeignKeyConstraint(["learner"], ["learners.id"], name="fk_reports_learner_learners", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["closed_by"], ["accounts.id"], name="fk_reports_closed_by_accounts", ondelete="SET NULL"
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_reports_learner", "reports", ["learner"])
    op.create_index("ix_reports_closed_by", "reports", ["closed_by"])


def downgrade() -> None:
    op.drop_table("reports")
