"""Sliders of a measurement: what its code must have for them, and what is said where it has not."""

import pytest

from app.course.blocks import Measure, Slider
from app.course.chapter import ChapterParser
from app.course.language.typeset import Typesetter
from app.course.loader import KATEX

HEAD = "---\ntitle: T\nsubtitle: S\nminutes: 1\nobjectives: [o]\nconcepts: [c]\n---\n\n"


@pytest.fixture(scope="module")
def parser() -> ChapterParser:
    return ChapterParser(Typesetter(KATEX.read_text(encoding="utf-8")))


def parse(parser: ChapterParser, options: str, code: str) -> tuple[tuple[Slider, ...], list[str]]:
    parsed = parser.parse(f"{HEAD}```{{measure}} m\n:alt: a\n{options}\n{code}\n```\n", "chapters/x/chapter.md", "x")
    assert parsed.chapter
    measure = next(block for block in parsed.chapter.blocks if isinstance(block, Measure))
    return measure.sliders, [problem.message for problem in parsed.problems if "minutes" not in problem.message]


def test_sliders_are_read_with_the_values_in_the_code(parser: ChapterParser) -> None:
    sliders, problems = parse(parser, ":sliders: gain 0.5 3 0.5, depth 4 48 4", "gain = 1.5\ndepth = 12\nresult = {}")

    assert sliders == (Slider("gain", "0.5", "3", "0.5", "1.5"), Slider("depth", "4", "48", "4", "12"))
    assert problems == []


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ("gain", "'gain' is not a name and three numbers"),
        ("gain 1 2", "'gain 1 2' is not a name and three numbers"),
        ("gain 2 1 1", "the slider 'gain' has no steps from 2 to 1 by 1"),
        ("gain 1 2 0", "the slider 'gain' has no steps from 1 to 2 by 0"),
        ("gain 0 9 0.001", "the slider 'gain' has no steps from 0 to 9 by 0.001"),
        ("gain 0 1 0.5", "the code does not set 'gain' to a number from 0 to 1"),
    ],
)
def test_a_plan_that_makes_no_slider_is_reported(parser: ChapterParser, plan: str, message: str) -> None:
    sliders, problems = parse(parser, f":sliders: {plan}", "gain = 2\nresult = {}")

    assert sliders == ()
    assert problems == [message]


@pytest.mark.parametrize(
    "code", ["result = {}", "gain = f()", "gain = 1\ngain = 1", "    gain = 1", "gain = 1  # here"]
)
def test_a_number_that_is_not_set_plainly_and_once_is_reported(parser: ChapterParser, code: str) -> None:
    if code.startswith(" "):
        code = f"if True:\n{code}"
    assert parse(parser, ":sliders: gain 0 3 1", code)[1] == ["the code does not set 'gain' to a number from 0 to 3"]


def test_sliders_in_code_that_is_for_reading_are_reported(parser: ChapterParser) -> None:
    problems = parse(parser, ":sliders: gain 0 3 1\n:readonly:", "gain = 1")[1]

    assert problems == ["a reader cannot move sliders in read-only code"]


def test_lines_by_a_column_need_one_column_to_draw(parser: ChapterParser) -> None:
    options = ":chart: line\n:x: n\n:y: a, b\n:series: gain"

    assert parse(parser, options, "result = {}")[1] == ["lines by 'gain' need one column in :y:, not 2"]
