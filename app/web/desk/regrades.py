"""Judging a section's exercise again: start it, look at what it would change, and let it count or drop it."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from fastapi import APIRouter, Form, Path, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.learning.deadlines import say_moment
from app.learning.grading import Assignment, Kind
from app.storage.records import SectionId
from app.storage.regrades import Item, Plan, Regrade, RegradePolicy, Scope
from app.web.desk.navigation import SectionNavigation, navigate
from app.web.edge.exercise_digest import read_digest
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of
from app.web.views.grades import grade_all
from app.web.views.regraded import Change, RegradeRow, accounts_of, change_work, count_changes, say_counts, show_rows
from graders.contract.jobs import Queue

router = APIRouter(include_in_schema=False)

MAX_REASON = 500
MAX_NUMBER = 2**31 - 1
NumberDep = Annotated[int, Path(ge=1, le=MAX_NUMBER)]


@dataclass(frozen=True)
class Choice:
    """An exercise that can be judged again: the assignment's id and title."""

    id: str
    title: str


@dataclass(frozen=True)
class RegradeLine:
    href: str
    title: str
    state: str
    reason: str
    made: str


@dataclass(frozen=True)
class RegradesPage:
    """`action` takes assignment, scope, policy and reason; empty where nothing may change."""

    template: ClassVar[str] = "regrades.html"
    frame: Frame
    navigation: SectionNavigation
    back_href: str
    lines: tuple[RegradeLine, ...]
    action: str
    choices: tuple[Choice, ...]
    chosen: str
    typed_reason: str
    max_reason: int
    problem: str


@dataclass(frozen=True)
class RegradePage:
    """`end_action` takes `act`, "apply" or "drop"; empty unless it is running. `waiting` are not judged yet."""

    template: ClassVar[str] = "regrade.html"
    frame: Frame
    navigation: SectionNavigation
    back_href: str
    address: str
    title: str
    reason: str
    state: str
    made: str
    rule: str
    counts: str
    """How many were raised, lowered and so on, in words."""
    rows: tuple[RegradeRow, ...]
    waiting: int
    end_action: str
    problem: str


@router.api_route("/desk/{section}/regrades", methods=["GET", "HEAD"])
async def regrades(context: RequestContextDep, section: str, assignment: str = "") -> Response:
    return await _show_all(context, SectionId(section), chosen=assignment)


@router.post("/desk/{section}/regrades")
async def start(
    context: RequestContextDep,
    section: str,
    assignment: Annotated[str, Form(max_length=32)] = "",
    scope: Annotated[Scope, Form()] = Scope.NEWEST,
    policy: Annotated[RegradePolicy, Form()] = RegradePolicy.RAISE,
    reason: Annotated[str, Form()] = "",
) -> Response:
    await context.count(Act.WRITE)
    here, reason, site = SectionId(section), " ".join(reason.split()), context.site
    found = next((one for one in await _list_exercises(context, here) if one.id == assignment), None)
    if found is None:
        raise HTTPException(404, "This section assigns no such exercise that the course has now.")
    if not 0 < len(reason) <= MAX_REASON:
        length = f"has {len(reason)} characters" if reason else "is empty"
        problem = f"The reason {length}; say in at most {MAX_REASON} what was wrong. Learners see it."
        return await _show_all(context, here, chosen=assignment, reason=reason, problem=problem)
    plan = Plan(scope, policy, reason, read_digest(context.course.exercises[found.target].folder))
    number = await site.store.regrades.start(here, assignment, plan, actor_of(context))
    if number is None:
        problem = (
            f"Nobody has handed in anything to {found.title} that was judged, so there is nothing to judge again."
        )
        return await _show_all(context, here, chosen=assignment, reason=reason, problem=problem)
    for queue in Queue:
        site.ledger.dispatcher.wake(queue)
    return RedirectResponse(f"/desk/{section}/regrades/{number}", 303)


@router.api_route("/desk/{section}/regrades/{number}", methods=["GET", "HEAD"])
async def regrade(context: RequestContextDep, section: str, number: NumberDep) -> Response:
    return await _show(context, SectionId(section), number)


