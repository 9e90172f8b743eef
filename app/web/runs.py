"""Runs of cells: a stream of server-sent events for the page's element, and a page for readers without script."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from fastapi import APIRouter, Depends, Form, Query, Response
from fastapi.responses import RedirectResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from app.course.blocks import Cell, Incident, Measure
from app.course.harness import TABLE_LINE, cell_job, drop_lines
from app.course.model import Chapter
from app.course.walk import blocks_of, blocks_within
from app.web.blocks import PredictView
from app.web.chapter import ChapterNow
from app.web.figures import Drawn, draw_end
from app.web.graphs import GraphAnswer, OpenFolds, answer_graph
from app.web.measures import show_live_measure
from app.web.merging import Reader, merge_cell, picture_prefix
from app.web.outcomes import HEADLINES
from app.web.page import Frame, Place
from app.web.predictions import settle_predictions, settles
from app.web.rates import Act
from app.web.results import count_ahead, show_run
from app.web.site import Site
from app.web.source import clean_source
from app.web.tapes import Position, show_tape, write_played
from app.web.verdicts import RunView
from app.web.visit import VisitNow, Writer, WriterNow, find_chapter
from graders.contract.events import Event, EventKind
from graders.contract.jobs import Flavour, RunJob
from graders.contract.limits import MAX_SOURCE_BYTES
from graders.contract.model import LearnerId, SubmissionId
from graders.contract.results import RESULT, RunEnd
from graders.contract.trace import MAX_EVENTS
from graders.ledger import Accepted, Submission

router = APIRouter(include_in_schema=False)
api = APIRouter(prefix="/api/runs", tags=["runs"])

MOST_SWITCHES = 40

HOME_PICTURE = "cell_home-picture"


@dataclass(frozen=True)
class RunPage:
    """While run.refresh_seconds is not 0 the page has a meta refresh of so many seconds, inside <noscript>."""

    template: ClassVar[str] = "run.html"
    frame: Frame
    run: RunView


class RunRequest(BaseModel):
    """Code to run. With `chapter` and `cell` it is that cell's: its hidden setup runs first, its run settles
    predictions, and a cell that is for reading runs as it stands. `trace` asks for the graph."""

    model_config = ConfigDict(extra="forbid")
    source: str = Field(max_length=MAX_SOURCE_BYTES)
    chapter: str = ""
    cell: str = ""
    flavour: Flavour = Flavour.TORCH
    trace: bool = True
    switches: list[str] | None = Field(default=None, max_length=MOST_SWITCHES)
    """The switches of the cell that are on; left out, they stand as the chapter has them."""


@dataclass(frozen=True)
class Started:
    """A run that the ledger has taken. `chapter` and `cell` are None for code that belongs to no cell."""

    site: Site
    learner: LearnerId
    accepted: Accepted
    source: str
    chapter: Chapter | None
    cell: Cell | None

    @property
    def picture_prefix(self) -> str:
        return picture_prefix(self.cell) if self.cell else HOME_PICTURE


async def start_run(writer: Writer, asked: RunRequest) -> Started:
    """Count it, make the job, hand it to the ledger. Raises what a reader is told: too fast, too long, too many."""
    await writer.visit.count(Act.RUN)
    site = writer.site
    chapter, cell = _find_cell(site, asked)
    source = clean_source(asked.source)
    if cell is None:
        job = RunJob(source=source, flavour=asked.flavour, want_trace=asked.trace)
    else:
        if cell.needs == "gpu":
            raise HTTPException(409, "This cell needs a GPU, and this server has none.")
        source = source if cell.editable else cell.source
        job = cell_job(cell, source, asked.switches)
    accepted = await site.ledger.submit(writer.learner, secrets.token_hex(16), job)
    site.metrics.jobs.labels("run").inc()
    if chapter and cell:
        await site.store.note_cell_run(writer.learner, chapter.slug, cell.id, accepted.id, writer.now)
    return Started(site, writer.learner, accepted, source, chapter, cell)


def _find_cell(site: Site, asked: RunRequest) -> tuple[Chapter | None, Cell | None]:
    if not asked.chapter and not asked.cell:
        return None, None
    chapter = find_chapter(site.course, asked.chapter)
    cell = find_cell(chapter, asked.cell) if chapter else None
    if cell is None:
        raise HTTPException(404, "There is no such cell; reload the page and run it again.")
    return chapter, cell


def find_cell(chapter: Chapter, cell_id: str) -> Cell | None:
    blocks = blocks_within(chapter.blocks)
    cells = (block.cell if isinstance(block, Measure | Incident) else block for block in blocks)
    return next((cell for cell in cells if isinstance(cell, Cell) and cell.id == cell_id), None)


def find_measure(chapter: Chapter, cell: Cell) -> Measure | None:
    """The measurement that a cell takes."""
    return next((measure for measure in blocks_of(Measure, chapter.blocks) if measure.cell == cell), None)


async def start_asked_run(asked: RunRequest, writer: WriterNow) -> Started:
    """As a dependency: a refusal has to come before the stream's first byte, while there is still a status to set."""
    return await start_run(writer, asked)


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
            yield ServerSentEvent(event="queued", data={"place": count_ahead(started.accepted.place)})
        case EventKind.STARTED:
            yield ServerSentEvent(event="queued", data={"place": 0})
        case EventKind.OUTPUT:
            yield ServerSentEvent(event="output", raw_data=event.body)
        case EventKind.CASE:
            return
        case EventKind.FINISHED:
            end = RESULT.validate_json(event.body)
            assert isinstance(end, RunEnd)
            drawn = await draw_end(started.site.figures, end, started.source, started.picture_prefix)
            if drawn.figure is not None:
                course = started.site.course
                played = await asyncio.to_thread(write_played, drawn, started.source, started.accepted.id, course)
                yield ServerSentEvent(event="trace", raw_data=played)
            # What there is to say of a picture stands under it; what is said of the run stands in its place.
            instead = "" if drawn.figure is not None else drawn.note
            yield ServerSentEvent(event="done", data=await _describe_end(started, end, instead))


