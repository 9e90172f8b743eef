"""Calendars: a secret address under which a learner's days of review can be read."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "calendars",
        sa.Column("learner", sa.String(64), nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("made_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("learner", name="pk_calendars"),
        sa.UniqueConstraint("token_hash", name="uq_calendars_token_hash"),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name="fk_calendars_learner_learners", ondelete="CASCADE"
        ),
    )


def downgrade() -> None:
    op.drop_table("calendars")
