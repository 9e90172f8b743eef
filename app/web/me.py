"""A learner's own page: progress, calibration, and their data to take away or to delete."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.course.blocks import Predict
from app.course.walk import blocks_of
from app.learning.calibration import Confidence, Guess, calibrate, describe_calibration
from app.storage.records import ChapterHistory
from app.web.blocks import ExerciseLinkView, LadderView
from app.web.merging import merge_exercise_link
from app.web.page import Frame, Place
from app.web.progress import count_standings, make_ladder
from app.web.rates import Act
from app.web.visit import Visit, VisitNow, cookie_name, place_of, set_cookie

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class ChapterProgress:
    chapter: Place
    ladder: LadderView


@dataclass(frozen=True)
class CalibrationRow:
    """Of the predictions made at this confidence, how many held. `expected_percent` is what the word promises."""

    label: str
    resolved: int
    right: int
    right_percent: int
    expected_percent: int


@dataclass(frozen=True)
class MePage:
    """`calibration` is empty, and `calibration_words` says so, before the first resolved prediction."""

    template: ClassVar[str] = "me.html"
    frame: Frame
    chapters: tuple[ChapterProgress, ...]
    exercises: tuple[ExerciseLinkView, ...]
    calibration: tuple[CalibrationRow, ...]
    calibration_words: str
    export_href: str
    delete_action: str
    deleted: bool
    """True right after the data was deleted."""


@router.api_route("/me", methods=["GET", "HEAD"])
async def my_page(visit: VisitNow, deleted: bool = False) -> Response:
    site, course, learner = visit.site, visit.site.course, visit.learner
    histories = await site.store.histories(learner) if learner else {}
    standings = count_standings(await site.ledger.standings(learner)) if learner else {}
    levels = calibrate(_settled_guesses(visit, histories))
    page = MePage(
        frame=await visit.frame("Your progress", "What you predicted, answered and built, and your data."),
        chapters=tuple(
            ChapterProgress(
                place_of(chapter), make_ladder(course, chapter, histories[chapter.slug], standings, visit.now)
            )
            for chapter in course.chapters
            if chapter.slug in histories
        ),
        exercises=tuple(
            merge_exercise_link(course, name, standings) for name in standings if name in course.exercises
        ),
        calibration=tuple(
            CalibrationRow(
                level.confidence.label,
                level.resolved,
                level.right,
                level.right_percent,
                level.confidence.promised_percent,
            )
            for level in levels
        ),
        calibration_words=describe_calibration(levels),
        export_href="/me/export.json",
        delete_action="/me/delete",
        deleted=deleted and learner is None,
    )
    return site.renderer.page(page)


def _settled_guesses(visit: Visit, histories: Mapping[str, ChapterHistory]) -> list[Guess]:
    """Settled predictions that the course still asks, marked by its present key. "I don't know" is no guess."""
    return [
        Guess(Confidence(mine.confidence), option.right)
        for chapter in visit.site.course.chapters
        if chapter.slug in histories
        for predict in blocks_of(Predict, chapter.blocks)
        if (mine := histories[chapter.slug].predictions.get(predict.id)) and mine.resolved_at and mine.confidence
        for option in predict.options
        if option.id == mine.option
    ]


@router.get("/me/export.json")
async def export(visit: VisitNow) -> Response:
    """Everything that is kept about this learner, as JSON: the website's rows, and the submissions."""
    if visit.learner is None:
        raise HTTPException(404, "Nothing is kept about you: this browser has left nothing here yet.")
    await visit.count(Act.EXPORT)
    exported: dict[str, Any] = {"exported_at": visit.now.isoformat()}
    exported |= await visit.site.store.export(visit.learner)
    exported["submissions"] = [
        {
            "id": submission.id,
            "state": submission.state.value,
            "submitted_at": submission.submitted_at.isoformat(),
            "job": submission.job.model_dump(mode="json"),
            "result": submission.result and submission.result.model_dump(mode="json", exclude={"trace"}),
        }
        for submission in await visit.site.ledger.everything(visit.learner)
    ]
    headers = {"content-disposition": 'attachment; filename="unwind.json"', "cache-control": "no-store"}
    text = await asyncio.to_thread(json.dumps, exported, indent=2)
    return Response(text, headers=headers, media_type="application/json")


@router.post("/me/delete")
async def delete(visit: VisitNow) -> Response:
    """Forget this learner: their rows, their submissions, their cookie."""
    settings = visit.site.settings
    if visit.learner is not None:
        await visit.site.store.forget(visit.learner)
        await visit.site.ledger.forget(visit.learner)
    visit.request.state.cookies.append(set_cookie(cookie_name(settings), "", settings, seconds=0))
    return RedirectResponse("/me?deleted=true", 303)
