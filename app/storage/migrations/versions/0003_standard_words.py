"""Columns are named with the field's usual words, and a public check has its own kind."""

import json

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

RENAMED = {
    "answers": {"given": "response", "held": "correct"},
    "drafts": {"place": "key"},
}
PARTIAL_INDEXES = {
    "queued": (["queue", "priority", "number"], "state = 'queued'"),
    "running": (["lease_until"], "state = 'running'"),
    "pending": (["learner"], "state != 'finished'"),
}


def upgrade() -> None:
    for table, columns in RENAMED.items():
        for old, new in columns.items():
            op.execute(f'ALTER TABLE {table} RENAME COLUMN "{old}" TO "{new}"')
    op.drop_index("ix_submissions_finished_runs", "submissions")
    _rename_in_submissions({"token": "idempotency_key", "attempt": "claim_number", "deaths": "lost_workers"})
    _create_partial_index("finished_passing", ["finished_at"], "kind != 'grade' AND state = 'finished'")
    _name_public_checks()


def _rename_in_submissions(columns: dict[str, str]) -> None:
    """SQLite renames a constraint only by copying its table; indexes that have a condition are created again."""
    old_key, new_key = next(iter(columns.items()))
    for name in PARTIAL_INDEXES:
        op.drop_index(f"ix_submissions_{name}", "submissions")
    with op.batch_alter_table("submissions", table_kwargs={"sqlite_autoincrement": True}) as batch:
        batch.drop_constraint(f"uq_submissions_learner_{old_key}", type_="unique")
        for old, new in columns.items():
            batch.alter_column(old, new_column_name=new)
    with op.batch_alter_table("submissions", table_kwargs={"sqlite_autoincrement": True}) as batch:
        batch.create_unique_constraint(f"uq_submissions_learner_{new_key}", ["learner", new_key])
    for name, (keys, condition) in PARTIAL_INDEXES.items():
        _create_partial_index(name, keys, condition)


def _create_partial_index(name: str, columns: list[str], condition: str) -> None:
    where = sa.text(condition)
    op.create_index(f"ix_submissions_{name}", "submissions", columns, sqlite_where=where, postgresql_where=where)


def _name_public_checks() -> None:
    """Give public checks their kind. Until now they were runs without an exercise; their job names the exercise."""
    job = sa.text("SELECT number, job FROM submissions WHERE kind = 'run'")
    submissions = sa.table("submissions", sa.column("number"), sa.column("kind"), sa.column("exercise"))
    for number, text in op.get_bind().execute(job).all():
        asked = json.loads(text)
        if asked["kind"] == "grade":
            named = submissions.update().where(submissions.c.number == number)
            op.execute(named.values(kind="check", exercise=asked["exercise"]))


def downgrade() -> None:
    """Turn public checks into runs without an exercise again."""
    op.execute("UPDATE submissions SET kind = 'run', exercise = NULL WHERE kind = 'check'")
    op.drop_index("ix_submissions_finished_passing", "submissions")
    _rename_in_submissions({"idempotency_key": "token", "claim_number": "attempt", "lost_workers": "deaths"})
    _create_partial_index("finished_runs", ["finished_at"], "kind = 'run' AND state = 'finished'")
    for table, columns in RENAMED.items():
        for old, new in columns.items():
            op.execute(f'ALTER TABLE {table} RENAME COLUMN "{new}" TO "{old}"')
