"""Predictions: committed once, before the truth is shown; settled by a run of their cell."""

from typing import Annotated

from fastapi import APIRouter, Form, Response

from app.course.blocks import Cell, Predict
from app.course.model import Chapter, Course
from app.learning.calibration import Confidence
from app.learning.review import Rating, rate_mark
from app.storage.records import Prediction
from app.web.edge.identity import LearnerContextDep
from app.web.edge.rates import Act
from app.web.edge.site import Site
from app.web.pages.chapter import ChapterDep, answer_block, need_block
from app.web.views.blocks import PredictView
from app.web.views.presenting import ChapterState, present_predict
from graders.contract.model import LearnerId
from graders.contract.results import Outcome, RunEnd

router = APIRouter(include_in_schema=False)

DONT_KNOW = "dont-know"


@router.post("/chapters/{slug}/predictions/{predict_id}")
async def predict(
    predict_id: str,
    chapter: ChapterDep,
    context: LearnerContextDep,
    option: Annotated[str, Form()] = "",
    confidence: Annotated[str, Form()] = "",
) -> Response:
    block = need_block(chapter.index.predicts, predict_id, "prediction")
    await context.request_context.count(Act.WRITE)
    problem = _find_problem(block, option, confidence)
    if problem:
        return await answer_block(context, chapter, block, problem)
    chosen, how_sure = (option, confidence) if option != DONT_KNOW else (None, None)
    versions = (block.content_hash, context.course.version)
    committed = Prediction(block.id, chosen, how_sure, context.now, None, *versions)
    await context.site.store.commit_prediction(context.learner, chapter.slug, committed)
    return await answer_block(context, chapter, block)


def _find_problem(block: Predict, option: str, confidence: str) -> str:
    if option == DONT_KNOW:
        return ""
    if option not in {each.id for each in block.options}:
        return "Choose what you think will happen, or say that you do not know."
    if confidence not in list(Confidence):
        return "Say how sure you are. A guess is a fine answer."
    return ""


def settles(cell: Cell, source: str, end: RunEnd) -> bool:
    """Whether a run shows the truth: it succeeded, or it is the course's own code, which fails on purpose."""
    untouched = source.strip() == cell.source.strip()
    return end.outcome is Outcome.OK or (untouched and end.outcome is Outcome.RUNTIME_ERROR)


async def settle_predictions(
    site: Site, course: Course, learner: LearnerId, chapter: Chapter, cell: Cell
) -> tuple[PredictView, ...]:
    """Mark the predictions that this cell's run settles, and show each beside the truth."""
    waiting = chapter.index.settled_by.get(cell.id, ())
    if not waiting:
        return ()
    committed = (await site.store.history(learner, chapter.slug)).predictions
    ratings = {block.id: _rate(block, committed[block.id]) for block in waiting if block.id in committed}
    await site.store.resolve_predictions(learner, chapter.slug, ratings, site.clock())
    history = await site.store.history(learner, chapter.slug)
    state = ChapterState(course, chapter, history)
    return tuple(present_predict(block, state) for block in waiting if block.id in history.predictions)


def _rate(block: Predict, committed: Prediction) -> Rating:
    """What a prediction says about memory, once its truth is shown."""
    right = any(option.right for option in block.options if option.id == committed.option)
    return rate_mark(right, Confidence(committed.confidence) if committed.confidence else None)
