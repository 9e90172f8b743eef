"""The records that the store returns and accepts: frozen values, with aware UTC times."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from app.course.questions.marking import QuestionResponse
from graders.contract.model import LearnerId


@dataclass(frozen=True)
class Session:
    """A learner's session in one browser. The database has the hash of its token, never the token."""

    token_hash: str
    learner: LearnerId
    made_at: datetime
    seen_at: datetime


@dataclass(frozen=True)
class Prediction:
    """`option` and `confidence` are None for "I don't know"; `resolved_at` is None until the run that settles it."""

    predict: str
    option: str | None
    confidence: str | None
    committed_at: datetime
    resolved_at: datetime | None = None
    content_hash: str | None = None
    """The hash of the prompt's wording that was answered; None if it was not stored."""


@dataclass(frozen=True)
class Answer:
    """One attempt. `correct` is None for an open answer that was not compared with its rubric yet."""

    question: str
    response: QuestionResponse
    correct: bool | None
    answered_at: datetime
    ticked: tuple[str, ...] | None = None
    content_hash: str | None = None
    """The hash of the question's wording that was answered; None if it was not stored."""


@dataclass(frozen=True)
class Reading:
    anchor: str
    seen_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True)
class ChapterHistory:
    """Everything one learner did in one chapter. `cell_runs` has the id of the last run of each cell."""

    predictions: Mapping[str, Prediction] = field(default_factory=dict)
    answers: tuple[Answer, ...] = ()
    cell_runs: Mapping[str, str] = field(default_factory=dict)
    reading: Reading | None = None


NOTHING_YET = ChapterHistory()
