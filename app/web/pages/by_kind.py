"""The course by kind: pages of all papers, libraries, open questions, interview questions, incidents and figures."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import ClassVar

from fastapi import APIRouter, Response
from starlette.exceptions import HTTPException

from app.course.blocks import Html
from app.course.language.directive_specs import LEVELS
from app.course.model import Chapter, Course
from app.course.references import ReferenceKind
from app.web.edge.frame import Frame, Link
from app.web.edge.identity import RequestContextDep
from app.web.edge.links import link_to
from app.web.views.blocks import BlockView
from app.web.views.presenting import ChapterState, present_block

router = APIRouter(include_in_schema=False)


class Kind(StrEnum):
    """The last part of the page's address."""

    PAPERS = "papers"
    LIBRARIES = "libraries"
    OPEN_QUESTIONS = "open-questions"
    INTERVIEW = "interview"
    INCIDENTS = "incidents"
    FIGURES = "figures"


@dataclass(frozen=True)
class Words:
    """`title` and `lead` are the page's; `one` and `many` follow a number."""

    title: str
    lead: str
    one: str
    many: str


WORDS = {
    Kind.PAPERS: Words("Papers", "What the chapters refer to, by first author.", "paper", "papers"),
    Kind.LIBRARIES: Words(
        "Documentation and libraries",
        "Where the chapters send you to look things up.",
        "page or library",
        "pages and libraries",
    ),
    Kind.OPEN_QUESTIONS: Words(
        "Open questions", "What we know no answer to, by chapter.", "open question", "open questions"
    ),
    Kind.INTERVIEW: Words(
        "Interview questions",
        "Answer each aloud before you open it, then compare.",
        "interview question",
        "interview questions",
    ),
    Kind.INCIDENTS: Words(
        "Incidents",
        "Failures that you can replay in their chapter, with switches for what could have been done differently.",
        "incident",
        "incidents",
    ),
    Kind.FIGURES: Words(
        "Figures", "Every figure is a table that code measured, which you can measure again.", "figure", "figures"
    ),
}


REFERENCES = {
    Kind.PAPERS: ReferenceKind.PAPER,
    Kind.LIBRARIES: ReferenceKind.LIBRARY,
    Kind.OPEN_QUESTIONS: ReferenceKind.OPEN_QUESTION,
}


@dataclass(frozen=True)
class Item:
    """One entry: text of the course, or a block that opens, and the places that it comes from."""

    places: tuple[Link, ...]
    html: Html = ""
    story: Html = ""
    """How an incident begins, or what a figure shows."""
    block: BlockView | None = None


@dataclass(frozen=True)
class Group:
    """Entries under one heading, which leads to a chapter; a level has no link, and one list needs no heading."""

    title: str
    href: str
    items: tuple[Item, ...]


@dataclass(frozen=True)
class KindPage:
    template: ClassVar[str] = "by_kind.html"
    frame: Frame
    lead: str
    counted: str
    groups: tuple[Group, ...]
    others: tuple[tuple[str, str, bool], ...]
    """Address and title of every page of this sort, and whether it is this one."""
    has_releases: bool


def list_kinds(course: Course) -> tuple[Link, ...]:
    """A link to each page that is not empty, with how many entries it has."""
    counted = ((kind, _count(kind, course)) for kind in Kind)
    return tuple(Link(f"/course/{kind.value}", count_words(kind, count)) for kind, count in counted if count)


def _count(kind: Kind, course: Course) -> int:
    """How many entries the page will have, without making it: the course map asks at every request."""
    indexes = [chapter.index for chapter in course.chapters]
    match kind:
        case Kind.INTERVIEW:
            return sum(len(index.interview) for index in indexes)
        case Kind.INCIDENTS:
            return sum(len(index.incidents) for index in indexes)
        case Kind.FIGURES:
            return sum(len(index.measures) for index in indexes)
        case _:
            named = [each for index in indexes for each in index.references if each.kind is REFERENCES[kind]]
            return len({each.title for each in named}) if kind is Kind.PAPERS else len(named)


