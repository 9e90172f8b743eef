"""Reconciliation: queue again or end what lost workers left. Running it twice does no harm."""

from sqlalchemy import Connection, select, update

from graders.contract.model import SubmissionId
from graders.contract.outcome_sentences import find_other_version
from graders.contract.results import Outcome
from graders.ledger.clock import now_seconds
from graders.ledger.finish import end_unclaimed
from graders.ledger.leases import has_run_out
from graders.ledger.locks import try_lock
from graders.ledger.records import OtherVersion, Policy, Reconciled, State
from graders.ledger.tables import (
    queued,
    running,
    submissions,
)
from graders.ledger.tickets import sweep_tickets
from graders.ledger.workers import read_workers


def reconcile(connection: Connection, policy: Policy) -> Reconciled:
    """One transaction, of one reconciler at a time: while another is at it, there is nothing to do."""
    if not try_lock(connection, "reconcile"):
        return Reconciled()
    faulted = _give_up(connection, policy)
    requeued = _requeue(connection, policy)
    sweep_tickets(connection)
    unjudgeable = _end_unjudgeable(connection, policy)
    return Reconciled(requeued, faulted, unjudgeable)


def _give_up(connection: Connection, policy: Policy) -> int:
    """End jobs that have lost one worker after another, as a grader fault, so that they stop killing workers."""
    row = submissions.c
    query = select(row.id).where(
        running, has_run_out(policy), row.lost_workers >= policy.lost_workers_before_fault - 1
    )
    poison = [SubmissionId(found.id) for found in connection.execute(query)]
    for submission in poison:
        end_unclaimed(connection, submission, Outcome.GRADER_FAULT)
    return len(poison)


def _requeue(connection: Connection, policy: Policy) -> int:
    row = submissions.c
    statement = (
        update(submissions)
        .where(running, has_run_out(policy))
        .values(state=State.QUEUED, lease_until=None, worker=None, lost_workers=row.lost_workers + 1)
    )
    return connection.execute(statement).rowcount


def _end_unjudgeable(connection: Connection, policy: Policy) -> tuple[OtherVersion, ...]:
    """End submissions whose version of an exercise no worker has. If a queue has no worker, they go on waiting."""
    row = submissions.c
    waits = queued & (row.exercise_digest != "") & (row.submitted_at < now_seconds() - policy.version_grace_seconds)
    versions = connection.execute(select(row.queue, row.exercise, row.exercise_digest).where(waits).distinct()).all()
    serving = read_workers(connection, policy) if versions else ()
    ended = []
    for queue, exercise, digest in versions:
        hellos = [seen.hello for seen in serving if seen.hello.queue == queue]
        if not hellos or any(hello.can_judge(exercise, digest) for hello in hellos):
            continue
        same = (row.queue == queue) & (row.exercise == exercise) & (row.exercise_digest == digest)
        found = connection.execute(select(row.id).where(waits, same)).scalars().all()
        for submission in found:
            end_unclaimed(connection, submission, Outcome.GRADER_FAULT, find_other_version(exercise))
        served = {has for hello in hellos if (has := (hello.exercises or {}).get(exercise))}
        ended.append(OtherVersion(exercise, digest, tuple(sorted(served)), len(found)))
    return tuple(ended)
