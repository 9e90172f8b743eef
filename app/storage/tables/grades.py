"""What is stored about grades: answers judged again, and what other platforms call an assignment."""

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Double,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    false,
    literal,
)

from app.storage.tables.keys import assignment_key, learner_key, metadata

RUNNING, APPLIED, DROPPED = "running", "applied", "dropped"

# An exercise of a section is judged again. `scope` is "newest" or "all" of each learner's submissions, `policy`
# "raise" or "replace", `exercise_digest` the version that judges. Until it is applied or dropped it is "running".
regrades = Table(
    "regrades",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    assignment_key(),
    Column("scope", String(8), nullable=False),
    Column("policy", String(8), nullable=False),
    Column("reason", Text, nullable=False),
    Column("exercise_digest", String(16), nullable=False),
    Column("state", String(8), nullable=False),
    Column("made_by", String(32), ForeignKey("accounts.id", ondelete="SET NULL")),
    Column("made_at", Double, nullable=False),
    Column("ended_at", Double),
    sqlite_autoincrement=True,
)


def _is_running() -> "ColumnElement[bool]":
    # Written into the SQL instead of bound, as a partial index needs it.
    return regrades.c.state == literal(RUNNING, String, literal_execute=True)


Index("ix_regrades_assignment", regrades.c.assignment)
Index("ix_regrades_made_by", regrades.c.made_by)
Index(
    "ix_regrades_running",
    regrades.c.assignment,
    unique=True,
    sqlite_where=_is_running(),
    postgresql_where=_is_running(),
)

# One submission of a regrade. `job` is the ledger's row that judges it again, which is gone once the result is here.
# The result after is NULL until the regrade is applied; `counts` says whether it then replaced the one before.
regrade_items = Table(
    "regrade_items",
    metadata,
    Column("regrade", Integer, ForeignKey("regrades.number", ondelete="CASCADE"), primary_key=True),
    Column("submission", String(32), primary_key=True),
    learner_key(),
    Column("job", String(32), nullable=False),
    Column("outcome_before", String(24), nullable=False),
    Column("passed_before", Integer, nullable=False),
    Column("total_before", Integer, nullable=False),
    Column("outcome_after", String(24)),
    Column("passed_after", Integer),
    Column("total_after", Integer),
    Column("counts", Boolean, nullable=False, server_default=false()),
)
Index("ix_regrade_items_submission", regrade_items.c.submission)
Index("ix_regrade_items_learner", regrade_items.c.learner)

# Under which id a platform such as Canvas knows an assignment, read from the platform's own file of grades.
platform_columns = Table(
    "platform_columns",
    metadata,
    assignment_key(primary_key=True),
    Column("platform", String(16), primary_key=True),
    Column("column_id", String(64), nullable=False),
)
