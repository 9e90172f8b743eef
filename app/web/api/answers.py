"""Answers to retrieval questions: each attempt is marked and stored; an open one is compared with its rubric."""

from dataclasses import dataclass, replace
from typing import Annotated, assert_never

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from app.course.model import Chapter
from app.course.questions.kinds import Choice, GraphClick, Number, Open, Order, Question, Several, Text, WrongLine
from app.course.questions.marking import QuestionResponse, Unmarkable
from app.drawing.tasks import Figure
from app.learning.review import is_recalled, rate_mark, rate_rubric
from app.storage.records import Answer
from app.web.edge.identity import LearnerContext, LearnerContextDep, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.zones import read_zone
from app.web.pages.chapter import ChapterDep, answer_block, gather_state, need_block
from app.web.views.presenting import draws_seen, present_block

router = APIRouter(include_in_schema=False)

CHANGED = (
    "The course has changed this question's numbers since you opened the page, so your answer was not marked. "
    "Nothing was counted. Reload the page to see the question with its new numbers."
)

MAX_ANSWER_CHARACTERS = 8000
MAX_DRAW = 2**31
"""Above every seed. A database refuses a number of more than 64 bits, which would be an error of ours."""


class AnswerForm(BaseModel):
    """The fields of every kind of question; each kind reads only its own."""

    model_config = ConfigDict(extra="ignore")
    option: list[str] = Field(default=[], max_length=40)
    number: str = Field(default="", max_length=80)
    text: str = Field(default="", max_length=MAX_ANSWER_CHARACTERS)
    node: str = Field(default="", max_length=12)
    line: str = Field(default="", max_length=12)
    order: str = Field(default="", max_length=400)
    rubric: list[str] = Field(default=[], max_length=40)
    draw: int | None = Field(default=None, ge=0, le=MAX_DRAW)


@dataclass(frozen=True)
class _Asked:
    """A question as this learner saw it: filled in by a draw if it has a variant."""

    chapter: Chapter
    question: Question
    draw: int | None = None

    @property
    def draws(self) -> dict[str, int]:
        return {} if self.draw is None else {self.question.id: self.draw}


@router.post("/chapters/{slug}/answers/{question_id}")
async def answer(
    question_id: str, chapter: ChapterDep, context: LearnerContextDep, form: Annotated[AnswerForm, Form()]
) -> Response:
    block = need_block(chapter.index.questions, question_id, "question")
    asked = _fill(chapter, block, form.draw)
    await context.request_context.count_kept(Act.WRITE, form.text)
    if isinstance(block, Open) and not form.text.strip() and await _rate(context, chapter, block, form.rubric):
        return await answer_block(context, chapter, block)
    try:
        figure = await _find_figure(context, asked)
        response = replace(read_response(form, asked.question, figure), draw=asked.draw)
        mark = asked.question.mark(response)
    except Unmarkable as problem:
        return await answer_block(context, chapter, block, str(problem), asked.draws)
    kept = Answer(
        question_id,
        response,
        mark.right,
        context.now,
        content_hash=block.content_hash,
        rating=None if mark.right is None else rate_mark(mark.right, None),
        course_version=context.course.version,
    )
    zone = read_zone(context.request_context.request)
    await context.site.store.add_answer(context.learner, chapter.slug, kept, zone)
    return await answer_block(context, chapter, block)


@router.post("/chapters/{slug}/answers/{question_id}/another")
async def another(question_id: str, chapter: ChapterDep, context: RequestContextDep) -> Response:
    """The next draw of a question. It stores nothing: the draw is stored with its answer."""
    block = need_block(chapter.index.questions, question_id, "question")
    state = await gather_state(context, chapter)
    draw = block.pick_draw(state.learner, draws_seen(block, state))
    if draw is None:
        raise HTTPException(404, "There is only one question of this kind.")
    if context.wants_fragment:
        view = present_block(block, replace(state, draws={block.id: draw.seed}))
        return context.site.renderer.fragment(view)
    return RedirectResponse(f"/chapters/{chapter.slug}?another={block.id}&draw={draw.seed}#{block.id}", 303)


def _fill(chapter: Chapter, block: Question, seed: int | None) -> _Asked:
    if block.variant is None:
        return _Asked(chapter, block)
    draw = block.find_draw(seed)
    if draw is None:
        raise HTTPException(409, CHANGED)
    return _Asked(chapter, block.fill(draw), draw.seed)


async def _rate(context: LearnerContext, chapter: Chapter, question: Open, ticked: list[str]) -> bool:
    """Store the ticks; the answer counts as recalled when more than half of the points are ticked."""
    points = [str(number) for number in range(1, len(question.rubric) + 1)]
    kept = [point for point in points if point in ticked]
    correct, rating = is_recalled(len(kept), len(points)), rate_rubric(len(kept), len(points))
    return await context.site.store.rate_answer(context.learner, chapter.slug, question.id, kept, correct, rating)


async def _find_figure(context: LearnerContext, asked: _Asked) -> Figure | None:
    """The picture of the cell or graph that the question is about."""
    if not isinstance(asked.question, GraphClick):
        return None
    return (await gather_state(context.request_context, asked.chapter)).figures.get(asked.question.cell)


def read_response(form: AnswerForm, question: Question, figure: Figure | None) -> QuestionResponse:
    """What the form says in answer to this kind of question. Raises Unmarkable."""
    match question:
        case Choice() | Several():
            return QuestionResponse(values=tuple(form.option))
        case Number():
            return QuestionResponse(text=form.number)
        case WrongLine():
            return QuestionResponse(values=(form.line,))
        case Order():
            return QuestionResponse(text=form.order)
        case GraphClick():
            return QuestionResponse(text=form.node, node_names=_names_of_node(figure, form.node))
        case Text() | Open():
            return QuestionResponse(text=form.text.replace("\r\n", "\n"))
        case _:
            assert_never(question)


def _names_of_node(figure: Figure | None, node: str) -> tuple[str, ...]:
    if figure is None:
        raise Unmarkable("Run the cell first: the question is about the graph that it draws.")
    if not node.isdecimal() or int(node) >= len(figure.nodes):
        return ()
    return figure.nodes[int(node)].names
