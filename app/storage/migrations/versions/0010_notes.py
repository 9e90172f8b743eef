"""Readers keep notes and bookmarks in the course."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "notes",
        sa.Column("learner", sa.String(64), nullable=False),
        sa.Column("page", sa.String(120), nullable=False),
        sa.Column("block", sa.String(200), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("content_hash", sa.String(16), nullable=False),
        sa.Column("saved_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("learner", "page", "block", name="pk_notes"),
        sa.ForeignKeyConstraint(["learner"], ["learners.id"], name="fk_notes_learner_learners", ondelete="CASCADE"),
    )


def downgrade() -> None:
    op.drop_table("notes")
