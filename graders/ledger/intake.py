"""Taking a submission in: one transaction from the token's check to the dispatch."""

import json
import secrets
from dataclasses import dataclass

from sqlalchemy import Connection, func, insert, select

from graders.contract.events import EventKind
from graders.contract.jobs import GradeJob, Queue, RunJob
from graders.contract.model import LearnerId, SubmissionId
from graders.contract.results import Outcome
from graders.ledger.clock import now_seconds
from graders.ledger.dispatch import Dispatcher, Ticket
from graders.ledger.ending import end_unclaimed
from graders.ledger.errors import QueueFull, TooManyPending
from graders.ledger.records import Accepted, Policy, State
from graders.ledger.tables import events, queued, submissions, unfinished

FAIRNESS_LIMIT = 999
RUN = RunJob.model_fields["kind"].default


@dataclass(frozen=True)
class Pace:
    """How fast a queue moves: the mean of recent runs, and how many run at a time."""

    mean_seconds: float
    slots: int

    def estimate_seconds(self, place: int) -> float:
        return round(place * self.mean_seconds / max(self.slots, 1), 2)


@dataclass(frozen=True)
class Request:
    learner: LearnerId
    token: str
    job: GradeJob | RunJob
    queue: Queue
    level: int

    @property
    def exercise(self) -> str | None:
        """Whose history this enters. A look at the public checks enters none, like a cell: it is no attempt."""
        return None if self.kind == RUN else self.job.exercise if isinstance(self.job, GradeJob) else None

    @property
    def kind(self) -> str:
        look = isinstance(self.job, GradeJob) and self.job.public_only
        return RUN if look else self.job.kind


@dataclass(frozen=True)
class Situation:
    """What stands in the ledger when a request comes: all that the decision needs, in one query."""

    known: str | None
    superseded: str | None
    pending: int
    depth: int


@dataclass(frozen=True)
class Intake:
    """What came of a request."""

    accepted: Accepted
    superseded: bool = False


def take_in(connection: Connection, request: Request, pace: Pace, policy: Policy, dispatcher: Dispatcher) -> Intake:
    """Insert and dispatch the submission, or find the one that the same token made before.

    Raises TooManyPending or QueueFull, and then nothing is changed.
    """
    situation = read_situation(connection, request)
    if situation.known is not None:
        place = count_place(connection, SubmissionId(situation.known))
        return Intake(Accepted(SubmissionId(situation.known), place, pace.estimate_seconds(place), already=True))
    _refuse_excess(situation, pace, policy)
    if situation.superseded is not None:
        end_unclaimed(connection, SubmissionId(situation.superseded), Outcome.SUPERSEDED)
    pending = situation.pending - (situation.superseded is not None)
    # One learner with two hundred waiting jobs stands behind everyone who has few.
    priority = request.level - min(pending, FAIRNESS_LIMIT)
    place = 1 + _count_ahead(connection, request.queue, priority)
    accepted = Accepted(SubmissionId(secrets.token_hex(16)), place, pace.estimate_seconds(place))
    _insert(connection, request, accepted, priority)
    dispatcher.enqueue(connection, Ticket(accepted.id, request.queue, priority))
    return Intake(accepted, superseded=situation.superseded is not None)


def read_situation(connection: Connection, request: Request) -> Situation:
    row = submissions.c
    mine = row.learner == request.learner
    known = select(row.id).where(mine, row.token == request.token)
    # Cells and looks have no exercise; comparing with None would mean IS NULL: each would supersede the last.
    superseded = select(row.id).where(mine, unfinished, queued, row.exercise == (request.exercise or ""))
    pending = select(func.count()).where(mine, unfinished)
    depth = select(func.count()).where(row.queue == request.queue, queued)
    query = select(
        known.limit(1).scalar_subquery().label("known"),
        superseded.limit(1).scalar_subquery().label("superseded"),
        pending.scalar_subquery().label("pending"),
        depth.scalar_subquery().label("depth"),
    )
    found = connection.execute(query).one()
    return Situation(found.known, found.superseded, found.pending, found.depth)


def _refuse_excess(situation: Situation, pace: Pace, policy: Policy) -> None:
    pending = situation.pending - (situation.superseded is not None)
    if pending >= policy.pending_cap:
        raise TooManyPending(pending, policy.pending_cap)
    wait_seconds = pace.estimate_seconds(situation.depth)
    if wait_seconds > policy.wait_limit_seconds:
        raise QueueFull(situation.depth, max(1, round(wait_seconds - policy.wait_limit_seconds)))


def count_place(connection: Connection, submission: SubmissionId) -> int:
    """1 is the next to run; 0 is running, finished or unknown."""
    row = submissions.c
    query = select(row.queue, row.priority, row.number).where(row.id == submission, queued)
    found = connection.execute(query).one_or_none()
    if found is None:
        return 0
    return 1 + _count_ahead(connection, Queue(found.queue), found.priority, before=found.number)


def _count_ahead(connection: Connection, queue: Queue, priority: int, before: int = 2**62) -> int:
    row = submissions.c
    earlier = (row.priority > priority) | ((row.priority == priority) & (row.number < before))
    query = select(func.count()).where(row.queue == queue, queued, earlier)
    return connection.execute(query).scalar_one()


def _insert(connection: Connection, request: Request, accepted: Accepted, priority: int) -> None:
    connection.execute(
        insert(submissions).values(
            id=accepted.id,
            learner=request.learner,
            token=request.token,
            kind=request.kind,
            exercise=request.exercise,
            queue=request.queue,
            priority=priority,
            job=request.job.model_dump_json(),
            state=State.QUEUED,
            attempt=0,
            deaths=0,
            last_seq=1,
            submitted_at=now_seconds(),
        )
    )
    body = json.dumps({"place": accepted.place, "estimate_seconds": accepted.estimate_seconds})
    connection.execute(
        insert(events).values(submission=accepted.id, seq=1, kind=EventKind.QUEUED, body=body, at=now_seconds())
    )
