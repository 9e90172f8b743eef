"""What a worker says of itself: shown at start, in /readyz, and beside the evidence of a claim."""

from typing import Literal

from graders.contract.jobs import Flavour, Queue
from graders.contract.model import ExerciseName, Message


class WorkerHello(Message):
    """One worker: how it confines, what it runs on. `python` and `torch` are version strings.

    `exercises` has the digest of each exercise that it can judge; None: it judges any version, and does not compare.
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
