"""Submissions and public checks: accept one, follow it live, and show its verdict."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from datetime import tzinfo
from typing import Annotated, Any, ClassVar

from fastapi import APIRouter, Depends, Form, Header, Query, Response
from fastapi.responses import RedirectResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from app.course.files import may_be_read
from app.course.model import Exercise
from app.storage.comments import Comment
from app.storage.draft_key import diagnosis_key, exercise_key
from app.web.edge.assigned import find_regraded
from app.web.edge.closed_exercises import Closed, choose_queue, need_grader
from app.web.edge.exercise_digest import read_digest
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import LearnerContext, LearnerContextDep, RequestContext, RequestContextDep
from app.web.edge.rates import Act, QuotaExceeded, RateExceeded
from app.web.edge.source import clean_source
from app.web.pages.exercise import ExerciseDep, Refused, render_exercise
from app.web.views.comments import CommentView, show_comments
from app.web.views.diagnosis import read_diagnosed, write_draft
from app.web.views.history import MAX_SHOWN, CompareView, compare
from app.web.views.next_step import find_next_step
from app.web.views.presenting_results import AfterPass, show_submission
from app.web.views.progress import count_progress
from app.web.views.regraded import RegradedRow, show_regraded
from app.web.views.result_views import SubmissionView
from graders.contract.events import EventKind
from graders.contract.jobs import Diagnosed, GradeJob
from graders.contract.limits import MAX_SOURCE_BYTES
from graders.contract.log_lines import current_submission
from graders.contract.manifest import Attempt
from graders.contract.model import ExerciseName, SubmissionId
from graders.contract.results import Outcome, Verdict
from graders.ledger import (
    Accepted,
    AddressBusy,
    CardQuotaSpent,
    Kind,
    QueueFull,
    QueuePosition,
    Submission,
    TooManyPending,
)

router = APIRouter(include_in_schema=False)
api = APIRouter(prefix="/api", tags=["submissions"])

GONE = "There is no such submission of yours; the result of public checks is kept for an hour."
KEY_PATTERN = r"^[A-Za-z0-9_-]{8,64}$"
# The largest integer that every database can store.
MAX_EVENTS = 2**31 - 1


@dataclass(frozen=True)
class SubmissionPage:
    """While submission.refresh_seconds is not 0, the page has a meta refresh of that many seconds inside <noscript>.

    `compare` is None for a public check, because the history leaves those out.
    """

    template: ClassVar[str] = "submission.html"
    frame: Frame
    submission: SubmissionView
    compare: CompareView | None
    comments: tuple[CommentView, ...]
    regraded: tuple[RegradedRow, ...]
    """What judging it again came to, for each section in which that was applied."""


class PublicCheckRequest(BaseModel):
    """Code for the public checks. The same `idempotency_key` sent again is the same check, not a second one."""

    model_config = ConfigDict(extra="forbid")
    source: str = Field(max_length=MAX_SOURCE_BYTES)
    idempotency_key: str = Field(pattern=KEY_PATTERN)


class TimedCheckRequest(PublicCheckRequest):
    """With `benchmark`, a lab that is timed is timed too, once its public checks pass."""

    benchmark: bool = False


class SubmissionRequest(PublicCheckRequest):
    """An answer to an exercise. The same `idempotency_key` sent again is the same submission, not a second one.

    `category` and `line` are for an exercise that asks for a diagnosis; any other ignores them.
    """

    category: str = Field(default="", max_length=64)
    line: int | None = Field(default=None, ge=1, le=100_000)


class AcceptedAnswer(BaseModel):
    """The submission is stored, and will have exactly one verdict. `ahead` is how many run before it; `served` is
    false while no grader is running."""

    id: str
    ahead: int
    estimate_seconds: float
    served: bool
    events: str


class SubmissionAnswer(BaseModel):
    """A submission's current state; `verdict` is null until it is finished."""

    id: str
    exercise: str
    state: str
    ahead: int
    submitted_at: str
    source: str
    verdict: Verdict | None


async def _submit(context: LearnerContext, exercise: Exercise, asked: SubmissionRequest) -> Accepted:
    await context.request_context.count_kept(Act.SUBMIT, asked.source)
    said = read_diagnosed(exercise, asked.category, asked.line)
    if said is not None:
        await context.site.store.save_draft(
            context.learner, diagnosis_key(exercise.name), write_draft(said), context.now
        )
    job = _make_job(exercise, asked, said).model_copy(update={"benchmark": exercise.manifest.benchmark is not None})
    return await _hand_over(context, exercise, job, asked.idempotency_key)


