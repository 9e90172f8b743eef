"""An instructor who comes from a course at a platform says which section it is."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.access.permissions import Role
from app.storage.lti_courses import LtiCourse
from app.storage.records import Membership, SectionId
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.signing_in import actor_of

router = APIRouter(include_in_schema=False)

NEW = "new"


@dataclass(frozen=True)
class LinkCoursePage:
    template: ClassVar[str] = "link_course.html"
    frame: Frame
    course: LtiCourse
    action: str
    sections: tuple[Membership, ...]


@router.api_route("/lti/link/{course_at_platform}", methods=["GET", "HEAD"])
async def ask(context: RequestContextDep, course_at_platform: str) -> Response:
    course = await _find(context, course_at_platform)
    if course.section is not None:
        return RedirectResponse(f"/desk/{course.section}", 303)
    page = LinkCoursePage(
        frame=await context.frame("Which section is this course?", "Link a platform's course with a section."),
        course=course,
        action=f"/lti/link/{course.id}",
        sections=await _find_own(context),
    )
    return context.site.renderer.page(page)


@router.post("/lti/link/{course_at_platform}")
async def answer(
    context: RequestContextDep, course_at_platform: str, section: Annotated[str, Form(max_length=32)]
) -> Response:
    course = await _find(context, course_at_platform)
    store, actor = context.site.store, actor_of(context)
    if course.section is not None:
        raise HTTPException(409, "This course is linked with a section already.")
    if section == NEW:
        chosen = await store.sections.make((course.title or course.platform)[:120], actor)
    elif section in {role.section for role in await _find_own(context)}:
        chosen = SectionId(section)
    else:
        raise HTTPException(404, "You are no instructor of such a section.")
    if not await store.lti_courses.link(course.id, chosen, actor):
        raise HTTPException(409, "This course is linked with a section already.")
    return RedirectResponse(f"/desk/{chosen}", 303)


async def _find(context: RequestContext, course: str) -> LtiCourse:
    """A course from which this person came as an instructor. Anybody else is told that there is none."""
    assert context.account is not None
    courses = context.site.store.lti_courses
    found, member = await courses.find(course), await courses.find_member(course, context.account.id)
    if found is None or member is None or member.role is not Role.INSTRUCTOR:
        raise HTTPException(404)
    return found


async def _find_own(context: RequestContext) -> tuple[Membership, ...]:
    assert context.account is not None
    roles = await context.site.store.sections.of_account(context.account.id)
    return tuple(role for role in roles if role.is_active and role.role is Role.INSTRUCTOR and not role.is_archived)
