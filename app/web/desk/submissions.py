"""What a section's learners have handed in, listed by exercise and by person."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar, TypeVar
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Query, Response
from starlette.exceptions import HTTPException

from app.access.permissions import Permission, is_allowed
from app.course.model import Course
from app.storage.class_submissions import Attempts, SectionLearner
from app.storage.records import AccountId, SectionId
from app.web.desk.navigation import SectionNavigation, navigate
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import RequestContextDep
from app.web.views.outcomes import NAMES
from graders.contract.results import Outcome

router = APIRouter(include_in_schema=False)

HERE = "Submissions"
PEOPLE_SHOWN = 50
MAX_PAGE = 10_000
Listed = TypeVar("Listed")


class Shown(StrEnum):
    """Which learners an exercise's list keeps."""

    ALL = "all"
    PASSED = "passed"
    NOT_YET = "not passed yet"
    NOTHING = "nothing handed in"


PageDep = Annotated[int, Query(ge=1, le=MAX_PAGE)]


@dataclass(frozen=True)
class ExerciseRow:
    """`likeness_href` is empty for a reader who may not compare programs."""

    title: str
    href: str
    tried: int
    passed: int
    newest_at: str
    likeness_href: str


@dataclass(frozen=True)
class LearnerRow:
    name: str
    href: str
    has_left: bool


@dataclass(frozen=True)
class AttemptsRow:
    """A learner's attempts at an exercise. `title` is the learner's name, or the exercise's title.

    `href` leads to the newest submission; it is empty where there is none.
    """

    title: str
    title_href: str
    has_left: bool
    count: int
    passed: bool
    href: str
    newest_at: str
    outcome: str


@dataclass(frozen=True)
class Pages:
    """Links to the page before and the page after; empty where there is none."""

    number: int
    total: int
    before: str
    after: str


@dataclass(frozen=True)
class SubmissionsPage:
    template: ClassVar[str] = "submissions.html"
    frame: Frame
    navigation: SectionNavigation
    zone: str
    exercises: tuple[ExerciseRow, ...]
    learners: tuple[LearnerRow, ...]
    pages: Pages
    view_as_href: str
    """Empty for a reader who may not see the course as a learner."""
    problem: str = ""


@dataclass(frozen=True)
class AttemptsPage:
    """The attempts at one exercise, or those of one learner. `action` takes `shown` by GET; it is empty without a
    choice. `column` says what a row's title is."""

    template: ClassVar[str] = "attempts.html"
    frame: Frame
    navigation: SectionNavigation
    zone: str
    heading: str
    column: str
    rows: tuple[AttemptsRow, ...]
    links: tuple[Link, ...]
    pages: Pages
    shown: str = ""
    choices: tuple[str, ...] = ()
    action: str = ""
    problem: str = ""


@router.api_route("/desk/{section}/submissions", methods=["GET", "HEAD"])
async def submissions_page(context: RequestContextDep, section: str, page: PageDep = 1) -> Response:
    here, handed_in = SectionId(section), context.site.store.class_submissions
    navigation = await navigate(context, here, HERE)
    learners, zone = await handed_in.learners(here), await handed_in.zone(here)
    may_compare = is_allowed(Permission.COMPARE_PROGRAMS, (navigation.reader.role,))
    rows = [
        ExerciseRow(
            title=title_exercise(context.course, count.exercise),
            href=exercise_href(here, count.exercise),
            tried=count.tried,
            passed=count.passed,
            newest_at=show_time(count.newest_at, zone),
            likeness_href=likeness_href(here, count.exercise) if may_compare else "",
        )
        for count in await handed_in.count_exercises(here)
    ]
    shown = SubmissionsPage(
        frame=await context.frame(navigation.page_title, "What this section has handed in."),
        navigation=navigation,
        zone=zone.key,
        exercises=tuple(sorted(rows, key=lambda row: row.title)),
        learners=tuple(
            LearnerRow(one.name, learner_href(here, one.account), one.left_at is not None)
            for one in cut(learners, page)
        ),
        pages=show_pages(len(learners), page, f"/desk/{section}/submissions?page="),
        view_as_href=f"/desk/{section}/view-as" if is_allowed(Permission.VIEW_AS, (navigation.reader.role,)) else "",
    )
    return context.site.renderer.page(shown)


