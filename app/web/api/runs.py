"""Runs of cells: a stream of server-sent events for the page's element, and a page for readers without script."""

import secrets
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from fastapi import APIRouter, Depends, Form, Query, Response
from fastapi.responses import RedirectResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from app.course.blocks import Cell, Need
from app.course.checking.hidden_setup import TABLE_LINE, cell_job, drop_lines
from app.course.model import Chapter, Course, Exercise
from app.drawing.tasks import DrawPicture, NotDrawn
from app.storage.draft_key import cell_key, exercise_key
from app.web.api.graphs import GraphAnswer, OpenFolds, answer_graph
from app.web.api.predictions import settle_predictions, settles
from app.web.edge.closed_exercises import has_card
from app.web.edge.figures import RunPicture, draw_end
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import LearnerContext, LearnerContextDep, RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.site import Site
from app.web.edge.source import clean_source
from app.web.pages.chapter import ChapterDep
from app.web.pages.exercise import ExerciseDep
from app.web.views.blocks import PredictView
from app.web.views.measures import show_live_measure
from app.web.views.outcomes import HEADLINES
from app.web.views.presenting import ChapterState, picture_prefix, present_cell
from app.web.views.presenting_results import show_run
from app.web.views.result_views import RunView
from app.web.views.scripts import has_script, make_job, show_script
from app.web.views.tapes import MAX_ROWS, Position, ask_played, complete_run, show_tape
from graders.contract.events import Event, EventKind
from graders.contract.jobs import Flavour, RunJob
from graders.contract.limits import IDLE_LIMITS, MAX_SOURCE_BYTES
from graders.contract.log_lines import current_submission
from graders.contract.model import LearnerId, SubmissionId
from graders.contract.results import RunEnd
from graders.contract.trace import MAX_EVENTS
from graders.ledger import Accepted, Kind, QueuePosition, Submission
from graders.ledger.stored import read_result

router = APIRouter(include_in_schema=False)
api = APIRouter(prefix="/api/runs", tags=["runs"])

MAX_SWITCHES = 40

HOME_PICTURE = "cell_home-picture"

NOT_HERE: Mapping[Need, str] = {
    "gpu": "This cell needs a GPU, and no grader with one is running here.",
    "compiler": "This code needs a compiler, and code on this site runs without one.",
    "ranks": "This code runs as two processes with sockets, and code on this site has one process and no socket.",
}


@dataclass(frozen=True)
class RunPage:
    """While run.refresh_seconds is not 0, the page has a meta refresh of that many seconds inside <noscript>."""

    template: ClassVar[str] = "run.html"
    frame: Frame
    run: RunView


class RunRequest(BaseModel):
    """Code to run. With `chapter` and `cell` it belongs to that cell: the cell's hidden setup runs first, the run
    settles predictions, and a read-only cell runs the course's text. `trace` asks for the graph. A run that is
    `as_typed` follows a pause in typing: it settles nothing, is stopped after 2 s of processor time, waits until
    nobody else does, and is refused where that would be long. With `exercise`, it is that exercise's file: it runs as
    a program, without a graph and without a verdict."""

    model_config = ConfigDict(extra="forbid")
    source: str = Field(max_length=MAX_SOURCE_BYTES)
    chapter: str = ""
    cell: str = ""
    exercise: str = ""
    flavour: Flavour = Flavour.TORCH
    trace: bool = True
    switches: list[str] | None = Field(default=None, max_length=MAX_SWITCHES)
    """The cell's switches that are on; if left out, they are as the chapter sets them."""
    as_typed: bool = False


@dataclass(frozen=True)
class Started:
    """A run that the ledger has accepted. `chapter` and `cell` are None for code that belongs to no cell."""

    site: Site
    course: Course
    learner: LearnerId
    accepted: Accepted
    source: str
    chapter: Chapter | None
    cell: Cell | None
    as_typed: bool = False

    @property
    def picture_prefix(self) -> str:
        return picture_prefix(self.cell) if self.cell else HOME_PICTURE


