"""One grade explained: what was handed in, what counts of it and why, and what a person decided in its place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.access.permissions import Permission, is_allowed
from app.learning.deadlines import say_moment
from app.learning.grade_sentences import say_points
from app.learning.grading import Assignment, HandedIn
from app.storage.gradebook import GradebookPerson
from app.storage.overrides import Decision
from app.storage.records import AccountId, SectionId
from app.web.desk.gradebook import OpenedBook, grade_people, open_book
from app.web.desk.navigation import SectionNavigation, navigate
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of
from app.web.views.explained_grade import AttemptRow, TermRow, show_attempts, show_terms
from app.web.views.grades import Graded

router = APIRouter(include_in_schema=False)

MAX_REASON = 500
MAX_POINTS = 10_000
SHOWN = 200


@dataclass(frozen=True)
class DecisionRow:
    """A grade that somebody set, or the withdrawal of one."""

    what: str
    reason: str
    made_by: str
    made_at: str


@dataclass(frozen=True)
class GradePage:
    """`override_action` takes points and reason, and `act`, "set" or "withdraw"; empty for who may only look."""

    template: ClassVar[str] = "grade.html"
    frame: Frame
    navigation: SectionNavigation
    back_href: str
    assignment_href: str
    person: str
    number: str
    assignment: str
    points: str
    maximum: str
    sentence: str
    terms: tuple[TermRow, ...]
    attempts: tuple[AttemptRow, ...]
    attempts_cut: bool
    decisions: tuple[DecisionRow, ...]
    is_overridden: bool
    override_action: str
    typed_points: str
    typed_reason: str
    max_reason: int
    problem: str


@dataclass(frozen=True)
class Found:
    """A cell of the gradebook, found among what its section has."""

    book: OpenedBook
    assignment: Assignment
    person: GradebookPerson


@dataclass(frozen=True)
class Typed:
    """What a refused form had, and why it was refused."""

    problem: str = ""
    points: str = ""
    reason: str = ""


@router.api_route("/desk/{section}/gradebook/{assignment}/{account}", methods=["GET", "HEAD"])
async def grade(context: RequestContextDep, section: str, assignment: str, account: str) -> Response:
    return await _show(context, SectionId(section), assignment, account)


@router.post("/desk/{section}/gradebook/{assignment}/{account}/override")
async def override(
    context: RequestContextDep,
    section: str,
    assignment: str,
    account: str,
    act: Annotated[str, Form(pattern="^(set|withdraw)$")] = "set",
    points: Annotated[str, Form(max_length=40)] = "",
    reason: Annotated[str, Form()] = "",
) -> Response:
    await context.count(Act.WRITE)
    here, reason = SectionId(section), " ".join(reason.split())
    await _find(context, here, assignment, account)
    decided = None if act == "withdraw" else read_points(points)
    problem = _find_problem(reason, points, needs_points=act == "set" and decided is None)
    if problem:
        return await _show(context, here, assignment, account, Typed(problem, points, reason))
    overrides = context.site.store.overrides
    if not await overrides.decide(here, assignment, AccountId(account), decided, reason, actor_of(context)):
        problem = "There is no override to withdraw; it may have been withdrawn already."
        return await _show(context, here, assignment, account, Typed(problem, points, reason))
    return RedirectResponse(f"/desk/{section}/gradebook/{assignment}/{account}", 303)


def read_points(text: str) -> float | None:
    """Points as a person types them, with a point or a comma; None for what is not from 0 to the largest."""
    try:
        points = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return points if 0 <= points <= MAX_POINTS else None


def _find_problem(reason: str, points: str, *, needs_points: bool) -> str:
    if needs_points:
        return f"The points are {points.strip() or 'empty'!r}; write a number from 0 to {MAX_POINTS:,}."
    if not 0 < len(reason) <= MAX_REASON:
        length = f"has {len(reason)} characters" if reason else "is empty"
        return f"The reason {length}; say in at most {MAX_REASON} why. The learner sees it."
    return ""


async def _find(context: RequestContext, section: SectionId, assignment: str, account: str) -> Found:
    """Raises a 404 for another section's assignment or learner."""
    book = await open_book(context, section)
    assigned = next((one for one in book.assigned if one.id == assignment), None)
    person = next((one for one in book.people if one.account == account), None)
    if assigned is None or person is None:
        raise HTTPException(
            404, "The gradebook has no such grade; the learner may have left, or it is not published."
        )
    return Found(book, assigned, person)


async def _show(
    context: RequestContext, section: SectionId, assignment: str, account: str, typed: Typed = Typed()
) -> Response:
    navigation, place = (
        await navigate(context, section, "Gradebook"),
        await _find(context, section, assignment, account),
    )
    store = context.site.store
    work = await store.assignments.class_work(section, [place.assignment], [place.person.account])
    handed_in: Sequence[HandedIn] = work.handed_in.get((assignment, place.person.account), ())
    grades = await grade_people(context, section, place.book, [place.person])
    graded = grades[assignment, place.person.account]
    decisions = await store.overrides.history(section, assignment, place.person.account)
    may_decide = is_allowed(Permission.DECIDE_GRADES, (navigation.reader.role,)) and not navigation.is_archived
    page = GradePage(
        frame=await context.frame(f"{place.person.name}: {place.assignment.title}", "Why a grade is what it is."),
        navigation=navigation,
        assignment_href=f"/desk/{section}/assignments/{assignment}#allowances",
        back_href=f"/desk/{section}/gradebook",
        person=place.person.name,
        number=place.person.student_number,
        assignment=place.assignment.title,
        points="EX" if graded.terms.is_excused and graded.grade.points is None else graded.points,
        maximum=say_points(place.assignment.points),
        sentence=graded.sentence,
        terms=show_terms(graded.terms, await _find_own_zone(context)),
        attempts=show_attempts(section, graded, handed_in, await store.regraded.counting(assignment))[-SHOWN:],
        attempts_cut=len(handed_in) > SHOWN,
        decisions=tuple(_show_decision(one, graded) for one in decisions),
        is_overridden=bool(decisions) and decisions[0].points is not None,
        override_action=f"/desk/{section}/gradebook/{assignment}/{account}/override" if may_decide else "",
        typed_points=typed.points,
        typed_reason=typed.reason,
        max_reason=MAX_REASON,
        problem=typed.problem,
    )
    return context.site.renderer.page(page, 422 if typed.problem else 200)


async def _find_own_zone(context: RequestContext) -> ZoneInfo | None:
    assert context.account is not None
    return await context.site.store.review_cards.own_zone(context.account.learner)


def _show_decision(one: Decision, graded: Graded) -> DecisionRow:
    what = "Withdrawn" if one.points is None else f"Set to {say_points(one.points)}"
    return DecisionRow(what, one.reason, one.made_by, say_moment(one.made_at, graded.terms.zone))
