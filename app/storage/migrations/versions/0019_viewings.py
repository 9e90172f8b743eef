"""An instructor sees the course as a learner of the section."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def _key(column: str, table: str, target: str = "id") -> sa.ForeignKeyConstraint:
    name = f"fk_viewings_{column}_{table}"
    return sa.ForeignKeyConstraint([column], [f"{table}.{target}"], name=name, ondelete="CASCADE")


def upgrade() -> None:
    op.create_table(
        "viewings",
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("section", sa.String(32), nullable=False),
        sa.Column("account", sa.String(32)),
        sa.Column("at", sa.Double),
        sa.Column("expires_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("token_hash", name="pk_viewings"),
        _key("token_hash", "sessions", "token_hash"),
        sa.ForeignKeyConstraint(
            ["section"], ["sections.id"], name="fk_viewings_section_sections", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["account"], ["accounts.id"], name="fk_viewings_account_accounts", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_viewings_section", "viewings", ["section"])
    op.create_index("ix_viewings_account", "viewings", ["account"])


def downgrade() -> None:
    op.drop_table("viewings")
