"""Reconciliation: queue again or give up what dead workers left, and forget old cells. Safe to run twice."""

from sqlalchemy import Connection, delete, select, update

from graders.contract.jobs import Queue
from graders.contract.model import SubmissionId
from graders.contract.results import Outcome
from graders.ledger.clock import now_seconds
from graders.ledger.dispatch import Dispatcher, Ticket
from graders.ledger.ending import end_unclaimed
from graders.ledger.records import Policy, State, Tidied
from graders.ledger.tables import finished, is_run, running, submissions, workers


def reconcile(connection: Connection, dispatcher: Dispatcher, policy: Policy) -> Tidied:
    """One transaction. The writer's lock is what makes two reconcilers take turns."""
    faulted = _give_up(connection, policy)
    requeued = _requeue(connection)
    for ticket in (*requeued, *dispatcher.undispatched(connection)):
        dispatcher.enqueue(connection, ticket)
    return Tidied(requeued=len(requeued), faulted=faulted, pruned=_prune(connection, policy))


def _give_up(connection: Connection, policy: Policy) -> int:
    """A job whose workers died again and again is a poison: it gets our fault as its verdict, the queue goes on."""
    row = submissions.c
    query = select(row.id).where(
        running, row.lease_until < now_seconds(), row.deaths >= policy.deaths_before_fault - 1
    )
    poison = [SubmissionId(found.id) for found in connection.execute(query)]
    for submission in poison:
        end_unclaimed(connection, submission, Outcome.GRADER_FAULT)
    return len(poison)


def _requeue(connection: Connection) -> tuple[Ticket, ...]:
    row = submissions.c
    statement = (
        update(submissions)
        .where(running, row.lease_until < now_seconds())
        .values(state=State.QUEUED, lease_until=None, worker=None, deaths=row.deaths + 1)
        .returning(row.id, row.queue, row.priority)
    )
    found = connection.execute(statement)
    return tuple(Ticket(SubmissionId(line.id), Queue(line.queue), line.priority) for line in found)


def _prune(connection: Connection, policy: Policy) -> int:
    """Forget cells that ended long ago, some at a time so that the writer is soon free; never a verdict."""
    row = submissions.c
    now = now_seconds()
    old = (
        select(row.id)
        .where(is_run, finished, row.finished_at < now - policy.cell_retention_seconds)
        .limit(policy.prune_at_most)
    )
    done = connection.execute(delete(submissions).where(row.id.in_(old.scalar_subquery())))
    connection.execute(delete(workers).where(workers.c.seen_at < now - 100 * policy.worker_silence_seconds))
    return done.rowcount
