"""What a reader of a submission's stream sees, in order. The last event is always `finished`."""

from enum import StrEnum
from typing import Literal

from graders.contract.model import Message


class EventKind(StrEnum):
    QUEUED = "queued"
    STARTED = "started"
    OUTPUT = "output"
    CASE = "case"
    FINISHED = "finished"


class Output(Message):
    """A piece of what the learner's program printed, as text."""

    stream: Literal["stdout", "stderr"]
    text: str


class Event(Message):
    """One row of a submission's history; `seq` counts from 1 within a submission. `body` is JSON text."""

    seq: int
    kind: EventKind
    body: str
