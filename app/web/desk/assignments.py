"""The assignments of a section: the list with its order, what the class sees, and new ones from the course."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Depends, Form, Query, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.access.permissions import Permission, is_allowed
from app.course.model import Chapter, Course, ExerciseSet
from app.course.sets import matches
from app.learning.deadlines import say_moment
from app.learning.grade_sentences import say_points
from app.learning.grading import Assignment, Counts, Kind, Policy
from app.storage.records import SectionId
from app.web.desk.assignment_form import (
    MAX_DAYS_BETWEEN,
    FormMistake,
    NewAssignmentsForm,
    move_rules,
    read_rules,
    read_whole,
)
from app.web.desk.navigation import SectionNavigation, navigate
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of
from app.web.views.assigned import list_assignable, say_kind, title_target
from app.web.views.grade_table import GradeTable, say_own_time, show_grades
from graders.contract.manifest import Difficulty

router = APIRouter(include_in_schema=False)

HERE = "Assignments"
MAX_AT_ONCE = 200
MAX_FILTER = 80


@dataclass(frozen=True)
class AssignmentLine:
    """`done` says how many learners handed in anything; `move_action` is empty for somebody who may only look."""

    href: str
    title: str
    kind: str
    points: str
    due: str
    due_here: str
    """The due date on the reader's own clock, if that differs."""
    closes: str
    done: str
    is_published: bool
    is_gone: bool
    """Whether the course has nothing of the kind any more."""
    move_action: str


@dataclass(frozen=True)
class AssignmentsPage:
    template: ClassVar[str] = "assignments.html"
    frame: Frame
    navigation: SectionNavigation
    lines: tuple[AssignmentLine, ...]
    zone: str
    new_href: str
    """Empty for somebody who may only look."""
    preview_href: str
    problem: str = ""


@dataclass(frozen=True)
class Choice:
    """Something of the course that can be assigned; `value` names it in the form."""

    value: str
    words: str
    is_assigned: bool


@dataclass(frozen=True)
class ChoiceGroup:
    title: str
    choices: tuple[Choice, ...]


@dataclass(frozen=True)
class FilterChoice:
    """A select box of the form that ticks exercises by what they are. Options are pairs of value and words."""

    name: str
    label: str
    options: tuple[tuple[str, str], ...]
    chosen: str


@dataclass(frozen=True)
class Picked:
    """What the page's address asks to tick: the exercises of a set, or those that match each filter given."""

    set_name: Annotated[str, Query(alias="set", max_length=MAX_FILTER)] = ""
    concept: Annotated[str, Query(max_length=MAX_FILTER)] = ""
    kind: Annotated[str, Query(max_length=MAX_FILTER)] = ""
    difficulty: Annotated[str, Query(max_length=MAX_FILTER)] = ""

    def exercises(self, course: Course) -> list[str]:
        if self.set_name:
            return [name for each in course.sets if each.name == self.set_name for name in each.exercises]
        filters = [[value] if value else [] for value in (self.concept, self.kind, self.difficulty)]
        return [name for name, exercise in course.exercises.items() if matches(exercise, *filters)]


NOTHING_PICKED = Picked()


@dataclass(frozen=True)
class NewAssignmentsPage:
    template: ClassVar[str] = "new_assignments.html"
    frame: Frame
    navigation: SectionNavigation
    groups: tuple[ChoiceGroup, ...]
    sets: tuple[Link, ...]
    """Each leads to this page with the set's exercises ticked."""
    filters: tuple[FilterChoice, ...]
    zone: str
    usual_percent: int
    action: str
    chosen: frozenset[str]
    sent: NewAssignmentsForm
    problem: str


@dataclass(frozen=True)
class AssignmentsPreviewPage:
    template: ClassVar[str] = "assignments_preview.html"
    frame: Frame
    navigation: SectionNavigation
    table: GradeTable
    back_href: str
    problem: str = ""


@router.api_route("/desk/{section}/assignments", methods=["GET", "HEAD"])
async def list_assignments(context: RequestContextDep, section: str) -> Response:
    assert context.account is not None
    here = SectionId(section)
    navigation = await navigate(context, here, HERE)
    assignments = context.site.store.assignments
    assigned, policy = await assignments.of_section(here), await assignments.policy(here)
    may_set = is_allowed(Permission.SET_ASSIGNMENTS, (navigation.reader.role,))
    people = len(await context.site.store.gradebook.learners(here))
    own_zone = await context.site.store.review_cards.own_zone(context.account.learner)
    counted = await assignments.count_handed_in(here, assigned)
    done = {one: f"{number} of {people}" for one, number in counted.items()}
    page = AssignmentsPage(
        frame=await context.frame(navigation.page_title, "What this section's learners are to do."),
        navigation=navigation,
        lines=tuple(
            _show_line(context.course, here, one, policy, own_zone, done[one.id], may_set=may_set) for one in assigned
        ),
        zone=str(policy.zone),
        new_href=f"/desk/{section}/assignments/new" if may_set else "",
        preview_href=f"/desk/{section}/assignments/preview",
    )
    return context.site.renderer.page(page)


