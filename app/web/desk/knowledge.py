"""What a section knows: an overview by chapter and exercise, and each chapter's questions, blocks and readers.

Nobody is named. Staff, and learners who are gone, do not count.
"""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from app.access.permissions import Permission, is_allowed
from app.course.block_tree import Block, blocks_within
from app.course.blocks import Heading, Incident
from app.course.model import Chapter
from app.learning.items import ENOUGH_FOR_SHARE, find_brier
from app.storage.knowledge import Activity, Effort, FirstResponse, Reading, Totals
from app.storage.records import SectionId, Stated
from app.web.desk.navigation import SectionNavigation, navigate
from app.web.desk.submissions import title_exercise
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.views.calibrating import CalibrationView, find_guesses, show_calibration
from app.web.views.class_items import (
    list_items,
    mark_responses,
    measure_items,
    say_discrimination,
    say_flag,
    say_percent,
    say_share,
)
from app.web.views.spots import find_spot

router = APIRouter(include_in_schema=False)

HERE = "Knowledge"


@dataclass(frozen=True)
class ChapterRow:
    """Counts of learners. `right` is the share of first answers that were right."""

    title: str
    href: str
    began: int
    finished: int
    predicted: int
    answered: int
    right: str


@dataclass(frozen=True)
class ExerciseRow:
    title: str
    href: str
    tried: int
    passed: int
    attempts: str
    time: str


@dataclass(frozen=True)
class KnowledgePage:
    template: ClassVar[str] = "knowledge.html"
    frame: Frame
    navigation: SectionNavigation
    learners: int
    chapters: tuple[ChapterRow, ...]
    exercises: tuple[ExerciseRow, ...]
    calibration: CalibrationView
    brier: str
    download_href: str
    """Empty for a reader who may not."""
    problem: str = ""


@dataclass(frozen=True)
class ItemRow:
    words: str
    href: str
    kind: str
    answered: int
    right: int
    share: str
    discrimination: str
    rest: str
    flag: str


@dataclass(frozen=True)
class BlockRow:
    """A heading, or a block on which learners acted: how many ran it, answered it, were wrong, and reported it."""

    words: str
    href: str
    ran: str
    answered: str
    wrong: str
    wrong_share: float
    reported: int
    stopped: int
    is_heading: bool = True


@dataclass(frozen=True)
class ChapterKnowledgePage:
    """`gone` counts readers whose place is no longer in the chapter."""

    template: ClassVar[str] = "chapter_knowledge.html"
    frame: Frame
    navigation: SectionNavigation
    chapter: Link
    learners: int
    began: int
    finished: int
    items: tuple[ItemRow, ...]
    blocks: tuple[BlockRow, ...]
    gone: int
    problem: str = ""


@router.api_route("/desk/{section}/knowledge", methods=["GET", "HEAD"])
async def overview(context: RequestContextDep, section: str) -> Response:
    here, known = SectionId(section), context.site.store.knowledge
    navigation = await navigate(context, here, HERE)
    totals, readings = await known.totals(here), await known.readings(here)
    guesses = find_guesses(context.course, _list_stated(totals))
    brier = find_brier((one.confidence, one.right) for one in guesses for _ in range(one.times))
    page = KnowledgePage(
        frame=await context.frame(navigation.page_title, "What this section has read, answered and passed."),
        navigation=navigation,
        learners=await known.count_learners(here),
        chapters=_list_chapters(context, here, readings, totals),
        exercises=_list_exercises(context, here, await known.efforts(here)),
        calibration=replace(show_calibration(context.course, guesses), words=(), said="They said"),
        brier="" if brier is None or sum(one.times for one in guesses) < ENOUGH_FOR_SHARE else f"{brier.score:.3f}",
        download_href=f"/desk/{section}/knowledge/files"
        if is_allowed(Permission.DOWNLOAD_ANSWERS, (navigation.reader.role,))
        else "",
    )
    return context.site.renderer.page(page)


@router.api_route("/desk/{section}/knowledge/chapters/{slug}", methods=["GET", "HEAD"])
async def chapter_page(context: RequestContextDep, section: str, slug: str) -> Response:
    chapter, here = need_chapter(context, slug), SectionId(section)
    navigation, known = await navigate(context, here, HERE), context.site.store.knowledge
    responses = (*await known.predictions(here, slug), *await known.answers(here, slug))
    readings = [one for one in await known.readings(here) if one.chapter == slug]
    activity = await known.activity(here, slug)
    stops = Counter(one.anchor for one in readings if not one.is_finished)
    blocks, gone = _list_blocks(context, chapter, responses, activity, stops)
    page = ChapterKnowledgePage(
        frame=await context.frame(f"{chapter.title}: {navigation.section_title}", "What this section knows of it."),
        navigation=navigation,
        chapter=Link(f"/chapters/{slug}", f"{chapter.number} {chapter.title}".strip()),
        learners=await known.count_learners(here),
        began=len(readings),
        finished=sum(one.is_finished for one in readings),
        items=_list_items(here, chapter, responses),
        blocks=blocks,
        gone=gone,
    )
    return context.site.renderer.page(page)


def need_chapter(context: RequestContext, slug: str) -> Chapter:
    chapter = context.course.index.by_slug.get(slug)
    if chapter is None:
        raise HTTPException(404, "The course has no chapter of that name.")
    return chapter


def _list_stated(totals: Totals) -> list[Stated]:
    chosen = [one for one in totals.predictions if one.option]
    return [
        Stated(one.chapter, one.item, one.confidence, one.option, one.right, one.times)
        for one in (*totals.answers, *chosen)
        if one.confidence
    ]


