"""Exports of a run: its trace and a Plotly figure for download, and the whole graph for a canvas."""

from typing import Annotated

from fastapi import APIRouter, Depends, Response
from starlette.exceptions import HTTPException

from app.drawing.tasks import Task, WritePlotly, WriteTrace, WriteWhole
from app.web.api.graphs import OpenFolds
from app.web.api.runs import need_run
from app.web.edge.compressed import send_json
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from graders.contract.results import RunEnd
from graders.ledger import Submission

api = APIRouter(prefix="/api/runs", tags=["runs"])

RunDep = Annotated[Submission, Depends(need_run)]


async def _answer(context: RequestContext, run: Submission, task: Task) -> Response:
    if not isinstance(run.result, RunEnd) or run.result.trace_json is None:
        raise HTTPException(404, "This run recorded no graph.")
    await context.count(Act.DRAW)
    answer = await context.site.figures.ask(task, run.result.trace_json, context.asker)
    return await send_json(context.request, answer)


@api.get("/{run_id}/trace")
async def run_trace(run: RunDep, context: RequestContextDep) -> Response:
    """The trace of your own run, in version 1 of the format."""
    return await _answer(context, run, WriteTrace())


@api.get("/{run_id}/figure")
async def run_figure(run: RunDep, context: RequestContextDep, opened: OpenFolds = frozenset()) -> Response:
    """The graph of your own run as Plotly's JSON; `plotly.io.from_json` turns it into a figure."""
    return await _answer(context, run, WritePlotly(source=run.job.source, opened=tuple(sorted(opened))))


@api.get("/{run_id}/whole")
async def run_whole(run: RunDep, context: RequestContextDep) -> Response:
    """The graph of your own run with nothing folded, as columns for a canvas. 422 if it is too large."""
    return await _answer(context, run, WriteWhole(source=run.job.source))
