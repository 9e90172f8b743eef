"""A strip of cuts: what a measurement's code has to have for it, and what is said where it has not."""

import pytest

from app.course.blocks import Cuts, Measure
from app.course.chapter import ChapterParser
from app.course.language.typeset import Typesetter
from app.course.loader import KATEX

HEAD = "---\ntitle: T\nsubtitle: S\nminutes: 1\nobjectives: [o]\nconcepts: [c]\n---\n\n"


@pytest.fixture(scope="module")
def parser() -> ChapterParser:
    return ChapterParser(Typesetter(KATEX.read_text(encoding="utf-8")))


def parse(parser: ChapterParser, options: str, code: str) -> tuple[Cuts | None, list[str]]:
    parsed = parser.parse(f"{HEAD}```{{measure}} m\n:alt: a\n{options}{code}\n```\n", "chapters/x/chapter.md", "x")
    assert parsed.chapter
    measure = next(block for block in parsed.chapter.blocks if isinstance(block, Measure))
    return measure.cuts, [problem.message for problem in parsed.problems if "minutes" not in problem.message]


def test_the_cuts_are_read_from_the_code(parser: ChapterParser) -> None:
    cuts, problems = parse(parser, ":cuts: places\n:layers: 8\n", "places = [2, 5]\nresult = {}")

    assert cuts == Cuts("places", 8, (2, 5))
    assert problems == []


def test_an_empty_list_is_one_segment(parser: ChapterParser) -> None:
    assert parse(parser, ":cuts: places\n:layers: 8\n", "places = []")[0] == Cuts("places", 8, ())


@pytest.mark.parametrize(
    "code", ["", "places = [2, 2]", "places = [5, 2]", "places = [0]", "places = [8]", "places = f()"]
)
def test_a_list_that_makes_no_segments_is_reported(parser: ChapterParser, code: str) -> None:
    cuts, problems = parse(parser, ":cuts: places\n:layers: 8\n", f"{code}\nresult = {{}}")

    assert cuts is None
    assert problems == ["the code has no list 'places' of increasing numbers from 1 to 7"]


def test_a_list_that_is_set_twice_is_reported(parser: ChapterParser) -> None:
    assert len(parse(parser, ":cuts: places\n:layers: 8\n", "places = [2]\nplaces = [3]")[1]) == 1


@pytest.mark.parametrize(("given", "missing"), [(":cuts: places\n", "layers"), (":layers: 8\n", "cuts")])
def test_one_option_without_the_other_is_reported(parser: ChapterParser, given: str, missing: str) -> None:
    assert parse(parser, given, "places = [2]")[1] == [f"a strip of cuts needs the option :{missing}:"]


def test_cuts_in_code_that_is_for_reading_are_reported(parser: ChapterParser) -> None:
    problems = parse(parser, ":cuts: places\n:layers: 8\n:readonly:\n", "places = [2]")[1]

    assert problems == ["a reader cannot move cuts in read-only code"]
