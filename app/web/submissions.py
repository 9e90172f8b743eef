"""Submissions: take one, follow it live, and show its verdict."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from fastapi import APIRouter, Depends, Form, Header, Response
from fastapi.responses import RedirectResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from app.course.model import Exercise
from app.web.blocks import SubmissionView
from app.web.exercise import ExerciseNow, render_exercise
from app.web.page import Frame, Place
from app.web.rates import Act, RateExceeded
from app.web.results import count_ahead, show_submission
from app.web.source import clean_source
from app.web.visit import Visit, VisitNow, Writer, WriterNow
from graders.contract.events import EventKind
from graders.contract.jobs import GradeJob
from graders.contract.limits import MAX_SOURCE_BYTES
from graders.contract.model import ExerciseName, SubmissionId
from graders.contract.results import Outcome, Verdict
from graders.ledger import Accepted, QueueFull, Submission, TooManyPending

router = APIRouter(include_in_schema=False)
api = APIRouter(prefix="/api", tags=["submissions"])

TOKEN = r"^[A-Za-z0-9_-]{8,64}$"
# What every database can count to.
MOST_EVENTS = 2**31 - 1


@dataclass(frozen=True)
class SubmissionPage:
    """While submission.refresh_seconds is not 0 the page has a meta refresh of so many seconds, inside <noscript>."""

    template: ClassVar[str] = "submission.html"
    frame: Frame
    submission: SubmissionView


class SubmissionRequest(BaseModel):
    """An answer to an exercise. The same `token` sent again is the same submission, not a second one."""

    model_config = ConfigDict(extra="forbid")
    source: str = Field(max_length=MAX_SOURCE_BYTES)
    token: str = Field(pattern=TOKEN)


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
    site, source = writer.site, clean_source(asked.source)
    job = GradeJob(exercise=ExerciseName(exercise.name), source=source)
    # Before, not after: then its write would hold the lock that the worker's claim waits for.
    await site.store.save_draft(writer.learner, f"exercises/{exercise.name}", source, writer.now)
    accepted = await site.ledger.submit(writer.learner, asked.token, job, exercise.manifest.queue)
    if not accepted.already:
        site.metrics.jobs.labels("grade").inc()
    return accepted


@api.post("/exercises/{name}/submissions", status_code=202)
async def submit(exercise: ExerciseNow, writer: WriterNow, asked: SubmissionRequest) -> AcceptedAnswer:
    """Hand in an answer. What comes back is committed: it survives any crash of ours."""
    accepted = await _submit(writer, exercise, asked)
    return AcceptedAnswer(
        id=accepted.id,
        place=count_ahead(accepted.place),
        estimate_seconds=round(accepted.estimate_seconds, 2),
        events=f"/api/submissions/{accepted.id}/events",
    )


@router.post("/exercises/{name}/submissions")
async def submit_by_form(
    exercise: ExerciseNow,
    writer: WriterNow,
    source: Annotated[str, Form(max_length=MAX_SOURCE_BYTES * 2)],
    token: Annotated[str, Form(pattern=TOKEN)],
) -> Response:
    """The form's way in. A submission that could not be taken comes back in the form, with the text still there."""
    try:
        source = clean_source(source)
        accepted = await _submit(writer, exercise, SubmissionRequest(source=source, token=token))
    except (TooManyPending, RateExceeded) as refusal:
        return await render_exercise(writer.visit, exercise, f"{refusal}.".replace("..", "."), source, 429)
    except QueueFull as refusal:
        return await render_exercise(writer.visit, exercise, f"{refusal}.", source, 503)
    return RedirectResponse(f"/exercises/{exercise.name}/submissions/{accepted.id}", 303)


async def need_submission(submission_id: str, visit: VisitNow) -> Submission:
    """The submission, if it is this learner's: to anybody else it does not exist."""
    found = await visit.site.ledger.find(SubmissionId(submission_id))
    if found is None or found.learner != visit.learner or not isinstance(found.job, GradeJob):
        raise HTTPException(404, "There is no such submission of yours.")
    return found


SubmissionNow = Annotated[Submission, Depends(need_submission)]


async def need_followed(submission: SubmissionNow, visit: VisitNow) -> Submission:
    """As a dependency: a refusal has to come before the stream's first byte."""
    await visit.count(Act.FOLLOW)
    return submission


@router.api_route("/exercises/{name}/submissions/{submission_id}", methods=["GET", "HEAD"])
async def submission_page(exercise: ExerciseNow, submission: SubmissionNow, visit: VisitNow) -> Response:
    site, manifest = visit.site, exercise.manifest
    if submission.job.kind != "grade" or submission.job.exercise != exercise.name:
        raise HTTPException(404, "There is no such submission to this exercise.")
    view = await _show(visit, exercise, submission)
    if visit.wants_fragment:
        return site.renderer.fragment(view)
    frame = await visit.frame("Verdict" if view.finished else "Being judged", f"A submission to {manifest.title}.")
    return site.renderer.page(SubmissionPage(frame, view))


async def _show(visit: Visit, exercise: Exercise, submission: Submission) -> SubmissionView:
    ledger = visit.site.ledger
    place = await ledger.place(submission.id)
    estimate_seconds = await ledger.estimate_seconds(exercise.manifest.queue, place) if place else 0.0
    passed = isinstance(submission.result, Verdict) and submission.result.outcome is Outcome.PASSED
    reference = await asyncio.to_thread(_read_reference, exercise) if passed else None
    back = Place(f"/exercises/{exercise.name}", exercise.manifest.title)
    return show_submission(submission, back, count_ahead(place), estimate_seconds, reference)


def _read_reference(exercise: Exercise) -> str | None:
    """The solution's text: read from disk here, and only after a pass."""
    path = exercise.folder / "solution.py"
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
