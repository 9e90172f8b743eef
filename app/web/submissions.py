"""Submissions and looks at the public checks: take one, follow it live, and show its verdict."""

import asyncio
from collections.abc import AsyncIterator, Awaitable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from fastapi import APIRouter, Depends, Form, Header, Query, Response
from fastapi.responses import RedirectResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from app.course.model import Exercise
from app.web.diagnosing import draft_place, read_diagnosed, write_draft
from app.web.exercise import ExerciseNow, Refused, render_exercise
from app.web.history import MOST_SHOWN, CompareView, compare
from app.web.page import Frame
from app.web.rates import Act, RateExceeded
from app.web.results import AfterPass, count_ahead, show_submission
from app.web.source import clean_source
from app.web.verdicts import SubmissionView
from app.web.visit import Visit, VisitNow, Writer, WriterNow
from graders.contract.events import EventKind
from graders.contract.jobs import GradeJob
from graders.contract.limits import MAX_SOURCE_BYTES
from graders.contract.manifest import Attempt
from graders.contract.model import ExerciseName, SubmissionId
from graders.contract.results import Outcome, Verdict
from graders.ledger import Accepted, QueueFull, Submission, TooManyPending

router = APIRouter(include_in_schema=False)
api = APIRouter(prefix="/api", tags=["submissions"])

GONE = "There is no such submission of yours; what the public checks said is kept for an hour."
TOKEN = r"^[A-Za-z0-9_-]{8,64}$"
# What every database can count to.
MOST_EVENTS = 2**31 - 1


@dataclass(frozen=True)
class SubmissionPage:
    """While submission.refresh_seconds is not 0 the page has a meta refresh of so many seconds, inside <noscript>.

    `compare` is None for a look at the public checks, which is in no history.
    """

    template: ClassVar[str] = "submission.html"
    frame: Frame
    submission: SubmissionView
    compare: CompareView | None


class LookRequest(BaseModel):
    """Code to hold against the public checks. The same `token` sent again is the same look, not a second one."""

    model_config = ConfigDict(extra="forbid")
    source: str = Field(max_length=MAX_SOURCE_BYTES)
    token: str = Field(pattern=TOKEN)


class SubmissionRequest(LookRequest):
    """An answer to an exercise. The same `token` sent again is the same submission, not a second one.

    `category` and `line` are for an exercise that asks for a diagnosis; any other leaves them aside.
    """

    category: str = Field(default="", max_length=64)
    line: int | None = Field(default=None, ge=1, le=100_000)


class AcceptedAnswer(BaseModel):
    """It is kept, and will have exactly one verdict. `place` is how many stand before it."""

    id: str
    place: int
    estimate_seconds: float
    events: str


class SubmissionAnswer(BaseModel):
    """A submission as it stands; `verdict` is null until it is finished."""

    id: str
    exercise: str
    state: str
    place: int
    submitted_at: str
    source: str
    verdict: Verdict | None


async def _submit(writer: Writer, exercise: Exercise, asked: SubmissionRequest) -> Accepted:
    await writer.visit.count(Act.SUBMIT)
    said = read_diagnosed(exercise, asked.category, asked.line)
    if said is not None:
        await writer.site.store.save_draft(writer.learner, draft_place(exercise), write_draft(said), writer.now)
    job = GradeJob(exercise=ExerciseName(exercise.name), source=clean_source(asked.source), diagnosed=said)
    return await _hand_over(writer, exercise, job, asked.token)


async def _look(writer: Writer, exercise: Exercise, asked: LookRequest) -> Accepted:
    """The public checks alone: no attempt, and no word on a diagnosis."""
    await writer.visit.count(Act.LOOK)
    job = GradeJob(exercise=ExerciseName(exercise.name), source=clean_source(asked.source), public_only=True)
    return await _hand_over(writer, exercise, job, asked.token)


async def _hand_over(writer: Writer, exercise: Exercise, job: GradeJob, token: str) -> Accepted:
    site = writer.site
    # Before, not after: then its write would hold the lock that the worker's claim waits for.
    await site.store.save_draft(writer.learner, f"exercises/{exercise.name}", job.source, writer.now)
    accepted = await site.ledger.submit(writer.learner, token, job, exercise.manifest.queue)
    if not accepted.already:
        site.metrics.jobs.labels("look" if job.public_only else "grade").inc()
    return accepted


