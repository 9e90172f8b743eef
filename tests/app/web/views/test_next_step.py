"""After a pass, a link leads to an exercise like it, another of its chapter, the next chapter, or the bank."""

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


def test_an_exercise_on_the_same_concept_comes_before_the_others_of_the_chapter(course: Course) -> None:
    offered = offer(course, ("double", "pull-back", "early-meetings"), ())

    assert find_next_step(offered, "double", {"double": PASSED}).href == "/exercises/early-meetings"


def test_an_exercise_that_only_a_later_chapter_offers_has_to_wait(course: Course) -> None:
    offered = offer(course, ("double", "pull-back"), ("early-meetings",))

    assert find_next_step(offered, "double", {"double": PASSED}).href == "/exercises/pull-back"


def test_without_a_shared_concept_another_exercise_of_the_same_chapter_comes(course: Course) -> None:
    offered = offer(course, ("pull-back", "double"), ())

    assert find_next_step(offered, "pull-back", {"pull-back": PASSED}).href == "/exercises/double"


def test_an_exercise_that_has_passed_is_not_offered_again(course: Course) -> None:
    offered = offer(course, ("double", "pull-back"), ("early-meetings",))

    step = find_next_step(offered, "double", {"double": PASSED, "pull-back": PASSED})

    assert (step.href, step.number) == ("/chapters/a-second-look", "1.2")


@pytest.mark.parametrize("offers", [((), ("double",)), ((), ())])
def test_where_no_chapter_follows_the_bank_is_next(course: Course, offers: tuple[tuple[str, ...], ...]) -> None:
    everything = {"double": PASSED, "early-meetings": PASSED}

    assert find_next_step(offer(course, *offers), "double", everything).href == "/problems"