@router.post("/desk/{section}/regrades/{number}/end")
async def end(
    context: RequestContextDep, section: str, number: NumberDep, act: Annotated[Literal["apply", "drop"], Form()]
) -> Response:
    """Let the results count, or forget them."""
    await context.count(Act.WRITE)
    here, store = SectionId(section), context.site.store.regrades
    if await store.find(here, number) is None:
        raise HTTPException(404, "This section has no such regrade.")
    done = store.apply if act == "apply" else store.drop
    if not await done(here, number, actor_of(context)):
        problem = "Nothing was changed: not everything is judged yet, or it was applied or dropped before."
        return await _show(context, here, number, problem)
    context.site.ledger.tell_forgotten()
    return RedirectResponse(f"/desk/{section}/regrades/{number}", 303)


async def _list_exercises(context: RequestContext, section: SectionId) -> tuple[Assignment, ...]:
    assigned = await context.site.store.assignments.of_section(section)
    return tuple(one for one in assigned if one.kind is Kind.EXERCISE and one.target in context.course.exercises)


async def _show_all(
    context: RequestContext, section: SectionId, *, chosen: str = "", reason: str = "", problem: str = ""
) -> Response:
    navigation = await navigate(context, section, "Gradebook")
    zone = (await context.site.store.assignments.policy(section)).zone
    found = await context.site.store.regrades.of_section(section)
    page = RegradesPage(
        frame=await context.frame(f"Judging again: {navigation.section_title}", "Exercises that are judged again."),
        navigation=navigation,
        back_href=f"/desk/{section}/gradebook",
        lines=tuple(
            RegradeLine(
                f"/desk/{section}/regrades/{one.number}",
                one.title,
                one.state,
                one.plan.reason,
                f"{say_moment(one.made_at, zone)}{f', {one.made_by}' if one.made_by else ''}",
            )
            for one in found
        ),
        action="" if navigation.is_archived else f"/desk/{section}/regrades",
        choices=tuple(Choice(one.id, one.title) for one in await _list_exercises(context, section)),
        chosen=chosen,
        typed_reason=reason,
        max_reason=MAX_REASON,
        problem=problem,
    )
    return context.site.renderer.page(page, 422 if problem else 200)


async def _show(context: RequestContext, section: SectionId, number: int, problem: str = "") -> Response:
    store = context.site.store
    navigation, found = await navigate(context, section, "Gradebook"), await store.regrades.find(section, number)
    if found is None:
        raise HTTPException(404, "This section has no such regrade.")
    items = await store.regrades.items(section, number)
    policy = await store.assignments.policy(section)
    counts, is_running = count_changes(items), found.state == "running"
    made = f"{say_moment(found.made_at, policy.zone)}{f' by {found.made_by}' if found.made_by else ''}"
    page = RegradePage(
        frame=await context.frame(f"{found.title}: judged again", "What judging an exercise again would change."),
        navigation=navigation,
        back_href=f"/desk/{section}/regrades",
        address=f"/desk/{section}/regrades/{number}",
        title=found.title,
        reason=found.plan.reason,
        state=found.state,
        made=made,
        rule=RULES[found.plan.policy],
        counts=say_counts(counts),
        rows=await _show_rows(context, section, found, items),
        waiting=counts[Change.WAITING],
        end_action=f"/desk/{section}/regrades/{number}/end" if is_running and not navigation.is_archived else "",
        problem=problem,
    )
    return context.site.renderer.page(page, 409 if problem else 200)


RULES = {
    RegradePolicy.RAISE: "Results can only rise; one that would be lower leaves the grade as it is.",
    RegradePolicy.REPLACE: "The new results replace the old ones, also where they are lower.",
}


async def _show_rows(
    context: RequestContext, section: SectionId, found: Regrade, items: tuple[Item, ...]
) -> tuple[RegradeRow, ...]:
    """With the grades as they are now, and as they are once this is applied."""
    store = context.site.store
    assigned = await store.assignments.of_section(section)
    assignment = next(one for one in assigned if one.id == found.assignment)
    accounts, policy = accounts_of(items), await store.assignments.policy(section)
    work = await store.assignments.class_work(section, [assignment], accounts)
    after = change_work(work, items, found.plan.policy) if found.state == "running" else work
    grades = [
        await asyncio.to_thread(grade_all, context.course, policy, [assignment], accounts, one, context.now)
        for one in (work, after)
    ]
    people = await store.gradebook.learners(section)
    return show_rows(section, assignment, items, people, policy.zone, found.plan.policy, (grades[0], grades[1]))
