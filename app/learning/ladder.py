"""The maturity ladder of a chapter: Read, Predicted, Answered, Built, Debugged, Remembered, from a history."""

from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from enum import StrEnum

from app.learning.review import RETAINED_DAYS, find_day


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
            "Remembered": f"you answered each question of the chapter right on {RETAINED_DAYS} different days (the "
            "first answer of a day counts); with regular review, that takes about two months",
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


def climb_ladder(asked: Asked, done: Done, now: datetime, zone: tzinfo = UTC) -> tuple[Step, ...]:
    """The rungs that this chapter has, lowest first; a chapter with nothing to debug has no such rung.

    `zone` is where the learner's days are counted.

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
        _remembered(asked, done, find_day(now, zone), zone),
    )
    return tuple(step for step in steps if step.total)


def _count(rung: Rung, wanted: AbstractSet[str], have: AbstractSet[str], words: str) -> Step:
    done = len(wanted & have)
    return Step(rung, done, len(wanted), f"{done} of {len(wanted)} {words}")


def _remembered(asked: Asked, done: Done, today: date, zone: tzinfo) -> Step:
    """Counts the questions that were right on enough days. The first answer of a day decides, as in review."""
    kept = [recall for recall in done.recalls if recall.question in asked.questions]
    days = count_right_days(kept, today, zone)
    count = sum(days.get(question, 0) >= RETAINED_DAYS for question in asked.questions)
    total = len(asked.questions)
    words = f"{count} of {total} questions right on {RETAINED_DAYS} different days"
    return Step(Rung.REMEMBERED, count, total, words)


def count_right_days(recalls: Iterable[Recall], today: date, zone: tzinfo) -> dict[str, int]:
    """For each question, on how many days up to today its first answer was right."""
    firsts: dict[tuple[str, date], bool] = {}
    for recall in sorted(recalls, key=lambda recall: recall.at):
        day = find_day(recall.at, zone)
        if day <= today:
            firsts.setdefault((recall.question, day), recall.correct)
    right: dict[str, int] = defaultdict(int)
    for (question, _), correct in firsts.items():
        right[question] += correct
    return right
