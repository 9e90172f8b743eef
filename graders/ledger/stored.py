"""Reads messages from the database. During an upgrade, another version of this program may have written them.

To show a message or to end a job, a field that this version does not know is left out. A job that is to be run is
read strictly: the unknown field may change what it asks for.
"""

from pydantic import ValidationError

from graders.contract.hello import WorkerHello
from graders.contract.jobs import JOB, GradeJob, RunJob
from graders.contract.model import SubmissionId
from graders.contract.results import RESULT, RunEnd, Verdict
from graders.ledger.errors import UnreadableJob


def read_job(text: str) -> GradeJob | RunJob:
    return JOB.validate_json(text, extra="ignore")


def read_job_to_run(submission: SubmissionId, text: str) -> GradeJob | RunJob:
    """Raises UnreadableJob if another version wrote it and this one does not understand all of it."""
    try:
        return JOB.validate_json(text)
    except ValidationError as error:
        fields = sorted({str(one["loc"][-1]) for one in error.errors()})
        raise UnreadableJob(submission, tuple(fields)) from error


def read_result(text: str) -> Verdict | RunEnd:
    return RESULT.validate_json(text, extra="ignore")


def read_hello(text: str) -> WorkerHello:
    return WorkerHello.model_validate_json(text, extra="ignore")
