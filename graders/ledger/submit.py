"""Accepting a submission: one transaction, from the check of the idempotency key to the row in the queue."""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, false, func, insert, select, true

from graders.contract.events import EventKind
from graders.contract.jobs import GradeJob, Queue, RunJob
from graders.contract.model import LearnerId, SubmissionId
from graders.contract.results import Outcome
from graders.ledger.card_quota import refuse_spent_quota
from graders.ledger.clock import now_seconds
from graders.ledger.errors import AddressBusy, QueueFull, TooManyPending
from graders.ledger.fairness import (
    Ahead,
    Pace,
    Rank,
    Reputation,
    count_ahead,
    estimate_seconds,
    estimate_wait,
    rank,
)
from graders.ledger.finish import end_unclaimed
from graders.ledger.locks import take_lock
from graders.ledger.records import Accepted, Kind, Origin, Policy, QueuePosition, State
from graders.ledger.reputation import read_reputation
from graders.ledger.tables import events, is_graded, is_idle, queued, submissions, unfinished
from graders.ledger.tickets import Ticket, write_tickets


@dataclass(frozen=True)
class SubmitRequest:
    learner: LearnerId
    idempotency_key: str
    job: GradeJob | RunJob
    queue: Queue
    origin: Origin
    background: Kind | None = None
    """Set for a job that nobody waits for: `IDLE` or `REGRADE`."""

    @property
    def exercise(self) -> str | None:
        return self.job.exercise if isinstance(self.job, GradeJob) else None

    @property
    def kind(self) -> Kind:
        if self.background is not None:
            return self.background
        if isinstance(self.job, RunJob):
            return Kind.RUN
        return Kind.CHECK if self.job.public_only else Kind.GRADE

    @property
    def digest(self) -> str | None:
        return self.job.exercise_digest if isinstance(self.job, GradeJob) else None


@dataclass(frozen=True)
class QueuedJob:
    """A job with its place, as it goes into the queue."""

    request: SubmitRequest
    accepted: Accepted
    ranked: Rank

    def row(self) -> dict[str, Any]:
        request = self.request
        return {
            "id": self.accepted.id,
            "learner": request.learner,
            "idempotency_key": request.idempotency_key,
            "kind": request.kind,
            "exercise": request.exercise,
            "exercise_digest": request.digest,
            "queue": request.queue,
            "priority": self.ranked.priority,
            "proven": self.ranked.proven,
            "address_key": request.origin.address_key,
            "request": request.origin.request or None,
            "job": request.job.model_dump_json(),
            "state": State.QUEUED,
            "claim_number": 0,
            "lost_workers": 0,
            "last_seq": 1,
        }

    def ticket(self) -> Ticket:
        request = self.request
        return Ticket(
            self.accepted.id,
            request.queue,
            self.ranked.proven,
            self.ranked.priority,
            request.exercise,
            request.digest,
        )

    def event(self) -> dict[str, Any]:
        accepted = self.accepted
        body = json.dumps({"ahead": accepted.ahead, "estimate_seconds": accepted.estimate_seconds})
        return {"submission": accepted.id, "seq": 1, "body": body}


@dataclass(frozen=True)
class QueueState:
    """What the decision needs: the submission with the same key, the one to supersede, and the reputation."""

    known: str | None
    superseded: str | None
    reputation: Reputation


@dataclass(frozen=True)
class Submitted:
    """The answer to a request, and whether it superseded a queued submission."""

    accepted: Accepted
    superseded: bool = False


def submit(connection: Connection, request: SubmitRequest, pace: Pace, policy: Policy) -> Submitted:
    """Insert the submission, or find the one that an earlier request with the same key inserted.

    Raises TooManyPending, AddressBusy, CardQuotaSpent or QueueFull, and then nothing is changed. Guards itself: what
    it counts, the learner's and their address's jobs, only another submission of theirs can make more.
    """
    _lock_out_others(connection, request)
    before = read_queue_state(connection, request)
    if before.known is not None:
        known = SubmissionId(before.known)
        return Submitted(
            _accept(known, find_position(connection, known, pace) or QueuePosition(0, 0.0), already=True)
        )
    if before.reputation.learner.pending >= policy.pending_cap:
        raise TooManyPending(before.reputation.learner.pending, policy.pending_cap)
    if before.reputation.address.pending >= policy.address_pending_cap:
        raise AddressBusy(policy.address_pending_cap)
    if request.queue is Queue.GPU and request.background is None:
        refuse_spent_quota(connection, request.learner, policy)
    ranked = rank(request.kind, before.reputation)
    ahead = _read_ahead(connection, request.queue, ranked.priority, besides=before.superseded)
    limit_seconds = policy.idle_wait_limit_seconds if request.kind is Kind.IDLE else policy.wait_limit_seconds
    _refuse_long_wait(ahead, ranked, pace, limit_seconds)
    if before.superseded is not None:
        end_unclaimed(connection, SubmissionId(before.superseded), Outcome.SUPERSEDED)
    accepted = _accept(SubmissionId(secrets.token_hex(16)), _measure(ahead, ranked, pace))
    insert_queued(connection, [QueuedJob(request, accepted, ranked)])
    return Submitted(accepted, superseded=before.superseded is not None)


