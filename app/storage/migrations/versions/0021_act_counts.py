"""Websites that share a PostgreSQL database share the counts of their rate limits."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "act_counts",
        sa.Column("key", sa.String(32), nullable=False),
        sa.Column("window", sa.BigInteger, autoincrement=False, nullable=False),
        sa.Column("count", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("key", "window", name="pk_act_counts"),
    )
    op.create_index("ix_act_counts_expires_at", "act_counts", ["expires_at"])


def downgrade() -> None:
    op.drop_table("act_counts")
