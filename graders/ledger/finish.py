"""How a submission ends, row and event at once; and the ends that no worker brings, such as cancelled."""

from sqlalchemy import ColumnElement, Connection, Row, delete, insert, select, update

from graders.contract.events import EventKind
from graders.contract.jobs import JOB
from graders.contract.model import LearnerId, SubmissionId
from graders.contract.outcomes import make_end
from graders.contract.results import Finding, Outcome, RunEnd, Verdict
from graders.ledger.clock import now_seconds
from graders.ledger.records import State
from graders.ledger.tables import events, submissions, unfinished


def end_unclaimed(
    connection: Connection, submission: SubmissionId, outcome: Outcome, finding: Finding | None = None
) -> bool:
    """Finish an unfinished submission from outside. Its worker, if it has one, finds its claim gone."""
    row = submissions.c
    job = connection.execute(select(row.job).where(row.id == submission)).scalar_one()
    result = make_end(JOB.validate_json(job), outcome, finding)
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
            **_score(result),
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


def _score(result: Verdict | RunEnd) -> dict[str, float]:
    """Columns of the row that say what the verdict says, so that a query need not read it."""
    if isinstance(result, RunEnd):
        return {}
    return {"cases_passed": result.cases_passed, "cases_total": result.cases_total, "credit": result.credit}
