"""What those who have not passed an exercise fail, by finding and case, with one program of each that opens."""

from collections import defaultdict
from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response
from markupsafe import Markup
from starlette.exceptions import HTTPException

from app.course.model import Exercise
from app.storage.knowledge import Failure
from app.storage.records import SectionId
from app.web.desk.knowledge import HERE
from app.web.desk.navigation import SectionNavigation, navigate
from app.web.desk.submissions import title_exercise
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import RequestContextDep
from app.web.views.class_items import say_percent
from app.web.views.outcomes import NAMES
from graders.contract.results import Outcome

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class FailureRow:
    """`href` opens the newest program that fails in this way."""

    finding: str
    case: str
    learners: int
    share: str
    href: str


@dataclass(frozen=True)
class FailuresPage:
    """`tried` counts learners, and `stuck` those of them who have not passed."""

    template: ClassVar[str] = "failures.html"
    frame: Frame
    navigation: SectionNavigation
    exercise: Link
    tried: int
    passed: int
    stuck: int
    rows: tuple[FailureRow, ...]
    problem: str = ""


@router.api_route("/desk/{section}/knowledge/exercises/{exercise}", methods=["GET", "HEAD"])
async def failures_page(context: RequestContextDep, section: str, exercise: str) -> Response:
    here, known = SectionId(section), context.site.store.knowledge
    efforts = await known.efforts(here, exercise)
    if not efforts and exercise not in context.course.exercises:
        raise HTTPException(404, "There is no exercise of that name.")
    navigation, failures = await navigate(context, here, HERE), await known.failures(here, exercise)
    tried, passed = len(efforts), sum(one.attempts is not None for one in efforts)
    title = title_exercise(context.course, exercise)
    page = FailuresPage(
        frame=await context.frame(f"{title}: {navigation.section_title}", "What fails in one exercise."),
        navigation=navigation,
        exercise=Link(f"/exercises/{exercise}" if exercise in context.course.exercises else "", title),
        tried=tried,
        passed=passed,
        stuck=tried - passed,
        rows=_list_rows(here, context.course.exercises.get(exercise), failures, tried),
    )
    return context.site.renderer.page(page)


def _list_rows(
    section: SectionId, exercise: Exercise | None, failures: tuple[Failure, ...], tried: int
) -> tuple[FailureRow, ...]:
    """The way to fail that most learners share comes first."""
    by_way: dict[tuple[str, str], list[Failure]] = defaultdict(list)
    for one in failures:
        by_way[one.finding, one.case].append(one)
    rows = [
        FailureRow(
            finding=_say_finding(exercise, finding),
            case=case,
            learners=len({one.learner for one in found}),
            share=say_percent(len({one.learner for one in found}) / tried),
            href=f"/desk/{section}/submissions/{max(found, key=lambda one: one.at).submission}",
        )
        for (finding, case), found in by_way.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.learners, row.finding, row.case)))


def _say_finding(exercise: Exercise | None, finding: str) -> str:
    if exercise is not None and finding in exercise.manifest.findings:
        return Markup(exercise.manifest.findings[finding].short).striptags()
    return NAMES[Outcome(finding)] if finding in set(Outcome) else finding