def _answer(accepted: Accepted) -> AcceptedAnswer:
    return AcceptedAnswer(
        id=accepted.id,
        place=count_ahead(accepted.place),
        estimate_seconds=round(accepted.estimate_seconds, 2),
        events=f"/api/submissions/{accepted.id}/events",
    )


@api.post("/exercises/{name}/submissions", status_code=202)
async def submit(exercise: ExerciseNow, writer: WriterNow, asked: SubmissionRequest) -> AcceptedAnswer:
    """Hand in an answer. What comes back is committed: it survives any crash of ours."""
    return _answer(await _submit(writer, exercise, asked))


@api.post("/exercises/{name}/checks", status_code=202)
async def look(exercise: ExerciseNow, writer: WriterNow, asked: LookRequest) -> AcceptedAnswer:
    """Run the public checks. It is no attempt, and is kept for an hour."""
    return _answer(await _look(writer, exercise, asked))


@dataclass(frozen=True)
class AnswerForm:
    """The fields of the exercise's one form, which has two buttons. Without script nothing chosen sends nothing."""

    source: str
    token: str
    category: str
    line: int | None


def read_form(
    source: Annotated[str, Form(max_length=MAX_SOURCE_BYTES * 2)],
    token: Annotated[str, Form(pattern=TOKEN)],
    category: Annotated[str, Form(max_length=64)] = "",
    line: Annotated[int | None, Form(ge=1, le=100_000)] = None,
) -> AnswerForm:
    return AnswerForm(clean_source(source), token, category, line)


FormNow = Annotated[AnswerForm, Depends(read_form)]


@router.post("/exercises/{name}/submissions")
async def submit_by_form(exercise: ExerciseNow, writer: WriterNow, form: FormNow) -> Response:
    """The form's way in. A submission that could not be taken comes back in the form, with the text still there."""
    asked = SubmissionRequest(source=form.source, token=form.token, category=form.category, line=form.line)
    return await _take_form(writer, exercise, form, _submit(writer, exercise, asked))


@router.post("/exercises/{name}/checks")
async def look_by_form(exercise: ExerciseNow, writer: WriterNow, form: FormNow) -> Response:
    """The other button. What was said of a bug hunt's fault is kept for later."""
    said = read_diagnosed(exercise, form.category, form.line)
    if said is not None:
        await writer.site.store.save_draft(writer.learner, draft_place(exercise), write_draft(said), writer.now)
    asked = LookRequest(source=form.source, token=form.token)
    return await _take_form(writer, exercise, form, _look(writer, exercise, asked))


async def _take_form(writer: Writer, exercise: Exercise, form: AnswerForm, taking: Awaitable[Accepted]) -> Response:
    try:
        accepted = await taking
    except (TooManyPending, RateExceeded, QueueFull) as refusal:
        status = 503 if isinstance(refusal, QueueFull) else 429
        said = read_diagnosed(exercise, form.category, form.line)
        refused = Refused(f"{refusal}.".replace("..", "."), form.source, said, status)
        return await render_exercise(writer.visit, exercise, refused)
    return RedirectResponse(f"/exercises/{exercise.name}/submissions/{accepted.id}", 303)


async def need_submission(submission_id: str, visit: VisitNow) -> Submission:
    """The submission, if it is this learner's: to anybody else it does not exist."""
    found = await visit.site.ledger.find(SubmissionId(submission_id))
    if found is None or found.learner != visit.learner or not isinstance(found.job, GradeJob):
        raise HTTPException(404, GONE)
    return found


SubmissionNow = Annotated[Submission, Depends(need_submission)]


async def need_followed(submission: SubmissionNow, visit: VisitNow) -> Submission:
    """As a dependency: a refusal has to come before the stream's first byte."""
    await visit.count(Act.FOLLOW)
    return submission


def _need_match(exercise: Exercise, submission: Submission) -> GradeJob:
    if not isinstance(submission.job, GradeJob) or submission.job.exercise != exercise.name:
        raise HTTPException(404, "There is no such submission to this exercise.")
    return submission.job


