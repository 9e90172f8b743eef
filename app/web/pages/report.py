"""Report a place of the course as wrong: a form, on a page of its own or in a dialog, and what it stores."""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from fastapi import APIRouter, Depends, Form, Query, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.storage.reports import MAX_OPEN_OF_ONE, Report
from app.web.edge.frame import Frame
from app.web.edge.identity import LearnerContextDep, RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.site import CourseDep
from app.web.views.spots import ReportFormView, Spot, find_spot, note_address, report_address
from app.web.views.threads import ask_address

router = APIRouter(include_in_schema=False)

MAX_CHARACTERS = 2000
NO_PLACE = "The course has no such place, or has no such place any more. Go back to its page and try again there."
TOO_MANY = (
    f"You have {MAX_OPEN_OF_ONE} open reports, which is as many as one reader may have. "
    "Thank you; wait until some of them are closed."
)


@dataclass(frozen=True)
class ReportPage:
    template: ClassVar[str] = "report.html"
    frame: Frame
    form: ReportFormView
    href: str
    """The place itself."""


def need_spot(place: str, course: CourseDep) -> Spot:
    page, _, block = place.rpartition("/")
    found = find_spot(course, page, block)
    if found is None:
        raise HTTPException(404, NO_PLACE)
    return found


SpotDep = Annotated[Spot, Depends(need_spot)]


@router.api_route("/report/{place:path}", methods=["GET", "HEAD"])
async def report_form(context: RequestContextDep, spot: SpotDep, sent: Annotated[bool, Query()] = False) -> Response:
    return await _show(context, spot, replace(await _show_form(context, spot), sent=sent))


@router.post("/report/{place:path}")
async def send_report(
    asking: RequestContextDep,
    context: LearnerContextDep,
    spot: SpotDep,
    text: Annotated[str, Form()] = "",
    content_hash: Annotated[str, Form(pattern=r"^[0-9a-f]{16}$")] = "",
) -> Response:
    """Store a report. Its hash is of the wording that the form was opened on, which may be an older one."""
    # A form sends each line break as two characters, and the browser's own limit counts one.
    form, text = await _show_form(asking, spot), text.replace("\r\n", "\n").strip()
    if problem := _find_problem(text):
        return await _show(asking, spot, replace(form, text=text, problem=problem), 422)
    await context.request_context.count(Act.REPORT)
    await context.request_context.count_kept(Act.WRITE, text)
    wording = content_hash or spot.content_hash
    report = Report(0, spot.page, spot.block, wording, context.course.version, text, context.now)
    if not await context.site.store.reports.add(context.learner, report):
        return await _show(asking, spot, replace(form, text=text, problem=TOO_MANY), 422)
    if asking.wants_fragment:
        return await _show(asking, spot, replace(form, sent=True))
    return RedirectResponse(f"{form.action}?sent=true", 303)


def _find_problem(text: str) -> str:
    if not text:
        return "The report is empty; write a sentence that says what is wrong."
    if len(text) > MAX_CHARACTERS:
        return f"The report has {len(text)} characters; write at most {MAX_CHARACTERS}."
    return ""


async def _show_form(context: RequestContext, spot: Spot) -> ReportFormView:
    action = report_address(spot.page, spot.block)
    note_href = note_address(spot.page, spot.block)
    may_ask = context.account is not None and (await context.site.store.threads.unread(context.account.id)).may_ask
    ask_href = ask_address(spot.page, spot.block) if may_ask else ""
    return ReportFormView(spot.title, spot.words, action, note_href, spot.content_hash, MAX_CHARACTERS, ask_href)


async def _show(context: RequestContext, spot: Spot, form: ReportFormView, status: int = 200) -> Response:
    if context.wants_fragment:
        return context.site.renderer.fragment(form, status)
    frame = await context.frame("Note it, or report a mistake", "Tell the people who run this course what is wrong.")
    return context.site.renderer.page(ReportPage(frame, form, spot.href), status)