async def start_run(context: LearnerContext, asked: RunRequest) -> Started:
    """Count the run, make the job, give it to the ledger. Raises errors with words: too fast, too long, too many."""
    await context.request_context.count_kept(Act.TYPE if asked.as_typed else Act.RUN, asked.source)
    site = context.site
    chapter, cell = _find_cell(context.course, asked)
    source = clean_source(asked.source)
    if asked.exercise:
        job = make_job(_find_script(context.course, asked.exercise), source)
    elif cell is None:
        job = RunJob(source=source, flavour=asked.flavour, want_trace=asked.trace)
    else:
        if cell.needs in NOT_HERE and not (cell.needs == "gpu" and await has_card(site)):
            raise HTTPException(409, NOT_HERE[cell.needs])
        source = source if cell.editable else cell.source
        job = cell_job(cell, source, asked.switches)
    if asked.as_typed:
        job = job.model_copy(update={"limits": IDLE_LIMITS})
    origin = context.request_context.origin
    accepted = await site.ledger.submit(
        context.learner,
        secrets.token_hex(16),
        job,
        job.device.choose_queue(has_card=False),
        origin,
        idle=asked.as_typed,
    )
    current_submission.set(accepted.id)
    site.metrics.jobs.labels((Kind.IDLE if asked.as_typed else Kind.RUN).value).inc()
    if job.want_trace:
        # A process that draws starts while the code runs.
        site.figures.drawers.warm()
    if chapter and cell and not asked.as_typed:
        await site.store.note_cell_run(context.learner, chapter.slug, cell.id, accepted.id, context.now)
    return Started(site, context.course, context.learner, accepted, source, chapter, cell, asked.as_typed)


def _find_script(course: Course, name: str) -> Exercise:
    exercise = course.exercises.get(name)
    if exercise is None or not has_script(exercise):
        raise HTTPException(404, "There is no exercise of that name whose file can be run.")
    return exercise


def _find_cell(course: Course, asked: RunRequest) -> tuple[Chapter | None, Cell | None]:
    if not asked.chapter and not asked.cell:
        return None, None
    chapter = course.index.by_slug.get(asked.chapter)
    cell = chapter.index.cells.get(asked.cell) if chapter else None
    if cell is None:
        raise HTTPException(404, "There is no such cell; reload the page and run it again.")
    return chapter, cell


async def start_asked_run(asked: RunRequest, context: LearnerContextDep) -> Started:
    """A dependency, because a refusal must come before the stream's first byte, while a status can still be set."""
    return await start_run(context, asked)


@api.post("", response_class=EventSourceResponse)
async def run(started: Annotated[Started, Depends(start_asked_run)]) -> AsyncIterator[ServerSentEvent]:
    """Run a cell, and stream what happens: accepted, queued, output, trace, done."""
    site, accepted = started.site, started.accepted
    yield ServerSentEvent(event="accepted", data={"id": accepted.id})
    with site.metrics.streams.track_inprogress():
        async for event in site.ledger.follow(accepted.id):
            async for told in _tell(started, event):
                yield told


async def _tell(started: Started, event: Event) -> AsyncIterator[ServerSentEvent]:
    match event.kind:
        case EventKind.QUEUED:
            accepted = started.accepted
            yield ServerSentEvent(event="queued", data={"ahead": accepted.ahead, "served": accepted.is_served})
        case EventKind.STARTED:
            yield ServerSentEvent(event="queued", data={"ahead": 0, "served": True})
        case EventKind.OUTPUT:
            yield ServerSentEvent(event="output", raw_data=event.body)
        case EventKind.CASE:
            return
        case EventKind.FINISHED:
            end = read_result(event.body)
            assert isinstance(end, RunEnd)
            instead = end.trace_refused
            if end.trace_json is not None:
                try:
                    yield ServerSentEvent(event="trace", raw_data=await _write_played(started, end.trace_json))
                except NotDrawn as refusal:
                    instead = str(refusal)
            yield ServerSentEvent(event="done", data=await _describe_end(started, end, instead))


