"""The course as pages show it: without drafts and without dangling references. Pure."""

from collections.abc import Callable
from dataclasses import replace

from app.course.block_tree import Block, Box, Reveal
from app.course.blocks import ExerciseLink
from app.course.model import Chapter, Course, Module, PlannedChapter
from app.course.sets import keep_known


def without_drafts(course: Course) -> Course:
    """The course with each draft chapter as a planned one, and without its draft exercises."""
    exercises = {name: found for name, found in course.exercises.items() if not found.manifest.draft}
    return replace(
        course,
        modules=tuple(replace(module, chapters=_published(module)) for module in course.modules),
        exercises=exercises,
        sets=keep_known(course.sets, exercises),
    )


def _published(module: Module) -> tuple[Chapter | PlannedChapter, ...]:
    return tuple(
        PlannedChapter(entry.number, entry.ordinal, entry.title)
        if isinstance(entry, Chapter) and entry.draft
        else entry
        for entry in module.chapters
    )


def list_drafts(course: Course) -> tuple[str, ...]:
    """The paths of the files that are marked as drafts."""
    chapters = [chapter.where.path for chapter in course.chapters if chapter.draft]
    exercises = [
        f"exercises/{name}/exercise.toml" for name, found in course.exercises.items() if found.manifest.draft
    ]
    return (*chapters, *sorted(exercises))


def without_dangling(course: Course) -> Course:
    """The course without references to chapters, concepts and exercises that do not exist.

    The check reports each of them, but pages must be shown anyway.
    """
    slugs = frozenset(chapter.slug for chapter in course.chapters)

    def without_unknown(chapter: Chapter) -> Chapter:
        blocks = [
            (_keep_known(block, course), line) for block, line in zip(chapter.blocks, chapter.lines, strict=True)
        ]
        kept = [(block, line) for block, line in blocks if block is not None]
        return replace(
            chapter,
            concepts=tuple(concept for concept in chapter.concepts if concept in course.concepts),
            prerequisites=tuple(slug for slug in chapter.prerequisites if slug in slugs),
            blocks=tuple(block for block, _ in kept),
            lines=tuple(line for _, line in kept),
        )

    return replace(course, modules=tuple(_map_chapters(module, without_unknown) for module in course.modules))


def _map_chapters(module: Module, change: Callable[[Chapter], Chapter]) -> Module:
    chapters = (change(entry) if isinstance(entry, Chapter) else entry for entry in module.chapters)
    return replace(module, chapters=tuple(chapters))


def _keep_known(block: Block, course: Course) -> Block | None:
    if isinstance(block, ExerciseLink):
        return block if block.name in course.exercises else None
    if isinstance(block, Box | Reveal):
        inner = tuple(kept for found in block.blocks if (kept := _keep_known(found, course)) is not None)
        return replace(block, blocks=inner)
    return block
