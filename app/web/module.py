"""A module's page: what it is about, its chapters with what each will teach, and the exercises in them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from app.course.blocks import ExerciseLink
from app.course.model import Chapter, Module, PlannedChapter
from app.course.walk import blocks_of
from app.web.blocks import ExerciseLinkView
from app.web.course_map import ChapterRow, href_of, show_chapter
from app.web.merging import Standing, merge_exercise_link
from app.web.page import Frame, Place
from app.web.progress import count_standings
from app.web.visit import Visit, VisitNow

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class ModuleChapter:
    """A chapter of the module, and the exercises that it offers."""

    row: ChapterRow
    exercises: tuple[ExerciseLinkView, ...]


@dataclass(frozen=True)
class ModulePage:
    """`minutes` is the time that the written chapters ask for."""

    template: ClassVar[str] = "module.html"
    frame: Frame
    number: int
    modules_total: int
    title: str
    summary: str
    chapters: tuple[ModuleChapter, ...]
    written: int
    minutes: int
    previous: Place | None
    next: Place | None


@router.api_route("/modules/{module_id}", methods=["GET", "HEAD"])
async def module_page(visit: VisitNow, module_id: str) -> Response:
    site, course, learner = visit.site, visit.site.course, visit.learner
    position = next((place for place, module in enumerate(course.modules) if module.id == module_id), None)
    if position is None:
        raise HTTPException(404, "There is no module of that name.")
    module = course.modules[position]
    histories = await site.store.histories(learner) if learner else {}
    standings = count_standings(await site.ledger.standings(learner)) if learner else {}
    written = [chapter for chapter in module.chapters if isinstance(chapter, Chapter)]
    page = ModulePage(
        frame=await visit.frame(module.title, module.summary),
        number=module.number,
        modules_total=len(course.modules),
        title=module.title,
        summary=module.summary,
        chapters=tuple(
            ModuleChapter(show_chapter(visit, chapter, histories, standings), _offered(visit, chapter, standings))
            for chapter in module.chapters
        ),
        written=len(written),
        minutes=sum(chapter.minutes for chapter in written),
        previous=_place_of(course.modules, position - 1),
        next=_place_of(course.modules, position + 1),
    )
    return site.renderer.page(page)


def _offered(
    visit: Visit, chapter: Chapter | PlannedChapter, standings: Mapping[str, Standing]
) -> tuple[ExerciseLinkView, ...]:
    links = blocks_of(ExerciseLink, chapter.blocks) if isinstance(chapter, Chapter) else ()
    names = dict.fromkeys(link.name for link in links)
    return tuple(merge_exercise_link(visit.site.course, name, standings) for name in names)


def _place_of(modules: tuple[Module, ...], position: int) -> Place | None:
    if not 0 <= position < len(modules):
        return None
    module = modules[position]
    return Place(href_of(module), module.title, str(module.number))
