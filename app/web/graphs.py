"""Graphs with folds opened: a click on a fold asks for the picture again. JSON, for the element."""

import asyncio
import json
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from app.course.blocks import Graph
from app.course.model import Chapter
from app.course.walk import blocks_of
from app.web.chapter import ChapterNow
from app.web.figures import Figure
from app.web.merging import picture_prefix
from app.web.tapes import play_figure
from app.web.visit import VisitNow

api = APIRouter(prefix="/api/chapters", tags=["graphs"])

MOST_OPEN = 64

OpenFolds = Annotated[
    frozenset[Annotated[str, Field(max_length=80)]],
    Query(max_length=MOST_OPEN, description="keys of folds that stand open, as data-fold names them"),
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


def need_graph(chapter: Chapter, graph_id: str) -> Graph:
    for graph in blocks_of(Graph, chapter.blocks):
        if graph.id == graph_id:
            return graph
    raise HTTPException(404, "There is no such graph in this chapter.")


@api.get("/{slug}/graphs/{graph_id}")
async def chapter_graph(
    graph_id: str, chapter: ChapterNow, visit: VisitNow, opened: OpenFolds = frozenset()
) -> GraphAnswer:
    """A graph of the course's own, with the folds named by `opened` open."""
    graph = need_graph(chapter, graph_id)
    figure = await visit.site.figures.kept(graph.trace_path, graph.source, picture_prefix(graph), opened)
    return answer_graph(figure)


@api.get("/{slug}/graphs/{graph_id}/tape")
async def chapter_tape(graph_id: str, chapter: ChapterNow, visit: VisitNow) -> Response:
    """A graph of the course's own with its tape, to be stepped through; nothing is run."""
    graph = need_graph(chapter, graph_id)
    figure = await visit.site.figures.kept(graph.trace_path, graph.source, picture_prefix(graph))
    if figure is None:
        raise HTTPException(404, "There is no graph to draw.")
    href = f"/api/chapters/{chapter.slug}/graphs/{graph_id}"
    played = await asyncio.to_thread(play_figure, figure, graph.source, href, visit.site.course)
    return Response(json.dumps(played, ensure_ascii=False), media_type="application/json")
