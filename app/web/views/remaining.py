"""What is left of a course for one learner, in minutes, as its author estimated them. No I/O."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.course.block_tree import blocks_within
from app.course.index import anchors_of
from app.course.model import Chapter, Course
from app.storage.records import Reading
from app.web.views.presenting import ExerciseProgress


@dataclass(frozen=True)
class Remaining:
    """`chapters` are those not read to the end, `exercises` those not passed; the minutes are of each."""

    chapters: int
    chapter_minutes: int
    exercises: int
    exercise_minutes: int


def sum_remaining(
    course: Course, readings: Mapping[str, Reading], progress: Mapping[str, ExerciseProgress]
) -> Remaining:
    """The numbered chapters and the exercises that they offer. Pages without a number are extra."""
    chapters = [one for one in course.numbered_chapters if not _is_read(readings.get(one.slug))]
    offered = dict.fromkeys(name for chapter in course.numbered_chapters for name in chapter.index.exercises)
    exercises = [name for name in offered if not (name in progress and progress[name].passed)]
    return Remaining(
        len(chapters),
        sum(minutes_left(chapter, readings.get(chapter.slug)) for chapter in chapters),
        len(exercises),
        sum(course.exercises[name].manifest.minutes for name in exercises),
    )


def minutes_left(chapter: Chapter, reading: Reading | None) -> int:
    """The share of the chapter's minutes that its blocks from the reader's place on have. A block is a block.

    0 means read to the end: at the last block there is a minute left.
    """
    if _is_read(reading):
        return 0
    position = find_position(chapter, reading.anchor) if reading else 0
    share = 1 - position / len(chapter.blocks) if chapter.blocks else 1.0
    return max(1, round(chapter.minutes * share))


def find_position(chapter: Chapter, anchor: str) -> int:
    """The index of the block in which the anchor is; 0 if the chapter has it no longer."""
    positions = enumerate(chapter.blocks)
    return next((number for number, block in positions if anchor in anchors_of(blocks_within((block,)))), 0)


def _is_read(reading: Reading | None) -> bool:
    return reading is not None and reading.finished_at is not None


def say_minutes(minutes: int) -> str:
    """In words, rounded as an estimate deserves: "40 minutes", "3 h 20 min"."""
    if minutes < 60:
        return f"{minutes} minute{'s' * (minutes != 1)}"
    hours, rest = divmod(round(minutes / 10) * 10, 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"
