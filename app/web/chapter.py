"""A chapter's page: the course's blocks merged with what this learner predicted, answered and ran."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from fastapi import APIRouter, Depends, Response
from fastapi.responses import RedirectResponse
from markupsafe import Markup
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from app.course.blocks import Cell, Graph, Heading, Html, Predict, Question
from app.course.model import Chapter, Course, Module
from app.course.walk import blocks_of
from app.pictures import TraceRefused
from app.web.blocks import BlockView, HeadingView, LadderView
from app.web.course_map import href_of
from app.web.figures import Figure, Sketch
from app.web.merging import Reader, merge_block, merge_blocks, picture_prefix
from app.web.page import Frame, Place
from app.web.preview import place_problems
from app.web.progress import count_standings, make_ladder
from app.web.rates import Act
from app.web.site import Site, SiteNow
from app.web.visit import Visit, VisitNow, Writer, WriterNow, find_chapter, place_of
from graders.contract.model import SubmissionId
from graders.contract.results import RunEnd

router = APIRouter(include_in_schema=False)
api = APIRouter(prefix="/api", tags=["reading"])

CONTENTS_LEVELS = (2, 3)


@dataclass(frozen=True)
class ContentsEntry:
    level: int
    text: str
    anchor: str


@dataclass(frozen=True)
class HeadlineView:
    """A headline figure; `claim_anchor` is the claim on this page that proves it."""

    value: str
    label: Html
    claim_anchor: str


@dataclass(frozen=True)
class ChapterPage:
    """`read_action` is a form (no fields) that marks the chapter as read to the end; `read` says that it was."""

    template: ClassVar[str] = "chapter.html"
    frame: Frame
    slug: str
    number: str
    title: str
    subtitle: Html
    module_title: str
    module_number: int
    module_href: str
    place: int
    chapters_total: int
    minutes: int
    words: int
    objectives: tuple[Html, ...]
    concepts: tuple[str, ...]
    prerequisites: tuple[Place, ...]
    headlines: tuple[HeadlineView, ...]
    ladder: LadderView
    contents: tuple[ContentsEntry, ...]
    blocks: tuple[BlockView, ...]
    read_action: str
    read: bool
    resume_anchor: str
    """The heading where this learner left the chapter, or empty."""
    previous: Place | None
    next: Place | None
    draft: bool


def need_chapter(slug: str, site: SiteNow) -> Chapter:
    chapter = find_chapter(site.course, slug)
    if chapter is None:
        raise HTTPException(404, _say_missing(slug, site))
    return chapter


def _say_missing(slug: str, site: Site) -> str:
    """A chapter that its own mistakes keep from being shown is there for its author."""
    if site.preview and site.preview.problems_under(f"chapters/{slug}"):
        return "Mistakes keep this chapter from being shown."
    return "There is no chapter of that name."


ChapterNow = Annotated[Chapter, Depends(need_chapter)]


async def gather_reader(
    visit: Visit,
    chapter: Chapter,
    problems: Mapping[str, str] | None = None,
    draws: Mapping[str, int] | None = None,
) -> Reader:
    """Everything that a chapter's blocks need besides themselves."""
    site, learner = visit.site, visit.learner
    reader = Reader(site.course, chapter, problems=problems or {}, learner=learner or "", draws=draws or {})
    reader = replace(reader, torch=await site.torch.version(site.course.torch))
    if learner is not None:
        reader = replace(
            reader,
            history=await site.store.history(learner, chapter.slug),
            drafts=await site.store.drafts(learner, f"chapters/{chapter.slug}/"),
            standings=count_standings(await site.ledger.standings(learner)),
        )
    return replace(reader, figures=await _gather_figures(visit, reader))


async def _gather_figures(visit: Visit, reader: Reader) -> dict[str, Figure]:
    """The course's own graphs, and the last graph of each cell on which a question is asked."""
    figures = {}
    blocks = reader.chapter.blocks
    for graph in blocks_of(Graph, blocks):
        figure = await visit.site.figures.kept(graph.trace_path, graph.source, picture_prefix(graph))
        if figure is not None:
            figures[graph.id] = figure
    asked = {question.graph.cell for question in blocks_of(Question, blocks) if question.graph}
    for cell in (cell for cell in blocks_of(Cell, blocks) if cell.id in asked):
        figure = await _last_figure(visit, reader.history.cell_runs.get(cell.id), picture_prefix(cell))
        if figure is not None:
            figures[cell.id] = figure
    return figures


async def _last_figure(visit: Visit, run: str | None, id_prefix: str) -> Figure | None:
    """The graph of a run of this learner's, while the ledger still has it."""
    found = await visit.site.ledger.find(SubmissionId(run)) if run else None
    if found is None or not isinstance(found.result, RunEnd) or found.result.trace is None:
        return None
    try:
        return await visit.site.figures.draw(Sketch(found.result.trace, found.job.source, id_prefix))
    except TraceRefused:
        return None