async def _run_public_checks(context: LearnerContext, exercise: Exercise, asked: TimedCheckRequest) -> Accepted:
    """The public checks alone: not an attempt, and without a diagnosis."""
    await context.request_context.count_kept(Act.PUBLIC_CHECK, asked.source)
    job = _make_job(exercise, asked, public_only=True).model_copy(update={"benchmark": asked.benchmark})
    return await _hand_over(context, exercise, job, asked.idempotency_key)


def _make_job(
    exercise: Exercise, asked: PublicCheckRequest, said: Diagnosed | None = None, *, public_only: bool = False
) -> GradeJob:
    """A job for graders whose exercise files are the same as the website's are now."""
    return GradeJob(
        exercise=ExerciseName(exercise.name),
        source=clean_source(asked.source),
        diagnosed=said,
        exercise_digest=read_digest(exercise.folder),
        public_only=public_only,
    )


async def _hand_over(context: LearnerContext, exercise: Exercise, job: GradeJob, idempotency_key: str) -> Accepted:
    site = context.site
    await need_grader(site, exercise)
    # Save the draft before submitting: after it, this write would hold the lock that the worker's claim waits for.
    await site.store.save_draft(context.learner, exercise_key(exercise.name), job.source, context.now)
    queue = await choose_queue(site, exercise.manifest.device)
    accepted = await site.ledger.submit(context.learner, idempotency_key, job, queue, context.request_context.origin)
    current_submission.set(accepted.id)
    if not accepted.already:
        site.metrics.jobs.labels((Kind.CHECK if job.public_only else Kind.GRADE).value).inc()
    return accepted


def _answer(accepted: Accepted) -> AcceptedAnswer:
    return AcceptedAnswer(
        id=accepted.id,
        ahead=accepted.ahead,
        estimate_seconds=round(accepted.estimate_seconds, 2),
        served=accepted.is_served,
        events=f"/api/submissions/{accepted.id}/events",
    )


@api.post("/exercises/{name}/submissions", status_code=202)
async def submit(exercise: ExerciseDep, context: LearnerContextDep, asked: SubmissionRequest) -> AcceptedAnswer:
    """Submit an answer. Once this responds, the submission is committed and survives any crash of ours."""
    return _answer(await _submit(context, exercise, asked))


@api.post("/exercises/{name}/checks", status_code=202)
async def check(exercise: ExerciseDep, context: LearnerContextDep, asked: TimedCheckRequest) -> AcceptedAnswer:
    """Run the public checks, and the benchmark if asked. This is not an attempt; the result is kept for an hour."""
    return _answer(await _run_public_checks(context, exercise, asked))


@dataclass(frozen=True)
class AnswerForm:
    """The fields of the exercise's form, which has two buttons. Without script, an empty choice sends no field."""

    source: str
    idempotency_key: str
    category: str
    line: int | None
    benchmark: bool = False


def read_form(
    source: Annotated[str, Form(max_length=MAX_SOURCE_BYTES * 2)],
    idempotency_key: Annotated[str, Form(pattern=KEY_PATTERN)],
    category: Annotated[str, Form(max_length=64)] = "",
    line: Annotated[int | None, Form(ge=1, le=100_000)] = None,
    benchmark: Annotated[bool, Form()] = False,
) -> AnswerForm:
    return AnswerForm(clean_source(source), idempotency_key, category, line, benchmark)


FormDep = Annotated[AnswerForm, Depends(read_form)]


@router.post("/exercises/{name}/submissions")
async def submit_by_form(exercise: ExerciseDep, context: LearnerContextDep, form: FormDep) -> Response:
    """Submit by the form. A submission that could not be accepted comes back in the form with its text."""
    asked = SubmissionRequest(
        source=form.source, idempotency_key=form.idempotency_key, category=form.category, line=form.line
    )
    return await _take_form(context, exercise, form, _submit(context, exercise, asked))


@router.post("/exercises/{name}/checks")
async def check_by_form(exercise: ExerciseDep, context: LearnerContextDep, form: FormDep) -> Response:
    """The form's other button. A bug hunt's diagnosis is saved as a draft."""
    return await _take_form(context, exercise, form, _check_and_keep_diagnosis(context, exercise, form))


