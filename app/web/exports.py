"""What a learner takes along of a run: its trace, and its graph as a Plotly figure."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Depends, Response
from starlette.exceptions import HTTPException

from app.pictures import TraceRefused, check_trace, graph_figure
from app.web.graphs import OpenFolds
from app.web.runs import need_run
from graders.contract.results import RunEnd
from graders.contract.trace import Trace
from graders.ledger import Submission

api = APIRouter(prefix="/api/runs", tags=["runs"])

RunNow = Annotated[Submission, Depends(need_run)]


def find_trace(run: Submission) -> Trace:
    """The checked trace of a finished run. Raises a 404 where it recorded none."""
    if not isinstance(run.result, RunEnd) or run.result.trace is None:
        raise HTTPException(404, "This run recorded no graph.")
    try:
        return check_trace(run.result.trace)
    except TraceRefused as refusal:
        raise HTTPException(404, f"The graph cannot be given: {refusal}.") from None


@api.get("/{run_id}/trace")
async def run_trace(run: RunNow) -> Response:
    """The trace of a run of your own, as the format's version 1."""
    trace = await asyncio.to_thread(find_trace, run)
    return Response(trace.model_dump_json(), media_type="application/json")


@api.get("/{run_id}/figure")
async def run_figure(run: RunNow, opened: OpenFolds = frozenset()) -> Response:
    """The graph of a run of your own as Plotly's JSON: `plotly.io.from_json` makes a figure of it."""
    figure = await asyncio.to_thread(lambda: graph_figure(find_trace(run), source=run.job.source, opened=opened))
    return Response(figure.to_json(), media_type="application/json")
