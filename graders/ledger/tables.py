"""The ledger's tables: submissions, their events, and the workers that said hello."""

from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    literal,
)

from graders.contract.events import EventKind
from graders.ledger.records import Kind, State

# Alembic's batch mode can only alter a constraint that has a name.
NAMING_CONVENTION = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

metadata = MetaData(naming_convention=NAMING_CONVENTION)

# All times are seconds since 1970, except `lease_until`, which uses the host's steady clock. `claim_number` counts
# claims and is the fencing token; `lost_workers` counts the claims whose worker was lost. `last_seq` is the newest
# event's number. `cases_passed`, `cases_total` and `credit` (from 0 to 1) repeat the verdict in `result` for queries;
# they are NULL where there is no verdict, and so is `held_share` beyond labs that passed within a bound of memory.
# `exercise_digest` names the judging files as they were when the job was submitted. `priority` and `proven` rank the
# job (see fairness.py); `address_key` is a keyed hash, which is deleted minutes after the run. `request` is the id of
# the request that submitted it, for log lines.
submissions = Table(
    "submissions",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(32), nullable=False, unique=True),
    Column("learner", String(64), nullable=False),
    Column("idempotency_key", String(64), nullable=False),
    Column("kind", String(8), nullable=False),
    Column("exercise", String(80)),
    Column("queue", String(8), nullable=False),
    Column("priority", Integer, nullable=False),
    Column("proven", Boolean, nullable=False, server_default=false()),
    Column("job", Text, nullable=False),
    Column("state", String(8), nullable=False),
    Column("claim_number", Integer, nullable=False),
    Column("lost_workers", Integer, nullable=False),
    Column("worker", String(120)),
    Column("lease_until", Double),
    Column("last_seq", Integer, nullable=False),
    Column("submitted_at", Double, nullable=False),
    Column("started_at", Double),
    Column("finished_at", Double),
    Column("outcome", String(24)),
    Column("result", Text),
    Column("exercise_digest", String(16)),
    Column("cases_passed", Integer),
    Column("cases_total", Integer),
    Column("credit", Double),
    Column("held_share", Double),
    Column("address_key", String(16)),
    Column("request", String(64)),
    UniqueConstraint("learner", "idempotency_key"),
    sqlite_autoincrement=True,
)


def _literally(value: State | Kind | EventKind) -> ColumnElement[str]:
    # Written into the SQL instead of bound: SQLite uses a partial index only if it sees the index's condition.
    return literal(value.value, String, literal_execute=True)


queued = submissions.c.state == _literally(State.QUEUED)
running = submissions.c.state == _literally(State.RUNNING)
finished = submissions.c.state == _literally(State.FINISHED)
unfinished = submissions.c.state != _literally(State.FINISHED)
is_graded = submissions.c.kind == _literally(Kind.GRADE)
is_regrade = submissions.c.kind == _literally(Kind.REGRADE)
is_not_graded = submissions.c.kind != _literally(Kind.GRADE)
is_passing = is_not_graded & ~is_regrade
"""Runs of cells and public checks: they appear in no history and are deleted after a while."""
is_background = submissions.c.kind.in_((_literally(Kind.IDLE), _literally(Kind.REGRADE)))
"""Runs that nobody waits for: they count neither for nor against their learner."""
is_idle = submissions.c.kind == _literally(Kind.IDLE)

Index(
    "ix_submissions_queued",
    submissions.c.queue,
    submissions.c.proven,
    submissions.c.priority,
    submissions.c.number,
    sqlite_where=queued,
    postgresql_where=queued,
)
Index("ix_submissions_running", submissions.c.lease_until, sqlite_where=running, postgresql_where=running)
Index("ix_submissions_pending", submissions.c.learner, sqlite_where=unfinished, postgresql_where=unfinished)
Index(
    "ix_submissions_finished_passing",
    submissions.c.finished_at,
    sqlite_where=is_not_graded & finished,
    postgresql_where=is_not_graded & finished,
)
Index(
    "ix_submissions_address",
    submissions.c.address_key,
    sqlite_where=submissions.c.address_key.is_not(None),
    postgresql_where=submissions.c.address_key.is_not(None),
)
Index("ix_submissions_history", submissions.c.learner, submissions.c.exercise, submissions.c.number)
# Has all that grades are made of, so that those of a class read no row of some kilobytes. SQLite looks for the
# condition's columns too.
Index(
    "ix_submissions_graded",
    submissions.c.exercise,
    submissions.c.learner,
    submissions.c.number,
    submissions.c.submitted_at,
    submissions.c.outcome,
    submissions.c.cases_passed,
    submissions.c.cases_total,
    submissions.c.id,
    submissions.c.kind,
    submissions.c.state,
    sqlite_where=is_graded & finished,
    postgresql_where=is_graded & finished,
)
Index(
    "ix_submissions_held",
    submissions.c.exercise,
    submissions.c.learner,
    submissions.c.held_share,
    sqlite_where=is_graded & submissions.c.held_share.is_not(None),
    postgresql_where=is_graded & submissions.c.held_share.is_not(None),
)

# A `finished` event has an empty body here: its body is the submission's result, which is in the submission's row.
events = Table(
    "events",
    metadata,
    Column("submission", String(32), ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("kind", String(16), nullable=False),
    Column("body", Text, nullable=False),
    Column("at", Double, nullable=False),
)

is_passing_event = events.c.kind != _literally(EventKind.FINISHED)
"""Only who watches the run, or resumes soon after, reads these; what they say is in the result too."""

Index("ix_events_passing", events.c.at, sqlite_where=is_passing_event, postgresql_where=is_passing_event)

workers = Table(
    "workers",
    metadata,
    Column("worker", String(120), primary_key=True),
    Column("queue", String(8), nullable=False),
    Column("slots", Integer, nullable=False),
    Column("hello", Text, nullable=False),
    Column("seen_at", Double, nullable=False),
)
