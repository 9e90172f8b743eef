"""Graphs with folds opened: a click on a fold requests the picture again. JSON, for the page's element."""

import asyncio
import json
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from app.web.edge.figures import Figure
from app.web.edge.identity import RequestContextDep
from app.web.pages.chapter import ChapterDep, need_block
from app.web.views.presenting import picture_prefix
from app.web.views.tapes import play_figure

api = APIRouter(prefix="/api/chapters", tags=["graphs"])

MAX_OPEN = 64

OpenFolds = Annotated[
    frozenset[Annotated[str, Field(max_length=80)]],
    Query(max_length=MAX_OPEN, description="keys of the open folds, as data-fold names them"),
]


class GraphAnswer(BaseModel):
    """A picture with some of its folds open. `folds` names those that are still closed."""

    svg: str
    text: str
    folds: tuple[str, ...]


def answer_graph(figure: Figure | None) -> GraphAnswer:
    if figure is None:
        raise HTTPException(404, "There is no graph to draw.")
    return GraphAnswer(svg=figure.picture.svg, text=figure.picture.text, folds=figure.picture.folds)


@api.get("/{slug}/graphs/{graph_id}")
async def chapter_graph(
    graph_id: str, chapter: ChapterDep, context: RequestContextDep, opened: OpenFolds = frozenset()
) -> GraphAnswer:
    """A graph of the course, with the folds named by `opened` open."""
    graph = need_block(chapter.index.graphs, graph_id, "graph")
    figure = await context.site.figures.kept(graph.trace_path, graph.source, picture_prefix(graph), opened)
    return answer_graph(figure)


@api.get("/{slug}/graphs/{graph_id}/tape")
async def chapter_tape(graph_id: str, chapter: ChapterDep, context: RequestContextDep) -> Response:
    """A graph of the course with its tape, for stepping; nothing runs."""
    graph = need_block(chapter.index.graphs, graph_id, "graph")
    figure = await context.site.figures.kept(graph.trace_path, graph.source, picture_prefix(graph))
    if figure is None:
        raise HTTPException(404, "There is no graph to draw.")
    href = f"/api/chapters/{chapter.slug}/graphs/{graph_id}"
    played = await asyncio.to_thread(play_figure, figure, href, context.course)
    return Response(json.dumps(played, ensure_ascii=False), media_type="application/json")
