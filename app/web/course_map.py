"""The course map: every module and chapter, written or planned, and how far this learner is on each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response
from markupsafe import escape

from app.course.blocks import Html
from app.course.model import Chapter, Module, PlannedChapter
from app.storage.records import NOTHING_YET, ChapterHistory
from app.web.blocks import LadderView
from app.web.merging import Standing
from app.web.page import Frame
from app.web.progress import count_standings, make_ladder
from app.web.visit import Visit, VisitNow

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class ChapterRow:
    """`href` is empty for a planned chapter; `ladder` is None for one, and for a reader we do not know."""

    number: str
    title: str
    href: str
    subtitle: Html
    minutes: int
    objectives: tuple[Html, ...]
    planned: bool
    ladder: LadderView | None


@dataclass(frozen=True)
class ModuleRow:
    href: str
    number: int
    title: str
    summary: str
    chapters: tuple[ChapterRow, ...]


@dataclass(frozen=True)
class CourseMapPage:
    template: ClassVar[str] = "course.html"
    frame: Frame
    modules: tuple[ModuleRow, ...]
    exercises_total: int
    chapters_written: int
    chapters_total: int


@router.api_route("/course", methods=["GET", "HEAD"])
async def course_map(visit: VisitNow) -> Response:
    site, course, learner = visit.site, visit.site.course, visit.learner
    histories = await site.store.histories(learner) if learner else {}
    standings = count_standings(await site.ledger.standings(learner)) if learner else {}
    page = CourseMapPage(
        frame=await visit.frame("The course", course.tagline),
        modules=tuple(
            ModuleRow(
                href_of(module),
                module.number,
                module.title,
                module.summary,
                tuple(show_chapter(visit, chapter, histories, standings) for chapter in module.chapters),
            )
            for module in course.modules
        ),
        exercises_total=len(course.exercises),
        chapters_written=len(course.chapters),
        chapters_total=course.chapter_total,
    )
    return site.renderer.page(page)


def href_of(module: Module) -> str:
    return f"/modules/{module.id}"


def show_chapter(
    visit: Visit,
    chapter: Chapter | PlannedChapter,
    histories: Mapping[str, ChapterHistory],
    standings: Mapping[str, Standing],
) -> ChapterRow:
    if isinstance(chapter, PlannedChapter):
        objectives = tuple(str(escape(objective)) for objective in chapter.objectives)
        return ChapterRow(chapter.number, chapter.title, "", "", 0, objectives, planned=True, ladder=None)
    history = histories.get(chapter.slug, NOTHING_YET)
    return ChapterRow(
        number=chapter.number,
        title=chapter.title,
        href=f"/chapters/{chapter.slug}",
        subtitle=chapter.subtitle,
        minutes=chapter.minutes,
        objectives=chapter.objectives,
        planned=False,
        ladder=make_ladder(visit.site.course, chapter, history, standings, visit.now) if visit.learner else None,
    )
