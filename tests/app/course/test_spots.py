"""Places that readers report: each block of a chapter has a key of its own, and a hash of its words alone."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.course.block_tree import Box
from app.course.blocks import Cell, Heading, Html, LadderPlace, Prose, Where
from app.course.loader import load_course
from app.course.model import Course
from app.course.spots import hash_writing, name_blocks
from graders.contract.jobs import Flavour

COURSE = Path(__file__).resolve().parents[2] / "course"
WHERE = Where("chapters/one/chapter.md", 7)


def heading(anchor: str) -> Heading:
    return Heading(2, anchor, anchor, anchor)


def cell(source: str = "print(1)") -> Cell:
    return Cell("first", source, "", "", False, True, Flavour.PLAIN, "1\n", WHERE)


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course(COURSE)[0]


def test_a_block_without_an_id_is_named_by_its_section_and_its_number_there() -> None:
    box = Box("careful", "", (Prose("inside"),))
    blocks = (Prose("a"), heading("tape"), LadderPlace(), Prose("b"), cell(), box, heading("leaf"), Prose("c"))

    assert name_blocks(blocks) == ("top~1", "", "", "tape~1", "first", "tape~2", "", "leaf~1")


def test_every_chapter_names_each_block_once(course: Course) -> None:
    for chapter in course.chapters:
        named = [key for key in chapter.keys if key]
        assert len(named) == len(set(named)) == len(chapter.hashes) > 3


def test_a_hash_changes_with_the_words_and_not_with_the_place() -> None:
    moved = replace(cell(), where=Where("chapters/one/chapter.md", 90), code_line=91)

    assert hash_writing(moved) == hash_writing(cell())
    assert hash_writing(cell("print(2)")) != hash_writing(cell())
    assert hash_writing(Prose("a")) != hash_writing(Prose("b"))


def test_a_hash_tells_apart_how_a_text_is_divided() -> None:
    def boxed(*parts: Html) -> Box:
        return Box("careful", "", tuple(Prose(part) for part in parts))

    assert hash_writing(boxed("a", "b")) != hash_writing(boxed("ab"))
    assert hash_writing((boxed("a"), boxed())) != hash_writing((boxed(), boxed("a")))


def test_the_version_of_a_course_is_of_what_it_says(course: Course) -> None:
    term = course.glossary[0]
    changed = replace(course, glossary=(replace(term, html=term.html + "<p>More.</p>"), *course.glossary[1:]))

    assert replace(course, evidence={}).version == course.version
    assert changed.version != course.version
