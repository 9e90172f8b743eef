"""One submission of a section's learner, as its learner sees it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Query, Response
from starlette.exceptions import HTTPException

from app.course.model import Exercise
from app.storage.class_submissions import SectionLearner
from app.storage.records import SectionId
from app.web.api.submissions import read_after_pass
from app.web.desk.navigation import SectionNavigation, navigate
from app.web.desk.submissions import HERE, exercise_href, learner_href, title_exercise
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.views.comments import MAX_CHARACTERS, CommentView, show_comments
from app.web.views.history import MAX_SHOWN, CompareView, SubmissionRow, compare, show_history
from app.web.views.presenting_results import show_submission
from app.web.views.result_views import SubmissionView
from graders.contract.jobs import GradeJob
from graders.contract.model import ExerciseName, SubmissionId
from graders.contract.results import Outcome, Verdict
from graders.ledger import QueuePosition, Submission

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class HandedInPage:
    """`submission` is None while it is not judged, or where its exercise is no longer in the course; then `note` says
    which."""

    template: ClassVar[str] = "handed_in.html"
    frame: Frame
    navigation: SectionNavigation
    learner: Link
    exercise: Link
    number: int
    note: str
    submission: SubmissionView | None
    history: tuple[SubmissionRow, ...]
    compare: CompareView | None
    comments: tuple[CommentView, ...]
    comment_action: str
    """Takes `text`, and `line` or nothing. Empty in an archived section."""
    comment_text: str
    comment_line: str
    max_characters: int
    problem: str = ""


@dataclass(frozen=True)
class RefusedComment:
    """A comment that could not be stored, which goes back into the form."""

    text: str
    line: str
    problem: str


@dataclass(frozen=True)
class Found:
    """A submission of this section with the attempts beside it, newest first."""

    section: SectionId
    learner: SectionLearner
    submission: Submission
    job: GradeJob
    history: tuple[Submission, ...]

    @property
    def number(self) -> int:
        """Counted from the learner's first; 0 if it is older than those that are listed."""
        counted = enumerate(reversed(self.history), 1)
        return next((number for number, one in counted if one.id == self.submission.id), 0)


async def need_handed_in(context: RequestContext, section: str, submission: str) -> Found:
    """Raises a 404 for a submission of anybody who is no learner of this section."""
    here, ledger = SectionId(section), context.site.ledger
    learner = await context.site.store.class_submissions.find_owner(here, SubmissionId(submission))
    found = await ledger.find(SubmissionId(submission)) if learner else None
    if learner is None or found is None or not isinstance(found.job, GradeJob):
        raise HTTPException(404, "No learner of this section has handed in such a submission.")
    history = await ledger.history(learner.learner, ExerciseName(found.job.exercise), MAX_SHOWN)
    if learner.left_at is not None:
        history = tuple(one for one in history if one.submitted_at <= learner.left_at)
    return Found(here, learner, found, found.job, history)


@router.api_route("/desk/{section}/submissions/{submission}", methods=["GET", "HEAD"])
async def submission_page(
    context: RequestContextDep,
    section: str,
    submission: str,
    against: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """`against` names the text to compare the code with."""
    await context.count(Act.COMPARE)
    return await show_handed_in(context, await need_handed_in(context, section, submission), against)


async def show_handed_in(
    context: RequestContext, found: Found, against: str = "", refused: RefusedComment | None = None
) -> Response:
    assert context.account is not None
    navigation = await navigate(context, found.section, HERE)
    exercise = context.course.exercises.get(found.job.exercise)
    zone = await context.site.store.class_submissions.zone(found.section)
    view, beside = None, None
    if exercise is not None:
        view, beside = await asyncio.to_thread(_show_now, exercise, found, against, zone)
    title = title_exercise(context.course, found.job.exercise)
    address = comments_address(found)
    said = await context.site.store.comments.of_section(found.section, found.submission.id)
    page = HandedInPage(
        frame=await context.frame(f"{found.learner.name}: {title}", "What one person handed in to one exercise."),
        navigation=navigation,
        learner=Link(learner_href(found.section, found.learner.account), found.learner.name),
        exercise=Link(exercise_href(found.section, found.job.exercise), title),
        number=found.number,
        note=_write_note(exercise, view),
        submission=view,
        history=_show_history(exercise, found, zone),
        compare=beside,
        comments=show_comments(said, found.job.source, context.account.id, "" if navigation.is_archived else address),
        comment_action="" if navigation.is_archived else address,
        comment_text=refused.text if refused else "",
        comment_line=refused.line if refused else "",
        max_characters=MAX_CHARACTERS,
        problem=refused.problem if refused else "",
    )
    return context.site.renderer.page(page, 422 if refused else 200)


def comments_address(found: Found) -> str:
    return f"{_href(found, found.submission.id)}/comments"


def _write_note(exercise: Exercise | None, view: SubmissionView | None) -> str:
    if exercise is None:
        return "This exercise is no longer in the course, so its verdict cannot be shown."
    return "" if view else "It is not judged yet. Reload the page in a moment."


def _href(found: Found, submission: str) -> str:
    return f"/desk/{found.section}/submissions/{submission}"


def _show_history(exercise: Exercise | None, found: Found, zone: ZoneInfo) -> tuple[SubmissionRow, ...]:
    rows: Sequence[SubmissionRow] = show_history(exercise, found.history, zone=zone) if exercise else ()
    return tuple(replace(row, href=_href(found, one.id)) for row, one in zip(rows, found.history, strict=False))


def _show_now(
    exercise: Exercise, found: Found, against: str, zone: ZoneInfo
) -> tuple[SubmissionView | None, CompareView]:
    """In a thread, because it draws graphs and reads files."""
    beside = compare(exercise, found.submission, found.history, against, zone)
    beside = replace(beside, action=_href(found, found.submission.id), restore_action="")
    verdict = found.submission.result
    if not isinstance(verdict, Verdict):
        return None, beside
    after_pass = read_after_pass(exercise) if verdict.outcome is Outcome.PASSED else None
    view = show_submission(found.submission, exercise, QueuePosition(0, 0.0), after_pass, zone=zone)
    return replace(view, href=_href(found, found.submission.id)), beside
