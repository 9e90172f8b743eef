"""One assignment: its points, dates and rules, and who was granted more time, more attempts, or excused."""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from fastapi import APIRouter, Depends, Form, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.access.permissions import Permission, Role, is_allowed
from app.course.model import Course
from app.learning.deadlines import add_days, say_moment
from app.learning.grade_sentences import say_due, say_points
from app.learning.grading import Allowance, Assignment, Counts, Credit, Kind, Policy, find_terms
from app.storage.assignments import Granted
from app.storage.records import AccountId, SectionId
from app.web.desk.assignment_form import (
    MAX_ATTEMPTS,
    MAX_DAYS,
    MAX_REASON_CHARACTERS,
    MAX_TITLE_CHARACTERS,
    FormMistake,
    RulesForm,
    TextField,
    read_reason,
    read_rules,
    read_time,
    read_whole,
    write_time,
)
from app.web.desk.assignments import HERE
from app.web.desk.exercise_files import exercise_files_href
from app.web.desk.navigation import SectionNavigation, navigate
from app.web.edge.access import NotAllowed
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of
from app.web.views.assigned import find_href, say_kind, title_target

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class AllowanceRow:
    account: str
    name: str
    words: str
    reason: str
    granted_by: str


@dataclass(frozen=True)
class Person:
    account: str
    name: str


@dataclass(frozen=True)
class AssignmentPage:
    """The actions are empty for somebody who may not do that. `sent` has the form's values."""

    template: ClassVar[str] = "assignment.html"
    frame: Frame
    navigation: SectionNavigation
    assignment: Assignment
    summary: str
    is_exercise: bool
    is_retrieval: bool
    course_href: str
    is_gone: bool
    files_href: str
    """The exercise as a zip; empty for somebody who may not take it out, and for what is no exercise."""
    zone: str
    usual_percent: int
    sent: RulesForm
    title: str
    max_title_characters: int
    max_reason_characters: int
    max_days: int
    change_action: str
    delete_action: str
    list_href: str
    allowances: tuple[AllowanceRow, ...]
    people: tuple[Person, ...]
    allowance_action: str
    withdraw_action: str
    problem: str


@dataclass(frozen=True)
class AllowanceForm:
    """What is granted, as it was sent. `days` move both dates on the section's clock; a date goes before days."""

    account: TextField = ""
    days: TextField = ""
    due_at: TextField = ""
    closes_at: TextField = ""
    attempts: TextField = ""
    excused: Annotated[bool, Form()] = False
    reason: TextField = ""


@router.api_route("/desk/{section}/assignments/{assignment}", methods=["GET", "HEAD"])
async def show_assignment(context: RequestContextDep, section: str, assignment: str) -> Response:
    return await _show(context, SectionId(section), await _find(context, section, assignment))


@router.post("/desk/{section}/assignments/{assignment}/change")
async def change(
    context: RequestContextDep,
    section: str,
    assignment: str,
    form: Annotated[RulesForm, Depends()],
    title: Annotated[str, Form(max_length=MAX_TITLE_CHARACTERS)] = "",
    credit: Annotated[Credit | None, Form()] = None,
    counts: Annotated[Counts | None, Form()] = None,
) -> Response:
    await context.count(Act.WRITE)
    store, here = context.site.store.assignments, SectionId(section)
    before = await _find(context, section, assignment)
    try:
        rules = read_rules(form, await store.policy(here))
    except FormMistake as mistake:
        return await _show(context, here, before, str(mistake), form, title)
    changed = replace(
        before,
        title=" ".join(title.split()) or before.title,
        credit=credit or before.credit,
        counts=counts or before.counts,
        **vars(rules),
    )
    await store.change(here, changed, actor_of(context))
    return RedirectResponse(f"/desk/{section}/assignments", 303)


@router.post("/desk/{section}/assignments/{assignment}/delete")
async def delete(context: RequestContextDep, section: str, assignment: str) -> Response:
    """Only without work: what somebody did would otherwise count nowhere, and nobody would know."""
    await context.count(Act.WRITE)
    here, found = SectionId(section), await _find(context, section, assignment)
    if await context.site.store.assignments.delete(here, found, actor_of(context)):
        return RedirectResponse(f"/desk/{section}/assignments", 303)
    problem = (
        "Somebody has handed in something for it, or was granted or given something: hide it instead of deleting."
    )
    return await _show(context, here, found, problem)


@router.post("/desk/{section}/assignments/{assignment}/allowances")
async def grant(
    context: RequestContextDep, section: str, assignment: str, form: Annotated[AllowanceForm, Depends()]
) -> Response:
    await context.count(Act.WRITE)
    store, here = context.site.store.assignments, SectionId(section)
    found = await _find(context, section, assignment)
    await _check_may_grant(context, here)
    try:
        allowance = read_allowance(form, found, await store.policy(here))
    except FormMistake as mistake:
        return await _show(context, here, found, str(mistake))
    if not await store.grant(here, found.id, AccountId(form.account), allowance, actor_of(context)):
        return await _show(context, here, found, "Choose a learner of this section.")
    return RedirectResponse(f"/desk/{section}/assignments/{assignment}#allowances", 303)


@router.post("/desk/{section}/assignments/{assignment}/allowances/withdraw")
async def withdraw(
    context: RequestContextDep, section: str, assignment: str, account: TextField = "", reason: TextField = ""
) -> Response:
    await context.count(Act.WRITE)
    store, here = context.site.store.assignments, SectionId(section)
    found = await _find(context, section, assignment)
    await _check_may_grant(context, here)
    try:
        why = read_reason(reason)
    except FormMistake as mistake:
        return await _show(context, here, found, str(mistake))
    if not await store.withdraw(here, found.id, AccountId(account), why, actor_of(context)):
        raise HTTPException(404, "Nothing is granted to this person here.")
    return RedirectResponse(f"/desk/{section}/assignments/{assignment}#allowances", 303)


