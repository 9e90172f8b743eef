"""Review: cards that say when a question comes back, what an answer says about memory, the learner's time zone."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("learners", sa.Column("zone", sa.String(64)))
    op.add_column("learners", sa.Column("cards_version", sa.Integer))
    op.add_column("predictions", sa.Column("rating", sa.Integer))
    op.add_column("answers", sa.Column("confidence", sa.String(16)))
    op.add_column("answers", sa.Column("rating", sa.Integer))
    op.add_column("answers", sa.Column("in_review", sa.Boolean, nullable=False, server_default=sa.false()))
    days = ("due_on", "last_on")
    counts = ("interval_days", "previous_days", "reps", "lapses", "right_days")
    op.create_table(
        "review_cards",
        sa.Column("learner", sa.String(64), nullable=False),
        sa.Column("chapter", sa.String(80), nullable=False),
        sa.Column("question", sa.String(80), nullable=False),
        *(sa.Column(name, sa.String(10), nullable=False) for name in days),
        sa.Column("last_rating", sa.Integer, nullable=False),
        sa.Column("last_in_review", sa.Boolean, nullable=False),
        sa.Column("stability", sa.Double, nullable=False),
        sa.Column("difficulty", sa.Double, nullable=False),
        *(sa.Column(name, sa.Integer, nullable=False) for name in counts),
        sa.PrimaryKeyConstraint("learner", "chapter", "question", name="pk_review_cards"),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name="fk_review_cards_learner_learners", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_review_cards_learner_due", "review_cards", ["learner", "due_on"])


def downgrade() -> None:
    op.drop_table("review_cards")
    for table, columns in (
        ("answers", ("in_review", "rating", "confidence")),
        ("predictions", ("rating",)),
        ("learners", ("cards_version", "zone")),
    ):
        for column in columns:
            op.drop_column(table, column)
