"""Names, jobs and a claim that several tests of the ledger use."""

from collections.abc import Callable

from graders.contract.hello import WorkerHello
from graders.contract.jobs import Flavour, GradeJob, Queue, RunJob
from graders.contract.model import ExerciseName, LearnerId, SubmissionId
from graders.ledger import Claim, Ledger, Policy

OpenLedger = Callable[[Policy], Ledger]

ANN = LearnerId("ann")
BOB = LearnerId("bob")


def grade(exercise: str = "double", source: str = "answer = 2", digest: str = "") -> GradeJob:
    return GradeJob(exercise=ExerciseName(exercise), source=source, exercise_digest=digest)


def cell(source: str = "print(1)") -> RunJob:
    return RunJob(source=source)


def hello(name: str = "w1", exercises: dict[ExerciseName, str] | None = None) -> WorkerHello:
    return WorkerHello(
        worker=name,
        queue=Queue.CPU,
        slots=2,
        flavours=(Flavour.PLAIN,),
        profile="P2",
        memory_cgroup=False,
        python="3.11",
        torch="none",
        device="cpu",
        self_test_passed=40,
        self_test_total=40,
        exercises=exercises,
    )


async def claim_now(ledger: Ledger, submission: SubmissionId, worker: str = "w1") -> Claim:
    claim = await ledger.claim(submission, worker)
    assert claim is not None
    return claim
