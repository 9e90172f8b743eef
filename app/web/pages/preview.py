"""What an author's preview adds to the site: a list of mistakes, each mistake at its place, and live reload."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from fastapi import APIRouter, Depends, Response
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException

from app.course.publish import list_drafts
from app.preview import Preview
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContextDep
from app.web.edge.mistakes import view_problem
from app.web.edge.site import SiteDep
from app.web.views.blocks import ProblemView

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class PreviewPage:
    """Every mistake in the course's text, and the files that are drafts."""

    template: ClassVar[str] = "preview.html"
    frame: Frame
    problems: tuple[ProblemView, ...]
    drafts: tuple[str, ...]


def need_preview(site: SiteDep) -> Preview:
    if site.preview is None:
        raise HTTPException(404, "This site is no preview.")
    return site.preview


PreviewDep = Annotated[Preview, Depends(need_preview)]


@router.api_route("/preview", methods=["GET", "HEAD"])
async def preview_page(context: RequestContextDep, preview: PreviewDep) -> Response:
    loaded = preview.read()
    page = PreviewPage(
        frame=await context.frame("Preview", "The mistakes in the course's text, and its drafts."),
        problems=tuple(view_problem(problem) for problem in loaded.problems),
        drafts=list_drafts(loaded.course),
    )
    return context.site.renderer.page(page)


@router.get("/preview/versions", response_class=EventSourceResponse)
async def versions(preview: PreviewDep) -> AsyncIterator[ServerSentEvent]:
    """Stream the version of the course's files, now and after each change; a page of another version reloads."""
    async for version in preview.watch.versions():
        yield ServerSentEvent(event="version", raw_data=version)
