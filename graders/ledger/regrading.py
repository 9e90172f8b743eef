"""Judging submissions once more, because their exercise was wrong: jobs of a kind of their own, beside the answers.

A submission keeps its result. Its regrade is another row of the same learner, so it goes with their data. The caller
makes regrades within its own transaction, and wakes the queues when that is committed.
"""

import secrets
from collections.abc import Collection, Iterator
from typing import Any

from sqlalchemy import Connection, Row, delete, select

from graders.contract.jobs import JOB, GradeJob, Queue
from graders.contract.model import LearnerId, SubmissionId
from graders.ledger.fairness import Reputation, rank
from graders.ledger.records import Accepted, Kind, Origin
from graders.ledger.submit import QueuedJob, SubmitRequest, insert_queued
from graders.ledger.tables import is_graded, is_regrade, submissions

MARK = "regrade:"
"""Begins the idempotency key of a regrade. A browser's keys have no colon, so none is taken for one."""
AT_ONCE = 500
"""How many ids one statement names."""


def judge_again(
    connection: Connection, answers: Collection[SubmissionId], digest: str
) -> dict[SubmissionId, SubmissionId]:
    """Queue answers once more, for a worker that has their exercise with this digest; returns each one's new job."""
    row = submissions.c
    jobs = {}
    for some in _split(sorted(answers)):
        query = select(row.id, row.learner, row.queue, row.job).where(row.id.in_(some), is_graded)
        made = {SubmissionId(found.id): _make_job(found, digest) for found in connection.execute(query)}
        insert_queued(connection, list(made.values()))
        jobs.update({submission: job.accepted.id for submission, job in made.items()})
    return jobs


def _make_job(found: Row[*tuple[Any, ...]], digest: str) -> QueuedJob:
    job = JOB.validate_json(found.job)
    assert isinstance(job, GradeJob)
    again = SubmissionId(secrets.token_hex(16))
    request = SubmitRequest(
        learner=LearnerId(found.learner),
        idempotency_key=f"{MARK}{again}",
        job=job.model_copy(update={"exercise_digest": digest}),
        queue=Queue(found.queue),
        origin=Origin(),
        background=Kind.REGRADE,
    )
    return QueuedJob(request, Accepted(again, 0, 0.0), rank(Kind.REGRADE, Reputation()))


def end_regrades(connection: Connection, jobs: Collection[SubmissionId]) -> None:
    """Delete regrades whose results are stored elsewhere or no longer wanted; a worker that runs one loses it."""
    for some in _split(sorted(jobs)):
        connection.execute(delete(submissions).where(submissions.c.id.in_(some), is_regrade))


def _split(ids: list[SubmissionId]) -> Iterator[list[SubmissionId]]:
    for start in range(0, len(ids), AT_ONCE):
        yield ids[start : start + AT_ONCE]
