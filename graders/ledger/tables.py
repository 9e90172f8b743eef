"""The ledger's tables: submissions, their events, and the workers that said hello."""

from sqlalchemy import (
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
    literal,
)

from graders.ledger.records import State

# Alembic's batch mode can only alter a constraint that has a name.
NAMING_CONVENTION = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}

metadata = MetaData(naming_convention=NAMING_CONVENTION)

# All times are seconds since 1970 by the database's clock. `attempt` counts claims and is the fencing
# token; `deaths` counts the claims whose worker never came back. `last_seq` hands out event numbers. A look at an
# exercise's public checks is kept like a cell's run: its `kind` is "run", and it has no `exercise`.
submissions = Table(
    "submissions",
    metadata,
    Column("number", Integer, primary_key=True, autoincrement=True),
    Column("id", String(32), nullable=False, unique=True),
    Column("learner", String(64), nullable=False),
    Column("token", String(64), nullable=False),
    Column("kind", String(8), nullable=False),
    Column("exercise", String(80)),
    Column("queue", String(8), nullable=False),
    Column("priority", Integer, nullable=False),
    Column("job", Text, nullable=False),
    Column("state", String(8), nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("deaths", Integer, nullable=False),
    Column("worker", String(120)),
    Column("lease_until", Double),
    Column("last_seq", Integer, nullable=False),
    Column("submitted_at", Double, nullable=False),
    Column("started_at", Double),
    Column("finished_at", Double),
    Column("outcome", String(24)),
    Column("result", Text),
    UniqueConstraint("learner", "token"),
    sqlite_autoincrement=True,
)


def _literally(state: State) -> ColumnElement[str]:
    # Written into the statement, not bound: SQLite uses a partial index only if it can read its condition.
    return literal(state.value, String, literal_execute=True)


queued = submissions.c.state == _literally(State.QUEUED)
running = submissions.c.state == _literally(State.RUNNING)
finished = submissions.c.state == _literally(State.FINISHED)
unfinished = submissions.c.state != _literally(State.FINISHED)
is_run = submissions.c.kind == literal("run", String, literal_execute=True)

Index(
    "ix_submissions_queued",
    submissions.c.queue,
    submissions.c.priority,
    submissions.c.number,
    sqlite_where=queued,
    postgresql_where=queued,
)
Index("ix_submissions_running", submissions.c.lease_until, sqlite_where=running, postgresql_where=running)
Index("ix_submissions_pending", submissions.c.learner, sqlite_where=unfinished, postgresql_where=unfinished)
Index(
    "ix_submissions_finished_runs",
    submissions.c.finished_at,
    sqlite_where=is_run & finished,
    postgresql_where=is_run & finished,
)
Index("ix_submissions_history", submissions.c.learner, submissions.c.exercise, submissions.c.number)

# The body of a `finished` event is the submission's result, which stands in its row and is not copied here.
events = Table(
    "events",
    metadata,
    Column("submission", String(32), ForeignKey("submissions.id", ondelete="CASCADE"), primary_key=True),
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("kind", String(16), nullable=False),
    Column("body", Text, nullable=False),
    Column("at", Double, nullable=False),
)

workers = Table(
    "workers",
    metadata,
    Column("worker", String(120), primary_key=True),
    Column("queue", String(8), nullable=False),
    Column("slots", Integer, nullable=False),
    Column("hello", Text, nullable=False),
    Column("seen_at", Double, nullable=False),
)
