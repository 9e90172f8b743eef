"""The examination of an exercise's own programs: a course's check asks for it before it grades with them."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from graders.contract.jobs import GradeJob, RunJob
from graders.contract.model import ExerciseName, Message
from graders.contract.results import RunEnd, Verdict


class ExamineJob(Message):
    """Draw the exercise's cases many times, and answer them with its solution. Never asked for a learner."""

    kind: Literal["examine"] = "examine"
    exercise: ExerciseName


class ExerciseFault(Message):
    """One mistake of an exercise's author: the file within its folder, the line from 1, and what to do about it."""

    file: str
    line: int = 1
    message: str
    remedy: str


class Examination(Message):
    """What came of it. `seeds` counts how many seeds were drawn from, `solved` how many of those were answered."""

    kind: Literal["examination"] = "examination"
    faults: tuple[ExerciseFault, ...] = ()
    seeds: int = 0
    solved: int = 0


StreamJob = Annotated[GradeJob | RunJob | ExamineJob, Field(discriminator="kind")]
STREAM_JOB: TypeAdapter[GradeJob | RunJob | ExamineJob] = TypeAdapter(StreamJob)
StreamResult = Annotated[Verdict | RunEnd | Examination, Field(discriminator="kind")]
STREAM_RESULT: TypeAdapter[Verdict | RunEnd | Examination] = TypeAdapter(StreamResult)
"""What a course's check may ask its graders, and what they answer; the ledger knows nothing of examinations."""
