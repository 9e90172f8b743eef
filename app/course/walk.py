"""Walks over a chapter's blocks, those inside boxes and reveals included."""

from collections.abc import Iterator
from typing import TypeVar

from app.course.blocks import Block, Box, ExerciseLink, Predict, Reveal
from app.course.model import Chapter, Course

Kind = TypeVar("Kind")


def blocks_within(blocks: tuple[Block, ...]) -> Iterator[Block]:
    """Every block, in reading order."""
    for block in blocks:
        yield block
        if isinstance(block, Box | Reveal):
            yield from blocks_within(block.blocks)


def blocks_of(kind: type[Kind], blocks: tuple[Block, ...]) -> tuple[Kind, ...]:
    """The blocks of one kind, e.g. every claim of a chapter."""
    return tuple(block for block in blocks_within(blocks) if isinstance(block, kind))


def chapters_offering(course: Course, exercise: str) -> tuple[Chapter, ...]:
    """The chapters that lead to an exercise, in reading order."""
    return tuple(
        chapter
        for chapter in course.chapters
        if any(link.name == exercise for link in blocks_of(ExerciseLink, chapter.blocks))
    )


def predicts_settled_by(chapter: Chapter, cell: str) -> tuple[Predict, ...]:
    return tuple(predict for predict in blocks_of(Predict, chapter.blocks) if predict.resolved_by == cell)