def count_words(kind: Kind, count: int) -> str:
    words = WORDS[kind]
    return f"{count} {words.one if count == 1 else words.many}"


@router.api_route("/course/{kind}", methods=["GET", "HEAD"])
async def kind_page(context: RequestContextDep, kind: str) -> Response:
    """One kind of entry from all chapters; the page says so where the course has none."""
    chosen = next((each for each in Kind if each.value == kind), None)
    if chosen is None:
        raise HTTPException(
            404, f"There is no page of all {kind!r}. The map of the course links to those that there are."
        )
    course, words = context.course, WORDS[chosen]
    groups = _gather(chosen, course, await context.site.torch.version(course.torch))
    page = KindPage(
        frame=await context.frame(words.title, words.lead),
        lead=words.lead,
        counted=count_words(chosen, _count(chosen, course)),
        groups=groups,
        others=tuple((f"/course/{each.value}", WORDS[each].title, each is chosen) for each in Kind),
        has_releases=bool(course.releases.runs),
    )
    return context.site.renderer.page(page)


def _gather(kind: Kind, course: Course, torch: str) -> tuple[Group, ...]:
    match kind:
        case Kind.PAPERS:
            return _gather_papers(course)
        case Kind.INTERVIEW:
            return _gather_interview(course, torch)
        case Kind.INCIDENTS:
            return _by_chapter(course, _read_incidents)
        case Kind.FIGURES:
            return _by_chapter(course, _read_figures)
        case _:
            return _by_chapter(course, partial(_read_references, REFERENCES[kind]))


def _gather_papers(course: Course) -> tuple[Group, ...]:
    """One list by author. A paper of several chapters stands once, in the words of the first."""
    items: dict[str, Item] = {}
    words: dict[str, str] = {}
    for chapter in course.chapters:
        for reference in chapter.index.references:
            if reference.kind is not ReferenceKind.PAPER:
                continue
            known = items.get(reference.title)
            places = (*known.places, link_to(chapter)) if known else (link_to(chapter),)
            items[reference.title] = Item(places, known.html if known else reference.html)
            words.setdefault(reference.title, reference.words.casefold())
    ordered = tuple(items[title] for title in sorted(items, key=lambda title: words[title]))
    return (Group("", "", ordered),) if ordered else ()


def _gather_interview(course: Course, torch: str) -> tuple[Group, ...]:
    """By level, from junior on; the answers are those of the chapters."""
    by_level: dict[str, list[Item]] = {level: [] for level in LEVELS}
    for chapter in course.chapters:
        state = ChapterState(course, chapter, torch=torch)
        for anchor, reveal in chapter.index.interview:
            shown = present_block(replace(reveal, level=""), state)
            by_level[reveal.level].append(Item((link_to(chapter, anchor),), block=shown))
    return tuple(Group(level.capitalize(), "", tuple(items)) for level, items in by_level.items() if items)


def _by_chapter(course: Course, read: Callable[[Chapter], Iterable[Item]]) -> tuple[Group, ...]:
    found = ((chapter, tuple(read(chapter))) for chapter in course.chapters)
    return tuple(
        Group(f"{chapter.number} {chapter.title}".strip(), link_to(chapter).href, items)
        for chapter, items in found
        if items
    )


def _read_references(kind: ReferenceKind, chapter: Chapter) -> Iterable[Item]:
    return (Item((), each.html) for each in chapter.index.references if each.kind is kind)


def _read_incidents(chapter: Chapter) -> Iterable[Item]:
    for incident in chapter.index.incidents.values():
        # The replay in the chapter tells how it went on.
        begins, end, _ = incident.story.partition("</p>")
        yield Item((link_to(chapter, incident.id),), incident.title, begins + end)


def _read_figures(chapter: Chapter) -> Iterable[Item]:
    for measure in chapter.index.measures.values():
        section = chapter.index.sections.get(measure.id)
        title = section.html if section else measure.cell.caption
        yield Item((link_to(chapter, measure.id),), title, f"<p>{measure.cell.caption}</p>" if section else "")
