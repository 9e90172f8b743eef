"""Graphs with folds opened: a click on a fold requests the picture again. JSON, for the page's element."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from app.drawing.tasks import Figure
from app.web.edge.compressed import send_json
from app.web.edge.identity import RequestContextDep
from app.web.edge.rates import Act
from app.web.pages.chapter import ChapterDep, need_block
from app.web.views.presenting import ask_picture, picture_prefix
from app.web.views.tapes import ask_played, complete_graph

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


async def answer_graph(request: Request, figure: Figure | None) -> Response:
    if figure is None:
        raise HTTPException(404, "There is no graph to draw.")
    answer = GraphAnswer(svg=figure.svg, text=figure.text, folds=tuple(fold.key for fold in figure.folds))
    return await send_json(request, answer.model_dump_json().encode(), kept=True)


@api.get("/{slug}/graphs/{graph_id}", response_model=GraphAnswer)
async def chapter_graph(
    graph_id: str, chapter: ChapterDep, context: RequestContextDep, opened: OpenFolds = frozenset()
) -> Response:
    """A graph of the course, with the folds named by `opened` open."""
    graph = need_block(chapter.index.graphs, graph_id, "graph")
    await context.count(Act.DRAW)
    figures, task = context.site.figures, ask_picture(graph, opened)
    if opened:
        return await answer_graph(context.request, await figures.draw_opened(graph.trace_path, task, context.asker))
    return await answer_graph(context.request, await figures.kept(graph.trace_path, task))


@api.get("/{slug}/graphs/{graph_id}/tape")
async def chapter_tape(graph_id: str, chapter: ChapterDep, context: RequestContextDep) -> Response:
    """A graph of the course with its tape, for stepping; nothing runs."""
    graph = need_block(chapter.index.graphs, graph_id, "graph")
    await context.count(Act.DRAW)
    task = ask_played(graph.source, picture_prefix(graph), context.course)
    played = await context.site.figures.kept_played(graph.trace_path, task)
    if played is None:
        raise HTTPException(404, "There is no graph to draw.")
    href = f"/api/chapters/{chapter.slug}/graphs/{graph_id}"
    return await send_json(context.request, complete_graph(played, href).encode(), kept=True)
