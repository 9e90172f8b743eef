"""The course map: every module and chapter, written or planned, and how far this learner is on each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response
from markupsafe import escape

from app.course.blocks import Html
from app.course.model import Chapter, Module, PlannedChapter, Start
from app.storage.records import NOTHING_YET, ChapterHistory, Deck
from app.storage.review_cards import NO_DECK
from app.web.edge.assigned import say_by_chapter
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.pages.by_kind import list_kinds
from app.web.views.ladder import LadderView
from app.web.views.presenting import ExerciseProgress
from app.web.views.progress import count_progress, make_ladder

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class ChapterRow:
    """`href` is empty for a planned chapter; `ladder` is None for a planned chapter or an unknown reader."""

    number: str
    title: str
    href: str
    subtitle: Html
    minutes: int
    objectives: tuple[Html, ...]
    planned: bool
    ladder: LadderView | None
    assigned: tuple[str, ...] = ()
    """What of it the reader's sections ask for, each in words."""


@dataclass(frozen=True)
class ModuleRow:
    href: str
    number: int | None
    title: str
    summary: str
    chapters: tuple[ChapterRow, ...]


@dataclass(frozen=True)
class CourseMapPage:
    template: ClassVar[str] = "course.html"
    frame: Frame
    starts: tuple[Start, ...]
    """Where different readers begin; empty if the course says nothing of it."""
    modules: tuple[ModuleRow, ...]
    exercises_total: int
    chapters_written: int
    chapters_total: int
    kinds: tuple[Link, ...]
    """Pages that gather one kind of entry from all chapters."""
    has_releases: bool
    """Whether the claims were run on other releases of torch."""


@router.api_route("/course", methods=["GET", "HEAD"])
async def course_map(context: RequestContextDep) -> Response:
    site, course, learner = context.site, context.course, context.learner
    histories = await site.store.histories(learner) if learner else {}
    progress = count_progress(await site.ledger.finished_submissions(learner)) if learner else {}
    deck = await site.store.review_cards.deck(learner) if learner else NO_DECK
    assigned = await say_by_chapter(context)
    page = CourseMapPage(
        frame=await context.frame("The course", course.tagline),
        starts=course.starts,
        modules=tuple(
            ModuleRow(
                href_of(module),
                module.number,
                module.title,
                module.summary,
                tuple(
                    show_chapter(context, chapter, histories, progress, deck, assigned) for chapter in module.chapters
                ),
            )
            for module in course.modules
        ),
        exercises_total=len(course.exercises),
        chapters_written=len(course.numbered_chapters),
        chapters_total=course.chapter_total,
        kinds=list_kinds(course),
        has_releases=bool(course.releases.runs),
    )
    return site.renderer.page(page)


def href_of(module: Module) -> str:
    return f"/modules/{module.id}"


def show_chapter(
    context: RequestContext,
    chapter: Chapter | PlannedChapter,
    histories: Mapping[str, ChapterHistory],
    progress: Mapping[str, ExerciseProgress],
    deck: Deck,
    assigned: Mapping[str, tuple[str, ...]],
) -> ChapterRow:
    if isinstance(chapter, PlannedChapter):
        objectives = tuple(str(escape(objective)) for objective in chapter.objectives)
        return ChapterRow(chapter.number, chapter.title, "", "", 0, objectives, planned=True, ladder=None)
    history = histories.get(chapter.slug, NOTHING_YET)
    ladder = make_ladder(context.course, chapter, history, progress, context.now, deck) if context.learner else None
    return ChapterRow(
        number=chapter.number,
        title=chapter.title,
        href=f"/chapters/{chapter.slug}",
        subtitle=chapter.subtitle,
        minutes=chapter.minutes,
        objectives=chapter.objectives,
        planned=False,
        ladder=ladder,
        assigned=assigned.get(chapter.slug, ()),
    )
