"""The maturity ladder of a chapter: Read, Predicted, Answered, Built, Debugged, Remembered, from a history."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

REMEMBERED_DAYS = 4
"""Recall counts as lasting once it happened on this many separate days (UTC)."""


class Rung(StrEnum):
    READ = "Read"
    PREDICTED = "Predicted"
    ANSWERED = "Answered"
    BUILT = "Built"
    DEBUGGED = "Debugged"
    REMEMBERED = "Remembered"

    @property
    def meaning(self) -> str:
        return {
            "Read": "you have read the chapter to the end",
            "Predicted": "you committed a guess before each run that asks for one",
            "Answered": "you have answered every question right",
            "Built": "you have passed every exercise in which you write code",
            "Debugged": "you have found the fault in every exercise that hides one",
            "Remembered": f"you answered a question of the chapter right on {REMEMBERED_DAYS} different days",
        }[self.value]


@dataclass(frozen=True)
class Asked:
    """The ids of a chapter's tasks. `debug` holds exercises and questions about finding a fault."""

    predicts: frozenset[str]
    questions: frozenset[str]
    build: frozenset[str]
    debug: frozenset[str]


@dataclass(frozen=True)
class Recall:
    """One attempt at a question: `correct` if it was right or, for an open question, was compared with its rubric."""

    question: str
    correct: bool
    at: datetime


@dataclass(frozen=True)
class Done:
    """What one learner did in a chapter; `passed` holds exercise names."""

    finished_reading: bool
    predicted: frozenset[str]
    recalls: tuple[Recall, ...]
    passed: frozenset[str]


@dataclass(frozen=True)
class Step:
    """One rung with its progress: `done` of `total`."""

    rung: Rung
    done: int
    total: int
    detail: str

    @property
    def reached(self) -> bool:
        return self.done >= self.total


def climb_ladder(asked: Asked, done: Done, now: datetime) -> tuple[Step, ...]:
    """The rungs that this chapter has, lowest first; a chapter with nothing to debug has no such rung.

    Rungs are independent: a reader who built before reading has built.
    """
    recalled = {recall.question for recall in done.recalls if recall.correct}
    solved = recalled | done.passed
    steps = (
        Step(Rung.READ, int(done.finished_reading), 1, "read to the end"),
        _count(Rung.PREDICTED, asked.predicts, done.predicted, "predictions committed"),
        _count(Rung.ANSWERED, asked.questions, recalled, "questions answered right"),
        _count(Rung.BUILT, asked.build, solved, "exercises passed"),
        _count(Rung.DEBUGGED, asked.debug, solved, "faults found"),
        _remembered(asked, done, now),
    )
    return tuple(step for step in steps if step.total)


def _count(rung: Rung, wanted: AbstractSet[str], have: AbstractSet[str], words: str) -> Step:
    done = len(wanted & have)
    return Step(rung, done, len(wanted), f"{done} of {len(wanted)} {words}")


def _remembered(asked: Asked, done: Done, now: datetime) -> Step:
    """Counts the days on which a question of this chapter was answered right; each day, also today, counts once."""
    if not asked.questions:
        return Step(Rung.REMEMBERED, 0, 0, "")
    today = now.astimezone(UTC).date()
    days = {
        day
        for recall in done.recalls
        if recall.correct and recall.question in asked.questions
        if (day := recall.at.astimezone(UTC).date()) <= today
    }
    count = min(len(days), REMEMBERED_DAYS)
    if count < REMEMBERED_DAYS and today in days:
        words = "days: today counts; come back on another day"
    else:
        words = "days on which you answered a question right"
    return Step(Rung.REMEMBERED, count, REMEMBERED_DAYS, f"{count} of {REMEMBERED_DAYS} {words}")
