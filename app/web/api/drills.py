"""Drills: a new graph, the answer to its question, and the tape of its run once the answer is given."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Form, Query, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from app.course.questions.marking import Unmarkable
from app.drawing.tasks import DrawPicture, NotDrawn
from app.learning.review import rate_mark
from app.storage.drill_graphs import StoredGraph, Wanted
from app.storage.records import Answer
from app.web.api.graphs import GraphAnswer, OpenFolds, answer_graph
from app.web.api.reviews import ReviewForm, mark_form
from app.web.edge.drill_stock import name_generators
from app.web.edge.identity import LearnerContext, LearnerContextDep, RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.pages.chapter import answer_block
from app.web.pages.chapter_drill import ChapterDrill, find_chapter_drill
from app.web.pages.drill import (
    NOTHING_NEW,
    make_instance,
    need_asked,
    read_practised,
    show_asked,
    show_choice,
)
from app.web.views.tapes import ask_played, complete_graph

router = APIRouter(include_in_schema=False)
api = APIRouter(prefix="/api/drill", tags=["drills"])

NO_GRAPH_YET = (
    "There is no graph at hand that you have not seen. New ones are drawn whenever the graders have nothing else to "
    "do: try again in a minute."
)
PICTURE_PREFIX = "drill-graph-picture"

Text = Annotated[str, Query(max_length=80)]


class PractisedForm(BaseModel):
    """A concept and a level; empty is any. `chapter` is the chapter that asks its own drill, and decides alone."""

    model_config = ConfigDict(extra="ignore")
    chapter: str = Field(default="", max_length=80)
    concept: str = Field(default="", max_length=80)
    level: str = Field(default="", max_length=80)


@router.post("/drill")
async def next_graph(context: LearnerContextDep, form: Annotated[PractisedForm, Form()]) -> Response:
    """A graph that this reader has not answered: the one that is open, or a new one."""
    asking = context.request_context
    await asking.count_kept(Act.WRITE, "")
    if here := find_chapter_drill(asking.course, form.chapter):
        return await _ask_in_chapter(context, here)
    practised = read_practised(asking.course, form.concept, form.level)
    wanted = Wanted(name_generators(asking.course.drills, practised.concept), practised.level)
    taken = await context.site.drills.take(context.learner, wanted)
    if taken is None:
        return await show_choice(asking, practised, NOTHING_NEW)
    return RedirectResponse(practised.href(f"/drill/{taken.stored.id}"), 303)


async def _ask_in_chapter(context: LearnerContext, here: ChapterDrill) -> Response:
    taken = await context.site.drills.take(context.learner, Wanted({here.drill.id: here.drill.digest}))
    return await answer_block(context, here.chapter, here.place, "" if taken else NO_GRAPH_YET)


@router.post("/drill/{graph}")
async def answer(
    graph: str,
    context: LearnerContextDep,
    form: Annotated[ReviewForm, Form()],
    concept: Text = "",
    level: Text = "",
    chapter: Text = "",
) -> Response:
    """Mark and keep the answer. The first one counts; a form that is sent again changes nothing."""
    asking = context.request_context
    stored = await need_asked(graph, asking)
    here = find_chapter_drill(asking.course, chapter)
    practised = read_practised(asking.course, concept, level)
    await asking.count_kept(Act.WRITE, form.text)
    problem = "" if stored.answered else await _keep_answer(context, stored, form)
    if here and here.drill.id == stored.drill:
        return await answer_block(context, here.chapter, here.place, problem)
    if problem:
        return await show_asked(asking, stored, practised, problem)
    return RedirectResponse(practised.href(f"/drill/{stored.id}"), 303)


async def _keep_answer(context: LearnerContext, stored: StoredGraph, form: ReviewForm) -> str:
    """Mark an answer and store it. Returns why it cannot be marked, or nothing."""
    instance = await make_instance(context.request_context, stored, answered=False)
    try:
        response, mark = mark_form(instance, form)
    except Unmarkable as problem:
        return str(problem)
    kept = Answer(
        instance.question.id,
        replace(response, draw=stored.graph.seed),
        mark.right,
        context.now,
        content_hash=instance.question.content_hash,
        confidence=form.confidence,
        rating=None if mark.right is None else rate_mark(mark.right, form.confidence),
        course_version=context.course.version,
    )
    await context.site.store.answer_drill(context.learner, stored.id, kept)
    return ""


async def _need_answered(graph: str, context: RequestContext) -> StoredGraph:
    stored = await need_asked(graph, context)
    if not stored.answered:
        raise HTTPException(404, "Answer the question first: the tape would give the answer away.")
    await context.count(Act.DRAW)
    return stored


@api.get("/{graph}", response_model=GraphAnswer)
async def opened_graph(graph: str, context: RequestContextDep, opened: OpenFolds = frozenset()) -> Response:
    """The picture of a drill's graph after the answer, with the folds named by `opened` open."""
    stored = await _need_answered(graph, context)
    task = DrawPicture(source=stored.graph.source, id_prefix=PICTURE_PREFIX, opened=tuple(sorted(opened)))
    try:
        figure = await context.site.figures.draw(task, stored.graph.trace_json, context.asker)
    except NotDrawn:
        figure = None
    return await answer_graph(context.request, figure)


@api.get("/{graph}/tape")
async def drill_tape(graph: str, context: RequestContextDep) -> Response:
    """The tape of a drill's run, for stepping; only after the answer."""
    stored = await _need_answered(graph, context)
    task = ask_played(stored.graph.source, PICTURE_PREFIX, context.course)
    try:
        played = await context.site.figures.ask(task, stored.graph.trace_json, context.asker)
    except NotDrawn as refusal:
        raise HTTPException(404, str(refusal)) from None
    return Response(complete_graph(played, f"/api/drill/{stored.id}"), media_type="application/json")
