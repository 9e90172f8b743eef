"""A learner's progress through the whole course: by module and by concept, and what is left. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from app.course.model import Chapter, Course
from app.learning.review import find_day
from app.storage.records import NOTHING_YET, ChapterHistory, Deck
from app.web.edge.frame import Link
from app.web.edge.links import link_to
from app.web.views.ladder import LadderView
from app.web.views.presenting import ExerciseProgress
from app.web.views.progress import make_ladder
from app.web.views.remaining import minutes_left, say_minutes, sum_remaining


@dataclass(frozen=True)
class ChapterProgress:
    """`ladder` is None for a chapter that was never opened, and `summary_href` is then empty. `left` is in words."""

    chapter: Link
    ladder: LadderView | None
    left: str
    summary_href: str


@dataclass(frozen=True)
class ModuleProgress:
    title: str
    read: int
    chapters: tuple[ChapterProgress, ...]


@dataclass(frozen=True)
class ConceptProgress:
    """Questions about a concept: how many there are, how many were answered right, and on how many days."""

    title: str
    chapters: tuple[Link, ...]
    right: int
    questions: int
    days: int


@dataclass(frozen=True)
class ProgressMap:
    """`left` is a sentence on the time that is left."""

    modules: tuple[ModuleProgress, ...]
    concepts: tuple[ConceptProgress, ...]
    left: str


@dataclass(frozen=True)
class CourseHistory:
    """All that one learner did in the course: histories by chapter, exercises by name, cards of review."""

    course: Course
    histories: Mapping[str, ChapterHistory]
    progress: Mapping[str, ExerciseProgress]
    now: datetime
    deck: Deck


def map_progress(mine: CourseHistory) -> ProgressMap:
    course = mine.course
    modules = tuple(
        ModuleProgress(
            module.title if module.number is None else f"{module.number} {module.title}",
            sum(_is_read(mine.histories.get(chapter.slug)) for chapter in written),
            tuple(_show(chapter, mine) for chapter in written),
        )
        for module in course.modules
        if (written := [entry for entry in module.chapters if isinstance(entry, Chapter)])
    )
    concepts = (_count_concept(concept, mine) for concept in course.concepts)
    asked = tuple(concept for concept in concepts if concept.questions)
    return ProgressMap(modules, asked, _say_left(mine))


def _show(chapter: Chapter, mine: CourseHistory) -> ChapterProgress:
    history = mine.histories.get(chapter.slug)
    minutes = minutes_left(chapter, history.reading if history else None)
    link = link_to(chapter, history.reading.anchor if history and history.reading else "")
    ladder = (
        None if history is None else make_ladder(mine.course, chapter, history, mine.progress, mine.now, mine.deck)
    )
    left = f"about {say_minutes(minutes)} left" if minutes else "read to the end"
    return ChapterProgress(link, ladder, left, f"/me/chapters/{chapter.slug}" if history else "")


def _count_concept(concept: str, mine: CourseHistory) -> ConceptProgress:
    course, zone = mine.course, ZoneInfo(mine.deck.zone)
    questions = right = 0
    days = set()
    chapters = []
    for chapter in course.chapters:
        asked = {name for name, one in chapter.index.questions.items() if concept in one.concepts}
        if concept in chapter.concepts:
            chapters.append(link_to(chapter))
        answers = mine.histories.get(chapter.slug, NOTHING_YET).answers
        held = [one for one in answers if one.correct and one.question in asked]
        questions += len(asked)
        right += len({one.question for one in held})
        days |= {find_day(one.answered_at, zone) for one in held}
    return ConceptProgress(course.concepts[concept], tuple(chapters), right, questions, len(days))


def _say_left(mine: CourseHistory) -> str:
    readings = {slug: one.reading for slug, one in mine.histories.items() if one.reading}
    left = sum_remaining(mine.course, readings, mine.progress)
    parts = []
    if left.chapters:
        parts.append(f"{say_minutes(left.chapter_minutes)} for {left.chapters} chapter{'s' * (left.chapters > 1)}")
    if left.exercises:
        some = f"{left.exercises} exercise{'s' * (left.exercises > 1)}"
        parts.append(f"{say_minutes(left.exercise_minutes)} for {some}")
    if not parts:
        return "You have read every chapter and passed every exercise that they offer."
    return f"By the author’s estimates you have about {' and '.join(parts)} left. Your own pace may differ."


def _is_read(history: ChapterHistory | None) -> bool:
    return history is not None and history.reading is not None and history.reading.finished_at is not None
