"""The list of reports: the operator's of everybody, and an instructor's of the people in a section."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, ClassVar, Literal

from fastapi import APIRouter, Form, Query, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.course.model import Course
from app.storage.records import SectionId
from app.storage.reports import Report, ReportFilter, ReportState
from app.web.desk.navigation import SectionNavigation, navigate
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.signing_in import actor_of
from app.web.views.spots import find_spot, find_wording, title_page

router = APIRouter(include_in_schema=False)

SHOWN = 200
MAX_NOTE_CHARACTERS = 1000
MAX_NUMBER = 2**31 - 1
"""The database's largest number of a report."""
MARKS = re.compile(r"([\\`*_\[\]<>#|~])")

NumberInForm = Annotated[int, Form(ge=1, le=MAX_NUMBER)]
StateDep = Annotated[ReportState, Query()]
PageDep = Annotated[str, Query(max_length=120)]


@dataclass(frozen=True)
class ReportRow:
    """`wording` says whether the place has changed since; `href` is empty for a place that is gone."""

    number: int
    title: str
    words: str
    href: str
    text: str
    reported_at: str
    wording: str
    closed_at: str
    note: str


@dataclass(frozen=True)
class PageChoice:
    page: str
    title: str


@dataclass(frozen=True)
class ReportsPage:
    """`action` is the list's address: its forms send `number` with `note` and `act`, or the filter by GET."""

    template: ClassVar[str] = "reports.html"
    frame: Frame
    navigation: SectionNavigation | None
    """None on the operator's list, which is of everybody."""
    action: str
    rows: tuple[ReportRow, ...]
    total: int
    state: ReportState
    about: str
    pages: tuple[PageChoice, ...]
    export_href: str
    max_note_characters: int
    problem: str


@router.api_route("/operator/reports", methods=["GET", "HEAD"])
async def all_reports(context: RequestContextDep, state: StateDep = ReportState.OPEN, page: PageDep = "") -> Response:
    return await _show(context, ReportFilter(None, state, page))


@router.get("/operator/reports.md")
async def all_as_markdown(
    context: RequestContextDep, state: StateDep = ReportState.OPEN, page: PageDep = ""
) -> Response:
    return await _export(context, ReportFilter(None, state, page))


@router.post("/operator/reports")
async def handle_any(
    context: RequestContextDep,
    number: NumberInForm,
    act: Annotated[Literal["close", "reopen"], Form()],
    note: Annotated[str, Form()] = "",
) -> Response:
    return await _handle(context, None, number, act, note)


@router.api_route("/desk/{section}/reports", methods=["GET", "HEAD"])
async def section_reports(
    context: RequestContextDep, section: str, state: StateDep = ReportState.OPEN, page: PageDep = ""
) -> Response:
    return await _show(context, ReportFilter(SectionId(section), state, page))


@router.get("/desk/{section}/reports.md")
async def section_as_markdown(
    context: RequestContextDep, section: str, state: StateDep = ReportState.OPEN, page: PageDep = ""
) -> Response:
    return await _export(context, ReportFilter(SectionId(section), state, page))


@router.post("/desk/{section}/reports")
async def handle_of_section(
    context: RequestContextDep,
    section: str,
    number: NumberInForm,
    act: Annotated[Literal["close", "reopen"], Form()],
    note: Annotated[str, Form()] = "",
) -> Response:
    return await _handle(context, SectionId(section), number, act, note)


async def _handle(
    context: RequestContext, section: SectionId | None, number: int, act: Literal["close", "reopen"], note: str
) -> Response:
    """Close a report with a sentence that its reader will see, or open it again."""
    reports, actor, note = context.site.store.reports, actor_of(context), " ".join(note.split())
    wanted = ReportFilter(section, ReportState.ALL)
    if act == "close" and not 0 < len(note) <= MAX_NOTE_CHARACTERS:
        length = f"has {len(note)} characters" if note else "is empty"
        return await _show(
            context,
            wanted,
            f"The sentence {length}; say in at most {MAX_NOTE_CHARACTERS} what was changed, or why not.",
        )
    done = reports.close(number, note, section, actor) if act == "close" else reports.reopen(number, section, actor)
    if not await done:
        raise HTTPException(
            404, f"There is no report {number} here that could be changed so; it may have been already."
        )
    return RedirectResponse(f"{_address(section)}?state=all#report-{number}", 303)


def _address(section: SectionId | None) -> str:
    return "/operator/reports" if section is None else f"/desk/{section}/reports"


async def _show(context: RequestContext, wanted: ReportFilter, problem: str = "") -> Response:
    reports, course = context.site.store.reports, context.course
    address = _address(wanted.section)
    found = await reports.find(wanted, SHOWN)
    navigation = await navigate(context, wanted.section, "Reports") if wanted.section else None
    title = navigation.page_title if navigation else "Reports"
    page = ReportsPage(
        frame=await context.frame(title, "What readers found wrong in the course."),
        navigation=navigation,
        action=address,
        rows=_show_rows(course, found),
        total=await reports.count(wanted),
        state=wanted.state,
        about=wanted.page,
        pages=tuple(PageChoice(page, title_page(course, page)) for page in await reports.pages(wanted.section)),
        export_href=f"{address}.md?state={wanted.state}&page={wanted.page}",
        max_note_characters=MAX_NOTE_CHARACTERS,
        problem=problem,
    )
    return context.site.renderer.page(page, 422 if problem else 200)


def _show_rows(course: Course, found: Sequence[Report]) -> tuple[ReportRow, ...]:
    return tuple(show_report(course, report) for report in found)


def show_report(course: Course, report: Report) -> ReportRow:
    """The report with its place as the course has it now: unchanged, moved, changed or gone."""
    now = find_spot(course, report.page, report.block)
    same = now if now and now.content_hash == report.content_hash else None
    same = same or find_wording(course, report.page, report.content_hash)
    spot = same or now
    return ReportRow(
        number=report.number,
        title=title_page(course, report.page),
        words=spot.words if spot else report.block,
        href=spot.href if spot else "",
        text=report.text,
        reported_at=_show_time(report.reported_at),
        wording="unchanged since" if same else "changed since" if now else "no longer there",
        closed_at=_show_time(report.closed_at) if report.closed_at else "",
        note=report.note,
    )


async def _export(context: RequestContext, wanted: ReportFilter) -> Response:
    rows = _show_rows(context.course, await context.site.store.reports.find(wanted))
    headers = {"content-disposition": 'attachment; filename="reports.md"', "cache-control": "no-store"}
    return Response(write_markdown(rows), headers=headers, media_type="text/markdown; charset=utf-8")


def write_markdown(rows: Sequence[ReportRow]) -> str:
    """A section for each report. What readers wrote is quoted, and its marks are escaped."""
    parts = ["# Reports\n"]
    for row in rows:
        address = f" ({row.href})" if row.href else ""
        parts.append(f"\n## {row.number}. {_escape(row.title)}: {_escape(row.words)}{address}\n\n")
        parts.append(f"Reported {row.reported_at}; the place is {row.wording}.\n\n")
        parts += [f"> {_escape(line)}\n" for line in row.text.splitlines()]
        if row.closed_at:
            parts.append(f"\nClosed {row.closed_at}: {_escape(row.note)}\n")
    return "".join(parts)


def _escape(text: str) -> str:
    return MARKS.sub(r"\\\1", text)


def _show_time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
