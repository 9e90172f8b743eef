"""A drill in a chapter: one place for it, which names a drill of the course."""

from app.course.blocks import DrillPlace
from app.course.chapter import ChapterParser, ParsedChapter
from app.course.language.links import check_drills
from app.course.language.typeset import Typesetter
from app.course.loader import KATEX
from app.course.problems import ContentProblem

HEAD = """\
---
title: Sums
subtitle: Of two
minutes: 4
objectives: [add]
concepts: [accumulation]
---
"""
ONE = ":::{drill} sums\nNow on a *new* graph.\n:::\n"


def parse(body: str) -> ParsedChapter:
    parser = ChapterParser(Typesetter(KATEX.read_text(encoding="utf-8")))
    return parser.parse(HEAD + body, "chapters/sums/chapter.md", "sums")


def list_drills(problems: tuple[ContentProblem, ...]) -> list[tuple[int, str]]:
    return [(each.line, each.message) for each in problems if each.rule == "drill"]


def test_a_chapter_says_where_its_drill_is_asked_and_what_introduces_it() -> None:
    parsed = parse(ONE)
    assert parsed.chapter is not None
    place = parsed.chapter.index.drill
    assert isinstance(place, DrillPlace)
    assert (place.id, place.note, place.where.line) == ("sums", "<p>Now on a <em>new</em> graph.</p>", 8)
    assert "sums" in parsed.chapter.index.anchors
    assert list_drills(parsed.problems) == []


def test_a_second_drill_in_a_chapter_is_refused_at_its_line() -> None:
    parsed = parse(ONE + "\n" + ONE.replace("sums", "products"))
    assert list_drills(parsed.problems) == [
        (12, "the drill 'products' is this chapter's second; line 8 has the first")
    ]


def test_a_drill_that_the_course_does_not_have_is_told_with_the_nearest_name() -> None:
    (problem,) = check_drills({"sums": parse(ONE)}, ["sum", "products"])
    assert (problem.line, problem.rule, problem.remedy) == (8, "drill", "did you mean 'sum'?")