def read_allowance(form: AllowanceForm, assignment: Assignment, policy: Policy) -> Allowance:
    """What the form grants beyond the assignment's dates. Raises FormMistake."""
    days = read_whole(form.days, "The number of days", 1, MAX_DAYS)
    due_at = read_time(form.due_at, policy, "the due date")
    closes_at = read_time(form.closes_at, policy, "the closing")
    if days and assignment.due_at is None:
        raise FormMistake("The assignment has no due date to which days could be added.")
    if days and assignment.due_at:
        due_at = due_at or add_days(assignment.due_at, days, policy.zone)
        moved = add_days(assignment.closes_at, days, policy.zone) if assignment.closes_at else None
        closes_at = closes_at or moved
    attempts = read_whole(form.attempts, "The number of attempts", 1, MAX_ATTEMPTS)
    if not (due_at or closes_at or attempts or form.excused):
        raise FormMistake("Write what is granted: days, a date, attempts, or excused.")
    return Allowance(due_at, closes_at, attempts, form.excused, read_reason(form.reason))


async def _find(context: RequestContext, section: str, assignment: str) -> Assignment:
    for one in await context.site.store.assignments.of_section(SectionId(section)):
        if one.id == assignment:
            return one
    raise HTTPException(404, "This section has no such assignment.")


async def _check_may_grant(context: RequestContext, section: SectionId) -> None:
    navigation = await navigate(context, section, HERE)
    if not await _may_grant(context, navigation):
        raise NotAllowed("In this section only instructors grant extensions; its page of settings can change that.")


async def _may_grant(context: RequestContext, navigation: SectionNavigation) -> bool:
    if navigation.reader.role is Role.INSTRUCTOR:
        return True
    section = await context.site.store.sections.find(navigation.section)
    return section is not None and section.plan.assistants_extend


async def _show(
    context: RequestContext,
    section: SectionId,
    one: Assignment,
    problem: str = "",
    sent: RulesForm | None = None,
    title: str = "",
) -> Response:
    store, course = context.site.store.assignments, context.course
    navigation, policy = await navigate(context, section, HERE), await store.policy(section)
    href = f"/desk/{section}/assignments/{one.id}"
    may_set = is_allowed(Permission.SET_ASSIGNMENTS, (navigation.reader.role,))
    may_grant = await _may_grant(context, navigation)
    page = AssignmentPage(
        frame=await context.frame(f"{one.title}: {navigation.section_title}", "An assignment of this section."),
        navigation=navigation,
        assignment=one,
        summary=f"{say_points(one.points)} points, {say_kind(one)}, {say_due(find_terms(one, policy))}.",
        is_exercise=one.kind.value == "exercise",
        is_retrieval=one.kind.value == "retrieval",
        course_href=find_href(course, one),
        is_gone=title_target(course, one.kind, one.target) is None,
        files_href=_find_files(navigation, course, one),
        zone=str(policy.zone),
        usual_percent=policy.late_percent_a_day,
        sent=sent or _as_sent(one, policy),
        title=title or one.title,
        max_title_characters=MAX_TITLE_CHARACTERS,
        max_reason_characters=MAX_REASON_CHARACTERS,
        max_days=MAX_DAYS,
        change_action=f"{href}/change" if may_set else "",
        delete_action=f"{href}/delete" if may_set else "",
        list_href=f"/desk/{section}/assignments",
        allowances=tuple(_show_allowance(each, policy) for each in await store.granted(section, one.id)),
        people=tuple(Person(one.account, one.name) for one in await context.site.store.gradebook.learners(section)),
        allowance_action=f"{href}/allowances" if may_grant else "",
        withdraw_action=f"{href}/allowances/withdraw" if may_grant else "",
        problem=problem,
    )
    return context.site.renderer.page(page, 422 if problem else 200)


def _find_files(navigation: SectionNavigation, course: Course, one: Assignment) -> str:
    is_here = one.kind is Kind.EXERCISE and one.target in course.exercises
    may_take = is_allowed(Permission.TAKE_EXERCISES, (navigation.reader.role,))
    return exercise_files_href(navigation.section, one.target) if is_here and may_take else ""


def _as_sent(one: Assignment, policy: Policy) -> RulesForm:
    def number(value: int | None) -> str:
        return "" if value is None else str(value)

    return RulesForm(
        points=say_points(one.points),
        opens_at=write_time(one.opens_at, policy),
        due_at=write_time(one.due_at, policy),
        closes_at=write_time(one.closes_at, policy),
        late_percent_a_day=number(one.late_percent_a_day),
        attempts=number(one.attempts),
        published=one.published,
    )


def _show_allowance(granted: Granted, policy: Policy) -> AllowanceRow:
    one = granted.allowance
    words = [
        "excused" if one.excused else "",
        f"due {say_moment(one.due_at, policy.zone)}" if one.due_at else "",
        f"closes {say_moment(one.closes_at, policy.zone)}" if one.closes_at else "",
        f"{one.attempts} attempts" if one.attempts is not None else "",
    ]
    said = "; ".join(filter(None, words))
    return AllowanceRow(granted.account, granted.name, said, one.reason, granted.granted_by or "somebody who left")
