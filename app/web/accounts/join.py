"""The question after signing in: does the work that this browser had before belong to the account?"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse

from app.storage.records import Work
from app.web.accounts.sign_in import NextInForm, NextInQuery
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.pages.theme import local_path

router = APIRouter(include_in_schema=False)


class Choice(StrEnum):
    KEEP = "keep"
    LEAVE = "leave"


@dataclass(frozen=True)
class JoinPage:
    """`work` says what there is, or, once `done`, what was kept."""

    template: ClassVar[str] = "join.html"
    frame: Frame
    work: str
    next: str
    done: bool


@router.api_route("/join", methods=["GET", "HEAD"])
async def ask(context: RequestContextDep, target: NextInQuery = "/me") -> Response:
    if context.session is None or context.session.unclaimed is None:
        return RedirectResponse(local_path(target), 303)
    work = await context.site.store.accounts.count_work(context.session.unclaimed)
    return await _show(context, describe_work(work), target)


@router.post("/join")
async def answer(
    context: RequestContextDep, choice: Annotated[Choice, Form()], target: NextInForm = "/me"
) -> Response:
    assert context.session is not None
    if choice is Choice.LEAVE:
        await context.site.store.sessions.leave_unclaimed(context.session)
        return RedirectResponse(local_path(target), 303)
    kept = await context.site.store.accounts.claim_work(context.session)
    return await _show(context, describe_work(kept), target, done=True)


async def _show(context: RequestContext, work: str, target: str, *, done: bool = False) -> Response:
    frame = await context.frame("Earlier work in this browser", "Whose is the work from before you signed in?")
    return context.site.renderer.page(JoinPage(frame, work, local_path(target), done))


def describe_work(work: Work) -> str:
    """In words, for example "work in 3 chapters and 2 drafts, hints and notes"; empty if there is none."""
    counted = (
        (work.chapters, "work in {} chapter", "work in {} chapters"),
        (work.submissions, "{} submission", "{} submissions"),
        (work.drafts_and_hints, "{} draft, hint or note", "{} drafts, hints and notes"),
        (work.reports, "{} report", "{} reports"),
        (work.drills, "{} answer to a drill", "{} answers to drills"),
    )
    parts = [(one if count == 1 else many).format(count) for count, one, many in counted if count]
    return parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + " and " + parts[-1] if parts else ""
