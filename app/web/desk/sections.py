"""The sections in which somebody teaches, and new ones."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from fastapi import APIRouter, Depends, Response
from fastapi.responses import RedirectResponse

from app.access.permissions import Permission, Role, is_allowed
from app.storage.records import Membership
from app.web.desk.typed_plan import BadPlan, TypedPlan, read_plan
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of, renew_token
from app.web.edge.zones import list_zones

router = APIRouter(include_in_schema=False)

TypedDep = Annotated[TypedPlan, Depends()]


@dataclass(frozen=True)
class DeskPage:
    template: ClassVar[str] = "desk.html"
    frame: Frame
    sections: tuple[Membership, ...]
    archived: tuple[Membership, ...]
    may_make: bool


@dataclass(frozen=True)
class NewSectionPage:
    template: ClassVar[str] = "new_section.html"
    frame: Frame
    fields: TypedPlan
    zones: tuple[str, ...]
    problem: str


@router.api_route("/desk", methods=["GET", "HEAD"])
async def desk(context: RequestContextDep) -> Response:
    assert context.account is not None
    mine = [one for one in await context.site.store.sections.of_account(context.account.id) if one.is_staff]
    roles = {one.role for one in mine} | ({Role.OPERATOR} if context.account.is_operator else set())
    page = DeskPage(
        frame=await context.frame("Your sections", "The sections in which you teach."),
        sections=tuple(one for one in mine if not one.is_archived),
        archived=tuple(one for one in mine if one.is_archived),
        may_make=is_allowed(Permission.MAKE_SECTIONS, roles),
    )
    return context.site.renderer.page(page)


@router.api_route("/desk/new", methods=["GET", "HEAD"])
async def new_section(context: RequestContextDep) -> Response:
    return await _show_new(context, TypedPlan())


@router.post("/desk/new")
async def make_section(context: RequestContextDep, typed: TypedDep) -> Response:
    """Make a section whose instructor is the person who asks for it."""
    await context.count(Act.WRITE)
    try:
        plan = read_plan(typed)
    except BadPlan as problem:
        return await _show_new(context, typed, str(problem))
    section = await context.site.store.sections.make_own(plan, actor_of(context))
    await renew_token(context)
    return RedirectResponse(f"/desk/{section}", 303)


async def _show_new(context: RequestContext, typed: TypedPlan, problem: str = "") -> Response:
    frame = await context.frame("A new section", "Make a section of people who take the course together.")
    page = NewSectionPage(frame, typed, list_zones(), problem)
    return context.site.renderer.page(page, 422 if problem else 200)
