"""The base class of all that is sent between processes or machines: frozen, and strict about unknown fields."""

from typing import NewType

from pydantic import BaseModel, ConfigDict

SubmissionId = NewType("SubmissionId", str)
LearnerId = NewType("LearnerId", str)
ExerciseName = NewType("ExerciseName", str)


class Message(BaseModel):
    """A frozen message. An unknown field is an error, so that two versions cannot half understand each other."""

    model_config = ConfigDict(frozen=True, extra="forbid")
