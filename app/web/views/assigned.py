"""Assignments in words: what one asks for, its title, where it leads, and its times. No I/O."""

from collections.abc import Iterator
from typing import assert_never

from app.course.model import Chapter, Course
from app.learning.grading import Assignment, Counts, Credit, Kind


def say_kind(assignment: Assignment) -> str:
    """What is to be done and what earns points, as "questions answered right, each counts its part"."""
    match assignment.kind:
        case Kind.EXERCISE:
            what = "exercise"
            part = "must pass" if assignment.credit is Credit.WHOLE else "each case counts its part"
            return f"{what}, {part}"
        case Kind.RETRIEVAL:
            what = f"questions answered {'right' if assignment.counts is Counts.RIGHT else 'at all'}"
        case Kind.PREDICTIONS:
            what = "predictions made"
        case _:
            assert_never(assignment.kind)
    return f"{what}, {'all or nothing' if assignment.credit is Credit.WHOLE else 'each counts its part'}"


def find_href(course: Course, assignment: Assignment) -> str:
    """Where the assignment is done; empty if the course has no such page now."""
    if assignment.kind is Kind.EXERCISE:
        return f"/exercises/{assignment.target}" if assignment.target in course.exercises else ""
    return f"/chapters/{assignment.target}" if assignment.target in course.index.by_slug else ""


def list_assignable(chapter: Chapter) -> Iterator[tuple[Kind, str, int]]:
    """What of a chapter can be assigned: kind, target, and how many questions or predictions."""
    if chapter.index.questions:
        yield Kind.RETRIEVAL, chapter.slug, len(chapter.index.questions)
    if chapter.index.predicts:
        yield Kind.PREDICTIONS, chapter.slug, len(chapter.index.predicts)


def title_target(course: Course, kind: Kind, target: str) -> str | None:
    """The title that a new assignment gets; None if the course has nothing of the kind there."""
    if kind is Kind.EXERCISE:
        exercise = course.exercises.get(target)
        return exercise.manifest.title if exercise else None
    chapter = course.index.by_slug.get(target)
    if chapter is None or kind not in {found for found, _, _ in list_assignable(chapter)}:
        return None
    word = "questions" if kind is Kind.RETRIEVAL else "predictions"
    return f"{chapter.number} {chapter.title}: {word}".strip()
