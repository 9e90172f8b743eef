"""What a checked launch carries from the platform's page to a page of its own."""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from app.course.model import Course
from app.learning.grading import Assignment, Kind
from app.linking.lti import CourseRole, Launch, Registration
from app.storage.lti_courses import LtiCourse
from app.web.edge.identity import RequestContext
from app.web.lti.addresses import is_ours
from app.web.pages.theme import local_path


class Arrival(BaseModel):
    """Who comes from where, and where they go. `course` is empty for a launch that names none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    registration: str
    platform: str
    subject: str
    name: str
    email: str
    student_number: str
    role: CourseRole | None
    is_test: bool
    course: str
    target: str


async def make_arrival(
    context: RequestContext, registration: Registration, launch: Launch, course: LtiCourse | None
) -> Arrival:
    assigned = await find_assigned(context, launch, course)
    if assigned is not None and course is not None and launch.services.lineitem:
        scores = context.site.store.lti_scores
        await scores.note_line_item(course.id, assigned.id, launch.services.lineitem, context.now)
    return Arrival(
        registration=registration.id,
        platform=registration.name,
        subject=launch.subject,
        name=launch.name,
        email=launch.email,
        student_number=launch.student_number,
        role=launch.role,
        is_test=launch.is_test,
        course=course.id if course else "",
        target=find_target(context, launch, assigned),
    )


def find_target(context: RequestContext, launch: Launch, assigned: Assignment | None) -> str:
    """The page that a link leads to: what it was made for, else the page whose address it has, else the course."""
    if path := find_page(context.course, launch.custom, assigned):
        return path
    if is_ours(launch.target, context.site.settings):
        path = local_path(launch.target[len(context.site.settings.address) :])
        if path.startswith(("/exercises/", "/chapters/")):
            return path
    return "/course"


def find_page(course: Course, custom: Mapping[str, str], assigned: Assignment | None) -> str:
    """The page that a link's custom parameters name, or nothing."""
    exercise, chapter = custom.get("exercise"), custom.get("chapter")
    if assigned is not None:
        is_exercise = assigned.kind is Kind.EXERCISE
        exercise, chapter = (assigned.target, None) if is_exercise else (None, assigned.target)
    if exercise in course.exercises:
        return f"/exercises/{exercise}"
    return f"/chapters/{chapter}" if chapter in course.index.by_slug else ""


async def find_assigned(context: RequestContext, launch: Launch, course: LtiCourse | None) -> Assignment | None:
    """The assignment of the course's section that a link was made for: named as such, or by its exercise."""
    if course is None or course.section is None:
        return None
    assigned = await context.site.store.assignments.of_section(course.section)
    named, page = launch.custom.get("assignment"), find_target(context, launch, None)
    for one in assigned:
        if one.id == named or (one.kind is Kind.EXERCISE and page == f"/exercises/{one.target}"):
            return one
    return None
