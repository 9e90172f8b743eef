"""A chapter's page: the course's blocks with this learner's predictions, answers and runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, TypeVar

from fastapi import APIRouter, Depends, Response
from fastapi.responses import RedirectResponse
from markupsafe import Markup
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from app.course.blocks import DrillPlace, Html, Predict
from app.course.model import Chapter, Course
from app.course.questions.kinds import GraphClick, Question
from app.drawing.tasks import DrawPicture, Figure, NotDrawn
from app.learning.grading import Kind
from app.storage.draft_key import chapter_prefix
from app.web.edge.asking import gather_beside
from app.web.edge.assigned import say_assigned
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import LearnerContext, LearnerContextDep, RequestContext, RequestContextDep
from app.web.edge.links import link_to
from app.web.edge.mistakes import place_problems
from app.web.edge.rates import Act
from app.web.edge.site import CourseDep, Site, SiteDep
from app.web.pages.chapter_drill import show_chapter_drill
from app.web.pages.course_map import href_of
from app.web.views.blocks import BlockView, HeadingView, ProblemView
from app.web.views.calibrating import say_worth_before
from app.web.views.ladder import LadderView
from app.web.views.presenting import ChapterState, ask_picture, picture_prefix, present_block, present_blocks
from app.web.views.progress import count_progress, make_ladder
from app.web.views.spots import note_address, report_address
from app.web.views.threads import ThreadsOfPage
from graders.contract.model import SubmissionId
from graders.contract.results import RunEnd

router = APIRouter(include_in_schema=False)
api = APIRouter(prefix="/api", tags=["reading"])

CONTENTS_LEVELS = (2, 3)
VERSION_HEADER = "x-unwind-chapter"

BlockT = TypeVar("BlockT")


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
    version: str
    """A page whose chapter has another version by now says so to its reader."""
    number: str
    title: str
    subtitle: Html
    module_title: str
    module_number: int | None
    module_href: str
    place: int
    chapters_total: int
    minutes: int
    words: int
    objectives: tuple[Html, ...]
    concepts: tuple[str, ...]
    prerequisites: tuple[Link, ...]
    headlines: tuple[HeadlineView, ...]
    ladder: LadderView
    contents: tuple[ContentsEntry, ...]
    blocks: tuple[BlockView, ...]
    report_hrefs: tuple[str, ...]
    """Where each of `blocks` is reported as wrong, or empty."""
    note_hrefs: Mapping[str, str]
    """Where the reader's notes on this page are, by the place's address in `report_hrefs`."""
    threads: ThreadsOfPage
    """The questions that the reader may read about a block, by its address in `report_hrefs`."""
    read_action: str
    read: bool
    resume_anchor: str
    """The heading or block where this learner left the chapter, or empty."""
    previous: Link | None
    next: Link | None
    draft: bool
    drills: tuple[Link, ...]
    """Practice on drawn graphs, for each of the chapter's concepts that has any."""
    assigned: tuple[str, ...] = ()
    """What here counts for a section of the reader's, each in a sentence or two."""


def need_chapter(slug: str, site: SiteDep, course: CourseDep) -> Chapter:
    chapter = course.index.by_slug.get(slug)
    if chapter is None:
        raise HTTPException(404, _say_missing(slug, site))
    return chapter


def _say_missing(slug: str, site: Site) -> str:
    """The error for a chapter that does not exist, or that its mistakes keep from being shown in a preview."""
    if site.preview and site.preview.problems_under(f"chapters/{slug}"):
        return "Mistakes keep this chapter from being shown."
    return "There is no chapter of that name."


ChapterDep = Annotated[Chapter, Depends(need_chapter)]


def need_block(blocks: Mapping[str, BlockT], name: str, what: str) -> BlockT:
    """The block of that id in a chapter's index. Raises a 404 that says there is no such `what`."""
    if name not in blocks:
        raise HTTPException(404, f"There is no such {what} in this chapter.")
    return blocks[name]


