"""What a worker is asked to do: grade a submission, or run a cell."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from graders.contract.limits import CELL_LIMITS, MAX_SOURCE_BYTES, Limits
from graders.contract.model import ExerciseName, Message

Source = Annotated[str, Field(max_length=MAX_SOURCE_BYTES)]


class Flavour(StrEnum):
    """Which zygote runs it: one whose root has no torch at all, or one with torch imported."""

    PLAIN = "plain"
    TORCH = "torch"


class Queue(StrEnum):
    CPU = "cpu"
    GPU = "gpu"


class Diagnosed(Message):
    """What a learner says of a bug hunt: the kind of fault, and the guilty line of the starter, from 1."""

    category: Annotated[str, Field(max_length=64)] | None = None
    line: Annotated[int, Field(ge=1, le=100_000)] | None = None


class GradeJob(Message):
    """Judge `source` as an answer to an exercise. The worker draws the cases from its own secret."""

    kind: Literal["grade"] = "grade"
    exercise: ExerciseName
    source: Source
    diagnosed: Diagnosed | None = None
    exercise_digest: str = ""
    """The content that judges, as the website read it; a worker with another refuses. Empty: no comparison."""
    public_only: bool = False
    """Only the public checks, and no word on the diagnosis: which is no attempt."""


class RunJob(Message):
    """Run a free cell. `setup` runs before it in the same namespace and is never traced to a line."""

    kind: Literal["run"] = "run"
    source: Source
    setup: Source = ""
    flavour: Flavour = Flavour.TORCH
    want_trace: bool = True
    limits: Limits = CELL_LIMITS


Job = Annotated[GradeJob | RunJob, Field(discriminator="kind")]
JOB: TypeAdapter[GradeJob | RunJob] = TypeAdapter(Job)
