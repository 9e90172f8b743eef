"""Seeing the course as a learner of the section: as one who has done nothing, on a date, or as one person.

What of a person is seen: their submissions to exercises with their verdicts, this section's comments on them, and
what the section sets for them, with their grades. Not seen: drafts, notes, hints, answers, predictions, progress,
review, runs, public checks, reports, questions, comments and grades of other sections, the time zone, the account,
the export, the calendar and its address. A view begins here, and ends at `/view/end`, after half an hour, or with the
session. What is closed meanwhile stands in app/web/edge/access.py.
"""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from fastapi import APIRouter, Form, Query, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.storage.audit import Actor
from app.storage.records import AccountId, SectionId
from app.storage.viewings import VIEWING_LASTS, NewViewing
from app.web.desk.assignment_form import FormMistake, read_time, write_time
from app.web.desk.navigation import SectionNavigation, navigate
from app.web.desk.submissions import HERE
from app.web.edge.addresses import hash_address
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of

router = APIRouter(include_in_schema=False)

MAX_REASON = 300
NOBODY = "Only active learners of this section, who are staff nowhere, can be seen so."


@dataclass(frozen=True)
class ViewAsPage:
    """`any_action` takes `at`, a time of the section's clock. `person` is whom the reader has chosen, or empty; then
    `person_action` takes `reason`."""

    template: ClassVar[str] = "view_as.html"
    frame: Frame
    navigation: SectionNavigation
    zone: str
    at: str
    any_action: str
    people: tuple[Link, ...]
    person: str
    person_action: str
    reason: str
    minutes: int
    max_reason: int
    problem: str


@router.api_route("/desk/{section}/view-as", methods=["GET", "HEAD"])
async def view_as_page(
    context: RequestContextDep, section: str, account: Annotated[str, Query(max_length=32)] = ""
) -> Response:
    return await _show(context, SectionId(section), account)


@router.post("/desk/{section}/view-as")
async def as_any_learner(
    context: RequestContextDep, section: str, at: Annotated[str, Form(max_length=40)] = ""
) -> Response:
    """See what the section sets at a time, and nobody's work."""
    here = SectionId(section)
    try:
        moment = read_time(at, await context.site.store.assignments.policy(here), "the time to look at")
    except FormMistake as mistake:
        return await _show(context, here, problem=str(mistake))
    return await _begin(context, NewViewing(here, at=moment or context.now))


@router.post("/desk/{section}/people/{account}/view-as")
async def as_person(
    context: RequestContextDep, section: str, account: str, reason: Annotated[str, Form()] = ""
) -> Response:
    here, reason = SectionId(section), " ".join(reason.split())
    if not 0 < len(reason) <= MAX_REASON:
        length = f"has {len(reason)} characters" if reason else "is empty"
        problem = f"The reason {length}; say in at most {MAX_REASON} why you look. The person and the audit have it."
        return await _show(context, here, account, problem, reason)
    return await _begin(context, NewViewing(here, AccountId(account), reason=reason))


@router.post("/view/end")
async def end(context: RequestContextDep) -> Response:
    """Back to one's own account. Without a view, to the desk."""
    site, viewing, viewer = context.site, context.viewing, context.viewer
    if viewing is None or viewer is None or viewer.account is None:
        return RedirectResponse("/desk", 303)
    actor = Actor(viewer.account.id, site.clock(), hash_address(context.address, site.settings.secret))
    await site.store.viewings.end(viewer, actor)
    return RedirectResponse(f"/desk/{viewing.section}/view-as", 303)


async def _begin(context: RequestContext, wanted: NewViewing) -> Response:
    assert context.session is not None
    await context.count(Act.WRITE)
    if not await context.site.store.viewings.begin(context.session, wanted, actor_of(context)):
        raise HTTPException(404, NOBODY)
    return RedirectResponse("/course", 303)


async def _show(
    context: RequestContext, section: SectionId, chosen: str = "", problem: str = "", reason: str = ""
) -> Response:
    navigation = await navigate(context, section, HERE)
    policy = await context.site.store.assignments.policy(section)
    may_be_seen = await context.site.store.sections.resettable(section)
    learners = await context.site.store.class_submissions.learners(section)
    people = {str(one.account): one.name for one in learners if one.account in may_be_seen}
    if chosen and chosen not in people:
        raise HTTPException(404, NOBODY)
    address = f"/desk/{section}/view-as"
    page = ViewAsPage(
        frame=await context.frame(f"View as: {navigation.section_title}", "See the course as a learner does."),
        navigation=navigation,
        zone=str(policy.zone),
        at=write_time(context.now, policy),
        any_action=address,
        people=tuple(Link(f"{address}?account={account}#as-person", name) for account, name in people.items()),
        person=people.get(chosen, ""),
        person_action=f"/desk/{section}/people/{chosen}/view-as" if chosen else "",
        reason=reason,
        minutes=int(VIEWING_LASTS.total_seconds() // 60),
        max_reason=MAX_REASON,
        problem=problem,
    )
    return context.site.renderer.page(page, 422 if problem else 200)
