"""Staff comment on submissions."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def _key(column: str, target: str, ondelete: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        [column], [f"{target}.id"], name=f"fk_comments_{column}_{target}", ondelete=ondelete
    )


def upgrade() -> None:
    op.create_table(
        "comments",
        sa.Column("number", sa.Integer, nullable=False, autoincrement=True),
        sa.Column("section", sa.String(32), nullable=False),
        sa.Column("learner", sa.String(64), nullable=False),
        sa.Column("submission", sa.String(32), nullable=False),
        sa.Column("exercise", sa.String(80), nullable=False),
        sa.Column("line", sa.Integer),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("made_by", sa.String(32)),
        sa.Column("made_at", sa.Double, nullable=False),
        sa.Column("edited_at", sa.Double),
        sa.Column("read_at", sa.Double),
        sa.PrimaryKeyConstraint("number", name="pk_comments"),
        _key("section", "sections", "CASCADE"),
        _key("learner", "learners", "CASCADE"),
        _key("made_by", "accounts", "SET NULL"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_comments_learner_submission", "comments", ["learner", "submission"])
    op.create_index("ix_comments_section", "comments", ["section"])
    op.create_index("ix_comments_made_by", "comments", ["made_by"])


def downgrade() -> None:
    op.drop_table("comments")
