"""Predictions: committed once, before the truth; settled by the run of their cell."""

from typing import Annotated

from fastapi import APIRouter, Form, Response
from starlette.exceptions import HTTPException

from app.course.blocks import Cell, Predict
from app.course.model import Chapter
from app.course.walk import blocks_of, predicts_settled_by
from app.learning.calibration import Confidence
from app.storage.records import Prediction
from app.web.blocks import PredictView
from app.web.chapter import ChapterNow, answer_block
from app.web.merging import Reader, merge_predict
from app.web.rates import Act
from app.web.site import Site
from app.web.visit import WriterNow
from graders.contract.model import LearnerId
from graders.contract.results import Outcome, RunEnd

router = APIRouter(include_in_schema=False)

DONT_KNOW = "dont-know"


@router.post("/chapters/{slug}/predictions/{predict_id}")
async def predict(
    predict_id: str,
    chapter: ChapterNow,
    writer: WriterNow,
    option: Annotated[str, Form()] = "",
    confidence: Annotated[str, Form()] = "",
) -> Response:
    block = _need_predict(chapter, predict_id)
    await writer.visit.count(Act.WRITE)
    problem = _find_problem(block, option, confidence)
    if problem:
        return await answer_block(writer, chapter, block, problem)
    known = option != DONT_KNOW
    committed = Prediction(block.id, option if known else None, confidence if known else None, writer.now)
    await writer.site.store.commit_prediction(writer.learner, chapter.slug, committed)
    return await answer_block(writer, chapter, block)


def _need_predict(chapter: Chapter, predict_id: str) -> Predict:
    for predict in blocks_of(Predict, chapter.blocks):
        if predict.id == predict_id:
            return predict
    raise HTTPException(404, "There is no such prediction in this chapter.")


def _find_problem(block: Predict, option: str, confidence: str) -> str:
    if option == DONT_KNOW:
        return ""
    if option not in {each.id for each in block.options}:
        return "Choose what you think will happen, or say that you do not know."
    if confidence not in list(Confidence):
        return "Say how sure you are: a guess counts as much as a certainty."
    return ""


def settles(cell: Cell, source: str, end: RunEnd) -> bool:
    """Whether a run shows the truth: it ended well, or it is the course's own code and fails as it is meant to."""
    untouched = source.strip() == cell.source.strip()
    return end.outcome is Outcome.OK or (untouched and end.outcome is Outcome.RUNTIME_ERROR)


async def settle_predictions(site: Site, learner: LearnerId, chapter: Chapter, cell: Cell) -> tuple[PredictView, ...]:
    """Mark what this cell's run settles, and show it beside the truth."""
    waiting = predicts_settled_by(chapter, cell.id)
    if not waiting:
        return ()
    await site.store.resolve_predictions(learner, chapter.slug, [block.id for block in waiting], site.clock())
    history = await site.store.history(learner, chapter.slug)
    reader = Reader(site.course, chapter, history)
    return tuple(merge_predict(block, reader) for block in waiting if block.id in history.predictions)
