"""Answers to retrieval questions: each attempt is marked and kept; an open one is held against its rubric."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from app.course.marking import Given, Unmarkable, mark_answer
from app.course.model import Chapter, Kind, Question
from app.storage.records import Answer
from app.web.chapter import ChapterNow, answer_block, gather_reader
from app.web.figures import node_names
from app.web.merging import walk_blocks
from app.web.rates import Act
from app.web.visit import Writer, WriterNow

router = APIRouter(include_in_schema=False)

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


@dataclass(frozen=True)
class _Asked:
    chapter: Chapter
    question: Question


@router.post("/chapters/{slug}/answers/{question_id}")
async def answer(
    question_id: str, chapter: ChapterNow, writer: WriterNow, form: Annotated[AnswerForm, Form()]
) -> Response:
    asked = _Asked(chapter, _need_question(chapter, question_id))
    await writer.visit.count(Act.WRITE)
    if asked.question.kind is Kind.OPEN and not form.text.strip() and await _rate(writer, asked, form.rubric):
        return await answer_block(writer, chapter, asked.question)
    try:
        given = await _read_given(writer, asked, form)
        mark = mark_answer(asked.question, given)
    except Unmarkable as problem:
        return await answer_block(writer, chapter, asked.question, str(problem))
    await writer.site.store.add_answer(
        writer.learner, chapter.slug, Answer(question_id, given, mark.right, writer.now)
    )
    return await answer_block(writer, chapter, asked.question)


def _need_question(chapter: Chapter, question_id: str) -> Question:
    for block in walk_blocks(chapter.blocks):
        if isinstance(block, Question) and block.id == question_id:
            return block
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
