"""Choosing what a course at a platform links to. It happens within the platform's frame, where nobody is signed in.

So the picker carries a ticket: a launch by an instructor made it, and one answer uses it up.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, ClassVar

from fastapi import APIRouter, Form, Response
from pydantic import BaseModel, ConfigDict

from app.access.tokens import hash_token, make_token
from app.learning.grading import Assignment
from app.linking.deep_linking import ChosenLink, sign_choice
from app.linking.fetching import origin_of
from app.linking.lti import DeepLinking, Launch, LaunchRefused, Registration
from app.storage.audit import Actor
from app.storage.lti_launches import Ticket
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.lti.addresses import find_addresses
from app.web.lti.framing import let_frame, refuse
from app.web.lti.signing import get_signing_key

router = APIRouter(include_in_schema=False)

PICKER = "picker"
PICKER_LASTS = timedelta(hours=1)
MAX_CHOSEN = 100


class Picking(BaseModel):
    """What the picker's answer needs. `course` is empty for a launch that names none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    deployment: str
    return_url: str
    data: str | None
    accepts_many: bool
    accepts_line_items: bool
    course: str


@dataclass(frozen=True)
class Choice:
    """`key` is what the form sends: "assignment:ID", "exercise:NAME" or "chapter:SLUG"."""

    key: str
    title: str
    note: str


@dataclass(frozen=True)
class ChoiceGroup:
    title: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class PickerPage:
    template: ClassVar[str] = "picker.html"
    frame: Frame
    platform: str
    ticket: str
    groups: tuple[ChoiceGroup, ...]
    accepts_many: bool
    is_linked: bool
    problem: str


@dataclass(frozen=True)
class ChosenPage:
    """The answer on its way to the platform."""

    template: ClassVar[str] = "chosen.html"
    frame: Frame
    platform: str
    return_url: str
    message: str
    titles: tuple[str, ...]


async def show_picker(
    context: RequestContext, registration: Registration, launch: Launch, asked: DeepLinking
) -> Response:
    """The page with which a deep-linking launch ends. Raises LaunchRefused."""
    if launch.role not in ("instructor", "assistant"):
        raise LaunchRefused(f"Only those who teach a course at {registration.name} choose what it links to.")
    course = ""
    if launch.course:
        courses = context.site.store.lti_courses
        noted = await courses.note(
            registration.id, launch.deployment, launch.course, launch.course_title, launch.services
        )
        course = noted.id
    picking = Picking(
        deployment=launch.deployment,
        return_url=asked.return_url,
        data=asked.data,
        accepts_many=asked.accepts_many,
        accepts_line_items=asked.accepts_line_items,
        course=course,
    )
    token = make_token()
    ticket = Ticket(hash_token(token), registration.id, PICKER, picking.model_dump_json())
    await context.site.store.lti_launches.keep_ticket(ticket, context.now + PICKER_LASTS)
    return await _show(context, registration, picking, token)


@router.post("/lti/pick")
async def pick(
    context: RequestContextDep,
    ticket: Annotated[str, Form(max_length=100)],
    chosen: Annotated[list[str], Form()] = [],  # noqa: B006
) -> Response:
    """Answer the platform with the links that were chosen."""
    await context.count(Act.SIGN_IN)
    launches, token_hash = context.site.store.lti_launches, hash_token(ticket)
    try:
        kept = await launches.find_ticket(token_hash, PICKER, context.now)
        registration = await context.site.store.lti_registrations.find(kept.registration) if kept else None
        if kept is None or registration is None:
            raise LaunchRefused("This choice was made already, or it took more than an hour.")
        picking = Picking.model_validate_json(kept.launch)
        let_frame(context, registration, forms=(origin_of(picking.return_url), *registration.frame_origins))
        links = await _find_links(context, picking, chosen)
        if not links or (len(links) > 1 and not picking.accepts_many):
            many = "at least one" if picking.accepts_many else "one"
            return await _show(context, registration, picking, ticket, f"Choose {many}, then add it to the course.")
        if await launches.take_ticket(token_hash, PICKER, context.now) is None:
            raise LaunchRefused("This choice was made already.")
        return await _answer(context, registration, picking, links)
    except LaunchRefused as refusal:
        return refuse(context, refusal)


async def _answer(
    context: RequestContext, registration: Registration, picking: Picking, links: tuple[ChosenLink, ...]
) -> Response:
    site = context.site
    key = await get_signing_key(site.store.lti_registrations, site.settings.secret, Actor(None, context.now))
    url = find_addresses(site.settings).launch
    items = [link.as_item(url, with_line_item=picking.accepts_line_items) for link in links]
    page = ChosenPage(
        frame=await context.frame("Back to the platform", "What you chose goes to the platform now."),
        platform=registration.name,
        return_url=picking.return_url,
        message=sign_choice(registration, key, picking.deployment, items, picking.data, int(context.now.timestamp())),
        titles=tuple(link.title for link in links),
    )
    return site.renderer.page(page)


async def _show(
    context: RequestContext, registration: Registration, picking: Picking, ticket: str, problem: str = ""
) -> Response:
    course, assigned = context.course, await _find_assigned(context, picking)
    chapters = (Choice(f"chapter:{one.slug}", f"{one.number} {one.title}", "") for one in course.index.chapters)
    exercises = (Choice(f"exercise:{name}", one.manifest.title, "") for name, one in course.exercises.items())
    groups = (
        ChoiceGroup(
            "Assignments of this section, with grades",
            tuple(Choice(f"assignment:{one.id}", one.title, f"{one.points:g} points") for one in assigned or ()),
        ),
        ChoiceGroup("Chapters, to read", tuple(chapters)),
        ChoiceGroup("Exercises, to practise", tuple(exercises)),
    )
    page = PickerPage(
        frame=await context.frame("Add to your course", "Choose what a course at a learning platform links to."),
        platform=registration.name,
        ticket=ticket,
        groups=tuple(group for group in groups if group.choices),
        accepts_many=picking.accepts_many,
        is_linked=assigned is not None,
        problem=problem,
    )
    return context.site.renderer.page(page, 422 if problem else 200)


async def _find_assigned(context: RequestContext, picking: Picking) -> tuple[Assignment, ...] | None:
    """The published assignments of the course's section, or None if it is linked with no section."""
    course = await context.site.store.lti_courses.find(picking.course) if picking.course else None
    if course is None or course.section is None:
        return None
    return tuple(one for one in await context.site.store.assignments.of_section(course.section) if one.published)


async def _find_links(context: RequestContext, picking: Picking, chosen: list[str]) -> tuple[ChosenLink, ...]:
    """The links for what was chosen. What is not there to choose is left out."""
    course = context.course
    assigned = {one.id: one for one in await _find_assigned(context, picking) or ()}
    links = []
    for each in dict.fromkeys(chosen[:MAX_CHOSEN]):
        kind, _, name = each.partition(":")
        if kind == "assignment" and name in assigned:
            one = assigned[name]
            links.append(ChosenLink(one.title, (("assignment", one.id),), one.id, one.points, one.kind.value))
        elif kind == "exercise" and name in course.exercises:
            links.append(ChosenLink(course.exercises[name].manifest.title, (("exercise", name),)))
        elif kind == "chapter" and name in course.index.by_slug:
            chapter = course.index.by_slug[name]
            links.append(ChosenLink(f"{chapter.number} {chapter.title}", (("chapter", name),)))
    return tuple(links)
