"""The queries that only read: submissions, histories, events and the depth of a queue."""

from collections.abc import Collection, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, Select, case, func, select

from graders.contract.events import Event, EventKind
from graders.contract.jobs import Queue
from graders.contract.model import ExerciseName, LearnerId, SubmissionId
from graders.contract.results import Outcome
from graders.ledger.records import Depth, FinishedSubmission, GradedSubmission, State, Submission
from graders.ledger.stored import read_job, read_result
from graders.ledger.tables import events, finished, is_graded, submissions, unfinished


def find(connection: Connection, submission: SubmissionId) -> Submission | None:
    row = connection.execute(select(submissions).where(submissions.c.id == submission)).one_or_none()
    return None if row is None else _submission(row)


def read_history(
    connection: Connection, learner: LearnerId, exercise: ExerciseName, at_most: int
) -> tuple[Submission, ...]:
    """Newest first."""
    query = (
        select(submissions)
        .where(submissions.c.learner == learner, submissions.c.exercise == exercise, is_graded)
        .order_by(submissions.c.number.desc())
        .limit(at_most)
    )
    return tuple(_submission(row) for row in connection.execute(query))


def read_everything(connection: Connection, learner: LearnerId) -> tuple[Submission, ...]:
    """All that is kept of a learner's submissions, oldest first, with runs of cells and public checks."""
    query = select(submissions).where(submissions.c.learner == learner).order_by(submissions.c.number)
    return tuple(_submission(row) for row in connection.execute(query))


def read_finished(connection: Connection, learner: LearnerId) -> tuple[FinishedSubmission, ...]:
    """All finished answers of a learner, oldest first, without runs of cells and public checks."""
    row = submissions.c
    query = (
        select(row.id, row.exercise, row.outcome, row.finished_at)
        .where(row.learner == learner, is_graded, finished)
        .order_by(row.number)
    )
    return tuple(
        FinishedSubmission(SubmissionId(found.id), found.exercise, found.outcome, read_moment(found.finished_at))
        for found in connection.execute(query)
    )


NO_ATTEMPT = tuple(outcome for outcome in Outcome if not outcome.costs_an_attempt)


def read_graded(
    connection: Connection, exercises: Collection[str], learners: Select[tuple[str]]
) -> Iterator[GradedSubmission]:
    """The finished attempts of the learners that a query names, in the order in which they were handed in.

    What failed by our fault, and what its learner stopped or replaced, is no attempt.
    """
    row = submissions.c
    columns = (row.id, row.learner, row.exercise, row.submitted_at, row.outcome, row.cases_passed, row.cases_total)
    query = (
        select(*columns)
        .where(row.exercise.in_(exercises), row.learner.in_(learners), is_graded, finished)
        .where(row.outcome.not_in(NO_ATTEMPT))
        .order_by(row.number)
    )
    return map(GradedSubmission._make, connection.execute(query))


def count_who_tried(
    connection: Connection, exercises: Collection[str], learners: Select[tuple[str]]
) -> dict[str, int]:
    """By exercise, how many of the learners that a query names have a finished attempt."""
    row = submissions.c
    query = (
        select(row.exercise, func.count(row.learner.distinct()))
        .where(row.exercise.in_(exercises), row.learner.in_(learners), is_graded, finished)
        .where(row.outcome.not_in(NO_ATTEMPT))
        .group_by(row.exercise)
    )
    return {exercise: number for exercise, number in connection.execute(query)}


def read_events(connection: Connection, submission: SubmissionId, after_seq: int) -> tuple[Event, ...]:
    """The events after `after_seq`, in order. The body of the `finished` event is the result as JSON."""
    body = case((events.c.kind == EventKind.FINISHED, submissions.c.result), else_=events.c.body).label("body")
    query = (
        select(events.c.seq, events.c.kind, body)
        .join(submissions, submissions.c.id == events.c.submission)
        .where(events.c.submission == submission, events.c.seq > after_seq)
        .order_by(events.c.seq)
    )
    return tuple(Event(seq=row.seq, kind=EventKind(row.kind), body=row.body) for row in connection.execute(query))


def has_ended(connection: Connection, submission: SubmissionId) -> bool:
    """Whether no more events will come: the submission is finished or forgotten."""
    going = select(submissions.c.id).where(submissions.c.id == submission, unfinished)
    return connection.execute(going).one_or_none() is None


def read_last_seqs(connection: Connection, wanted: Iterable[SubmissionId]) -> dict[SubmissionId, int]:
    """The number of each submission's newest event; forgotten submissions are left out."""
    query = select(submissions.c.id, submissions.c.last_seq).where(submissions.c.id.in_(list(wanted)))
    return {SubmissionId(row.id): row.last_seq for row in connection.execute(query)}


def read_depth(connection: Connection, queue: Queue) -> Depth:
    row = submissions.c
    query = select(row.state, func.count().label("count")).where(row.queue == queue, unfinished).group_by(row.state)
    counts = {found.state: found.count for found in connection.execute(query).mappings()}
    return Depth(queued=counts.get(State.QUEUED, 0), running=counts.get(State.RUNNING, 0))


def _submission(row: Row[Any]) -> Submission:
    return Submission(
        id=SubmissionId(row.id),
        learner=LearnerId(row.learner),
        job=read_job(row.job),
        state=State(row.state),
        claim_number=row.claim_number,
        submitted_at=read_moment(row.submitted_at),
        started_at=None if row.started_at is None else read_moment(row.started_at),
        finished_at=None if row.finished_at is None else read_moment(row.finished_at),
        result=None if row.result is None else read_result(row.result),
    )


def read_moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
