"""What a checked launch carries from the platform's page to a page of its own."""

from pydantic import BaseModel, ConfigDict

from app.course.model import Course
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


def make_arrival(
    context: RequestContext, registration: Registration, launch: Launch, course: LtiCourse | None
) -> Arrival:
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
        target=find_target(context, launch),
    )


def find_target(context: RequestContext, launch: Launch) -> str:
    """The page that a link leads to: what it was made for, else the page whose address it has, else the course."""
    if path := find_page(context.course, launch.custom):
        return path
    if is_ours(launch.target, context.site.settings):
        path = local_path(launch.target[len(context.site.settings.address) :])
        if path.startswith(("/exercises/", "/chapters/")):
            return path
    return "/course"


def find_page(course: Course, custom: dict[str, str] | object) -> str:
    """The page that a link's custom parameters name, or nothing."""
    named = custom if isinstance(custom, dict) else {}
    if named.get("exercise") in course.exercises:
        return f"/exercises/{named['exercise']}"
    if named.get("chapter") in course.index.by_slug:
        return f"/chapters/{named['chapter']}"
    return ""