async def _check_and_keep_diagnosis(context: LearnerContext, exercise: Exercise, form: AnswerForm) -> Accepted:
    asked = TimedCheckRequest(source=form.source, idempotency_key=form.idempotency_key, benchmark=form.benchmark)
    accepted = await _run_public_checks(context, exercise, asked)
    # Only now, because a request that the rates refuse must write nothing.
    if (said := read_diagnosed(exercise, form.category, form.line)) is not None:
        await context.site.store.save_draft(
            context.learner, diagnosis_key(exercise.name), write_draft(said), context.now
        )
    return accepted


async def _take_form(
    context: LearnerContext, exercise: Exercise, form: AnswerForm, taking: Awaitable[Accepted]
) -> Response:
    try:
        accepted = await taking
    except (TooManyPending, AddressBusy, CardQuotaSpent, RateExceeded, QuotaExceeded, QueueFull, Closed) as refusal:
        status = 503 if isinstance(refusal, QueueFull) else 409 if isinstance(refusal, Closed) else 429
        said = read_diagnosed(exercise, form.category, form.line)
        refused = Refused(str(refusal), form.source, said, status)
        return await render_exercise(context.request_context, exercise, refused)
    return RedirectResponse(f"/exercises/{exercise.name}/submissions/{accepted.id}", 303)


async def need_submission(submission_id: str, context: RequestContextDep) -> Submission:
    """The submission, if it is this learner's; to any other learner it does not exist."""
    found = await context.site.ledger.find(SubmissionId(submission_id))
    if found is None or not isinstance(found.job, GradeJob) or not await _may_read(context, found):
        raise HTTPException(404, GONE)
    return found


async def _may_read(context: RequestContext, found: Submission) -> bool:
    """Whether it is the reader's, or was handed in by the learner as whom an instructor sees the course."""
    viewing = context.viewing
    if viewing is None or viewing.learner is None:
        return found.learner == context.learner
    owner = await context.site.store.class_submissions.find_owner(viewing.section, found.id)
    return owner is not None and owner.learner == viewing.learner


SubmissionDep = Annotated[Submission, Depends(need_submission)]


async def need_followed(submission: SubmissionDep, context: RequestContextDep) -> Submission:
    """A dependency, because a refusal must come before the stream's first byte."""
    await context.count(Act.FOLLOW)
    return submission


def _need_match(exercise: Exercise, submission: Submission) -> GradeJob:
    if not isinstance(submission.job, GradeJob) or submission.job.exercise != exercise.name:
        raise HTTPException(404, "There is no such submission to this exercise.")
    return submission.job


