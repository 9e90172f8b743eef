"""The class list of a platform: fetched, shown as what it would change, and taken over once an instructor says so."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse

from app.learning.roster import Compared, Entry, State
from app.linking.fetching import NoAnswer
from app.linking.lti import Registration
from app.linking.members import read_members
from app.linking.platforms import NoToken
from app.storage.audit import Actor
from app.storage.lti_courses import LtiCourse
from app.storage.lti_roster import RosterChanges
from app.storage.records import SectionId
from app.web.desk.navigation import SectionNavigation, navigate
from app.web.desk.platform import HERE, find_course, show_platform
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of
from app.web.lti.signing import get_signing_key

router = APIRouter(include_in_schema=False)


class NoList(Exception):
    """There is no class list. The message is a sentence for the instructor."""


@dataclass(frozen=True)
class PlatformRosterPage:
    """`digest` names what is shown; `drops_many`: the instructor has to say so once more."""

    template: ClassVar[str] = "platform_roster.html"
    frame: Frame
    navigation: SectionNavigation
    action: str
    course: str
    summary: str
    rows: tuple[Compared, ...]
    gone: tuple[str, ...]
    nameless: int
    digest: str
    drops_many: bool
    has_changes: bool
    problem: str


@router.post("/desk/{section}/platform/{course_at_platform}/roster")
async def preview(context: RequestContextDep, section: str, course_at_platform: str) -> Response:
    """What the platform's list would change. It changes nothing."""
    await context.count(Act.EXPORT)
    here = SectionId(section)
    course = await find_course(context, section, course_at_platform)
    try:
        entries = await _fetch(context, course)
    except NoList as problem:
        return await show_platform(context, here, str(problem))
    changes = await context.site.store.lti_rosters.compare(course.id, here, entries)
    return await _show(context, here, course, changes, entries)


@router.post("/desk/{section}/platform/{course_at_platform}/roster/apply")
async def apply(
    context: RequestContextDep,
    section: str,
    course_at_platform: str,
    digest: Annotated[str, Form(max_length=32)] = "",
    sure: Annotated[bool, Form()] = False,
) -> Response:
    """Take the list over, if it still means what was shown."""
    await context.count(Act.EXPORT)
    here = SectionId(section)
    course = await find_course(context, section, course_at_platform)
    rosters = context.site.store.lti_rosters
    try:
        entries = await _fetch(context, course)
    except NoList as problem:
        return await show_platform(context, here, str(problem))
    found = await rosters.compare(course.id, here, entries)
    if found.drops_many and not sure:
        refusal = "More than a third would be dropped. Tick that this is right, or look at the list in the platform."
        return await _show(context, here, course, found, entries, refusal)
    if (other := await rosters.apply(course.id, here, entries, digest, actor_of(context))) is not None:
        refusal = "The list has changed since. This is what it means now."
        return await _show(context, here, course, other, entries, refusal)
    return RedirectResponse(f"/desk/{section}/platform", 303)


async def _fetch(context: RequestContext, course: LtiCourse) -> tuple[Entry, ...]:
    """The learners that the platform lists. Raises NoList."""
    site = context.site
    registration = await site.store.lti_registrations.find(course.registration)
    if registration is None or not course.memberships_url:
        raise NoList(
            f"{course.platform} offers no class list to this site. Its administrator has to allow the service for "
            "names and roles; then open a link there once more."
        )
    try:
        return await _read_learners(context, course, registration)
    except (NoAnswer, NoToken) as problem:
        raise NoList(f"{course.platform} gives no class list just now: {problem}. Try again later.") from problem


async def _read_learners(context: RequestContext, course: LtiCourse, registration: Registration) -> tuple[Entry, ...]:
    site, actor = context.site, Actor(None, context.now)
    key = await get_signing_key(site.store.lti_registrations, site.settings.secret, actor)
    members = await read_members(site.platforms, registration, key, course.memberships_url)
    return tuple(
        Entry(one.name, one.email, one.student_number, "", {registration.id: one.subject})
        for one in members
        if one.role == "learner"
    )


async def _show(
    context: RequestContext,
    section: SectionId,
    course: LtiCourse,
    changes: RosterChanges,
    entries: tuple[Entry, ...],
    problem: str = "",
) -> Response:
    navigation = await navigate(context, section, HERE)
    counted = [(state, sum(row.state is state for row in changes.rows)) for state in State]
    parts = [f"{count} {state}" for state, count in counted if count]
    page = PlatformRosterPage(
        frame=await context.frame(navigation.page_title, "What the platform's class list means for the section."),
        navigation=navigation,
        action=f"/desk/{section}/platform/{course.id}/roster/apply",
        course=course.title or course.platform,
        summary=", ".join([*parts, *([f"{len(changes.gone)} dropped"] if changes.gone else [])]) or "nobody",
        rows=tuple(row for row in changes.rows if row.state is not State.UNCHANGED),
        gone=tuple(one.name for one in changes.gone),
        nameless=sum(not entry.name for entry in entries),
        digest=changes.digest,
        drops_many=changes.drops_many,
        has_changes=bool(changes.gone) or any(row.state is not State.UNCHANGED for row in changes.rows),
        problem=problem,
    )
    return context.site.renderer.page(page, 422 if problem else 200)
