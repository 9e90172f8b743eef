"""After a pass there is one place to go to: the next open exercise of the chapter, the next chapter, or the bank."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.course.block_tree import Block
from app.course.blocks import ExerciseLink
from app.course.loader import load_course
from app.course.model import Course
from app.web.views.next_step import find_next_step
from app.web.views.presenting import ExerciseProgress

PASSED = ExerciseProgress(attempts=1, passed=True)


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course(Path("tests/course"))[0]


def offer(course: Course, *offers: tuple[str, ...]) -> Course:
    """The course, its chapters offering these exercises and holding nothing else."""

    def links(names: tuple[str, ...]) -> tuple[Block, ...]:
        return tuple(ExerciseLink(name, "") for name in names)

    chapters = [replace(chapter, blocks=links(names)) for chapter, names in zip(course.chapters, offers, strict=True)]
    return replace(course, modules=(replace(course.modules[0], chapters=tuple(chapters)),))


def test_another_exercise_of_the_same_chapter_comes_first(course: Course) -> None:
    offered = offer(course, ("double", "pull-back"), ())

    assert find_next_step(offered, "double", {"double": PASSED}).href == "/exercises/pull-back"


def test_an_exercise_that_has_passed_is_not_offered_again(course: Course) -> None:
    offered = offer(course, ("double", "pull-back"), ())

    step = find_next_step(offered, "double", {"double": PASSED, "pull-back": PASSED})

    assert (step.href, step.number) == ("/chapters/a-second-look", "1.2")


@pytest.mark.parametrize("offers", [((), ("double",)), ((), ())])
def test_where_no_chapter_follows_the_bank_is_next(course: Course, offers: tuple[tuple[str, ...], ...]) -> None:
    assert find_next_step(offer(course, *offers), "double", {"double": PASSED}).href == "/problems"
