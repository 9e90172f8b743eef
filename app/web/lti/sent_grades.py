"""A learner's page of the grades that went to their school's learning platform, or did not, and why."""

from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Annotated, ClassVar
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.learning.deadlines import say_moment
from app.learning.grade_sentences import say_points
from app.storage.lti_scores import DUE, SENT, Delivery
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of

router = APIRouter(include_in_schema=False)

HOME = "/me/sent-grades"


@dataclass(frozen=True)
class SentRow:
    """`course` and `assignment` name the grade in the form that sends it again."""

    title: str
    platform: str
    points: str
    state: str
    course: str
    assignment: str
    may_send_again: bool


@dataclass(frozen=True)
class SentGradesPage:
    template: ClassVar[str] = "sent_grades.html"
    frame: Frame
    action: str
    rows: tuple[SentRow, ...]


@router.api_route(HOME, methods=["GET", "HEAD"])
async def sent_grades(context: RequestContextDep) -> Response:
    assert context.account is not None
    found = await context.site.store.lti_scores.of_account(context.account.id)
    zones = {one.section: await _find_zone(context, one) for one in found}
    page = SentGradesPage(
        frame=await context.frame("Sent grades", "Which grades went to your school's learning platform."),
        action=HOME,
        rows=tuple(_show(one, zones[one.section]) for one in found),
    )
    return context.site.renderer.page(page)


@router.post(HOME)
async def send_again(
    context: RequestContextDep,
    course: Annotated[str, Form(max_length=32)],
    assignment: Annotated[str, Form(max_length=32)],
) -> Response:
    """Send one of one's own grades again."""
    await context.count(Act.WRITE)
    assert context.account is not None
    which = {"context": course, "assignment": assignment, "account": context.account.id}
    if not await context.site.store.lti_scores.send_again(which, actor_of(context)):
        raise HTTPException(404, "No grade of yours waits there to be sent again; it may be on its way already.")
    return RedirectResponse(HOME, 303)


async def _find_zone(context: RequestContext, delivery: Delivery) -> ZoneInfo:
    return (await context.site.store.assignments.policy(delivery.section)).zone


def _show(delivery: Delivery, zone: tzinfo) -> SentRow:
    return SentRow(
        title=delivery.title,
        platform=delivery.platform,
        points=f"{say_points(delivery.points)} of {say_points(delivery.maximum)}",
        state=say_state(delivery, zone),
        course=delivery.course,
        assignment=delivery.assignment,
        may_send_again=delivery.state != DUE,
    )


def say_state(delivery: Delivery, zone: tzinfo) -> str:
    """How far a grade got: "sent Fri 4 Dec 2026 14:02 (Europe/Zurich)", or why it did not arrive."""
    sent = f"sent {_say(delivery.sent_at, zone)}" if delivery.sent_at else ""
    if delivery.state == SENT:
        return sent
    now = delivery.problem or "on its way; it is sent within a minute or two"
    return f"{now} An earlier one was {sent}." if sent and delivery.problem else now


def _say(at: datetime, zone: tzinfo) -> str:
    return say_moment(at, zone)
