"""The desk's page of learning platforms: which courses the section is, and which grades did not arrive there."""

from dataclasses import dataclass
from datetime import tzinfo
from typing import ClassVar

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.learning.deadlines import say_moment
from app.learning.grade_sentences import say_points
from app.linking.grade_services import SCORE
from app.storage.lti_courses import LtiCourse
from app.storage.lti_scores import DUE, SENT, STOPPED, Delivery
from app.storage.records import SectionId
from app.web.desk.navigation import SectionNavigation, navigate
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of

router = APIRouter(include_in_schema=False)

HERE = "Platform"
SHOWN = 200


@dataclass(frozen=True)
class CourseRow:
    """`is_silent`: grades were tried, and not one has arrived."""

    action: str
    title: str
    platform: str
    grades: str
    synced: str
    may_send: bool
    is_silent: bool


@dataclass(frozen=True)
class ProblemRow:
    name: str
    title: str
    points: str
    problem: str


@dataclass(frozen=True)
class PlatformPage:
    template: ClassVar[str] = "platform.html"
    frame: Frame
    navigation: SectionNavigation
    courses: tuple[CourseRow, ...]
    problems: tuple[ProblemRow, ...]
    hidden: int
    """How many more problems there are than are shown."""
    problem: str


@router.api_route("/desk/{section}/platform", methods=["GET", "HEAD"])
async def platform_page(context: RequestContextDep, section: str) -> Response:
    return await show_platform(context, SectionId(section))


async def show_platform(context: RequestContext, here: SectionId, problem: str = "") -> Response:
    navigation = await navigate(context, here, HERE)
    store = context.site.store
    sent = await store.lti_scores.of_section(here)
    zone = (await store.assignments.policy(here)).zone
    stuck = [one for one in sent if one.problem]
    page = PlatformPage(
        frame=await context.frame(navigation.page_title, "The courses that this section is, and their grades."),
        navigation=navigation,
        courses=tuple(_show_course(one, sent, zone) for one in await store.lti_courses.of_section(here)),
        problems=tuple(_show_problem(one) for one in stuck[:SHOWN]),
        hidden=max(0, len(stuck) - SHOWN),
        problem=problem,
    )
    return context.site.renderer.page(page, 422 if problem else 200)


@router.post("/desk/{section}/platform/{course_at_platform}/send")
async def send_again(context: RequestContextDep, section: str, course_at_platform: str) -> Response:
    """Send every grade of a course again, and look for columns that were gone."""
    await context.count(Act.WRITE)
    found = await find_course(context, section, course_at_platform)
    await context.site.store.lti_scores.send_all_again(found.id, actor_of(context))
    return RedirectResponse(f"/desk/{section}/platform", 303)


@router.post("/desk/{section}/platform/{course_at_platform}/unlink")
async def unlink(context: RequestContextDep, section: str, course_at_platform: str) -> Response:
    found = await find_course(context, section, course_at_platform)
    await context.site.store.lti_courses.unlink(found.id, SectionId(section), actor_of(context))
    return RedirectResponse(f"/desk/{section}/platform", 303)


async def find_course(context: RequestContext, section: str, course: str) -> LtiCourse:
    """A course that is this section. Raises a 404 for any other."""
    for one in await context.site.store.lti_courses.of_section(SectionId(section)):
        if one.id == course:
            return one
    raise HTTPException(404, "No such course of a platform is linked with this section.")


def _show_course(course: LtiCourse, sent: tuple[Delivery, ...], zone: tzinfo) -> CourseRow:
    mine = [one.state for one in sent if one.course == course.id]
    arrived, waiting, stopped = (mine.count(state) for state in (SENT, DUE, STOPPED))
    return CourseRow(
        action=f"/desk/{course.section}/platform/{course.id}",
        title=course.title or "a course without a title",
        platform=course.platform,
        grades=f"{arrived} arrived, {waiting} on their way, {stopped} stopped",
        synced=say_moment(course.synced_at, zone) if course.synced_at else "",
        may_send=SCORE in course.scopes,
        is_silent=bool(stopped) and not any(one.sent_at for one in sent if one.course == course.id),
    )


def _show_problem(delivery: Delivery) -> ProblemRow:
    points = f"{say_points(delivery.points)} of {say_points(delivery.maximum)}"
    return ProblemRow(delivery.name, delivery.title, points, delivery.problem)
