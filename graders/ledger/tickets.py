"""Tickets: on PostgreSQL each queued submission has a job in Procrastinate's table, written in the same transaction.

A ticket only says which submission to look at. The submission's row stays the truth: a worker that holds a ticket
still has to claim the row, so a ticket too many does no harm, and one too few is written again by the reconciliation.
SQLite has no tickets, and its workers read the submissions themselves.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Connection, select, text
from sqlalchemy.exc import DBAPIError, OperationalError

from graders.contract.jobs import Queue
from graders.ledger.tables import queued, submissions

if TYPE_CHECKING:
    from procrastinate import App
    from procrastinate.jobs import Job
    from procrastinate.types import JSONDict

TASK: Final = "look"
SUBMISSION: Final = "submission"
EXERCISE: Final = "exercise"
DIGEST: Final = "digest"
UNPROVEN: Final = "unproven"
"""A ticket's queue is named after the job's queue; jobs that are not proven (fairness.py) have a queue beside it."""
LOST_AFTER_SECONDS: Final = 30.0
"""A worker deletes a ticket as soon as it has it, so one that is held for longer was lost with its worker."""

TICKET_COLUMNS = (
    submissions.c.id,
    submissions.c.queue,
    submissions.c.proven,
    submissions.c.priority,
    submissions.c.exercise,
    submissions.c.exercise_digest,
)
# `at` is when the ticket became what it is, so a ticket without a recent event has been held for too long.
_DELETE_LOST = text(
    "DELETE FROM procrastinate_jobs AS ticket WHERE status <> 'todo' AND NOT EXISTS (SELECT 1 "
    "FROM procrastinate_events AS event "
    "WHERE event.job_id = ticket.id AND event.at > now() - make_interval(secs => :seconds))"
)
_FORGET_EVENTS = text("DELETE FROM procrastinate_events WHERE at < now() - interval '1 hour'")
_HAS_NO_TICKET = text(
    "NOT EXISTS (SELECT 1 FROM procrastinate_jobs WHERE procrastinate_jobs.args ->> 'submission' = submissions.id)"
)


@dataclass(frozen=True)
class Ticket:
    """What a ticket says: the submission, its place, and the version of its exercise that it needs."""

    submission: str
    queue: Queue
    proven: bool
    priority: int
    exercise: str | None
    digest: str | None


def name_queue(queue: Queue, *, proven: bool) -> str:
    return queue.value if proven else f"{queue.value}-{UNPROVEN}"


def write_tickets(connection: Connection, tickets: Sequence[Ticket]) -> None:
    """Defer a job for each, in this transaction; on SQLite do nothing."""
    if connection.dialect.name != "postgresql" or not tickets:
        return
    # Imported late, because an installation on SQLite has neither of them.
    from procrastinate.exceptions import ConnectorException  # noqa: PLC0415

    try:
        _app().job_manager.batch_defer_jobs(
            [_make_job(ticket) for ticket in tickets], connection.connection.driver_connection
        )
    except ConnectorException as error:
        raise _as_database_error(error.__cause__) from error


def write_ticket_again(connection: Connection, row: Any) -> None:
    """For a submission that was running and waits again: before those of its own priority, because it has waited."""
    write_tickets(connection, [_read_ticket(row, before_equals=1)])


def sweep_tickets(connection: Connection) -> int:
    """Delete tickets that lost workers hold, and write one for each queued submission without; returns how many."""
    if connection.dialect.name != "postgresql":
        return 0
    connection.execute(_DELETE_LOST, {"seconds": LOST_AFTER_SECONDS})
    without = connection.execute(
        select(*TICKET_COLUMNS).where(queued, _HAS_NO_TICKET).order_by(submissions.c.number)
    ).all()
    write_tickets(connection, [_read_ticket(row, before_equals=1) for row in without])
    return len(without)


def forget_ticket_events(connection: Connection) -> None:
    """Delete what Procrastinate noted of tickets an hour ago: one that nobody can judge is looked at each second."""
    if connection.dialect.name == "postgresql":
        connection.execute(_FORGET_EVENTS)


def _read_ticket(row: Any, before_equals: int = 0) -> Ticket:
    return Ticket(
        row.id, Queue(row.queue), row.proven, row.priority + before_equals, row.exercise, row.exercise_digest
    )


def _make_job(ticket: Ticket) -> "Job":
    from procrastinate.jobs import Job  # noqa: PLC0415

    says: JSONDict = {SUBMISSION: ticket.submission, EXERCISE: ticket.exercise, DIGEST: ticket.digest}
    return Job(
        id=None,
        queue=name_queue(ticket.queue, proven=ticket.proven),
        lock=None,  # with locks each fetch would read all that waits
        queueing_lock=None,
        task_name=TASK,
        task_kwargs=says,
        priority=ticket.priority,
    )


@cache
def _app() -> "App":
    """Procrastinate without a connection of its own: it writes on the connection of the ledger's transaction."""
    from procrastinate import App, SyncPsycopgConnector  # noqa: PLC0415

    return App(connector=SyncPsycopgConnector())


def _as_database_error(cause: BaseException | None) -> DBAPIError:
    """The driver's error as SQLAlchemy would have raised it, so that the database's own rules for errors hold."""
    import psycopg  # noqa: PLC0415

    assert isinstance(cause, psycopg.Error), cause
    kind = OperationalError if isinstance(cause, psycopg.OperationalError) else DBAPIError
    return kind("procrastinate_defer_jobs", None, cause)
