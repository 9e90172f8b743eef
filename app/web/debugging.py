"""The debugging guide: one question at a time to a cause, and the symptom tables of all chapters to search in."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar

from fastapi import APIRouter, Query, Response
from starlette.exceptions import HTTPException

from app.course.blocks import Box, Heading, Html, Prose
from app.course.flow import FlowStep, Given, walk_way
from app.course.model import Chapter
from app.course.walk import blocks_within
from app.web.page import Frame, Place
from app.web.visit import VisitNow, place_of

router = APIRouter(include_in_schema=False)

BOX = "debug"
ROW = re.compile(r"<tr>(.*?)</tr>", re.DOTALL)
FIELD = re.compile(r"<td[^>]*>(.*?)</td>", re.DOTALL)
TAG = re.compile(r"<[^>]+>")
FIELDS = 3

MOST_ANSWERS = 40
MOST_WORDS = 100


@dataclass(frozen=True)
class AnswerLink:
    """An answer to click; `href` shows the step that it leads to, on this page or within the whole guide."""

    href: str
    html: Html


@dataclass(frozen=True)
class GivenView:
    """An answer that was given. `href` goes back to its question."""

    question: Html
    answer: Html
    href: str


@dataclass(frozen=True)
class FlowStepView:
    """A question with `answers`, or a cause with none."""

    anchor: str
    title: Html
    text: Html
    command_html: Html
    answers: tuple[AnswerLink, ...]


@dataclass(frozen=True)
class RowView:
    symptom: Html
    look: Html
    command: Html


@dataclass(frozen=True)
class TableOfChapter:
    """The rows of one chapter's boxes that hold what was searched for."""

    place: Place
    rows: tuple[RowView, ...]


@dataclass(frozen=True)
class DebuggingPage:
    """`now` is where the answers in `given` lead; `whole` is the guide at once, for paper too."""

    template: ClassVar[str] = "debugging.html"
    frame: Frame
    summary: Html
    given: tuple[GivenView, ...]
    now: FlowStepView
    whole: tuple[FlowStepView, ...]
    searched: str
    tables: tuple[TableOfChapter, ...]
    found: int


@router.api_route("/debugging", methods=["GET", "HEAD"])
async def debugging_page(
    visit: VisitNow,
    at: Annotated[str, Query(max_length=100)] = "",
    way: Annotated[str, Query(max_length=200, pattern=r"^(\d{1,2}(-\d{1,2})*)?$")] = "",
    q: Annotated[str, Query(max_length=MOST_WORDS)] = "",
) -> Response:
    course = visit.site.course
    flow = course.debugging
    if flow is None:
        raise HTTPException(404, "This course has no debugging guide.")
    start = at if at in flow.by_id else ""
    numbers = [int(number) for number in way.split("-")[:MOST_ANSWERS] if number]
    given, now = walk_way(flow, start, numbers)
    tables = tuple(table for chapter in course.chapters if (table := _table_of(chapter, q.lower().split())).rows)
    frame = await visit.frame(flow.title, "From a symptom to the first place to look, one question at a time.")
    page = DebuggingPage(
        frame=frame,
        summary=flow.summary,
        given=tuple(_show_given(start, given, index) for index in range(len(given))),
        now=_show_step(now, [_address(start, (*given, Given(now, n + 1))) for n in range(len(now.answers))]),
        whole=tuple(_show_step(step, [f"#step-{answer.go}" for answer in step.answers]) for step in flow.steps),
        searched=q,
        tables=tables,
        found=sum(len(table.rows) for table in tables),
    )
    return visit.site.renderer.page(page)


def _address(start: str, given: Iterable[Given]) -> str:
    """This page after some answers; the fragment takes a reader past the head of the page."""
    way = "-".join(str(one.number) for one in given)
    fields = [f"at={start}"] * bool(start) + [f"way={way}"] * bool(way)
    return "/debugging" + ("?" + "&".join(fields) if fields else "") + "#now"


def _show_given(start: str, given: tuple[Given, ...], index: int) -> GivenView:
    one = given[index]
    return GivenView(one.step.title, one.step.answers[one.number - 1].html, _address(start, given[:index]))


def _show_step(step: FlowStep, hrefs: list[str]) -> FlowStepView:
    answers = tuple(AnswerLink(href, answer.html) for href, answer in zip(hrefs, step.answers, strict=True))
    return FlowStepView(f"step-{step.id}", step.title, step.text, step.command_html, answers)


def _table_of(chapter: Chapter, words: list[str]) -> TableOfChapter:
    """The rows of a chapter's boxes in which each word stands, with the section of the first box."""
    rows: list[RowView] = []
    section = anchor = ""
    for block in blocks_within(chapter.blocks):
        if isinstance(block, Heading):
            section = block.anchor
        if isinstance(block, Box) and block.kind == BOX:
            found = [row for inner in block.blocks if isinstance(inner, Prose) for row in _rows_in(inner.html)]
            rows += [row for row in found if _holds(row, words)]
            anchor = anchor or section
    return TableOfChapter(place_of(chapter, anchor), tuple(rows))


def _rows_in(html: Html) -> list[RowView]:
    """The body rows of the tables that our own renderer made; a row of another width is no entry."""
    fields = (FIELD.findall(row) for row in ROW.findall(html))
    return [RowView(*found) for found in fields if len(found) == FIELDS]


def _holds(row: RowView, words: list[str]) -> bool:
    text = TAG.sub("", f"{row.symptom} {row.look} {row.command}").lower()
    return all(word in text for word in words)
