"""A learner has several revocable sessions; scores and ranks have columns; an answer names its question's wording."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

SESSION_SECONDS = 400 * 24 * 3600


def upgrade() -> None:
    op.add_column("answers", sa.Column("content_hash", sa.String(16)))
    op.add_column("predictions", sa.Column("content_hash", sa.String(16)))
    for column in (
        sa.Column("exercise_digest", sa.String(16)),
        sa.Column("cases_passed", sa.Integer),
        sa.Column("cases_total", sa.Integer),
        sa.Column("credit", sa.Double),
        sa.Column("proven", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("address_key", sa.String(16)),
    ):
        op.add_column("submissions", column)
    op.drop_index("ix_submissions_queued", "submissions")
    _create_partial_index("queued", ["queue", "proven", "priority", "number"], "state = 'queued'")
    _create_partial_index("address", ["address_key"], "address_key IS NOT NULL")
    _create_sessions()
    _open_sessions_of_known_cookies()
    _fill_scores()


def _create_partial_index(name: str, columns: list[str], condition: str) -> None:
    where = sa.text(condition)
    op.create_index(f"ix_submissions_{name}", "submissions", columns, sqlite_where=where, postgresql_where=where)


def _create_sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("learner", sa.String(64), nullable=False),
        sa.Column("made_at", sa.Double, nullable=False),
        sa.Column("seen_at", sa.Double, nullable=False),
        sa.Column("expires_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("token_hash", name="pk_sessions"),
        sa.ForeignKeyConstraint(
            ["learner"], ["learners.id"], name="fk_sessions_learner_learners", ondelete="CASCADE"
        ),
    )
    op.create_index("ix_sessions_learner", "sessions", ["learner"])


def _open_sessions_of_known_cookies() -> None:
    """Until now a learner's id was the hash of their cookie; from now on the same hash finds their session."""
    op.execute(
        "INSERT INTO sessions (token_hash, learner, made_at, seen_at, expires_at) "
        f"SELECT id, id, created_at, created_at, {_now()} + {SESSION_SECONDS} FROM learners"
    )


def _now() -> str:
    is_sqlite = op.get_bind().dialect.name == "sqlite"
    return "(julianday('now') - 2440587.5) * 86400.0" if is_sqlite else "EXTRACT(EPOCH FROM now())"


def _fill_scores() -> None:
    columns = ("number", "kind", "state", "result", "cases_passed", "cases_total", "credit")
    submissions = sa.table("submissions", *(sa.column(name) for name in columns))
    graded = sa.select(submissions.c.number, submissions.c.result).where(
        submissions.c.kind == "grade", submissions.c.state == "finished"
    )
    for number, text in op.get_bind().execute(graded).all():
        verdict = json.loads(text)
        op.execute(submissions.update().where(submissions.c.number == number).values(**_score(verdict)))


def _score(verdict: dict[str, Any]) -> dict[str, float]:
    """The score as the verdict's properties computed it when this was written; `credit` is all or nothing."""
    total = verdict.get("cases_total") or 0
    passed = sum(1 for case in verdict.get("cases") or () if case["passed"])
    return {"cases_passed": passed, "cases_total": total, "credit": 1.0 if verdict["outcome"] == "passed" else 0.0}


def downgrade() -> None:
    """A learner whose id is not the hash of their cookie can no longer be found; their rows stay."""
    op.drop_table("sessions")
    op.drop_index("ix_submissions_address", "submissions")
    op.drop_index("ix_submissions_queued", "submissions")
    _create_partial_index("queued", ["queue", "priority", "number"], "state = 'queued'")
    for column in ("exercise_digest", "cases_passed", "cases_total", "credit", "proven", "address_key"):
        op.drop_column("submissions", column)
    for table in ("predictions", "answers"):
        op.drop_column(table, "content_hash")
