"""A module's page: its subject, its chapters with what each will teach, and their exercises."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from app.course.model import Chapter, Module, PlannedChapter
from app.storage.review_cards import NO_DECK
from app.web.edge.assigned import say_by_chapter
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.pages.course_map import ChapterRow, href_of, show_chapter
from app.web.views.blocks import ExerciseLinkView
from app.web.views.presenting import ExerciseProgress, present_exercise_link
from app.web.views.progress import count_progress

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class ModuleChapter:
    """A chapter of the module, and the exercises that it offers."""

    row: ChapterRow
    exercises: tuple[ExerciseLinkView, ...]


@dataclass(frozen=True)
class ModulePage:
    """`minutes` is the total time for the written chapters."""

    template: ClassVar[str] = "module.html"
    frame: Frame
    number: int | None
    modules_total: int
    title: str
    summary: str
    chapters: tuple[ModuleChapter, ...]
    written: int
    minutes: int
    previous: Link | None
    next: Link | None


@router.api_route("/modules/{module_id}", methods=["GET", "HEAD"])
async def module_page(context: RequestContextDep, module_id: str) -> Response:
    site, course, learner = context.site, context.course, context.learner
    module = course.index.modules.get(module_id)
    if module is None:
        raise HTTPException(404, "There is no module of that name.")
    position = course.modules.index(module)
    histories = await site.store.histories(learner) if learner else {}
    progress = count_progress(await site.ledger.finished_submissions(learner)) if learner else {}
    deck = await site.store.review_cards.deck(learner) if learner else NO_DECK
    assigned = await say_by_chapter(context)
    written = [chapter for chapter in module.chapters if isinstance(chapter, Chapter)]
    page = ModulePage(
        frame=await context.frame(module.title, module.summary),
        number=module.number,
        modules_total=len(course.numbered_modules),
        title=module.title,
        summary=module.summary,
        chapters=tuple(
            ModuleChapter(
                show_chapter(context, chapter, histories, progress, deck, assigned),
                _offered(context, chapter, progress),
            )
            for chapter in module.chapters
        ),
        written=len(written),
        minutes=sum(chapter.minutes for chapter in written),
        previous=_link_to(course.modules, position - 1),
        next=_link_to(course.modules, position + 1),
    )
    return site.renderer.page(page)


def _offered(
    context: RequestContext, chapter: Chapter | PlannedChapter, progress: Mapping[str, ExerciseProgress]
) -> tuple[ExerciseLinkView, ...]:
    names = chapter.index.exercises if isinstance(chapter, Chapter) else ()
    return tuple(present_exercise_link(context.course, name, progress) for name in names)


def _link_to(modules: tuple[Module, ...], position: int) -> Link | None:
    if not 0 <= position < len(modules):
        return None
    module = modules[position]
    return Link(href_of(module), module.title, "" if module.number is None else str(module.number))
