"""How a submission ends, its row and event together; also the ends without a worker, such as `cancelled`."""

import secrets

from sqlalchemy import ColumnElement, Connection, Row, delete, func, insert, select, update

from graders.contract.events import EventKind
from graders.contract.jobs import GradeJob
from graders.contract.model import LearnerId, SubmissionId
from graders.contract.outcome_sentences import make_end
from graders.contract.results import Finding, Outcome, RunEnd, Verdict
from graders.ledger.clock import now_seconds
from graders.ledger.records import State
from graders.ledger.stored import read_job
from graders.ledger.tables import events, finished, is_graded, submissions, unfinished


def end_unclaimed(
    connection: Connection, submission: SubmissionId, outcome: Outcome, finding: Finding | None = None
) -> bool:
    """Finish an unfinished submission without its worker, which, if there is one, loses its claim."""
    row = submissions.c
    job = connection.execute(select(row.job).where(row.id == submission)).scalar_one()
    result = make_end(read_job(job), outcome, finding)
    return write_end(connection, submission, unfinished, result)


def cancel(connection: Connection, submission: SubmissionId, learner: LearnerId) -> bool:
    """End a submission as `cancelled`. False if it is not this learner's, or is already finished."""
    row = submissions.c
    mine = select(row.number).where(row.id == submission, row.learner == learner, unfinished)
    return connection.execute(mine).one_or_none() is not None and end_unclaimed(
        connection, submission, Outcome.CANCELLED
    )


def forget(connection: Connection, learner: LearnerId) -> None:
    """Delete all of this learner's submissions, and with them their events."""
    connection.execute(delete(submissions).where(submissions.c.learner == learner))


def copy_outcomes(connection: Connection, old: LearnerId, new: LearnerId) -> None:
    """Give `new` what became of `old`'s graded submissions, under new ids: no code, no diagnosis, no result."""
    row = submissions.c
    found = connection.execute(
        select(submissions).where(row.learner == old, is_graded, finished).order_by(row.number)
    )
    for one in found.mappings().all():
        job = read_job(one["job"])
        assert isinstance(job, GradeJob)
        bare = job.model_copy(update={"source": "", "diagnosed": None}).model_dump_json()
        ids = {"id": secrets.token_hex(16), "idempotency_key": secrets.token_hex(16), "learner": new}
        gone = {"result": None, "worker": None, "address_key": None, "last_seq": 0}
        kept = {name: value for name, value in one.items() if name != "number"}
        connection.execute(insert(submissions).values(**{**kept, **ids, **gone, "job": bare}))


def count_graded(connection: Connection, learner: LearnerId) -> int:
    """How many submissions this learner has, without runs of cells and public checks."""
    query = select(func.count()).select_from(submissions).where(submissions.c.learner == learner, is_graded)
    count: int = connection.execute(query).scalar_one()
    return count


def give_submissions(connection: Connection, old: LearnerId, new: LearnerId) -> int:
    """Make `old`'s submissions those of `new`. One whose key both used stays; returns how many graded ones did."""
    theirs = submissions.alias()
    taken = select(theirs.c.idempotency_key).where(theirs.c.learner == new)
    mine = (submissions.c.learner == old) & submissions.c.idempotency_key.not_in(taken)
    connection.execute(update(submissions).where(mine).values(learner=new))
    return count_graded(connection, old)


def write_end(
    connection: Connection, submission: SubmissionId, condition: ColumnElement[bool], result: Verdict | RunEnd
) -> bool:
    """Write the result and its event; False if `condition` is no longer true. Every submission is finished here."""
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


def _score(result: Verdict | RunEnd) -> dict[str, float | None]:
    """The columns that repeat the verdict's score, so that a query need not read the result."""
    if isinstance(result, RunEnd):
        return {}
    counts = {"cases_passed": result.cases_passed, "cases_total": result.cases_total}
    return {**counts, "credit": result.credit, "held_share": result.held_share}
