"""What a course is asked for by name is found without looking through its blocks."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.course.block_tree import Box
from app.course.blocks import Graph, Where
from app.course.index import index_blocks
from app.course.loader import load_course
from app.course.model import Chapter, Course

FIXTURE = Path(__file__).parents[2] / "course"


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course(FIXTURE)[0]


@pytest.fixture
def second(course: Course) -> Chapter:
    return course.index.by_slug["a-second-look"]


def graph(name: str, source: str) -> Graph:
    return Graph(name, source, "", "", Path("trace.json"), Where("chapter.md", 1))


def test_chapters_are_found_by_their_slugs_and_the_planned_ones_are_not(course: Course) -> None:
    assert list(course.index.by_slug) == ["a-first-graph", "a-second-look"]
    assert course.chapters == tuple(course.index.by_slug.values())


def test_an_exercise_leads_to_the_chapters_that_offer_it(course: Course, second: Chapter) -> None:
    assert course.index.offering == {"double": (second,)}


def test_a_changed_copy_of_a_course_has_an_index_of_its_own(course: Course) -> None:
    first, *_ = course.modules
    shorter = replace(course, modules=(replace(first, chapters=first.chapters[:1]),))

    assert list(shorter.index.by_slug) == ["a-first-graph"]
    assert shorter.index.offering == {}
    assert list(course.index.by_slug) == ["a-first-graph", "a-second-look"]


def test_a_reader_may_run_the_cells_of_measurements_and_incidents_and_not_those_of_walks(second: Chapter) -> None:
    assert list(second.index.cells) == [
        "plain-cell",
        "saved-by-size",
        "replay",
        "shrinking",
        "longest-segment",
        "doubled-again",
        "on-a-gpu",
    ]


def test_a_cell_knows_the_predictions_that_its_run_settles(course: Course) -> None:
    index = course.index.by_slug["a-first-graph"].index

    assert {cell: [predict.id for predict in settled] for cell, settled in index.settled_by.items()} == {
        "square-cell": ["double-use"]
    }


def test_blocks_in_boxes_are_found_and_of_two_with_one_id_the_first_counts() -> None:
    inside, twin, last = graph("a", "x"), graph("a", "y"), graph("b", "z")

    found = index_blocks((Box("aside", "", (inside,)), twin, last)).graphs

    assert found == {"a": inside, "b": last}


def test_the_rows_of_a_symptom_table_are_kept_with_their_section_and_words_to_search_in(second: Chapter) -> None:
    table = second.index.symptoms

    assert table.anchor == "another-look"
    assert [(row.symptom, row.words) for row in table.rows] == [
        ("the gradient is doubled", "the gradient is doubled a second walk print(x.grad) before backward()"),
        ("<code>.grad</code> is <code>None</code>", ".grad is none a cut y.grad_fn"),
    ]
