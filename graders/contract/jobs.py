"""What a worker is asked to do: grade a submission, or run a cell."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from graders.contract.limits import CELL_LIMITS, MAX_SOURCE_BYTES, Limits
from graders.contract.model import ExerciseName, Message

Source = Annotated[str, Field(max_length=MAX_SOURCE_BYTES)]


class Flavour(StrEnum):
    """Which zygote runs the code: one whose root has no torch at all, or one that has imported torch."""

    PLAIN = "plain"
    TORCH = "torch"


class Queue(StrEnum):
    CPU = "cpu"
    GPU = "gpu"


class Device(StrEnum):
    """What an exercise or a cell runs on. `either` takes a card where there is one, and the processor elsewhere."""

    CPU = "cpu"
    GPU = "gpu"
    EITHER = "either"

    def choose_queue(self, *, has_card: bool) -> Queue:
        """The queue of such a job. `has_card`: whether a grader with a card is running."""
        return Queue.GPU if self is Device.GPU or (self is Device.EITHER and has_card) else Queue.CPU


class Diagnosed(Message):
    """A learner's diagnosis in a bug hunt: the kind of fault, and the guilty line of the starter, from 1."""

    category: Annotated[str, Field(max_length=64)] | None = None
    line: Annotated[int, Field(ge=1, le=100_000)] | None = None


class GradeJob(Message):
    """Judge `source` as an answer to an exercise. The worker draws the cases from its own random seed."""

    kind: Literal["grade"] = "grade"
    exercise: ExerciseName
    source: Source
    diagnosed: Diagnosed | None = None
    exercise_digest: str = ""
    """The digest of the website's judging files; a worker with another digest refuses. Empty: no comparison."""
    public_only: bool = False
    """Run only the public checks and ignore the diagnosis. This counts no attempt."""
    benchmark: bool = False
    """Time the answer after its cases, if they pass and the exercise is a lab with a benchmark."""


class RunJob(Message):
    """Run a free cell. `setup` runs before it in the same namespace; the trace names no line of it."""

    kind: Literal["run"] = "run"
    source: Source
    setup: Source = ""
    flavour: Flavour = Flavour.TORCH
    device: Device = Device.CPU
    want_trace: bool = True
    limits: Limits = CELL_LIMITS


Job = Annotated[GradeJob | RunJob, Field(discriminator="kind")]
JOB: TypeAdapter[GradeJob | RunJob] = TypeAdapter(Job)
