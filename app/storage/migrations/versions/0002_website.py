"""The website's tables: learners, and their work."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "learners",
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_learners"),
    )
    _create_history()
    _create_places()


def _create_history() -> None:
    op.create_table(
        "predictions",
        sa.Column("learner", sa.String(64), nullable=False),
        sa.Column("chapter", sa.String(80), nullable=False),
        sa.Column("predict", sa.String(80), nullable=False),
        sa.Column("option", sa.String(80)),
        sa.Column("confidence", sa.String(16)),
        sa.Column("committed_at", sa.Double, nullable=False),
        sa.Column("resolved_at", sa.Double),
        sa.PrimaryKeyConstraint("learner", "chapter", "predict", name="pk_predictions"),
        _of_learner("predictions"),
    )
    op.create_table(
        "answers",
        sa.Column("number", sa.Integer, autoincrement=True, nullable=False),
        sa.Column("learner", sa.String(64), nullable=False),
        sa.Column("chapter", sa.String(80), nullable=False),
        sa.Column("question", sa.String(80), nullable=False),
        sa.Column("given", sa.Text, nullable=False),
        sa.Column("held", sa.Boolean),
        sa.Column("ticked", sa.String(200)),
        sa.Column("answered_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_answers"),
        _of_learner("answers"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_answers_learner_chapter", "answers", ["learner", "chapter", "number"])


def _create_places() -> None:
    op.create_table(
        "drafts",
        sa.Column("learner", sa.String(64), nullable=False),
        sa.Column("place", sa.String(200), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("saved_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("learner", "place", name="pk_drafts"),
        _of_learner("drafts"),
    )
    op.create_table(
        "cell_runs",
        sa.Column("id", sa.String(32), nullable=False),
        sa.Column("learner", sa.String(64), nullable=False),
        sa.Column("chapter", sa.String(80), nullable=False),
        sa.Column("cell", sa.String(80), nullable=False),
        sa.Column("started_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_cell_runs"),
        _of_learner("cell_runs"),
    )
    op.create_index("ix_cell_runs_learner_chapter", "cell_runs", ["learner", "chapter", "cell"])
    op.create_table(
        "readings",
        sa.Column("learner", sa.String(64), nullable=False),
        sa.Column("chapter", sa.String(80), nullable=False),
        sa.Column("anchor", sa.String(200), nullable=False),
        sa.Column("seen_at", sa.Double, nullable=False),
        sa.Column("finished_at", sa.Double),
        sa.PrimaryKeyConstraint("learner", "chapter", name="pk_readings"),
        _of_learner("readings"),
    )
    op.create_table(
        "hints",
        sa.Column("learner", sa.String(64), nullable=False),
        sa.Column("exercise", sa.String(80), nullable=False),
        sa.Column("number", sa.Integer, autoincrement=False, nullable=False),
        sa.Column("opened_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("learner", "exercise", "number", name="pk_hints"),
        _of_learner("hints"),
    )


def _of_learner(table: str) -> sa.ForeignKeyConstraint:
    name = f"fk_{table}_learner_learners"
    return sa.ForeignKeyConstraint(["learner"], ["learners.id"], name=name, ondelete="CASCADE")


def downgrade() -> None:
    for table in ("hints", "readings", "cell_runs", "drafts", "answers", "predictions", "learners"):
        op.drop_table(table)
