"""What an author's preview adds to the site: a list of what is wrong, mistakes at their place, and live reload."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from fastapi import APIRouter, Depends, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException

from app.course.model import Chapter
from app.course.problems import ContentProblem
from app.course.publish import list_drafts
from app.preview import Preview
from app.web.blocks import BlockView, ProblemView
from app.web.page import Frame
from app.web.site import Site, SiteNow
from app.web.visit import VisitNow

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class PreviewPage:
    """Every mistake of the course's text, and the files that are drafts."""

    template: ClassVar[str] = "preview.html"
    frame: Frame
    problems: tuple[ProblemView, ...]
    drafts: tuple[str, ...]


def need_preview(site: SiteNow) -> Preview:
    if site.preview is None:
        raise HTTPException(404, "This site is no preview.")
    return site.preview


PreviewNow = Annotated[Preview, Depends(need_preview)]


@router.api_route("/preview", methods=["GET", "HEAD"])
async def preview_page(visit: VisitNow, preview: PreviewNow) -> Response:
    loaded = preview.read()
    page = PreviewPage(
        frame=await visit.frame("Preview", "What is wrong with the course's text, and what is a draft."),
        problems=tuple(view_problem(problem) for problem in loaded.problems),
        drafts=list_drafts(loaded.course),
    )
    return visit.site.renderer.page(page)


@router.get("/preview/versions", response_class=EventSourceResponse)
async def versions(preview: PreviewNow) -> AsyncIterator[ServerSentEvent]:
    """The version of the course's files, now and after every change; a page of another version reloads itself."""
    async for version in preview.watch.versions():
        yield ServerSentEvent(event="version", raw_data=version)


def view_problem(problem: ContentProblem) -> ProblemView:
    return ProblemView(problem.path, problem.line, problem.rule.value, problem.message, problem.remedy)


def list_problems(site: Site, address: str) -> tuple[ProblemView, ...]:
    """What is wrong with the files of a page, in a preview: the page's address is the name of their folder."""
    if site.preview is None:
        return ()
    return tuple(view_problem(problem) for problem in site.preview.problems_under(address.strip("/")))


def place_problems(
    chapter: Chapter, views: Sequence[BlockView], problems: Sequence[ContentProblem]
) -> tuple[BlockView, ...]:
    """The chapter's blocks with each mistake after the block in which it stands, which perhaps cannot be shown.

    Mistakes in the other files of its folder come last.
    """
    left = sorted(problem for problem in problems if problem.path == chapter.where.path)
    elsewhere = sorted(problem for problem in problems if problem.path != chapter.where.path)
    placed: list[BlockView] = []
    for view, line in zip(views, chapter.lines, strict=True):
        while left and left[0].line < line:
            placed.append(view_problem(left.pop(0)))
        placed.append(view)
    return (*placed, *map(view_problem, (*left, *elsewhere)))
