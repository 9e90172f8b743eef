"""The sections in which somebody teaches, and new ones."""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from fastapi import APIRouter, Depends, Form, Query, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.access.permissions import Permission, Role, is_allowed
from app.storage.records import Membership, Section, SectionId
from app.web.desk.typed_plan import BadPlan, TypedPlan, read_plan, show_plan
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of, renew_token
from app.web.edge.zones import list_zones

router = APIRouter(include_in_schema=False)

TypedDep = Annotated[TypedPlan, Depends()]
FromInQuery = Annotated[str, Query(alias="from", max_length=32)]
FromInForm = Annotated[str, Form(alias="from", max_length=32)]


@dataclass(frozen=True)
class DeskPage:
    template: ClassVar[str] = "desk.html"
    frame: Frame
    sections: tuple[Membership, ...]
    archived: tuple[Membership, ...]
    may_make: bool


@dataclass(frozen=True)
class NewSectionPage:
    """`fields` are what was typed, or what the former section had."""

    template: ClassVar[str] = "new_section.html"
    frame: Frame
    fields: TypedPlan
    zones: tuple[str, ...]
    source: str
    """The id of the former section whose plan is copied, or empty. The next two are about it."""
    former_title: str
    former_began: str
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
async def new_section(context: RequestContextDep, source: FromInQuery = "") -> Response:
    """A form with the reader's own time zone, or with the rules of a former section, whose plan is then copied."""
    former = await _find_former(context, source)
    if former is None:
        assert context.learner is not None
        deck = await context.site.store.review_cards.deck(context.learner)
        return await _show_new(context, TypedPlan(zone=deck.zone))
    typed = show_plan(replace(former.plan, starts_on=None, ends_on=None))
    return await _show_new(context, typed, former=former)


@router.post("/desk/new")
async def make_section(context: RequestContextDep, typed: TypedDep, source: FromInForm = "") -> Response:
    """Make a section whose instructor is the person who asks for it."""
    await context.count(Act.WRITE)
    sections, actor = context.site.store.sections, actor_of(context)
    former = await _find_former(context, source)
    try:
        plan = read_plan(typed)
        if former and former.plan.starts_on and plan.starts_on is None:
            raise BadPlan(f"The first day is missing; {former.title} began on {former.plan.starts_on}.")
    except BadPlan as problem:
        return await _show_new(context, typed, str(problem), former)
    made = await (sections.make_copy(former.id, plan, actor) if former else sections.make_own(plan, actor))
    await renew_token(context)
    return RedirectResponse(f"/desk/{made}", 303)


async def _find_former(context: RequestContext, source: str) -> Section | None:
    """The section with this id, if the reader is its instructor. Raises a 404 for another one, and for none."""
    if not source:
        return None
    assert context.account is not None
    sections = context.site.store.sections
    reader = await sections.find_role(SectionId(source), context.account.id)
    if reader is None or reader.role is not Role.INSTRUCTOR:
        raise HTTPException(404)
    return await sections.find(SectionId(source))


async def _show_new(
    context: RequestContext, typed: TypedPlan, problem: str = "", former: Section | None = None
) -> Response:
    page = NewSectionPage(
        frame=await context.frame("A new section", "Make a section of people who take the course together."),
        fields=typed,
        zones=list_zones(),
        source=former.id if former else "",
        former_title=former.title if former else "",
        former_began=former.plan.starts_on.isoformat() if former and former.plan.starts_on else "",
        problem=problem,
    )
    return context.site.renderer.page(page, 422 if problem else 200)