async def render_chapter(
    visit: Visit,
    chapter: Chapter,
    problems: Mapping[str, str] | None = None,
    status: int = 200,
    draws: Mapping[str, int] | None = None,
) -> Response:
    """The whole page; `problems` are sentences about a form that could not be taken, by block id."""
    reader = await gather_reader(visit, chapter, problems, draws)
    course = visit.site.course
    module = find_module(course, chapter)
    ladder = make_ladder(course, chapter, reader.history, reader.standings, visit.now)
    blocks = merge_blocks(chapter.blocks, replace(reader, ladder=ladder))
    if visit.site.preview:
        blocks = place_problems(chapter, blocks, visit.site.preview.problems_under(f"chapters/{chapter.slug}"))
    reading = reader.history.reading
    position = course.chapters.index(chapter)
    page = ChapterPage(
        frame=await visit.frame(chapter.title, _plain(chapter.subtitle) or chapter.title),
        slug=chapter.slug,
        number=chapter.number,
        title=chapter.title,
        subtitle=chapter.subtitle,
        module_title=module.title,
        module_number=module.number,
        module_href=href_of(module),
        place=chapter.ordinal,
        chapters_total=course.chapter_total,
        minutes=chapter.minutes,
        words=chapter.words,
        objectives=chapter.objectives,
        concepts=tuple(course.concepts[concept] for concept in chapter.concepts),
        prerequisites=tuple(_prerequisite(course, slug) for slug in chapter.prerequisites),
        headlines=tuple(HeadlineView(h.value, h.label, h.claim) for h in chapter.headlines),
        ladder=ladder,
        contents=tuple(
            ContentsEntry(block.level, block.text, block.anchor)
            for block in blocks
            if isinstance(block, HeadingView) and block.level in CONTENTS_LEVELS
        ),
        blocks=blocks,
        read_action=f"/chapters/{chapter.slug}/read",
        read=reading is not None and reading.finished_at is not None,
        resume_anchor=reading.anchor if reading else "",
        previous=_neighbour(course, position - 1),
        next=_neighbour(course, position + 1),
        draft=chapter.draft,
    )
    return visit.site.renderer.page(page, status)


def find_module(course: Course, chapter: Chapter) -> Module:
    return next(module for module in course.modules if chapter in module.chapters)


def _neighbour(course: Course, position: int) -> Place | None:
    return place_of(course.chapters[position]) if 0 <= position < len(course.chapters) else None


def _prerequisite(course: Course, slug: str) -> Place:
    chapter = find_chapter(course, slug)
    if chapter is None:
        raise LookupError(f"a prerequisite that is no chapter: {slug}; the loader let it pass")
    return place_of(chapter)


def _plain(html: Html) -> str:
    """The words of a line of HTML, for a description."""
    return Markup(html).striptags()


@router.api_route("/chapters/{slug}", methods=["GET", "HEAD"])
async def chapter_page(visit: VisitNow, chapter: ChapterNow, another: str = "", draw: int = 0) -> Response:
    """`another` and `draw` come from a reader without script who asked for another draw of a question."""
    return await render_chapter(visit, chapter, draws={another: draw} if another else None)


async def answer_block(
    writer: Writer,
    chapter: Chapter,
    block: Predict | Question,
    problem: str = "",
    draws: Mapping[str, int] | None = None,
) -> Response:
    """The answer to a block's form: the block alone for an element, else the page at that block.

    A form that could not be taken (`problem`) comes back with a sentence, and with status 422.
    """
    visit = writer.visit
    problems = {block.id: problem} if problem else {}
    status = 422 if problem else 200
    if visit.wants_fragment:
        view = merge_block(block, await gather_reader(visit, chapter, problems, draws))
        return visit.site.renderer.fragment(view, status)
    if problem:
        return await render_chapter(visit, chapter, problems, status, draws)
    return RedirectResponse(f"/chapters/{chapter.slug}#{block.id}", 303)


@router.post("/chapters/{slug}/read")
async def finish_reading(chapter: ChapterNow, writer: WriterNow) -> Response:
    await writer.visit.count(Act.WRITE)
    await writer.site.store.finish_reading(writer.learner, chapter.slug, writer.now)
    return RedirectResponse(f"/chapters/{chapter.slug}", 303)


class PlaceRead(BaseModel):
    """Where a reader is: the anchor of a heading."""

    model_config = ConfigDict(extra="forbid")
    chapter: str = Field(max_length=80)
    anchor: str = Field(max_length=200)


@api.put("/place", status_code=204)
async def keep_place(place: PlaceRead, site: SiteNow, visit: VisitNow) -> None:
    """Remember where the reader is, if they are known: reading alone makes nobody known."""
    chapter = find_chapter(site.course, place.chapter)
    anchors = {heading.anchor for heading in blocks_of(Heading, chapter.blocks)} if chapter else ()
    if chapter is None or place.anchor not in anchors:
        raise HTTPException(404, "There is no such place.")
    if visit.learner is not None:
        await visit.count(Act.WRITE)
        await site.store.keep_place(visit.learner, chapter.slug, place.anchor, visit.now)
