"""The operator's page about the versions of the course: what is kept, what would change, and which one is live."""

import asyncio
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from fastapi import APIRouter, Depends, Form, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.exceptions import HTTPException

from app.course.model import Course
from app.course.versions import Change, compare
from app.publishing import NotPublishable, VersionFile, brief_of, make_live, read_versions
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of
from app.web.pages.chapter import need_chapter, render_chapter
from app.web.pages.course_files import chapter_figure
from app.web.pages.exercise import need_exercise, render_exercise
from graders.contract.course_versions import GIVEN, Live, read_live

router = APIRouter(include_in_schema=False)

GIVEN_IN_WORDS = "given"
ADDRESS = "/operator/course"
CANNOT = "This site shows the files of a folder as they are now, so no version is published on it."


@dataclass(frozen=True)
class VersionRow:
    """`changes` are those that readers would see if it became live now."""

    version: str
    title: str
    added_at: str
    chapters: int
    exercises: int
    is_live: bool
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class VersionsPage:
    """A form sends `version`. `before` is the version to which one rolls back, empty if there is none."""

    template: ClassVar[str] = "versions.html"
    frame: Frame
    action: str
    folder: str
    live_since: str
    before: str
    rows: tuple[VersionRow, ...]
    given_is_live: bool
    given_in_words: str
    problem: str


async def need_version(version: str, context: RequestContextDep) -> RequestContext:
    """The request with a kept version in place of the live course. Raises a 404 if the version cannot be shown."""
    published = context.site.published
    try:
        course = await published.peek(version) if published else None
    except NotPublishable as refusal:
        raise HTTPException(404, "There is no such version, or it cannot be shown.") from refusal
    if course is None:
        raise HTTPException(404, CANNOT)
    context.request.state.peeked = version
    return replace(context, course=course)


PeekedDep = Annotated[RequestContext, Depends(need_version)]


@router.api_route(f"{ADDRESS}/{{version}}/chapters/{{slug}}", methods=["GET", "HEAD"])
async def peek_at_chapter(context: PeekedDep, version: str, slug: str) -> Response:
    """A chapter as readers would see it. Its forms belong to the live version; its pictures are its own."""
    page = await render_chapter(context, need_chapter(slug, context.site, context.course))
    own, there = f"/chapters/{slug}/figures/", f"{ADDRESS}/{version}/chapters/{slug}/figures/"
    return HTMLResponse(bytes(page.body).replace(own.encode(), there.encode()), headers={"cache-control": "no-store"})


@router.api_route(f"{ADDRESS}/{{version}}/chapters/{{slug}}/figures/{{name}}", methods=["GET", "HEAD"])
async def peek_at_figure(context: PeekedDep, slug: str, name: str) -> Response:
    return await chapter_figure(
        name, context.request, need_chapter(slug, context.site, context.course), context.course
    )


@router.api_route(f"{ADDRESS}/{{version}}/exercises/{{name}}", methods=["GET", "HEAD"])
async def peek_at_exercise(context: PeekedDep, name: str) -> Response:
    return await render_exercise(context, need_exercise(name, context.site, context.course))


@router.api_route(ADDRESS, methods=["GET", "HEAD"])
async def versions_page(context: RequestContextDep) -> Response:
    return await _show(context)


@router.post(ADDRESS)
async def publish(context: RequestContextDep, version: Annotated[str, Form(max_length=40)]) -> Response:
    """Make a kept version live. The answer comes when readers see it; one with mistakes is refused."""
    site, published = context.site, context.site.published
    await context.count(Act.WRITE)
    if published is None:
        return await _show(context, CANNOT)
    settings, name = site.settings, GIVEN if version == GIVEN_IN_WORDS else version
    try:
        live = await asyncio.to_thread(make_live, settings.data, settings.course, name, context.now)
    except NotPublishable as refusal:
        return await _show(context, str(refusal))
    await published.switch(site.search.count)
    if published.refused:
        return await _show(context, published.refused)
    before = live.before or GIVEN_IN_WORDS
    await site.store.publications.note(live.version or GIVEN_IN_WORDS, before, actor_of(context))
    return RedirectResponse(ADDRESS, 303)


async def _show(context: RequestContext, problem: str = "") -> Response:
    settings, published = context.site.settings, context.site.published
    live = read_live(settings.data) or Live(version=GIVEN, before=GIVEN, at=context.now)
    versions, shown = await asyncio.to_thread(read_versions, settings.data), published.version if published else GIVEN
    page = VersionsPage(
        frame=await context.frame("Versions of the course", "Which version of the course readers see."),
        action=ADDRESS,
        folder=str(settings.course),
        live_since=f"{live.at:%Y-%m-%d %H:%M} UTC" if live.version != GIVEN or live.before != GIVEN else "",
        before=(live.before or GIVEN_IN_WORDS) if live.version != live.before else "",
        rows=await asyncio.to_thread(_show_rows, context.course, versions, shown),
        given_is_live=shown == GIVEN,
        given_in_words=GIVEN_IN_WORDS,
        problem=problem or (published.refused if published else CANNOT),
    )
    return context.site.renderer.page(page, 422 if problem else 200)


def _show_rows(course: Course, versions: tuple[VersionFile, ...], shown: str) -> tuple[VersionRow, ...]:
    live = next((kept.brief for kept in versions if kept.version == shown), None) or brief_of(course)
    return tuple(
        VersionRow(
            version=kept.version,
            title=kept.brief.title,
            added_at=f"{kept.added_at:%Y-%m-%d %H:%M} UTC",
            chapters=len(kept.brief.chapters),
            exercises=len(kept.brief.exercises),
            is_live=kept.version == shown,
            changes=() if kept.version == shown else compare(live, kept.brief),
        )
        for kept in versions
    )