@router.api_route("/exercises/{name}/submissions/{submission_id}", methods=["GET", "HEAD"])
async def submission_page(
    exercise: ExerciseNow,
    submission: SubmissionNow,
    visit: VisitNow,
    against: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """A submission's verdict and code; `against` is the submission that the code is compared with."""
    site, job = visit.site, _need_match(exercise, submission)
    view = await _show(visit, exercise, submission)
    if visit.wants_fragment:
        return site.renderer.fragment(view)
    beside = None
    if not job.public_only:
        await visit.count(Act.COMPARE)
        history = await site.ledger.history(submission.learner, ExerciseName(exercise.name), MOST_SHOWN)
        beside = await asyncio.to_thread(compare, exercise, submission, history, against)
    what = "Public checks" if job.public_only else "Verdict"
    frame = await visit.frame(
        what if view.finished else "Being judged", f"A submission to {exercise.manifest.title}."
    )
    return site.renderer.page(SubmissionPage(frame, view, beside))


@router.post("/exercises/{name}/submissions/{submission_id}/restore")
async def restore(exercise: ExerciseNow, submission: SubmissionNow, writer: WriterNow) -> Response:
    """Put a submission's text back in the editor, and what was said with it."""
    await writer.visit.count(Act.WRITE)
    job = _need_match(exercise, submission)
    store = writer.site.store
    await store.save_draft(writer.learner, f"exercises/{exercise.name}", job.source, writer.now)
    if job.diagnosed is not None:
        await store.save_draft(writer.learner, draft_place(exercise), write_draft(job.diagnosed), writer.now)
    return RedirectResponse(f"/exercises/{exercise.name}?restored={submission.id}#answer", 303)


async def _show(visit: Visit, exercise: Exercise, submission: Submission) -> SubmissionView:
    ledger = visit.site.ledger
    place = await ledger.place(submission.id)
    estimate_seconds = await ledger.estimate_seconds(exercise.manifest.queue, place) if place else 0.0
    # Graphs are drawn and files are read in there.
    return await asyncio.to_thread(_show_now, exercise, submission, count_ahead(place), estimate_seconds)


def _show_now(exercise: Exercise, submission: Submission, ahead: int, estimate_seconds: float) -> SubmissionView:
    verdict = submission.result
    passed = isinstance(verdict, Verdict) and verdict.outcome is Outcome.PASSED and not verdict.public_only
    after_pass = read_after_pass(exercise) if passed else None
    return show_submission(submission, exercise, ahead, estimate_seconds, after_pass)


def read_after_pass(exercise: Exercise) -> AfterPass | None:
    """The solution and the other right answers: read from disk here, and only after a pass."""
    solution = _read(exercise, "solution.py")
    ways = [(one.why, _read(exercise, f"attempts/{one.file}")) for one in exercise.manifest.attempts if _is_way(one)]
    others = tuple((why, text) for why, text in ways if text is not None)
    return None if solution is None else AfterPass(solution, others)


def _is_way(attempt: Attempt) -> bool:
    return attempt.outcome is Outcome.PASSED and not attempt.cheat


def _read(exercise: Exercise, name: str) -> str | None:
    path = exercise.folder / name
    return path.read_text(encoding="utf-8") if path.is_file() else None


@api.get("/submissions/{submission_id}")
async def submission_state(submission: SubmissionNow, visit: VisitNow) -> SubmissionAnswer:
    """A submission of your own, with its verdict once there is one."""
    job = submission.job
    return SubmissionAnswer(
        id=submission.id,
        exercise=job.exercise if job.kind == "grade" else "",
        state=submission.state.value,
        place=count_ahead(await visit.site.ledger.place(submission.id)),
        submitted_at=submission.submitted_at.isoformat(),
        source=job.source,
        verdict=submission.result if isinstance(submission.result, Verdict) else None,
    )


@api.get("/submissions/{submission_id}/events", response_class=EventSourceResponse)
async def submission_events(
    submission: Annotated[Submission, Depends(need_followed)],
    visit: VisitNow,
    last_event_id: Annotated[int, Header(ge=0, le=MOST_EVENTS)] = 0,
) -> AsyncIterator[ServerSentEvent]:
    """What happened and happens to it: queued, started, output, case, finished. Resumes after Last-Event-ID."""
    site = visit.site
    place = count_ahead(await site.ledger.place(submission.id))
    with site.metrics.streams.track_inprogress():
        async for event in site.ledger.follow(submission.id, last_event_id):
            if event.kind is EventKind.QUEUED:
                body: dict[str, Any] = {"place": place}
                yield ServerSentEvent(event="queued", id=str(event.seq), data=body)
            else:
                yield ServerSentEvent(event=event.kind.value, id=str(event.seq), raw_data=event.body)


@api.post("/submissions/{submission_id}/stop", status_code=204)
async def withdraw(submission: SubmissionNow, visit: VisitNow) -> None:
    """Withdraw a submission that is not finished. It costs no attempt."""
    await visit.site.ledger.cancel(submission.id, submission.learner)