async def gather_state(
    context: RequestContext,
    chapter: Chapter,
    problems: Mapping[str, str] | None = None,
    draws: Mapping[str, int] | None = None,
) -> ChapterState:
    """Everything that a chapter's blocks need besides themselves."""
    site, learner = context.site, context.learner
    state = ChapterState(context.course, chapter, problems=problems or {}, learner=learner or "", draws=draws or {})
    state = replace(state, torch=await site.torch.version(context.course.torch))
    if learner is not None:
        state = replace(
            state,
            history=await site.store.history(learner, chapter.slug),
            drafts=await site.store.drafts(learner, chapter_prefix(chapter.slug)),
            noted=frozenset(await site.store.notes.of_page(learner, f"chapters/{chapter.slug}")),
            progress=count_progress(await site.ledger.finished_submissions(learner)),
            worth=say_worth_before(context.course, chapter, await site.store.review_cards.stated(learner)),
        )
    drill = await show_chapter_drill(context, chapter, _drill_problem(chapter, state))
    return replace(state, drill=drill, figures=await _gather_figures(context, state))


def _drill_problem(chapter: Chapter, state: ChapterState) -> str:
    return state.problems.get(chapter.index.drill.id, "") if chapter.index.drill else ""


async def _gather_figures(context: RequestContext, state: ChapterState) -> dict[str, Figure]:
    """The course's own graphs, and the last graph of each cell on which a question is asked."""
    figures = {}
    found = state.chapter.index
    for graph in found.graphs.values():
        figure = await context.site.figures.kept(graph.trace_path, ask_picture(graph))
        if figure is not None:
            figures[graph.id] = figure
    asked = {question.cell for question in found.questions.values() if isinstance(question, GraphClick)}
    for cell in (found.cells[name] for name in asked if name in found.cells):
        figure = await _last_figure(context, state.history.cell_runs.get(cell.id), picture_prefix(cell))
        if figure is not None:
            figures[cell.id] = figure
    return figures


async def _last_figure(context: RequestContext, run: str | None, id_prefix: str) -> Figure | None:
    """The graph of this learner's run, while the ledger still has it."""
    found = await context.site.ledger.find(SubmissionId(run)) if run else None
    if found is None or not isinstance(found.result, RunEnd) or found.result.trace_json is None:
        return None
    task = DrawPicture(source=found.job.source, id_prefix=id_prefix, list_nodes=True)
    try:
        return await context.site.figures.draw(task, found.result.trace_json, context.asker)
    except NotDrawn:
        return None


async def render_chapter(
    context: RequestContext,
    chapter: Chapter,
    problems: Mapping[str, str] | None = None,
    status: int = 200,
    draws: Mapping[str, int] | None = None,
) -> Response:
    """The whole page; `problems` are sentences about forms that could not be accepted, by block id."""
    state = await gather_state(context, chapter, problems, draws)
    if context.learner is not None:
        state = replace(state, deck=await context.site.store.review_cards.deck(context.learner))
    frame = await context.frame(chapter.title, _plain(chapter.subtitle) or chapter.title)
    threads = await gather_beside(context, f"chapters/{chapter.slug}")
    assigned = await say_assigned(context, chapter.slug, Kind.RETRIEVAL, Kind.PREDICTIONS)
    page = replace(present_page(context, frame, state, threads), assigned=assigned)
    return context.site.renderer.page(page, status)


def present_page(context: RequestContext, frame: Frame, state: ChapterState, threads: ThreadsOfPage) -> ChapterPage:
    course, chapter = context.course, state.chapter
    module, reading = course.index.modules[chapter.module], state.history.reading
    ladder = make_ladder(course, chapter, state.history, state.progress, context.now, state.deck)
    blocks = present_blocks(chapter.blocks, replace(state, ladder=ladder))
    if context.site.preview:
        blocks = place_problems(chapter, blocks, context.site.preview.problems_under(f"chapters/{chapter.slug}"))
    before, after = _neighbours(course, chapter)
    return ChapterPage(
        frame=frame,
        slug=chapter.slug,
        version=chapter.version,
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
        prerequisites=tuple(link_to(course.index.by_slug[slug]) for slug in chapter.prerequisites),
        headlines=tuple(HeadlineView(h.value, h.label, h.claim) for h in chapter.headlines),
        ladder=ladder,
        contents=list_contents(blocks),
        blocks=blocks,
        report_hrefs=_list_reports(chapter, blocks),
        note_hrefs=_list_notes(chapter, state.noted),
        threads=threads,
        read_action=f"/chapters/{chapter.slug}/read",
        read=reading is not None and reading.finished_at is not None,
        resume_anchor=reading.anchor if reading else "",
        previous=before,
        next=after,
        draft=chapter.draft,
        drills=list_drills(course, chapter),
    )


