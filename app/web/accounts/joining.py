"""How somebody becomes a learner of a section: by its code or a personal link, after reading who will see what."""

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

Code = Annotated[str, StringConstraints(max_length=200), Form()]
MAX_CODE_CHARACTERS = 20
"""What is longer is a personal link's token."""

UNKNOWN = "No section has this code. It may have been renewed: ask your instructor for the one that is valid now."
DEAD = "This link was used, or a newer one has ended it. Ask your instructor for a new one."
REFUSALS = {
    Joining.WAS_DROPPED: "The staff of {title} took you out of it. If that was a mistake, ask your instructor.",
    Joining.IS_STAFF: "You teach in {title}, and this link is a learner’s. Give it to the person whom it names.",
    Joining.HAS_LINE: "In {title} you are another person of the roster already. Is this link somebody else’s?",
    Joining.HAS_OFFER: "{title} offers you another role. Accept or decline it on the page of your account.",
}


@dataclass(frozen=True)
class JoinSectionPage:
    """Without `title`, the code is asked for; with it, whether the reader wants to join that section.

    `name` is the roster's name for the reader, where the link is a personal one.
    """

    template: ClassVar[str] = "join_section.html"
    frame: Frame
    title: str
    name: str
    code: str
    problem: str


@router.api_route("/join-section", methods=["GET", "HEAD"])
async def type_code(context: RequestContextDep) -> Response:
    return await _show(context)


@router.api_route("/join-section/{code}", methods=["GET", "HEAD"])
async def ask(context: RequestContextDep, code: str) -> Response:
    """Show the section before anything happens: a link alone makes nobody a member."""
    await context.count(Act.JOIN)
    code, store = _clean(code), context.site.store
    if _is_personal(code):
        invitation = await store.rosters.find_link(code)
        if invitation is None:
            return await _show(context, problem=DEAD)
        return await _show(context, invitation.title, code, name=invitation.name)
    section = await store.sections.find_by_code(code)
    if section is None:
        return await _show(context, problem=UNKNOWN)
    return await _show(context, section.title, code)


@router.post("/join-section")
async def join(context: RequestContextDep, code: Code, sure: Annotated[bool, Form()] = False) -> Response:
    """Join once the reader has seen which section it is; before, show it."""
    code, store, actor = _clean(code), context.site.store, actor_of(context)
    if not sure:
        return RedirectResponse(f"/join-section/{code}" if code else "/join-section", 303)
    await context.count(Act.JOIN)
    if _is_personal(code):
        joined = await store.rosters.join_by_link(code, actor)
    else:
        joined = await store.sections.join_by_code(code, actor)
    if joined is None:
        return await _show(context, problem=DEAD if _is_personal(code) else UNKNOWN)
    if joined.outcome in REFUSALS:
        return await _show(context, problem=REFUSALS[joined.outcome].format(title=joined.title))
    return RedirectResponse("/me/account", 303)


def _clean(typed: str) -> str:
    """A code however it was typed, or the token of a personal link; also out of a whole address."""
    last = typed.strip().rsplit("/", 1)[-1]
    return last if _is_personal(last) else read_join_code(last)


def _is_personal(code: str) -> bool:
    return len(code) > MAX_CODE_CHARACTERS


async def _show(
    context: RequestContext, title: str = "", code: str = "", *, name: str = "", problem: str = ""
) -> Response:
    frame = await context.frame("Join a section", "Become a learner of a section, with its code.")
    return context.site.renderer.page(JoinSectionPage(frame, title, name, code, problem), 422 if problem else 200)
