"""Calibration for templates: a plot of what each word was worth, tables of it, and what to do about it. No I/O."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from app.course.model import Chapter, Course
from app.course.questions.kinds import Choice
from app.course.reviewable import find_question
from app.learning.calibration import (
    Confidence,
    Fit,
    Guess,
    Level,
    calibrate,
    calibrate_concepts,
    count_worth,
    describe_calibration,
)
from app.storage.records import Stated

PLOT_LEFT, PLOT_WIDTH = 130, 300
ROW_HEIGHT = 34
FEWEST_TO_MENTION = 5


@dataclass(frozen=True)
class LevelView:
    """One word. Below 20 guesses `share` and `bounds` are empty, and the plot shows the count alone.

    The numbers that begin with `x` and `y` are places in the plot.
    """

    label: str
    resolved: int
    right: int
    share: str
    bounds: str
    promised: str
    y: int
    x_promised: int
    x_right: int
    x_low: int
    x_high: int


@dataclass(frozen=True)
class ConceptView:
    """A concept, and one cell of text for each word."""

    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True)
class CalibrationView:
    template: ClassVar[str] = "calibration"
    words: tuple[str, ...]
    levels: tuple[LevelView, ...]
    labels: tuple[str, ...]
    concepts: tuple[ConceptView, ...]
    height: int
    said: str = "You said"


def find_guesses(course: Course, stated: Iterable[Stated]) -> tuple[Guess, ...]:
    """What the course still asks. A prediction is marked by its current key; "I don't know" has no confidence."""
    guesses = []
    for one in stated:
        question = find_question(course, one.chapter, one.question)
        if question is None:
            continue
        right = one.correct
        if one.option is not None and isinstance(question, Choice):
            right = next((option.right for option in question.options if option.id == one.option), None)
        if right is not None:
            guesses.append(Guess(Confidence(one.confidence), right, question.concepts, one.times))
    return tuple(guesses)


def show_calibration(course: Course, guesses: tuple[Guess, ...]) -> CalibrationView:
    levels = calibrate(guesses)
    by_concept = calibrate_concepts(guesses)
    return CalibrationView(
        words=describe_calibration(levels),
        levels=tuple(_show_level(level, place) for place, level in enumerate(levels)),
        labels=tuple(confidence.label for confidence in Confidence),
        concepts=tuple(
            ConceptView(course.concepts[name], tuple(_cell(found, word) for word in Confidence))
            for name, found in by_concept.items()
            if name in course.concepts
        ),
        height=ROW_HEIGHT * len(levels) + 26,
    )


def say_worth(course: Course, guesses: tuple[Guess, ...], concepts: tuple[str, ...]) -> str:
    """One line before a question: what the learner's words were worth on its concept so far; often empty."""
    found = {name: levels for name, levels in calibrate_concepts(guesses).items() if name in concepts}
    for name, levels in found.items():
        if name in course.concepts and sum(level.resolved for level in levels) >= FEWEST_TO_MENTION:
            return f"{course.concepts[name]}: so far {count_worth(levels)}."
    return ""


def say_worth_before(course: Course, chapter: Chapter, stated: Iterable[Stated]) -> dict[str, str]:
    """By question id, what to say before the chapter's retrieval: once for each subject, often nothing."""
    guesses = find_guesses(course, stated)
    said: dict[str, str] = {}
    for question in chapter.index.questions.values() if guesses else ():
        words = say_worth(course, guesses, question.concepts)
        if words and words not in said.values():
            said[question.id] = words
    return said


def _cell(levels: tuple[Level, ...], word: Confidence) -> str:
    level = next((level for level in levels if level.confidence is word), None)
    if level is None:
        return "none"
    counts = f"{level.right} of {level.resolved}"
    return counts if level.fit is Fit.UNKNOWN else f"{counts}: {level.right_percent} % ({_say_bounds(level)})"


def _show_level(level: Level, place: int) -> LevelView:
    known = level.fit is not Fit.UNKNOWN
    low, high = level.bounds
    promised = level.confidence.promised_percent
    return LevelView(
        label=level.confidence.label,
        resolved=level.resolved,
        right=level.right,
        share=f"{level.right_percent} %" if known else "",
        bounds=_say_bounds(level) if known else "",
        promised=f"{promised} %",
        y=ROW_HEIGHT * place + 20,
        x_promised=_place(promised),
        x_right=_place(level.right_percent),
        x_low=_place(low),
        x_high=_place(high),
    )


def _say_bounds(level: Level) -> str:
    low, high = level.bounds
    return f"{low} to {high} %"


def _place(percent: int) -> int:
    return PLOT_LEFT + PLOT_WIDTH * percent // 100
