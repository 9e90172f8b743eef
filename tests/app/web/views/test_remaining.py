"""What is left of a course, in minutes: honest about what is read, passed and half read."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from app.course.loader import load_course
from app.course.model import Chapter, Course
from app.storage.records import Reading
from app.web.views.presenting import ExerciseProgress
from app.web.views.remaining import Remaining, find_position, minutes_left, say_minutes, sum_remaining

FIXTURE = Path(__file__).resolve().parents[3] / "course"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course(FIXTURE)[0]


@pytest.fixture
def first(course: Course) -> Chapter:
    return replace(course.chapters[0], minutes=40)


def test_all_is_left_of_a_chapter_that_was_not_opened_and_nothing_of_one_that_was_read(first: Chapter) -> None:
    assert minutes_left(first, None) == 40
    assert minutes_left(first, Reading("", NOON, NOON)) == 0


def test_the_blocks_before_the_readers_place_are_done(first: Chapter) -> None:
    middle = len(first.blocks) // 2
    block = next(number for number in range(middle, len(first.blocks)) if getattr(first.blocks[number], "id", ""))
    reading = Reading(first.blocks[block].id, NOON, None)  # type: ignore[union-attr]

    assert find_position(first, reading.anchor) == block
    assert minutes_left(first, reading) == round(40 * (1 - block / len(first.blocks)))


def test_a_chapter_left_at_its_last_block_is_not_called_read(first: Chapter) -> None:
    names = [getattr(block, "id", "") for block in first.blocks]
    last = Reading(next(name for name in reversed(names) if name), NOON, None)

    assert minutes_left(replace(first, minutes=1), last) == 1
    assert minutes_left(replace(first, minutes=1), replace(last, finished_at=NOON)) == 0


def test_a_place_that_the_chapter_has_no_longer_is_its_beginning(first: Chapter) -> None:
    assert minutes_left(first, Reading("gone", NOON, None)) == 40


def test_chapters_and_exercises_are_summed_apart(course: Course) -> None:
    chapters = course.numbered_chapters
    offered = {name for chapter in chapters for name in chapter.index.exercises}
    exercise_minutes = sum(course.exercises[name].manifest.minutes for name in offered)

    assert sum_remaining(course, {}, {}) == Remaining(
        len(chapters), sum(chapter.minutes for chapter in chapters), len(offered), exercise_minutes
    )
    done = {chapter.slug: Reading("", NOON, NOON) for chapter in chapters}
    passed = {name: ExerciseProgress(1, passed=True) for name in offered}
    assert sum_remaining(course, done, passed) == Remaining(0, 0, 0, 0)


@pytest.mark.parametrize(
    ("minutes", "words"),
    [(1, "1 minute"), (59, "59 minutes"), (60, "1 h"), (64, "1 h"), (116, "2 h"), (203, "3 h 20 min")],
)
def test_an_estimate_is_said_no_more_exactly_than_it_is(minutes: int, words: str) -> None:
    assert say_minutes(minutes) == words
