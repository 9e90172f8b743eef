"""The worker's side: claim, beat, add events, finish, release. Each is one transaction, fenced by `claim_number`."""

import json
from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, case, insert, or_, select, update

from graders.contract.events import EventKind
from graders.contract.jobs import Queue
from graders.contract.model import LearnerId, SubmissionId
from graders.contract.results import RunEnd, Verdict
from graders.ledger.clock import now_seconds
from graders.ledger.finish import write_end
from graders.ledger.leases import end_of_lease, has_run_out
from graders.ledger.records import Claim, Policy, State
from graders.ledger.stored import read_job_to_run
from graders.ledger.tables import events, submissions
from graders.ledger.tickets import TICKET_COLUMNS, write_ticket_again

Progress = tuple[EventKind, str]
"""An event's kind and its body as JSON text."""


def holds(claim: Claim) -> ColumnElement[bool]:
    """The condition that the row is still ours: not claimed again, finished, released or cancelled."""
    row = submissions.c
    return (row.id == claim.id) & (row.claim_number == claim.claim_number) & (row.state == State.RUNNING)


def claim(connection: Connection, submission: SubmissionId, worker: str, policy: Policy) -> Claim | None:
    """Claim it if it is queued or its worker's lease ran out. None if another worker has it or it is finished.

    Raises UnreadableJob, and then it is not claimed.
    """
    row = submissions.c
    now = now_seconds()
    # A job that has lost as many workers as the policy allows is not claimed again: the reconciliation ends it.
    abandoned = (
        (row.state == State.RUNNING) & has_run_out(policy) & (row.lost_workers < policy.lost_workers_before_fault - 1)
    )
    statement = (
        update(submissions)
        .where(row.id == submission, or_(row.state == State.QUEUED, abandoned))
        .values(
            state=State.RUNNING,
            claim_number=row.claim_number + 1,
            lost_workers=row.lost_workers + case((row.state == State.RUNNING, 1), else_=0),
            worker=worker,
            started_at=now,
            lease_until=end_of_lease(policy),
            last_seq=row.last_seq + 1,
        )
        .returning(row.learner, row.job, row.claim_number, row.last_seq, row.request)
    )
    found = connection.execute(statement).one_or_none()
    if found is None:
        return None
    body = json.dumps({"claim_number": found.claim_number, "worker": worker})
    connection.execute(
        insert(events).values(submission=submission, seq=found.last_seq, kind=EventKind.STARTED, body=body, at=now)
    )
    job = read_job_to_run(submission, found.job)
    return Claim(submission, LearnerId(found.learner), job, found.claim_number, found.request or "")


def beat(connection: Connection, claim: Claim, policy: Policy) -> bool:
    """Extend the lease. False if the claim is lost or cancelled: the caller must kill the run."""
    done = connection.execute(update(submissions).where(holds(claim)).values(lease_until=end_of_lease(policy)))
    return done.rowcount == 1


def add_events(connection: Connection, claim: Claim, progress: Sequence[Progress]) -> bool:
    """Append to the submission's events. False if the claim is lost; then nothing is added."""
    row = submissions.c
    statement = (
        update(submissions).where(holds(claim)).values(last_seq=row.last_seq + len(progress)).returning(row.last_seq)
    )
    found = connection.execute(statement).one_or_none()
    if found is None:
        return False
    first = found.last_seq - len(progress) + 1
    connection.execute(
        insert(events).values(at=now_seconds()),
        [
            {"submission": claim.id, "seq": first + index, "kind": kind, "body": body}
            for index, (kind, body) in enumerate(progress)
        ],
    )
    return True


def finish(connection: Connection, claim: Claim, result: Verdict | RunEnd, progress: Sequence[Progress]) -> bool:
    """Store the last events, the result and its event. False if the claim is lost; then nothing is stored."""
    if progress and not add_events(connection, claim, progress):
        return False
    return write_end(connection, claim.id, holds(claim), result)


def release(connection: Connection, claim: Claim) -> Queue | None:
    """Queue it again, without counting a lost worker. Returns its queue, or None if the claim is lost."""
    statement = (
        update(submissions)
        .where(holds(claim))
        .values(state=State.QUEUED, lease_until=None, worker=None)
        .returning(*TICKET_COLUMNS)
    )
    found = connection.execute(statement).one_or_none()
    if found is None:
        return None
    write_ticket_again(connection, found)
    return Queue(found.queue)


def find_lost(connection: Connection, claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Those of the claims that are no longer held."""
    row = submissions.c
    query = select(row.id, row.claim_number).where(
        row.id.in_([claim.id for claim in claims]), row.state == State.RUNNING
    )
    held = {(found.id, found.claim_number) for found in connection.execute(query)}
    return tuple(claim for claim in claims if (claim.id, claim.claim_number) not in held)
