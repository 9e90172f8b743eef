"""Exports of a run: its trace and a Plotly figure for download, and the whole graph for a canvas."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Response
from starlette.exceptions import HTTPException

from app.pictures import TooLarge, graph_figure, read_graph
from app.web.api.graphs import OpenFolds
from app.web.api.runs import need_run
from app.web.edge.identity import RequestContextDep
from graders.contract.results import RunEnd
from graders.contract.trace_check import CheckedTrace, TraceRefused, check_trace
from graders.ledger import Submission

api = APIRouter(prefix="/api/runs", tags=["runs"])

RunDep = Annotated[Submission, Depends(need_run)]


def find_trace(run: Submission) -> CheckedTrace:
    """The checked trace of a finished run. Raises a 404 if it recorded none."""
    if not isinstance(run.result, RunEnd) or run.result.trace is None:
        raise HTTPException(404, "This run recorded no graph.")
    try:
        return check_trace(run.result.trace)
    except TraceRefused as refusal:
        raise HTTPException(404, f"The graph cannot be exported: {refusal}.") from None


@api.get("/{run_id}/trace")
async def run_trace(run: RunDep) -> Response:
    """The trace of your own run, in version 1 of the format."""
    trace = await asyncio.to_thread(find_trace, run)
    return Response(trace.model_dump_json(), media_type="application/json")


@api.get("/{run_id}/figure")
async def run_figure(run: RunDep, opened: OpenFolds = frozenset()) -> Response:
    """The graph of your own run as Plotly's JSON; `plotly.io.from_json` turns it into a figure."""
    return Response(await asyncio.to_thread(_write_figure, run, opened), media_type="application/json")


def _write_figure(run: Submission, opened: frozenset[str]) -> str:
    try:
        written: str = graph_figure(read_graph(find_trace(run), run.job.source), opened=opened).to_json()
    except TooLarge as refusal:
        raise HTTPException(422, f"The figure cannot be made: {refusal}.") from None
    return written


@api.get("/{run_id}/whole")
async def run_whole(run: RunDep, context: RequestContextDep) -> Response:
    """The graph of your own run with nothing folded, as columns for a canvas. 422 if it is too large."""
    trace = await asyncio.to_thread(find_trace, run)
    try:
        document = await context.site.figures.write_whole(trace, run.job.source)
    except TraceRefused as refusal:
        raise HTTPException(422, f"The whole graph cannot be opened: {refusal}.") from None
    return Response(document, media_type="application/json")