def _show_line(
    course: Course,
    section: SectionId,
    one: Assignment,
    policy: Policy,
    own_zone: ZoneInfo | None,
    done: str,
    *,
    may_set: bool,
) -> AssignmentLine:
    href = f"/desk/{section}/assignments/{one.id}"
    return AssignmentLine(
        href=href,
        title=one.title,
        kind=say_kind(one),
        points=say_points(one.points),
        due=say_moment(one.due_at, policy.zone) if one.due_at else "",
        due_here=say_own_time(one.due_at, policy.zone, own_zone),
        closes=say_moment(one.closes_at, policy.zone) if one.closes_at else "",
        done=done,
        is_published=one.published,
        is_gone=title_target(course, one.kind, one.target) is None,
        move_action=f"{href}/move" if may_set else "",
    )


@router.api_route("/desk/{section}/assignments/preview", methods=["GET", "HEAD"])
async def preview(context: RequestContextDep, section: str) -> Response:
    """What a learner of the section who has done nothing yet sees on their page of grades."""
    here = SectionId(section)
    navigation = await navigate(context, here, HERE)
    assignments = context.site.store.assignments
    policy, now = await assignments.policy(here), context.now
    seen = [
        one
        for one in await assignments.of_section(here)
        if one.published and (one.opens_at is None or one.opens_at <= now)
    ]
    page = AssignmentsPreviewPage(
        frame=await context.frame(navigation.page_title, "What the class sees."),
        navigation=navigation,
        table=show_grades(context.course, navigation.section_title, policy, seen, now=now),
        back_href=f"/desk/{section}/assignments",
    )
    return context.site.renderer.page(page)


@router.api_route("/desk/{section}/assignments/new", methods=["GET", "HEAD"])
async def choose(context: RequestContextDep, section: str, picked: Annotated[Picked, Depends()]) -> Response:
    """The form, with what the address picks ticked already: a whole set is assigned with one form."""
    chosen = [f"{Kind.EXERCISE.value}:{name}" for name in picked.exercises(context.course)]
    sent = NewAssignmentsForm(points="10", published=True)
    return await _show_choices(context, SectionId(section), sent, chosen, picked=picked)


@router.post("/desk/{section}/assignments/new")
async def make(
    context: RequestContextDep,
    section: str,
    form: Annotated[NewAssignmentsForm, Depends()],
    target: Annotated[list[str] | None, Form()] = None,
) -> Response:
    await context.count(Act.WRITE)
    here, store, chosen = SectionId(section), context.site.store.assignments, target or []
    policy = await store.policy(here)
    try:
        rules = read_rules(form, policy)
        days = (
            read_whole(form.days_between, "The number of days from one chapter to the next", 0, MAX_DAYS_BETWEEN) or 0
        )
        targets = _read_targets(context.course, chosen)
    except FormMistake as mistake:
        return await _show_choices(context, here, form, chosen, str(mistake))
    places = _place_by_chapter(context.course, targets)
    new = [
        Assignment(
            id="",
            kind=kind,
            target=name,
            title=title,
            counts=Counts.DONE if kind is Kind.PREDICTIONS else form.counts,
            credit=form.exercise_credit if kind is Kind.EXERCISE else form.part_credit,
            **vars(move_rules(rules, days * place, policy)),
        )
        for place, (kind, name, title) in zip(places, targets, strict=True)
    ]
    await store.make(here, new, actor_of(context))
    return RedirectResponse(f"/desk/{section}/assignments", 303)


def _read_targets(course: Course, chosen: list[str]) -> list[tuple[Kind, str, str]]:
    """The kind, name and title of what was ticked. Raises FormMistake."""
    if not chosen:
        raise FormMistake("Tick at least one exercise, or the questions or predictions of a chapter.")
    if len(chosen) > MAX_AT_ONCE:
        raise FormMistake(f"Tick at most {MAX_AT_ONCE} at once.")
    found = []
    for value in chosen:
        word, _, name = value.partition(":")
        kind = Kind(word) if word in set(Kind) else None
        title = title_target(course, kind, name) if kind else None
        if kind is None or title is None:
            raise FormMistake(f"“{value[:80]}” is not in this course: tick from the list.")
        found.append((kind, name, title))
    return found