def _list_reports(chapter: Chapter, blocks: tuple[BlockView, ...]) -> tuple[str, ...]:
    """An address for each block. A preview shows mistakes between the chapter's own blocks, which have none."""
    page, keys = f"chapters/{chapter.slug}", iter(chapter.keys)
    named = ("" if isinstance(block, ProblemView) else next(keys) for block in blocks)
    return tuple(report_address(page, key) if key else "" for key in named)


def _list_notes(chapter: Chapter, noted: Iterable[str]) -> dict[str, str]:
    page = f"chapters/{chapter.slug}"
    return {report_address(page, block): note_address(page, block) for block in noted}


def list_drills(course: Course, chapter: Chapter) -> tuple[Link, ...]:
    drilled = {concept for drill in course.drills for concept in drill.question.concepts}
    return tuple(
        Link(f"/drill?concept={concept}", course.concepts[concept])
        for concept in chapter.concepts
        if concept in drilled
    )


def list_contents(blocks: tuple[BlockView, ...]) -> tuple[ContentsEntry, ...]:
    return tuple(
        ContentsEntry(block.level, block.text, block.anchor)
        for block in blocks
        if isinstance(block, HeadingView) and block.level in CONTENTS_LEVELS
    )


def _neighbours(course: Course, chapter: Chapter) -> tuple[Link | None, Link | None]:
    """The chapters before and after: numbered chapters follow each other, and so do the pages beside them."""
    kin = [other for other in course.chapters if bool(other.number) == bool(chapter.number)]
    position = kin.index(chapter)
    before, after = kin[:position][-1:], kin[position + 1 :][:1]
    return next(map(link_to, before), None), next(map(link_to, after), None)


def _plain(html: Html) -> str:
    """The text of a line of HTML, for the page's description."""
    return Markup(html).striptags()


@router.api_route("/chapters/{slug}", methods=["GET", "HEAD"])
async def chapter_page(context: RequestContextDep, chapter: ChapterDep, another: str = "", draw: int = 0) -> Response:
    """The page. `another` and `draw` come from a reader without script who asked for another draw of a question."""
    return await render_chapter(context, chapter, draws={another: draw} if another else None)


async def answer_block(
    context: LearnerContext,
    chapter: Chapter,
    block: Predict | Question | DrillPlace,
    problem: str = "",
    draws: Mapping[str, int] | None = None,
) -> Response:
    """The answer to a block's form: the block alone for an element, else the page at that block.

    A form that could not be accepted comes back with the sentence `problem` and status 422.
    """
    asking = context.request_context
    problems = {block.id: problem} if problem else {}
    status = 422 if problem else 200
    if asking.wants_fragment:
        view = present_block(block, await gather_state(asking, chapter, problems, draws))
        return asking.site.renderer.fragment(view, status)
    if problem:
        return await render_chapter(asking, chapter, problems, status, draws)
    return RedirectResponse(f"/chapters/{chapter.slug}#{block.id}", 303)


@router.post("/chapters/{slug}/read")
async def finish_reading(chapter: ChapterDep, context: LearnerContextDep) -> Response:
    await context.request_context.count(Act.WRITE)
    await context.site.store.finish_reading(context.learner, chapter.slug, context.now)
    return RedirectResponse(f"/chapters/{chapter.slug}#finish", 303)


class ReadingPosition(BaseModel):
    """The reader's place in the chapter: the anchor of a heading, or the id of a block."""

    model_config = ConfigDict(extra="forbid")
    chapter: str = Field(max_length=80)
    anchor: str = Field(max_length=200)


@api.put("/position", status_code=204)
async def keep_position(read: ReadingPosition, context: RequestContextDep, response: Response) -> None:
    """Store the reader's place if they are known; reading alone does not create a learner.

    The answer names the chapter's present version, so that a page of another one can say so.
    """
    chapter = context.course.index.by_slug.get(read.chapter)
    if chapter is None:
        raise HTTPException(404, "There is no such chapter.")
    told = {VERSION_HEADER: chapter.version}
    if read.anchor not in chapter.index.anchors:
        raise HTTPException(404, "There is no such place.", headers=told)
    response.headers.update(told)
    if context.learner is not None:
        await context.count(Act.WRITE)
        await context.site.store.keep_position(context.learner, chapter.slug, read.anchor, context.now)