@router.api_route("/desk/{section}/submissions/exercises/{exercise}", methods=["GET", "HEAD"])
async def exercise_attempts(
    context: RequestContextDep, section: str, exercise: str, shown: Shown = Shown.ALL, page: PageDep = 1
) -> Response:
    """Each learner with their newest submission, who handed in last first; then those who have none."""
    here, handed_in = SectionId(section), context.site.store.class_submissions
    attempts = {one.learner: one for one in await handed_in.of_exercise(here, exercise)}
    if not attempts and exercise not in context.course.exercises:
        raise HTTPException(404, "There is no exercise of that name.")
    navigation, zone = await navigate(context, here, HERE), await handed_in.zone(here)
    people = [(one, attempts.get(one.learner)) for one in await handed_in.learners(here)]
    kept = sorted((pair for pair in people if _keeps(shown, pair[1])), key=lambda pair: _age(pair[1]))
    links = [Link(f"/exercises/{exercise}", "The exercise")] if exercise in context.course.exercises else []
    if is_allowed(Permission.COMPARE_PROGRAMS, (navigation.reader.role,)):
        links.append(Link(likeness_href(here, exercise), "Compare everybody's programs"))
    title, href = title_exercise(context.course, exercise), exercise_href(here, exercise)
    page_shown = AttemptsPage(
        frame=await context.frame(f"{title}: {navigation.section_title}", "What was handed in to one exercise."),
        navigation=navigation,
        zone=zone.key,
        heading=title,
        column="Name",
        rows=tuple(_show_person(here, one, mine, zone) for one, mine in cut(kept, page)),
        links=tuple(links),
        pages=show_pages(len(kept), page, f"{href}?shown={shown.value.replace(' ', '+')}&page="),
        shown=shown.value,
        choices=tuple(choice.value for choice in Shown),
        action=href,
    )
    return context.site.renderer.page(page_shown)


@router.api_route("/desk/{section}/submissions/people/{account}", methods=["GET", "HEAD"])
async def learner_attempts(context: RequestContextDep, section: str, account: str) -> Response:
    """One learner's exercises, the one handed in last first."""
    here, handed_in = SectionId(section), context.site.store.class_submissions
    learner = await need_learner(context, here, account)
    navigation, zone = await navigate(context, here, HERE), await handed_in.zone(here)
    attempts = await handed_in.of_learner(here, learner.account)
    page = AttemptsPage(
        frame=await context.frame(f"{learner.name}: {navigation.section_title}", "What one person handed in."),
        navigation=navigation,
        zone=zone.key,
        heading=learner.name,
        column="Exercise",
        rows=tuple(
            _show_row(
                here, title_exercise(context.course, one.exercise), exercise_href(here, one.exercise), one, zone
            )
            for one in attempts
        ),
        links=(Link(f"/desk/{section}/view-as?account={account}#as-person", "See the course as they do"),)
        if is_allowed(Permission.VIEW_AS, (navigation.reader.role,))
        else (),
        pages=show_pages(0, 1, ""),
    )
    return context.site.renderer.page(page)


async def need_learner(context: RequestContextDep, section: SectionId, account: str) -> SectionLearner:
    """A learner of this section, also one who left. Raises a 404 for anybody else."""
    found = await context.site.store.class_submissions.find_learner(section, AccountId(account))
    if found is None:
        raise HTTPException(404, "There is no learner of this section under this address.")
    return found


def _keeps(shown: Shown, attempts: Attempts | None) -> bool:
    match shown:
        case Shown.ALL:
            return True
        case Shown.PASSED:
            return attempts is not None and attempts.passed
        case Shown.NOT_YET:
            return attempts is not None and not attempts.passed
        case Shown.NOTHING:
            return attempts is None


def _age(attempts: Attempts | None) -> float:
    return 0.0 if attempts is None else -attempts.newest_at.timestamp()


def _show_person(section: SectionId, one: SectionLearner, attempts: Attempts | None, zone: ZoneInfo) -> AttemptsRow:
    href = learner_href(section, one.account)
    return _show_row(section, one.name, href, attempts, zone, has_left=one.left_at is not None)


def _show_row(
    section: SectionId, title: str, href: str, attempts: Attempts | None, zone: ZoneInfo, *, has_left: bool = False
) -> AttemptsRow:
    if attempts is None:
        return AttemptsRow(title, href, has_left, 0, False, "", "", "")
    return AttemptsRow(
        title=title,
        title_href=href,
        has_left=has_left,
        count=attempts.count,
        passed=attempts.passed,
        href=f"/desk/{section}/submissions/{attempts.newest}",
        newest_at=show_time(attempts.newest_at, zone),
        outcome=NAMES[Outcome(attempts.outcome)] if attempts.outcome else "waiting",
    )


def title_exercise(course: Course, exercise: str) -> str:
    """Its title, or its name if it is no longer in the course."""
    return course.exercises[exercise].manifest.title if exercise in course.exercises else exercise


def show_time(moment: datetime, zone: ZoneInfo) -> str:
    """The wall time in the section's zone, whose name the page says once."""
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}"


def exercise_href(section: SectionId, exercise: str) -> str:
    return f"/desk/{section}/submissions/exercises/{exercise}"


def learner_href(section: SectionId, account: AccountId) -> str:
    return f"/desk/{section}/submissions/people/{account}"


def likeness_href(section: SectionId, exercise: str) -> str:
    return f"/desk/{section}/likeness/{exercise}"


def cut(listed: Sequence[Listed], page: int) -> Sequence[Listed]:
    return listed[(page - 1) * PEOPLE_SHOWN : page * PEOPLE_SHOWN]


def show_pages(count: int, page: int, address: str) -> Pages:
    """`address` is what the page's number is written after."""
    total = max(1, -(-count // PEOPLE_SHOWN))
    before = f"{address}{min(page - 1, total)}" if page > 1 else ""
    return Pages(page, total, before, f"{address}{page + 1}" if page < total else "")
