"""The base of everything that crosses a process or a machine: frozen, and strict about unknown fields."""

from typing import NewType

from pydantic import BaseModel, ConfigDict

SubmissionId = NewType("SubmissionId", str)
LearnerId = NewType("LearnerId", str)
ExerciseName = NewType("ExerciseName", str)


class Message(BaseModel):
    """A frozen message; an unknown field is an error, so that two versions never half-understand each other."""

    model_config = ConfigDict(frozen=True, extra="forbid")
