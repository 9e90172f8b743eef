"""What an instructor sets for a section: its dates and rules, the code by which learners join, the archive."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.access.join_codes import make_join_code, show_join_code
from app.storage.records import SectionId
from app.web.desk.navigation import SectionNavigation, navigate
from app.web.desk.sections import TypedDep
from app.web.desk.typed_plan import BadPlan, TypedPlan, read_plan, show_plan
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of
from app.web.edge.zones import list_zones

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class SettingsPage:
    """`join_code` is empty while nobody can join by one; `join_address` then is too."""

    template: ClassVar[str] = "section_settings.html"
    frame: Frame
    navigation: SectionNavigation
    fields: TypedPlan
    zones: tuple[str, ...]
    join_code: str
    join_address: str
    problem: str


@router.api_route("/desk/{section}/settings", methods=["GET", "HEAD"])
async def settings_page(context: RequestContextDep, section: str) -> Response:
    return await _show(context, SectionId(section))


@router.post("/desk/{section}/settings")
async def change(context: RequestContextDep, section: str, typed: TypedDep) -> Response:
    await context.count(Act.WRITE)
    try:
        plan = read_plan(typed)
    except BadPlan as problem:
        return await _show(context, SectionId(section), typed, str(problem))
    await context.site.store.sections.change(SectionId(section), plan, actor_of(context))
    return RedirectResponse(f"/desk/{section}/settings", 303)


@router.post("/desk/{section}/code")
async def set_code(
    context: RequestContextDep, section: str, act: Annotated[Literal["renew", "close"], Form()]
) -> Response:
    """A new code in place of the former, or none."""
    await context.count(Act.WRITE)
    code = make_join_code() if act == "renew" else None
    await context.site.store.sections.set_code(SectionId(section), code, actor_of(context))
    return RedirectResponse(f"/desk/{section}/settings#section-code", 303)


@router.post("/desk/{section}/archive")
async def archive(
    context: RequestContextDep, section: str, act: Annotated[Literal["archive", "reopen"], Form()]
) -> Response:
    sections, actor = context.site.store.sections, actor_of(context)
    await context.count(Act.WRITE)
    await (sections.archive if act == "archive" else sections.reopen)(SectionId(section), actor)
    return RedirectResponse(f"/desk/{section}/settings", 303)


async def _show(
    context: RequestContext, section: SectionId, typed: TypedPlan | None = None, problem: str = ""
) -> Response:
    navigation = await navigate(context, section, "Section")
    found = await context.site.store.sections.find(section)
    if found is None:
        raise HTTPException(404)
    page = SettingsPage(
        frame=await context.frame(navigation.page_title, "Its dates, its rules, and how learners join."),
        navigation=navigation,
        fields=typed or show_plan(found.plan),
        zones=list_zones(),
        join_code=show_join_code(found.join_code) if found.join_code else "",
        join_address=f"{context.site_address}/join-section/{found.join_code}" if found.join_code else "",
        problem=problem,
    )
    return context.site.renderer.page(page, 422 if problem else 200)
