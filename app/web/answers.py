"""Answers to retrieval questions: each attempt is marked and kept; an open one is held against its rubric."""

from dataclasses import dataclass, replace
from typing import Annotated

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from app.course.blocks import Kind, Question
from app.course.marking import Given, Unmarkable, mark_answer
from app.course.model import Chapter
from app.course.variants import fill_question, find_draw, pick_draw
from app.course.walk import blocks_of
from app.storage.records import Answer
from app.web.chapter import ChapterNow, answer_block, gather_reader
from app.web.figures import node_names
from app.web.merging import draws_seen, merge_block
from app.web.rates import Act
from app.web.visit import VisitNow, Writer, WriterNow

router = APIRouter(include_in_schema=False)

CHANGED = (
    "The course has changed this question's numbers since you opened the page, so your answer was not marked. "
    "Reload the page: it asks with the new numbers, and nothing was counted."
)

MAX_ANSWER_CHARACTERS = 8000


class AnswerForm(BaseModel):
    """The fields of every kind of question; a kind reads its own."""

    model_config = ConfigDict(extra="ignore")
    option: list[str] = Field(default=[], max_length=40)
    number: str = Field(default="", max_length=80)
    text: str = Field(default="", max_length=MAX_ANSWER_CHARACTERS)
    node: str = Field(default="", max_length=12)
    line: str = Field(default="", max_length=12)
    order: str = Field(default="", max_length=400)
    rubric: list[str] = Field(default=[], max_length=40)
    draw: int | None = None


@dataclass(frozen=True)
class _Asked:
    """A question as this learner was asked it: filled by a draw, where it has a variant."""

    chapter: Chapter
    question: Question
    draw: int | None = None

    @property
    def draws(self) -> dict[str, int]:
        return {} if self.draw is None else {self.question.id: self.draw}


@router.post("/chapters/{slug}/answers/{question_id}")
async def answer(
    question_id: str, chapter: ChapterNow, writer: WriterNow, form: Annotated[AnswerForm, Form()]
) -> Response:
    block = _need_question(chapter, question_id)
    asked = _fill(chapter, block, form.draw)
    await writer.visit.count(Act.WRITE)
    if asked.question.kind is Kind.OPEN and not form.text.strip() and await _rate(writer, asked, form.rubric):
        return await answer_block(writer, chapter, block)
    try:
        given = replace(await _read_given(writer, asked, form), draw=asked.draw)
        mark = mark_answer(asked.question, given)
    except Unmarkable as problem:
        return await answer_block(writer, chapter, block, str(problem), asked.draws)
    await writer.site.store.add_answer(
        writer.learner, chapter.slug, Answer(question_id, given, mark.right, writer.now)
    )
    return await answer_block(writer, chapter, block)


@router.post("/chapters/{slug}/answers/{question_id}/another")
async def another(question_id: str, chapter: ChapterNow, visit: VisitNow) -> Response:
    """The next draw of a question. It leaves nothing: the draw is kept with the answer that is given to it."""
    block = _need_question(chapter, question_id)
    reader = await gather_reader(visit, chapter)
    draw = pick_draw(block, reader.learner, draws_seen(block, reader))
    if draw is None:
        raise HTTPException(404, "There is only one question of this kind.")
    if visit.wants_fragment:
        view = merge_block(block, replace(reader, draws={block.id: draw.seed}))
        return visit.site.renderer.fragment(view)
    return RedirectResponse(f"/chapters/{chapter.slug}?another={block.id}&draw={draw.seed}#{block.id}", 303)


def _fill(chapter: Chapter, block: Question, seed: int | None) -> _Asked:
    if block.variant is None:
        return _Asked(chapter, block)
    draw = find_draw(block, seed)
    if draw is None:
        raise HTTPException(409, CHANGED)
    return _Asked(chapter, fill_question(block, draw), draw.seed)


def _need_question(chapter: Chapter, question_id: str) -> Question:
    for question in blocks_of(Question, chapter.blocks):
        if question.id == question_id:
            return question
    raise HTTPException(404, "There is no such question in this chapter.")


async def _rate(writer: Writer, asked: _Asked, ticked: list[str]) -> bool:
    """Keep the ticks; the answer counts as recalled when it had more than half of the points."""
    points = [str(number) for number in range(1, len(asked.question.rubric) + 1)]
    kept = [point for point in points if point in ticked]
    held = 2 * len(kept) > len(points)
    return await writer.site.store.rate_answer(writer.learner, asked.chapter.slug, asked.question.id, kept, held)


async def _read_given(writer: Writer, asked: _Asked, form: AnswerForm) -> Given:
    match asked.question.kind:
        case Kind.CHOICE | Kind.SEVERAL:
            return Given(values=tuple(form.option))
        case Kind.NUMBER:
            return Given(text=form.number)
        case Kind.WRONG_LINE:
            return Given(values=(form.line,))
        case Kind.ORDER:
            return Given(text=form.order)
        case Kind.GRAPH_CLICK:
            return Given(text=form.node, node_names=await _names_of_node(writer, asked, form.node))
        case Kind.TEXT | Kind.OPEN:
            return Given(text=form.text.replace("\r\n", "\n"))


async def _names_of_node(writer: Writer, asked: _Asked, node: str) -> tuple[str, ...]:
    """By which names the node goes, in the picture that the question is about."""
    cell = asked.question.graph.cell if asked.question.graph else ""
    figure = (await gather_reader(writer.visit, asked.chapter)).figures.get(cell)
    if figure is None:
        raise Unmarkable("Run the cell first: the question is about the graph that it draws.")
    if not node.isdecimal() or int(node) >= len(figure.trace.nodes.name):
        return ()
    return node_names(figure.trace, int(node))