async def _write_played(started: Started, trace: str) -> str:
    task = ask_played(started.source, started.picture_prefix, started.course)
    played = await started.site.figures.ask(task, trace, started.learner)
    return complete_run(played, started.accepted.id)


async def _describe_end(started: Started, end: RunEnd, trace_note: str) -> dict[str, Any]:
    resolved: tuple[PredictView, ...] = ()
    typed = started.as_typed
    if started.chapter and started.cell and not typed and settles(started.cell, started.source, end):
        resolved = await settle_predictions(
            started.site, started.course, started.learner, started.chapter, started.cell
        )
    return {
        "outcome": end.outcome.value,
        "headline": HEADLINES[end.outcome],
        "finding": end.finding and end.finding.model_dump(),
        "mistake": end.mistake and end.mistake.model_dump(),
        "measures": [measure.model_dump(mode="json") for measure in end.measures],
        "output_truncated": end.output_truncated,
        "trace_note": trace_note,
        "resolved": {view.id: started.site.renderer.block(view) for view in resolved},
        "measured": _render_measured(started, end),
    }


def _render_measured(started: Started, end: RunEnd) -> str:
    """The measurement that this run took, which replaces the committed one; empty for any other run."""
    measure = started.chapter.index.measures.get(started.cell.id) if started.chapter and started.cell else None
    if measure is None or started.chapter is None:
        return ""
    state = ChapterState(started.course, started.chapter)
    view = show_live_measure(measure, present_cell(measure.cell, state), end)
    return started.site.renderer.block(view) if view else ""


@api.post("/{run_id}/stop", status_code=204)
async def stop(run_id: str, context: RequestContextDep) -> None:
    """Stop your own run. Stopping one that has ended changes nothing."""
    if context.learner is None:
        raise HTTPException(404, "There is no such run.")
    await context.site.ledger.cancel(SubmissionId(run_id), context.learner)


async def need_run(run_id: str, context: RequestContextDep) -> Submission:
    """The run, if it is this learner's; to any other learner it does not exist."""
    found = await context.site.ledger.find(SubmissionId(run_id))
    if found is None or found.learner != context.learner or not isinstance(found.job, RunJob):
        raise HTTPException(404, "There is no such run of yours; a cell's run is kept for an hour.")
    return found


@api.get("/{run_id}/graph", response_model=GraphAnswer)
async def run_graph(
    found: Annotated[Submission, Depends(need_run)],
    context: RequestContextDep,
    opened: OpenFolds = frozenset(),
) -> Response:
    """The graph of your own finished run, with the folds named by `opened` open."""
    if not isinstance(found.result, RunEnd):
        return await answer_graph(context.request, None)
    _, cell = await _find_cell_of_run(context, found)
    prefix = picture_prefix(cell) if cell else HOME_PICTURE
    await context.count(Act.DRAW)
    if found.result.trace_json is None:
        return await answer_graph(context.request, None)
    task = DrawPicture(source=found.job.source, id_prefix=prefix, opened=tuple(sorted(opened)))
    figure = await context.site.figures.draw(task, found.result.trace_json, context.asker)
    return await answer_graph(context.request, figure if figure.node_total else None)


@router.post("/runs/{run_id}/stop")
async def stop_by_form(run_id: str, context: RequestContextDep) -> Response:
    await stop(run_id, context)
    return RedirectResponse(f"/runs/{run_id}", 303)


@router.post("/runs")
async def run_by_form(
    context: LearnerContextDep,
    source: Annotated[str, Form(max_length=MAX_SOURCE_BYTES)] = "",
    flavour: Annotated[Flavour, Query()] = Flavour.TORCH,
) -> Response:
    started = await start_run(context, RunRequest(source=source, flavour=flavour))
    return RedirectResponse(f"/runs/{started.accepted.id}", 303)


