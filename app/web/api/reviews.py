"""Answers given in review: marked and stored like those of a chapter, then shown with the truth."""

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse
from pydantic import Field
from starlette.exceptions import HTTPException

from app.course.drills.drill import ANSWERS
from app.course.questions.kinds import Open
from app.course.questions.marking import Mark, QuestionResponse, Unmarkable
from app.learning.calibration import Confidence
from app.learning.review import Key, is_recalled, rate_mark, rate_rubric
from app.storage.records import Answer
from app.web.api.answers import CHANGED, AnswerForm, read_response
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.zones import list_zones
from app.web.pages.drill import keep_drill_answer
from app.web.pages.review import find_instance, key_of, open_day, show_next
from app.web.views.reviewing import Instance
from graders.contract.model import LearnerId

router = APIRouter(include_in_schema=False)

DONT_KNOW = "dont-know"
MAX_EARLIER = 10_000


class ReviewForm(AnswerForm):
    """`confidence` may be left out. `say` is "dont-know" if that button was pressed.

    `earlier` is how often the question was answered today before the form was made.
    """

    confidence: Confidence | None = None
    say: str = ""
    earlier: int | None = Field(default=None, ge=0, le=MAX_EARLIER)


@router.post("/review/zone")
async def choose_zone(context: RequestContextDep, zone: Annotated[str, Form()]) -> Response:
    """Count this learner's days in another time zone."""
    if zone not in list_zones():
        raise HTTPException(422, f"There is no time zone {zone[:80]!r}; choose one of the list.")
    await context.count(Act.WRITE)
    await context.site.store.review_cards.set_zone(_need_learner(context), zone)
    return RedirectResponse("/review", 303)


@router.post("/review/{chapter}/{question}")
async def answer(
    chapter: str, question: str, context: RequestContextDep, form: Annotated[ReviewForm, Form()]
) -> Response:
    learner, key = _need_learner(context), Key(chapter, question)
    day = await open_day(context)
    if day.find_card(key) is None:
        raise HTTPException(404, "This question comes to review once you have answered it in its chapter.")
    instance = await find_instance(context, key, form.draw)
    if instance is None or instance.draw != form.draw:
        raise HTTPException(409, CHANGED)
    await context.count_kept(Act.WRITE, form.text)
    try:
        response, mark = mark_form(instance, form)
    except Unmarkable as problem:
        return await show_next(context, instance, str(problem))
    # Practice comes after the truth was shown, so it says nothing about what the learner's words are worth.
    given = day.count_answers(key)
    confidence = None if given else form.confidence
    kept = Answer(
        question,
        replace(response, draw=instance.draw),
        mark.right,
        context.now,
        content_hash=instance.question.content_hash,
        confidence=confidence,
        rating=None if mark.right is None else rate_mark(mark.right, confidence),
        in_review=True,
        course_version=context.course.version,
    )
    if key.chapter == ANSWERS:
        number = await keep_drill_answer(context, learner, kept)
    else:
        earlier = given if form.earlier is None else min(form.earlier, given)
        number = await context.site.store.add_answer_once(learner, chapter, kept, day.begun, earlier)
    return RedirectResponse("/review" if number is None else f"/review/answers/{number}", 303)


def mark_form(instance: Instance, form: ReviewForm) -> tuple[QuestionResponse, Mark]:
    """Raises Unmarkable. "I don't know" is wrong, and says nothing else."""
    if form.say == DONT_KNOW:
        return QuestionResponse(), Mark(False, "")
    response = read_response(form, instance.question, instance.figure)
    return response, instance.question.mark(response)


@router.post("/review/answers/{number}/rubric")
async def rate(number: int, context: RequestContextDep, form: Annotated[AnswerForm, Form()]) -> Response:
    """Store which points of the rubric this open answer made, and go on."""
    learner, day = _need_learner(context), await open_day(context)
    given = next((one for one in day.asked if one.number == number), None)
    instance = await find_instance(context, key_of(given), given.answer.response.draw) if given else None
    if given is None or instance is None or not isinstance(instance.question, Open):
        raise HTTPException(404, "That answer is not one of yours from today's review.")
    await context.count(Act.WRITE)
    points = [str(place) for place in range(1, len(instance.question.rubric) + 1)]
    ticked = [point for point in points if point in form.rubric]
    correct, rating = is_recalled(len(ticked), len(points)), rate_rubric(len(ticked), len(points))
    await context.site.store.rate_answer(
        learner, given.chapter, given.answer.question, ticked, correct, rating, number
    )
    return RedirectResponse("/review", 303)


def _need_learner(context: RequestContext) -> LearnerId:
    if context.learner is None:
        raise HTTPException(404, "Nothing is kept about you yet, so nothing comes to review.")
    return context.learner
