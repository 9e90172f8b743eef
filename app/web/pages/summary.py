"""A chapter's summary for one learner, to be printed: what they predicted and answered, and the chapter's claims."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response

from app.course.blocks import Html
from app.course.model import Chapter, Course
from app.storage.notes import Note
from app.storage.review_cards import NO_DECK
from app.web.edge.due import show_date
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.links import link_to
from app.web.pages.chapter import ChapterDep, gather_state
from app.web.views.blocks import PredictView, QuestionView
from app.web.views.ladder import LadderView
from app.web.views.note_text import render_note
from app.web.views.presenting import ChapterState, present_predict, present_question
from app.web.views.progress import make_ladder
from app.web.views.spots import find_spot

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class ClaimLine:
    href: str
    sentence: Html


@dataclass(frozen=True)
class NoteLine:
    """`words` say which part of the chapter the note is on; `html` is empty for a bookmark."""

    href: str
    words: str
    html: Html


@dataclass(frozen=True)
class SummaryPage:
    """Only what was committed and answered is here; `made_on` is the learner's day."""

    template: ClassVar[str] = "summary.html"
    frame: Frame
    chapter: Link
    made_on: str
    ladder: LadderView
    predicts: tuple[PredictView, ...]
    questions: tuple[QuestionView, ...]
    notes: tuple[NoteLine, ...]
    claims: tuple[ClaimLine, ...]


@router.api_route("/me/chapters/{slug}", methods=["GET", "HEAD"])
async def summary_page(context: RequestContextDep, chapter: ChapterDep) -> Response:
    state = await gather_state(context, chapter)
    predicts, questions = _list_work(state)
    deck = await context.site.store.review_cards.deck(context.learner) if context.learner else NO_DECK
    page = SummaryPage(
        frame=await context.frame(f"Summary: {chapter.title}", "What you predicted and answered, to print."),
        chapter=link_to(chapter),
        made_on=show_date(context.now, deck),
        ladder=make_ladder(context.course, chapter, state.history, state.progress, context.now, deck),
        predicts=predicts,
        questions=questions,
        notes=await _list_notes(context, chapter),
        claims=tuple(
            ClaimLine(link_to(chapter, claim.id).href, claim.sentence) for claim in chapter.index.claims.values()
        ),
    )
    return context.site.renderer.page(page)


async def _list_notes(context: RequestContext, chapter: Chapter) -> tuple[NoteLine, ...]:
    """The reader's notes in the chapter's own order; one whose place is gone is on the page of all notes."""
    if context.learner is None:
        return ()
    kept = await context.site.store.notes.of_page(context.learner, f"chapters/{chapter.slug}")
    return await asyncio.to_thread(_show_notes, context.course, chapter, kept)


def _show_notes(course: Course, chapter: Chapter, kept: Mapping[str, Note]) -> tuple[NoteLine, ...]:
    page = f"chapters/{chapter.slug}"
    spots = ((kept[key], find_spot(course, page, key)) for key in chapter.keys if key in kept)
    return tuple(
        NoteLine(spot.href, spot.words, render_note(note.text) if note.text else "") for note, spot in spots if spot
    )


def _list_work(state: ChapterState) -> tuple[tuple[PredictView, ...], tuple[QuestionView, ...]]:
    found = state.chapter.index
    predicts = (present_predict(block, state) for block in found.predicts.values())
    questions = (present_question(block, state) for block in found.questions.values())
    return (
        tuple(view for view in predicts if view.state != "open"),
        tuple(view for view in questions if isinstance(view, QuestionView) and view.attempts),
    )
