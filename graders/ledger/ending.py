"""Ends that no worker brings: superseded, cancelled, or given up after its workers died. Row and event at once."""

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select, update

from graders.contract.events import EventKind
from graders.contract.jobs import JOB, GradeJob, RunJob
from graders.contract.model import LearnerId, SubmissionId
from graders.contract.results import Finding, Outcome, RunEnd, Verdict
from graders.ledger.clock import now_seconds
from graders.ledger.records import State
from graders.ledger.tables import events, submissions, unfinished

FINDINGS = {
    Outcome.CANCELLED: Finding(code="cancelled", short="You stopped this run."),
    Outcome.SUPERSEDED: Finding(code="superseded", short="A newer submission took this one's place."),
    Outcome.GRADER_FAULT: Finding(
        code="grader-fault",
        short="The grader failed while it ran this. This is our fault, and counts as no attempt.",
        long="Try again; the operator finds the reason in the grader's log.",
    ),
}


def make_end(job: GradeJob | RunJob, outcome: Outcome) -> Verdict | RunEnd:
    """The result of a job that nobody judged, in words."""
    finding = FINDINGS[outcome]
    if isinstance(job, GradeJob):
        return Verdict(outcome=outcome, exercise=job.exercise, finding=finding, public_only=job.public_only)
    return RunEnd(outcome=outcome, finding=finding)


def end_unclaimed(connection: Connection, submission: SubmissionId, outcome: Outcome) -> bool:
    """Finish an unfinished submission from outside. Its worker, if it has one, finds its claim gone."""
    row = submissions.c
    job = connection.execute(select(row.job).where(row.id == submission)).scalar_one()
    result = make_end(JOB.validate_json(job), outcome)
    return write_end(connection, submission, unfinished, result)


def cancel(connection: Connection, submission: SubmissionId, learner: LearnerId) -> bool:
    """End what this learner withdraws. False: there is nothing of theirs that could still be stopped."""
    row = submissions.c
    mine = select(row.number).where(row.id == submission, row.learner == learner, unfinished)
    return connection.execute(mine).one_or_none() is not None and end_unclaimed(
        connection, submission, Outcome.CANCELLED
    )


def forget(connection: Connection, learner: LearnerId) -> None:
    """Their events go with them."""
    connection.execute(delete(submissions).where(submissions.c.learner == learner))


def write_end(
    connection: Connection, submission: SubmissionId, condition: ColumnElement[bool], result: Verdict | RunEnd
) -> bool:
    """The result and its event, where `condition` still holds: the one place where a submission becomes finished."""
    row = submissions.c
    now = now_seconds()
    statement = (
        update(submissions)
        .where(row.id == submission, condition)
        .values(
            state=State.FINISHED,
            outcome=result.outcome,
            result=result.model_dump_json(),
            finished_at=now,
            lease_until=None,
            last_seq=row.last_seq + 1,
        )
        .returning(row.last_seq)
    )
    found: Row[tuple[int]] | None = connection.execute(statement).one_or_none()
    if found is None:
        return False
    connection.execute(
        insert(events).values(submission=submission, seq=found.last_seq, kind=EventKind.FINISHED, body="", at=now)
    )
    return True
