"""The debugging guide: one question at a time until a cause, and all chapters' symptom tables to search."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, ClassVar

from fastapi import APIRouter, Query, Response
from starlette.exceptions import HTTPException

from app.course.blocks import Html
from app.course.flow import FlowStep, Given, walk_way
from app.course.model import Chapter
from app.course.symptoms import Symptom
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import RequestContextDep
from app.web.edge.links import link_to
from app.web.views.spots import DEBUGGING, report_address

router = APIRouter(include_in_schema=False)

MAX_ANSWERS = 40
MAX_WORDS = 100


@dataclass(frozen=True)
class AnswerLink:
    """An answer to click; `href` leads to the next step, on this page or within the whole guide."""

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
    report_href: str


@dataclass(frozen=True)
class TableOfChapter:
    """The rows of one chapter's boxes that match the search."""

    link: Link
    rows: tuple[Symptom, ...]


@dataclass(frozen=True)
class DebuggingPage:
    """`now` is the step that the answers in `given` lead to; `whole` is the whole guide, which also prints."""

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
    context: RequestContextDep,
    at: Annotated[str, Query(max_length=100)] = "",
    way: Annotated[str, Query(max_length=200, pattern=r"^(\d{1,2}(-\d{1,2})*)?$")] = "",
    q: Annotated[str, Query(max_length=MAX_WORDS)] = "",
) -> Response:
    course = context.course
    flow = course.debugging
    if flow is None:
        raise HTTPException(404, "This course has no debugging guide.")
    start = at if at in flow.by_id else ""
    numbers = [int(number) for number in way.split("-")[:MAX_ANSWERS] if number]
    given, now = walk_way(flow, start, numbers)
    words = q.lower().split()
    tables = tuple(table for chapter in course.chapters if (table := _search(chapter, words)).rows)
    frame = await context.frame(flow.title, "From a symptom to the first place to look, one question at a time.")
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
    return context.site.renderer.page(page)


def _address(start: str, given: Iterable[Given]) -> str:
    """The URL of this page after some answers; its fragment scrolls past the head of the page."""
    way = "-".join(str(one.number) for one in given)
    fields = [f"at={start}"] * bool(start) + [f"way={way}"] * bool(way)
    return "/debugging" + ("?" + "&".join(fields) if fields else "") + "#now"


def _show_given(start: str, given: tuple[Given, ...], index: int) -> GivenView:
    one = given[index]
    return GivenView(one.step.title, one.step.answers[one.number - 1].html, _address(start, given[:index]))


def _show_step(step: FlowStep, hrefs: list[str]) -> FlowStepView:
    answers = tuple(AnswerLink(href, answer.html) for href, answer in zip(hrefs, step.answers, strict=True))
    return FlowStepView(
        f"step-{step.id}", step.title, step.text, step.command_html, answers, report_address(DEBUGGING, step.id)
    )


def _search(chapter: Chapter, words: list[str]) -> TableOfChapter:
    """The rows of a chapter's tables that contain every word."""
    table = chapter.index.symptoms
    rows = tuple(row for row in table.rows if all(word in row.words for word in words))
    return TableOfChapter(link_to(chapter, table.anchor), rows)
