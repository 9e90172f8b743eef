"""What the store hands out and takes in: frozen values, with aware UTC times."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from app.course.marking import Given


@dataclass(frozen=True)
class Prediction:
    """`option` and `confidence` are None for "I don't know"; `resolved_at` is None until the run that settles it."""

    predict: str
    option: str | None
    confidence: str | None
    committed_at: datetime
    resolved_at: datetime | None = None


@dataclass(frozen=True)
class Answer:
    """One attempt. `held` is None for an open answer that was not held against its rubric yet."""

    question: str
    given: Given
    held: bool | None
    answered_at: datetime
    ticked: tuple[str, ...] | None = None


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
