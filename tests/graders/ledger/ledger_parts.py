"""Names, jobs and a claim that several tests of the ledger use."""

from collections.abc import Callable

from graders.contract.jobs import GradeJob, RunJob
from graders.contract.model import ExerciseName, LearnerId, SubmissionId
from graders.ledger import Claim, Ledger, Policy

OpenLedger = Callable[[Policy], Ledger]

ANN = LearnerId("ann")
BOB = LearnerId("bob")


def grade(exercise: str = "double", source: str = "answer = 2") -> GradeJob:
    return GradeJob(exercise=ExerciseName(exercise), source=source)


def cell(source: str = "print(1)") -> RunJob:
    return RunJob(source=source)


async def claim_now(ledger: Ledger, submission: SubmissionId, worker: str = "w1") -> Claim:
    claim = await ledger.claim(submission, worker)
    assert claim is not None
    return claim