def _lock_out_others(connection: Connection, request: SubmitRequest) -> None:
    """Submissions of one learner, and those of one address, come one after the other."""
    take_lock(connection, f"submit learner {request.learner}")
    if request.origin.address_key is not None:
        take_lock(connection, f"submit address {request.origin.address_key}")


def read_queue_state(connection: Connection, request: SubmitRequest) -> QueueState:
    """Locks the submission to be superseded, so that no worker claims it meanwhile."""
    row = submissions.c
    mine = row.learner == request.learner
    known = select(row.id).where(mine, row.idempotency_key == request.idempotency_key)
    same = select(row.id).where(mine, unfinished, queued, _find_same(request)).limit(1).with_for_update()
    superseded = connection.execute(same).scalar_one_or_none()
    reputation = read_reputation(connection, request.learner, request.origin, besides=superseded)
    return QueueState(connection.execute(known).scalar_one_or_none(), superseded, reputation)


def _find_same(request: SubmitRequest) -> ColumnElement[bool]:
    """The queued submissions that this one supersedes: of answers that count, and of idle runs. Others stay."""
    match request.kind:
        case Kind.GRADE:
            return is_graded & (submissions.c.exercise == request.exercise)
        case Kind.IDLE:
            return is_idle
    return false()


def _refuse_long_wait(ahead: Ahead, ranked: Rank, pace: Pace, limit_seconds: float) -> None:
    wait_seconds = estimate_wait(ahead, pace, proven=ranked.proven)
    if wait_seconds > limit_seconds:
        before = count_ahead(ahead, proven=ranked.proven)
        raise QueueFull(before, max(1, round(wait_seconds - limit_seconds)))


def find_position(connection: Connection, submission: SubmissionId, pace: Pace) -> QueuePosition | None:
    """Its place in the queue; None if it is running, finished or unknown."""
    row = submissions.c
    query = select(row.queue, row.priority, row.proven, row.number).where(row.id == submission, queued)
    found = connection.execute(query).one_or_none()
    if found is None:
        return None
    ahead = _read_ahead(connection, Queue(found.queue), found.priority, before=found.number)
    return _measure(ahead, Rank(found.priority, found.proven), pace)


def _measure(ahead: Ahead, ranked: Rank, pace: Pace) -> QueuePosition:
    estimate = estimate_seconds(ahead, pace, proven=ranked.proven)
    return QueuePosition(count_ahead(ahead, proven=ranked.proven), estimate, pace.is_served)


def _accept(submission: SubmissionId, position: QueuePosition, *, already: bool = False) -> Accepted:
    return Accepted(submission, position.ahead, position.estimate_seconds, already, position.is_served)


def _read_ahead(
    connection: Connection, queue: Queue, priority: int, before: int | None = None, besides: str | None = None
) -> Ahead:
    """Count what is queued before a job. Equal priorities count if their number is below `before`, or it is None.

    `besides` is a submission that is about to be superseded, so it is not counted.
    """
    row = submissions.c
    among_equals = true() if before is None else row.number < before
    earlier = (row.priority > priority) | ((row.priority == priority) & among_equals)
    counted = earlier & (row.id != (besides or ""))
    query = select(row.proven, func.count().label("count")).where(row.queue == queue, queued, counted)
    counts = {found.proven: found.count for found in connection.execute(query.group_by(row.proven)).mappings()}
    return Ahead(proven=counts.get(True, 0), unproven=counts.get(False, 0))


def insert_queued(connection: Connection, queued_jobs: Sequence[QueuedJob]) -> None:
    """Put jobs into the queue, each with its first event and, on PostgreSQL, its ticket."""
    if not queued_jobs:
        return
    connection.execute(insert(submissions).values(submitted_at=now_seconds()), [job.row() for job in queued_jobs])
    connection.execute(
        insert(events).values(at=now_seconds()), [job.event() | {"kind": EventKind.QUEUED} for job in queued_jobs]
    )
    write_tickets(connection, [job.ticket() for job in queued_jobs])
