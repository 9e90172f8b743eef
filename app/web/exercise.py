"""An exercise's page: the prompt, hints one at a time, the editor, and this learner's submissions."""

import secrets
from dataclasses import dataclass
from typing import Annotated, ClassVar

from fastapi import APIRouter, Depends, Form, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.course.model import Course, Exercise, ExerciseLink, Html
from app.web.merging import walk_blocks
from app.web.outcomes import NAMES
from app.web.page import Frame, Place
from app.web.rates import Act
from app.web.results import show_moment
from app.web.site import SiteNow
from app.web.source import MAX_SOURCE_KIB
from app.web.visit import Visit, VisitNow, WriterNow, place_of
from graders.contract.limits import Limits
from graders.contract.model import ExerciseName
from graders.contract.results import Outcome, Verdict
from graders.ledger import Submission

router = APIRouter(include_in_schema=False)

STATE_WORDS = {"queued": "waiting", "running": "running"}


@dataclass(frozen=True)
class HintView:
    """`html` is empty until the hint was opened; `may_open` is true for the next one in order only."""

    number: int
    html: Html
    opened: bool
    may_open: bool


@dataclass(frozen=True)
class SubmissionRow:
    """One line of the history; `passed` is None while it is not finished or was no attempt."""

    href: str
    submitted_at: str
    status: str
    passed: bool | None
    cases_passed: int
    cases_total: int


@dataclass(frozen=True)
class LimitRow:
    name: str
    value: str


@dataclass(frozen=True)
class ExercisePage:
    """`token` makes a form sent twice one submission. `text` is the draft, or the last submission, or the starter.

    `action` takes source and token; `hint_action` takes `number`. `problem` is a sentence about a submission that
    could not be taken.
    """

    template: ClassVar[str] = "exercise.html"
    frame: Frame
    name: str
    title: str
    summary: str
    kind: str
    difficulty: str
    minutes: int
    concepts: tuple[str, ...]
    prompt: Html
    starter: str
    text: str
    token: str
    action: str
    hint_action: str
    draft_place: str
    api_action: str
    max_source_kib: int
    limits: tuple[LimitRow, ...]
    hints: tuple[HintView, ...]
    history: tuple[SubmissionRow, ...]
    passed: bool
    chapters: tuple[Place, ...]
    problem: str = ""


def need_exercise(name: str, site: SiteNow) -> Exercise:
    exercise = site.course.exercises.get(name)
    if exercise is None:
        raise HTTPException(404, "There is no exercise of that name.")
    return exercise


ExerciseNow = Annotated[Exercise, Depends(need_exercise)]


@dataclass(frozen=True)
class _Mine:
    """What this learner did with the exercise."""

    history: tuple[Submission, ...] = ()
    hints_opened: int = 0
    draft: str | None = None


async def render_exercise(
    visit: Visit, exercise: Exercise, problem: str = "", text: str | None = None, status: int = 200
) -> Response:
    """The page; `problem` and `text` are of a submission that could not be taken."""
    course, manifest = visit.site.course, exercise.manifest
    mine = await _gather_mine(visit, exercise)
    last = mine.history[0].job.source if mine.history else exercise.starter
    page = ExercisePage(
        frame=await visit.frame(manifest.title, manifest.summary),
        name=exercise.name,
        title=manifest.title,
        summary=manifest.summary,
        kind=manifest.kind,
        difficulty=manifest.difficulty.value,
        minutes=manifest.minutes,
        concepts=tuple(course.concepts.get(concept, concept) for concept in manifest.concepts),
        prompt=exercise.prompt,
        starter=exercise.starter,
        text=next(each for each in (text, mine.draft, last) if each is not None),
        token=secrets.token_hex(16),
        action=f"/exercises/{exercise.name}/submissions",
        hint_action=f"/exercises/{exercise.name}/hints",
        draft_place=f"exercises/{exercise.name}",
        api_action=f"/api/exercises/{exercise.name}/submissions",
        max_source_kib=MAX_SOURCE_KIB,
        limits=show_limits(manifest.limits),
        hints=_show_hints(exercise, mine.hints_opened),
        history=tuple(_show_row(exercise, submission) for submission in mine.history),
        passed=any(_outcome(submission) is Outcome.PASSED for submission in mine.history),
        chapters=_chapters_with(course, exercise.name),
        problem=problem,
    )
    return visit.site.renderer.page(page, status)


async def _gather_mine(visit: Visit, exercise: Exercise) -> _Mine:
    site, learner = visit.site, visit.learner
    if learner is None:
        return _Mine()
    place = f"exercises/{exercise.name}"
    return _Mine(
        await site.ledger.history(learner, ExerciseName(exercise.name)),
        await site.store.hints_opened(learner, exercise.name),
        (await site.store.drafts(learner, place)).get(place),
    )


def show_limits(limits: Limits) -> tuple[LimitRow, ...]:
    return (
        LimitRow("time on the processor", f"{limits.cpu_seconds:g} s"),
        LimitRow("time in all", f"{limits.wall_seconds:g} s"),
        LimitRow("memory", f"{limits.memory_mib} MiB"),
        LimitRow("printed text", f"{limits.output_kib} KiB"),
        LimitRow("files", f"{limits.disk_mib} MiB, gone after the run"),
        LimitRow("threads and processes", f"{limits.threads}"),
        LimitRow("network", "none"),
    )


def _show_hints(exercise: Exercise, opened: int) -> tuple[HintView, ...]:
    return tuple(
        HintView(number, html if number <= opened else "", number <= opened, number == opened + 1)
        for number, html in enumerate(exercise.hints, 1)
    )


def _outcome(submission: Submission) -> Outcome | None:
    return submission.result.outcome if isinstance(submission.result, Verdict) else None


def _show_row(exercise: Exercise, submission: Submission) -> SubmissionRow:
    verdict = submission.result if isinstance(submission.result, Verdict) else None
    counts = verdict is not None and verdict.outcome.costs_an_attempt
    return SubmissionRow(
        href=f"/exercises/{exercise.name}/submissions/{submission.id}",
        submitted_at=show_moment(submission.submitted_at),
        status=NAMES[verdict.outcome] if verdict else STATE_WORDS.get(submission.state, submission.state),
        passed=verdict.outcome is Outcome.PASSED if verdict and counts else None,
        cases_passed=verdict.cases_passed if verdict else 0,
        cases_total=verdict.cases_total if verdict else 0,
    )


def _chapters_with(course: Course, name: str) -> tuple[Place, ...]:
    return tuple(
        place_of(chapter)
        for chapter in course.chapters
        if any(isinstance(block, ExerciseLink) and block.name == name for block in walk_blocks(chapter.blocks))
    )


@router.api_route("/exercises/{name}", methods=["GET", "HEAD"])
async def exercise_page(visit: VisitNow, exercise: ExerciseNow) -> Response:
    return await render_exercise(visit, exercise)


@router.post("/exercises/{name}/hints")
async def open_hint(exercise: ExerciseNow, writer: WriterNow, number: Annotated[int, Form()]) -> Response:
    """Open the next hint. An earlier one is open already; a later one stays shut."""
    await writer.visit.count(Act.WRITE)
    opened = await writer.site.store.hints_opened(writer.learner, exercise.name)
    if number == opened + 1 <= len(exercise.hints):
        await writer.site.store.open_hint(writer.learner, exercise.name, number, writer.now)
    return RedirectResponse(f"/exercises/{exercise.name}#hints", 303)