def _place_by_chapter(course: Course, targets: list[tuple[Kind, str, str]]) -> list[int]:
    """For each target the place of its chapter among those that were ticked, from 0."""
    places: dict[str, int] = {}
    found = []
    for kind, name, _ in targets:
        offering = course.index.offering.get(name, ()) if kind is Kind.EXERCISE else ()
        found.append(places.setdefault(offering[0].slug if offering else name, len(places)))
    return found


async def _show_choices(
    context: RequestContext,
    section: SectionId,
    sent: NewAssignmentsForm,
    chosen: list[str] | None = None,
    problem: str = "",
    picked: Picked = NOTHING_PICKED,
) -> Response:
    navigation = await navigate(context, section, HERE)
    assignments = context.site.store.assignments
    policy = await assignments.policy(section)
    taken = {f"{one.kind.value}:{one.target}" for one in await assignments.of_section(section)}
    page = NewAssignmentsPage(
        frame=await context.frame(navigation.page_title, "Assign exercises, questions and predictions."),
        navigation=navigation,
        groups=tuple(_group_choices(context.course, taken)),
        sets=tuple(_link_set(section, each) for each in context.course.sets),
        filters=_show_filters(context.course, picked),
        zone=str(policy.zone),
        usual_percent=policy.late_percent_a_day,
        action=f"/desk/{section}/assignments/new",
        chosen=frozenset(chosen or ()) - taken,
        sent=sent,
        problem=problem,
    )
    return context.site.renderer.page(page, 422 if problem else 200)


def _link_set(section: SectionId, each: ExerciseSet) -> Link:
    href = f"/desk/{section}/assignments/new?set={each.name}#assign-what"
    return Link(href, f"{each.title} ({len(each.exercises)})")


def _show_filters(course: Course, picked: Picked) -> tuple[FilterChoice, ...]:
    manifests = [exercise.manifest for exercise in course.exercises.values()]
    kinds = sorted({manifest.kind for manifest in manifests})
    used = {concept for manifest in manifests for concept in manifest.concepts}
    concepts = [(name, name.replace("-", " ")) for name in course.concepts if name in used]
    levels = [(level.value, level.label) for level in Difficulty]
    return (
        FilterChoice("concept", "What they practise", (("", "any"), *concepts), picked.concept),
        FilterChoice("kind", "Kind", (("", "any"), *((kind, kind) for kind in kinds)), picked.kind),
        FilterChoice("difficulty", "Difficulty", (("", "any"), *levels), picked.difficulty),
    )


def _group_choices(course: Course, taken: set[str]) -> list[ChoiceGroup]:
    """A group for each chapter, with its exercises; last, the exercises that no chapter links to."""
    groups, linked = [], set()
    for module in course.modules:
        for chapter in module.chapters:
            if isinstance(chapter, Chapter):
                linked |= set(chapter.index.exercises)
                choices = _choices_of(course, chapter, taken)
                if choices:
                    groups.append(ChoiceGroup(f"{chapter.number} {chapter.title}".strip(), choices))
    others = tuple(_exercise_choice(course, name, taken) for name in course.exercises if name not in linked)
    return [*groups, ChoiceGroup("Other exercises", others)] if others else groups


def _choices_of(course: Course, chapter: Chapter, taken: set[str]) -> tuple[Choice, ...]:
    words = {Kind.RETRIEVAL: "question", Kind.PREDICTIONS: "prediction"}
    parts = [
        Choice(f"{kind.value}:{name}", _say_number(number, words[kind]), f"{kind.value}:{name}" in taken)
        for kind, name, number in list_assignable(chapter)
    ]
    return (*parts, *(_exercise_choice(course, name, taken) for name in chapter.index.exercises))


def _say_number(number: int, word: str) -> str:
    return f"its {number} {word}{'' if number == 1 else 's'}"


def _exercise_choice(course: Course, name: str, taken: set[str]) -> Choice:
    value = f"{Kind.EXERCISE.value}:{name}"
    return Choice(value, f"exercise: {course.exercises[name].manifest.title}", value in taken)


@router.post("/desk/{section}/assignments/{assignment}/move")
async def move(
    context: RequestContextDep, section: str, assignment: str, to: Annotated[Literal["up", "down"], Form()] = "up"
) -> Response:
    await context.count(Act.WRITE)
    store = context.site.store.assignments
    if assignment not in {one.id for one in await store.of_section(SectionId(section))}:
        raise HTTPException(404, "This section has no such assignment.")
    await store.move(SectionId(section), assignment, up=to == "up")
    return RedirectResponse(f"/desk/{section}/assignments", 303)
