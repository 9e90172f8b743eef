"""What a reader of a submission's stream sees, in order. The last event is always `finished`."""

from collections.abc import Callable
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


OnEvent = Callable[[EventKind, Message], None]
"""Called with a run's output and case results as they arrive."""


class Event(Message):
    """One event of a submission; `seq` counts from 1 within the submission. `body` is JSON text."""

    seq: int
    kind: EventKind
    body: str
