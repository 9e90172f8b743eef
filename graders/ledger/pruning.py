"""Pruning: a website forgets old cells, old events and workers that went. Graders delete nothing of a submission."""

from sqlalchemy import Connection, delete, select, update

from graders.ledger.clock import now_seconds
from graders.ledger.fairness import RECENT_SECONDS
from graders.ledger.locks import try_lock
from graders.ledger.records import Policy, Pruned
from graders.ledger.tables import events, finished, is_passing, is_passing_event, submissions, workers
from graders.ledger.tickets import forget_ticket_events


def prune(connection: Connection, policy: Policy) -> Pruned:
    """One transaction, of one website at a time."""
    if not try_lock(connection, "prune"):
        return Pruned()
    forget_ticket_events(connection)
    return Pruned(_prune_submissions(connection, policy), _prune_events(connection, policy))


def _prune_submissions(connection: Connection, policy: Policy) -> int:
    """Forget old runs of cells and public checks, a few at a time to keep the write lock short; never a verdict."""
    row = submissions.c
    now = now_seconds()
    old = (
        select(row.id)
        .where(is_passing, finished, row.finished_at < now - policy.cell_retention_seconds)
        .limit(policy.prune_at_most)
    )
    done = connection.execute(delete(submissions).where(row.id.in_(old.scalar_subquery())))
    # The fairness rule no longer needs to know where these came from.
    forgotten = (row.address_key.is_not(None), finished, row.finished_at < now - RECENT_SECONDS)
    connection.execute(update(submissions).where(*forgotten).values(address_key=None))
    silent_seconds = 100 * policy.worker_silence_seconds
    connection.execute(delete(workers).where(~workers.c.seen_at.between(now - silent_seconds, now + silent_seconds)))
    return done.rowcount


def _prune_events(connection: Connection, policy: Policy) -> int:
    """Forget what old submissions printed and how their cases went: the result has it. Their end stays an event."""
    old = (
        select(events.c.submission)
        .join(submissions, submissions.c.id == events.c.submission)
        .where(is_passing_event, events.c.at < now_seconds() - policy.event_retention_seconds, finished)
        .limit(policy.prune_at_most)
    )
    return connection.execute(
        delete(events).where(events.c.submission.in_(old.scalar_subquery()), is_passing_event)
    ).rowcount