@router.api_route("/exercises/{name}/submissions/{submission_id}", methods=["GET", "HEAD"])
async def submission_page(
    exercise: ExerciseDep,
    submission: SubmissionDep,
    context: RequestContextDep,
    against: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """A submission's verdict and code; `against` names the text to compare the code with."""
    site, job = context.site, _need_match(exercise, submission)
    view = await _show(context, exercise, submission)
    if context.wants_fragment:
        return site.renderer.fragment(view)
    beside = None
    if not job.public_only:
        await context.count(Act.COMPARE)
        history = await site.ledger.history(submission.learner, ExerciseName(exercise.name), MAX_SHOWN)
        beside = await asyncio.to_thread(compare, exercise, submission, history, against, await context.own_zone())
    what = "Public checks" if job.public_only else "Verdict"
    frame = await context.frame(
        what if view.finished else "Being judged", f"A submission to {exercise.manifest.title}."
    )
    said, regraded = await _read_comments(context, submission), await find_regraded(context, submission.id)
    page = SubmissionPage(frame, view, beside, show_comments(said, job.source), show_regraded(regraded))
    return site.renderer.page(page)


async def _read_comments(context: RequestContext, submission: Submission) -> tuple[Comment, ...]:
    """Those that the reader may see. Only the learner's own look makes them read."""
    comments = context.site.store.comments
    if context.viewing is not None:
        return await comments.of_section(context.viewing.section, submission.id)
    found = await comments.of_learner(submission.learner, submission.id)
    await comments.mark_read(submission.learner, submission.id, context.now)
    return found


@router.post("/exercises/{name}/submissions/{submission_id}/restore")
async def restore(exercise: ExerciseDep, submission: SubmissionDep, context: LearnerContextDep) -> Response:
    """Put a submission's text, and its diagnosis, back in the editor."""
    await context.request_context.count(Act.WRITE)
    job = _need_match(exercise, submission)
    store = context.site.store
    await store.save_draft(context.learner, exercise_key(exercise.name), job.source, context.now)
    if job.diagnosed is not None:
        await store.save_draft(context.learner, diagnosis_key(exercise.name), write_draft(job.diagnosed), context.now)
    return RedirectResponse(f"/exercises/{exercise.name}?restored={submission.id}#answer", 303)


async def _show(context: RequestContext, exercise: Exercise, submission: Submission) -> SubmissionView:
    ledger = context.site.ledger
    queue = await choose_queue(context.site, exercise.manifest.device)
    position = await ledger.find_position(submission.id, queue) or QueuePosition(0, 0.0)
    next_step = None
    if _has_passed(submission) and context.viewing is None:
        progress = count_progress(await ledger.finished_submissions(submission.learner))
        next_step = find_next_step(context.course, exercise.name, progress)
    # In a thread, because it draws graphs and reads files.
    zone = await context.own_zone()
    return await asyncio.to_thread(_show_now, exercise, submission, position, next_step, zone)


def _has_passed(submission: Submission) -> bool:
    verdict = submission.result
    return isinstance(verdict, Verdict) and verdict.outcome is Outcome.PASSED and not verdict.public_only


def _show_now(
    exercise: Exercise, submission: Submission, position: QueuePosition, next_step: Link | None, zone: tzinfo
) -> SubmissionView:
    after_pass = read_after_pass(exercise) if _has_passed(submission) else None
    return show_submission(submission, exercise, position, after_pass, next_step, zone)


def read_after_pass(exercise: Exercise) -> AfterPass | None:
    """The solution and the other right answers, read from disk only after a pass."""
    solution = _read(exercise, "solution.py")
    ways = [(one.why, _read(exercise, f"attempts/{one.file}")) for one in exercise.manifest.attempts if _is_way(one)]
    others = tuple((why, text) for why, text in ways if text is not None)
    return None if solution is None else AfterPass(solution, others)


def _is_way(attempt: Attempt) -> bool:
    return attempt.outcome is Outcome.PASSED and not attempt.cheat


def _read(exercise: Exercise, name: str) -> str | None:
    path = exercise.folder / name
    return path.read_text(encoding="utf-8") if may_be_read(path, exercise.folder.parents[1]) else None


@api.get("/submissions/{submission_id}")
async def submission_state(submission: SubmissionDep, context: RequestContextDep) -> SubmissionAnswer:
    """Your own submission, with its verdict once there is one."""
    job = submission.job
    position = await context.site.ledger.find_position(submission.id)
    return SubmissionAnswer(
        id=submission.id,
        exercise=job.exercise if job.kind == "grade" else "",
        state=submission.state.value,
        ahead=position.ahead if position else 0,
        submitted_at=submission.submitted_at.isoformat(),
        source=job.source,
        verdict=submission.result if isinstance(submission.result, Verdict) else None,
    )


@api.get("/submissions/{submission_id}/events", response_class=EventSourceResponse)
async def submission_events(
    submission: Annotated[Submission, Depends(need_followed)],
    context: RequestContextDep,
    last_event_id: Annotated[int, Header(ge=0, le=MAX_EVENTS)] = 0,
) -> AsyncIterator[ServerSentEvent]:
    """The submission's past and live events: queued, started, output, case, finished. Resumes after Last-Event-ID."""
    site = context.site
    position = await site.ledger.find_position(submission.id) or QueuePosition(0, 0.0)
    with site.metrics.streams.track_inprogress():
        async for event in site.ledger.follow(submission.id, last_event_id):
            if event.kind is EventKind.QUEUED:
                body: dict[str, Any] = {"ahead": position.ahead, "served": position.is_served}
                yield ServerSentEvent(event="queued", id=str(event.seq), data=body)
            else:
                yield ServerSentEvent(event=event.kind.value, id=str(event.seq), raw_data=event.body)


@api.post("/submissions/{submission_id}/stop", status_code=204)
async def withdraw(submission: SubmissionDep, context: RequestContextDep) -> None:
    """Withdraw a submission that is not finished. It costs no attempt."""
    await context.site.ledger.cancel(submission.id, submission.learner)
