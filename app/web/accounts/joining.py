"""How somebody becomes a learner of a section: by its code, typed or in a link, after reading who will see what."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse
from pydantic import StringConstraints

from app.access.join_codes import read_join_code
from app.storage.memberships import Joining
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of

router = APIRouter(include_in_schema=False)

Code = Annotated[str, StringConstraints(max_length=40), Form()]

UNKNOWN = "No section has this code. It may have been renewed: ask your instructor for the one that is valid now."
REFUSALS = {
    Joining.WAS_DROPPED: "The staff of {title} took you out of it. If that was a mistake, ask your instructor.",
    Joining.HAS_OFFER: "{title} offers you another role. Accept or decline it on the page of your account.",
}


@dataclass(frozen=True)
class JoinSectionPage:
    """Without `title`, the code is asked for; with it, whether the reader wants to join that section."""

    template: ClassVar[str] = "join_section.html"
    frame: Frame
    title: str
    code: str
    problem: str


@router.api_route("/join-section", methods=["GET", "HEAD"])
async def type_code(context: RequestContextDep) -> Response:
    return await _show(context)


@router.api_route("/join-section/{code}", methods=["GET", "HEAD"])
async def ask(context: RequestContextDep, code: str) -> Response:
    """Show the section before anything happens: a link alone makes nobody a member."""
    await context.count(Act.JOIN)
    code = read_join_code(code)
    section = await context.site.store.sections.find_by_code(code)
    if section is None:
        return await _show(context, problem=UNKNOWN)
    return await _show(context, section.title, code)


@router.post("/join-section")
async def join(context: RequestContextDep, code: Code, sure: Annotated[bool, Form()] = False) -> Response:
    """Join once the reader has seen which section it is; before, show it."""
    code = read_join_code(code)
    if not sure:
        return RedirectResponse(f"/join-section/{code}" if code else "/join-section", 303)
    await context.count(Act.JOIN)
    joined = await context.site.store.sections.join_by_code(code, actor_of(context))
    if joined is None:
        return await _show(context, problem=UNKNOWN)
    if joined.outcome in REFUSALS:
        return await _show(context, problem=REFUSALS[joined.outcome].format(title=joined.title))
    return RedirectResponse("/me/account", 303)


async def _show(context: RequestContext, title: str = "", code: str = "", problem: str = "") -> Response:
    frame = await context.frame("Join a section", "Become a learner of a section, with its code.")
    return context.site.renderer.page(JoinSectionPage(frame, title, code, problem), 422 if problem else 200)
