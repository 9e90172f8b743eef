"""From a checked launch to a session. The page shown by the launch sends a ticket, which works once.

A frame of a platform keeps no session, and a request from another site brings none. The page's own form does: it
comes from this site, so the browser shows which session it has, and the person can say whether that account is
theirs. Signing in never links by itself, because on a shared computer the account may be somebody else's.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, ClassVar, Literal

from fastapi import APIRouter, Form, Response

from app.access.names import MAX_NAME_CHARACTERS, BadName, clean_name
from app.access.permissions import Role
from app.access.session_limits import RECENT
from app.access.tokens import hash_token, make_token
from app.linking.lti import Launch, LaunchRefused, Registration
from app.storage.audit import Actor
from app.storage.lti_courses import LtiCourse
from app.storage.lti_launches import Ticket
from app.storage.lti_people import Member
from app.storage.records import LTI, Account, Identity
from app.web.edge.errors import Words, respond_with_words
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of, after_sign_in, sign_in
from app.web.lti.arrival import Arrival, make_arrival

router = APIRouter(include_in_schema=False)

ARRIVAL = "arrival"
TICKET_LASTS = timedelta(minutes=2)
MAX_TICKET_CHARACTERS = 100
MAX_METHOD_CHARACTERS = 80

REFUSED = Words("This link cannot be opened", "", "Open it in your course once more.")


@dataclass(frozen=True)
class ArrivalPage:
    """The way on from a platform. `ticket` is empty for somebody whom the platform does not name."""

    template: ClassVar[str] = "arrival.html"
    frame: Frame
    platform: str
    course_title: str
    ticket: str
    target: str
    is_framed: bool


@dataclass(frozen=True)
class WhosePage:
    """The question whether the account that is signed in is the person's who comes from the platform."""

    template: ClassVar[str] = "whose_account.html"
    frame: Frame
    platform: str
    name: str
    account_name: str
    ticket: str
    may_link: bool


async def show_arrival(context: RequestContext, registration: Registration, launch: Launch) -> Response:
    """The page with which a launch ends. Raises LaunchRefused."""
    course = await _note_course(context, registration, launch)
    if course is not None and launch.subject and launch.role is None:
        raise LaunchRefused(
            f"{registration.name} says that you are neither instructor, assistant nor learner in this course.",
        )
    arrival = await make_arrival(context, registration, launch, course)
    ticket = ""
    if arrival.subject:
        ticket = make_token()
        kept = Ticket(hash_token(ticket), registration.id, ARRIVAL, arrival.model_dump_json())
        await context.site.store.lti_launches.keep_ticket(kept, context.now + TICKET_LASTS)
    page = ArrivalPage(
        frame=await context.frame(context.course.title, "Opened from a learning platform."),
        platform=registration.name,
        course_title=context.course.title,
        ticket=ticket,
        target=arrival.target,
        # A browser that does not say so may be in a frame; a new tab is right in both cases.
        is_framed=context.request.headers.get("sec-fetch-dest") != "document",
    )
    return context.site.renderer.page(page)


async def _note_course(context: RequestContext, registration: Registration, launch: Launch) -> LtiCourse | None:
    if not launch.course:
        return None
    return await context.site.store.lti_courses.note(
        registration.id, launch.deployment, launch.course, launch.course_title, launch.services
    )


@router.post("/lti/open")
async def open_ticket(
    context: RequestContextDep,
    ticket: Annotated[str, Form(max_length=MAX_TICKET_CHARACTERS)],
    choice: Annotated[Literal["mine", "other", ""], Form()] = "",
) -> Response:
    await context.count(Act.SIGN_IN)
    launches, token_hash = context.site.store.lti_launches, hash_token(ticket)
    kept = await launches.find_ticket(token_hash, ARRIVAL, context.now)
    try:
        if kept is None:
            raise LaunchRefused("This link was opened already, or it took too long.")
        arrival = Arrival.model_validate_json(kept.launch)
        identities = context.site.store.identities
        known = await identities.find_account(arrival.registration, arrival.subject, context.now, LTI)
        if known is None and context.account is not None and not choice:
            return await _ask_whose(context, arrival, context.account, ticket)
        if await launches.take_ticket(token_hash, ARRIVAL, context.now) is None:
            raise LaunchRefused("This link was opened already.")
        account = known or await _find_account(context, arrival, choice)
        return await _enter(context, arrival, account)
    except LaunchRefused as refusal:
        return respond_with_words(context.site, context.request, 403, str(refusal), words=REFUSED)


async def _ask_whose(context: RequestContext, arrival: Arrival, account: Account, ticket: str) -> Response:
    frame = await context.frame(
        "Is this account yours?", "You come here from a learning platform for the first time."
    )
    page = WhosePage(frame, arrival.platform, arrival.name, account.name, ticket, _may_link(context))
    return context.site.renderer.page(page)


def _may_link(context: RequestContext) -> bool:
    """Only right after signing in, because whoever runs the platform can then enter the account."""
    session = context.session
    if session is None or session.account is None or session.account.is_operator or session.authenticated_at is None:
        return False
    return context.now - session.authenticated_at <= RECENT


async def _find_account(context: RequestContext, arrival: Arrival, choice: str) -> Account:
    """The account of somebody who comes for the first time. Raises LaunchRefused."""
    identities, actor = context.site.store.identities, actor_of(context)
    display = (arrival.email or arrival.name or arrival.subject)[:120]
    identity = Identity(arrival.registration, arrival.subject, display, context.now, context.now, LTI)
    if choice == "mine" and context.account is not None:
        if not _may_link(context):
            raise LaunchRefused("An account is linked within 15 minutes of signing in, and never an operator's.")
        if await identities.link(context.account.id, identity, actor):
            return context.account
    account = await identities.create_account(_clean(arrival.name), identity, actor)
    if account is None:
        raise LaunchRefused("Your account here is closed. Ask the person who runs this site.")
    return account


async def _enter(context: RequestContext, arrival: Arrival, account: Account) -> Response:
    """Make the person a member of the course's section, and sign them in. Raises LaunchRefused."""
    if account.is_operator:
        raise LaunchRefused("An operator signs in with a password, because whoever runs a platform can send anybody.")
    target, courses = arrival.target, context.site.store.lti_courses
    course = await courses.find(arrival.course) if arrival.course else None
    if course is not None and arrival.role is not None and not arrival.is_test:
        member = Member(
            account=account.id,
            subject=arrival.subject,
            role=Role(arrival.role),
            at=context.now,
            name=arrival.name,
            email=arrival.email,
            student_number=arrival.student_number,
        )
        actor = Actor(account.id, context.now, actor_of(context).address_hash)
        if problem := await courses.enter(course.id, member, actor):
            raise LaunchRefused(problem)
        if course.section is None and member.role is Role.INSTRUCTOR:
            target = f"/lti/link/{course.id}"
    session = await sign_in(context, account, arrival.platform[:MAX_METHOD_CHARACTERS])
    return after_sign_in(context, session, target)


def _clean(name: str) -> str:
    try:
        return clean_name(name[:MAX_NAME_CHARACTERS])
    except BadName:
        return "Learner"