async def _describe_end(started: Started, end: RunEnd, trace_note: str) -> dict[str, Any]:
    resolved: tuple[PredictView, ...] = ()
    if started.chapter and started.cell and settles(started.cell, started.source, end):
        resolved = await settle_predictions(started.site, started.learner, started.chapter, started.cell)
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
    """The measurement that this run has taken, in place of the committed one; empty for any other run."""
    measure = find_measure(started.chapter, started.cell) if started.chapter and started.cell else None
    if measure is None or started.chapter is None:
        return ""
    reader = Reader(started.site.course, started.chapter)
    view = show_live_measure(measure, merge_cell(measure.cell, reader), end)
    return started.site.renderer.block(view) if view else ""


@api.post("/{run_id}/stop", status_code=204)
async def stop(run_id: str, visit: VisitNow) -> None:
    """Stop a run of your own. Stopping one that has ended changes nothing."""
    if visit.learner is None:
        raise HTTPException(404, "There is no such run.")
    await visit.site.ledger.cancel(SubmissionId(run_id), visit.learner)


async def need_run(run_id: str, visit: VisitNow) -> Submission:
    """The run, if it is this learner's: to anybody else it does not exist."""
    found = await visit.site.ledger.find(SubmissionId(run_id))
    if found is None or found.learner != visit.learner or not isinstance(found.job, RunJob):
        raise HTTPException(404, "There is no such run of yours; a cell's run is kept for an hour.")
    return found


