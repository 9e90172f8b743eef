"""exercise.toml: what an author says of an exercise. Content, read by website and worker alike."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field

from graders.contract.jobs import Flavour, Queue
from graders.contract.limits import Limits
from graders.contract.model import Message
from graders.contract.results import Outcome

Slug = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=64)]


class Difficulty(StrEnum):
    FIRST_STEPS = "first steps"
    STEADY = "steady"
    DEEP = "deep"


class Judge(StrEnum):
    """What a submission is judged by: its answers, or the schedule that it runs on a metered machine."""

    ANSWERS = "answers"
    MACHINE = "machine"


class FindingText(Message):
    """What a learner reads when a case with this finding fails."""

    short: str
    long: str = ""


class Attempt(Message):
    """A known answer in attempts/, with what the grader must say of it. Proven by the course's check."""

    file: str
    outcome: Outcome
    finding: str | None = None
    cheat: bool = False
    why: str


class Tolerance(Message):
    """An answer a matches e when |a - e| <= absolute + relative * |e|, elementwise (numpy.isclose's rule)."""

    absolute: Annotated[float, Field(ge=0)] = 1e-9
    relative: Annotated[float, Field(ge=0)] = 1e-7


class Manifest(Message):
    """exercise.toml, version 1."""

    format: Annotated[int, Field(ge=1, le=1)]
    title: str
    summary: str
    kind: str
    difficulty: Difficulty
    minutes: Annotated[int, Field(ge=1, le=240)]
    concepts: tuple[Slug, ...]
    flavour: Flavour
    queue: Queue = Queue.CPU
    judge: Judge = Judge.ANSWERS
    limits: Limits = Limits()
    tolerance: Tolerance = Tolerance()
    findings: dict[Slug, FindingText]
    attempts: tuple[Attempt, ...]
    draft: bool = False
    """Not for learners yet: only its author's preview shows it."""