def _list_chapters(
    context: RequestContext, section: SectionId, readings: Iterable[Reading], totals: Totals
) -> tuple[ChapterRow, ...]:
    began, finished = Counter[str](), Counter[str]()
    for reading in readings:
        began[reading.chapter] += 1
        finished[reading.chapter] += reading.is_finished
    judged, right = Counter[str](), Counter[str]()
    for one in totals.answers:
        if one.right is not None:
            judged[one.chapter] += one.times
            right[one.chapter] += one.times * one.right
    rows = []
    for chapter in context.course.index.chapters:
        of_all = judged[chapter.slug]
        rows.append(
            ChapterRow(
                title=f"{chapter.number} {chapter.title}".strip(),
                href=f"/desk/{section}/knowledge/chapters/{chapter.slug}",
                began=began[chapter.slug],
                finished=finished[chapter.slug],
                predicted=totals.predicted.get(chapter.slug, 0),
                answered=totals.answered.get(chapter.slug, 0),
                right=f"{say_percent(right[chapter.slug] / of_all)} of {of_all}" if of_all else "",
            )
        )
    return tuple(rows)


def _list_exercises(
    context: RequestContext, section: SectionId, efforts: Iterable[Effort]
) -> tuple[ExerciseRow, ...]:
    by_exercise: dict[str, list[Effort]] = defaultdict(list)
    for one in efforts:
        by_exercise[one.exercise].append(one)
    rows = []
    for exercise, made in by_exercise.items():
        counts = [one.attempts for one in made if one.attempts is not None]
        hours = [one.seconds / 3600 for one in made if one.seconds is not None]
        rows.append(
            ExerciseRow(
                title=title_exercise(context.course, exercise),
                href=f"/desk/{section}/knowledge/exercises/{exercise}",
                tried=len(made),
                passed=len(counts),
                attempts=f"{statistics.median(counts):g}" if counts else "",
                time=say_hours(statistics.median(hours)) if hours else "",
            )
        )
    return tuple(sorted(rows, key=lambda row: row.title))


def say_hours(hours: float) -> str:
    if hours < 1:
        return f"{round(60 * hours)} min"
    return f"{hours:.1f} h" if hours < 48 else f"{hours / 24:.1f} days"


def _list_items(section: SectionId, chapter: Chapter, responses: Iterable[FirstResponse]) -> tuple[ItemRow, ...]:
    items, rows = list_items(chapter), []
    for name, found in measure_items(chapter, responses).items():
        item = items[name]
        rows.append(
            ItemRow(
                words=item.words,
                href=f"/desk/{section}/knowledge/chapters/{chapter.slug}/{name}",
                kind=item.kind,
                answered=found.answered,
                right=found.right,
                share=say_share(found.share),
                discrimination=say_discrimination(found),
                rest="" if found.mean_rest is None else say_percent(found.mean_rest),
                flag=say_flag(found),
            )
        )
    return tuple(rows)


def _list_blocks(
    context: RequestContext,
    chapter: Chapter,
    responses: Iterable[FirstResponse],
    activity: Activity,
    stops: Counter[str],
) -> tuple[tuple[BlockRow, ...], int]:
    """The chapter's headings, and the blocks on which learners acted, in the order of the page.

    Readers whose place is in another block count for the row above it.
    """
    marked = mark_responses(list_items(chapter), responses)
    answered, wrong = Counter(one.item for one in marked), Counter(one.item for one in marked if not one.right)
    left, start = Counter(stops), f"/chapters/{chapter.slug}"
    rows = [BlockRow("before the first heading", start, "", "", "", 0, 0, 0)]
    for key, block in zip(chapter.keys, chapter.blocks, strict=True):
        names = tuple(_names_in(block))
        if isinstance(block, Heading):
            rows.append(BlockRow(block.text, f"{start}#{block.anchor}", "", "", "", 0, 0, 0))
        elif any(name in activity.ran or answered[name] for name in names) or key in activity.reported:
            ran, given, missed = (
                sum(counts.get(name, 0) for name in names) for counts in (activity.ran, answered, wrong)
            )
            reported = activity.reported.get(key, 0)
            rows.append(_show_block(context, chapter, key, ran, given, missed, reported))
        stopped = sum(left.pop(name, 0) for name in {*names, key} if name)
        rows[-1] = replace(rows[-1], stopped=rows[-1].stopped + stopped)
    return tuple(rows if rows[0].stopped else rows[1:]), left.total()


def _show_block(
    context: RequestContext, chapter: Chapter, key: str, ran: int, answered: int, wrong: int, reported: int
) -> BlockRow:
    spot = find_spot(context.course, f"chapters/{chapter.slug}", key)
    return BlockRow(
        words=spot.words if spot else "text",
        href=spot.href if spot else f"/chapters/{chapter.slug}",
        ran=str(ran) if ran else "",
        answered=str(answered) if answered else "",
        wrong=str(wrong) if answered else "",
        wrong_share=wrong / answered if answered else 0,
        reported=reported,
        stopped=0,
        is_heading=False,
    )


def _names_in(block: Block) -> Iterator[str]:
    """The ids in a block: its own, and those of what is inside it."""
    for one in blocks_within((block,)):
        if isinstance(one, Heading):
            yield one.anchor
        elif isinstance(one, Incident):
            yield from (one.id, one.cell.id)
        elif name := getattr(one, "id", ""):
            yield name