@api.get("/{run_id}/graph")
async def run_graph(
    found: Annotated[Submission, Depends(need_run)],
    visit: VisitNow,
    opened: OpenFolds = frozenset(),
) -> GraphAnswer:
    """The graph of a finished run of your own, with the folds named by `opened` open."""
    if not isinstance(found.result, RunEnd):
        return answer_graph(None)
    _, cell = await _place_of_run(visit.site, found)
    prefix = picture_prefix(cell) if cell else HOME_PICTURE
    drawn = await draw_end(visit.site.figures, found.result, found.job.source, prefix, opened)
    return answer_graph(drawn.figure)


@router.post("/runs/{run_id}/stop")
async def stop_by_form(run_id: str, visit: VisitNow) -> Response:
    await stop(run_id, visit)
    return RedirectResponse(f"/runs/{run_id}", 303)


@router.post("/runs")
async def run_by_form(
    writer: WriterNow,
    source: Annotated[str, Form(max_length=MAX_SOURCE_BYTES)] = "",
    flavour: Annotated[Flavour, Query()] = Flavour.TORCH,
) -> Response:
    started = await start_run(writer, RunRequest(source=source, flavour=flavour))
    return RedirectResponse(f"/runs/{started.accepted.id}", 303)


@router.post("/chapters/{slug}/cells/{cell_id}/run")
async def run_cell_by_form(
    cell_id: str,
    chapter: ChapterNow,
    writer: WriterNow,
    source: Annotated[str, Form(max_length=MAX_SOURCE_BYTES)] = "",
    switch: Annotated[list[str] | None, Form(max_length=MOST_SWITCHES)] = None,
    switched: Annotated[str, Form(max_length=10)] = "",
) -> Response:
    switches = (switch or []) if switched else None
    asked = RunRequest(source=source, chapter=chapter.slug, cell=cell_id, switches=switches)
    started = await start_run(writer, asked)
    if started.cell and started.cell.editable:
        place = f"chapters/{chapter.slug}/{cell_id}"
        await writer.site.store.save_draft(writer.learner, place, started.source, writer.now)
    return RedirectResponse(f"/runs/{started.accepted.id}", 303)


@router.api_route("/runs/{run_id}", methods=["GET", "HEAD"])
async def run_page(
    found: Annotated[Submission, Depends(need_run)],
    visit: VisitNow,
    step: Annotated[int | None, Query(ge=0, le=MAX_EVENTS)] = None,
    opened: OpenFolds = frozenset(),
) -> Response:
    """A run; `step` draws its graph after so many steps of its tape."""
    site = visit.site
    chapter, cell = await _place_of_run(site, found)
    drawn = Drawn(None, "")
    resolved: tuple[PredictView, ...] = ()
    if isinstance(found.result, RunEnd):
        drawn = await draw_end(site.figures, found.result, found.job.source, "run-picture", opened, step)
        if chapter and cell and settles(cell, found.job.source, found.result):
            resolved = await settle_predictions(site, found.learner, chapter, cell)
    back = Place("/", "the home page")
    if chapter and cell:
        back = Place(f"/chapters/{chapter.slug}#{cell.id}", chapter.title, chapter.number)
    ahead = count_ahead(await site.ledger.place(found.id))
    view = show_run(found, back, ahead, drawn, resolved)
    if drawn.figure:
        position = Position(f"/runs/{found.id}", step, opened)
        view = replace(view, tape=await asyncio.to_thread(show_tape, drawn.figure, found.job.source, position))
    if cell and cell.tabulates:
        view = replace(view, stdout=drop_lines(view.stdout, TABLE_LINE))
    frame = await visit.frame("A run", "What a cell printed, and the graph that it made.")
    return site.renderer.fragment(view) if visit.wants_fragment else site.renderer.page(RunPage(frame, view))


async def _place_of_run(site: Site, found: Submission) -> tuple[Chapter | None, Cell | None]:
    place = await site.store.find_cell_run(found.learner, found.id)
    chapter = find_chapter(site.course, place[0]) if place else None
    return chapter, find_cell(chapter, place[1]) if chapter and place else None