@router.post("/chapters/{slug}/cells/{cell_id}/run")
async def run_cell_by_form(
    cell_id: str,
    chapter: ChapterDep,
    context: LearnerContextDep,
    source: Annotated[str, Form(max_length=MAX_SOURCE_BYTES)] = "",
    switch: Annotated[list[str] | None, Form(max_length=MAX_SWITCHES)] = None,
    switched: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    switches = (switch or []) if switched else None
    asked = RunRequest(source=source, chapter=chapter.slug, cell=cell_id, switches=switches)
    started = await start_run(context, asked)
    if started.cell and started.cell.editable:
        await context.site.store.save_draft(
            context.learner, cell_key(chapter.slug, cell_id), started.source, context.now
        )
    return RedirectResponse(f"/runs/{started.accepted.id}", 303)


@router.post("/exercises/{name}/run")
async def run_file_by_form(
    exercise: ExerciseDep,
    context: LearnerContextDep,
    source: Annotated[str, Form(max_length=MAX_SOURCE_BYTES * 2)] = "",
) -> Response:
    """Run an exercise's file as a program. There is no verdict, and it costs no attempt."""
    started = await start_run(context, RunRequest(source=clean_source(source), exercise=exercise.name))
    await context.site.store.save_draft(context.learner, exercise_key(exercise.name), started.source, context.now)
    return RedirectResponse(f"/runs/{started.accepted.id}?exercise={exercise.name}", 303)


@router.api_route("/runs/{run_id}", methods=["GET", "HEAD"])
async def run_page(
    found: Annotated[Submission, Depends(need_run)],
    context: RequestContextDep,
    step: Annotated[int | None, Query(ge=0, le=MAX_EVENTS)] = None,
    opened: OpenFolds = frozenset(),
    exercise: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """A run; with `step`, its graph is drawn after that many steps of its tape.

    With `exercise` it is the run of that exercise's file, and its losses are drawn.
    """
    site = context.site
    chapter, cell = await _find_cell_of_run(context, found)
    drawn = RunPicture(None, "")
    resolved: tuple[PredictView, ...] = ()
    if isinstance(found.result, RunEnd):
        if found.result.trace_json is not None:
            await context.count(Act.DRAW)
        folds = tuple(sorted(opened))
        task = DrawPicture(source=found.job.source, id_prefix="run-picture", opened=folds, step=step, rows=MAX_ROWS)
        drawn = await draw_end(site.figures, found.result, task, context.asker)
        if chapter and cell and settles(cell, found.job.source, found.result):
            resolved = await settle_predictions(site, context.course, found.learner, chapter, cell)
    back = Link("/", "the home page")
    if chapter and cell:
        back = Link(f"/chapters/{chapter.slug}#{cell.id}", chapter.title, chapter.number)
    place = await site.ledger.find_position(found.id) or QueuePosition(0, 0.0)
    view = show_run(found, back, place, drawn, resolved)
    if drawn.figure:
        position = Position(f"/runs/{found.id}", step, opened)
        view = replace(view, tape=show_tape(drawn.figure, position))
    if cell and cell.tabulates:
        view = replace(view, stdout=drop_lines(view.stdout, TABLE_LINE))
    if exercise in context.course.exercises:
        view = show_script(view, found, context.course.exercises[exercise])
    frame = await context.frame("A run", "What a cell printed, and the graph that it recorded.")
    return site.renderer.fragment(view) if context.wants_fragment else site.renderer.page(RunPage(frame, view))


async def _find_cell_of_run(context: RequestContext, found: Submission) -> tuple[Chapter | None, Cell | None]:
    kept = await context.site.store.find_cell_run(found.learner, found.id)
    chapter = context.course.index.by_slug.get(kept[0]) if kept else None
    return chapter, chapter.index.cells.get(kept[1]) if chapter and kept else None
