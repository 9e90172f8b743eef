"""What a worker reports about itself: shown at its start, in /readyz, and with the evidence of a claim."""

from typing import Literal

from pydantic import Field

from graders.contract.jobs import Flavour, Queue
from graders.contract.model import ExerciseName, Message, SubmissionId

MAX_REFUSED = 100


def name_worker(host: str, pid: int) -> str:
    """A worker's name in the ledger. In a container, a process often has the same one as its predecessor."""
    return f"{host}-{pid}"


class WorkerHello(Message):
    """One worker: how it confines code and what it runs on. `python` and `torch` are version strings.

    `exercises` has the digest of each exercise that it can judge; None means that it judges any version.
    """

    worker: str
    queue: Queue
    slots: int
    flavours: tuple[Flavour, ...]
    profile: Literal["P1", "P2", "P3"]
    memory_cgroup: bool
    python: str
    torch: str
    device: str
    self_test_passed: int
    self_test_total: int
    exercises: dict[ExerciseName, str] | None = None
    earlier_exercises: dict[ExerciseName, tuple[str, ...]] = Field(default_factory=dict)
    """The digests that it can judge beside those, because earlier versions of the course are kept."""
    version: str = ""
    """The version of Unwind; empty for a grader from before it was told."""
    code: str = ""
    """The digest of its code: two checkouts of one version have different ones."""
    refused: tuple[SubmissionId, ...] = ()
    """The last MAX_REFUSED submissions that it left to newer graders: it does not know all of their fields."""

    def can_judge(self, exercise: ExerciseName, digest: str) -> bool:
        if self.exercises is None or self.exercises.get(exercise) == digest:
            return True
        return digest in self.earlier_exercises.get(exercise, ())
