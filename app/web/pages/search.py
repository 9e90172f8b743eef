"""The search: its page, which works without script, and the suggestions that a script asks for while you type."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel

from app.course.model import Course
from app.course.passages import Kind
from app.storage.notes import Note
from app.storage.searching import Found, Hit, PassageIndex, Piece
from app.web.edge.course_search import MAX_QUERY
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.pages.notes import passage_of

router = APIRouter(include_in_schema=False)
api = APIRouter(prefix="/api", tags=["search"])

HITS_SHOWN = 30
SUGGESTED = 8
NOTES_FOUND = 3
"""How many of the reader's own notes come before the course's hits."""

ONE_AND_MANY: Mapping[Kind, tuple[str, str]] = {
    Kind.SECTION: ("section", "sections"),
    Kind.TERM: ("term of the glossary", "terms of the glossary"),
    Kind.CLAIM: ("claim", "claims"),
    Kind.EXERCISE: ("exercise", "exercises"),
    Kind.DEBUGGING: ("step of the debugging guide", "steps of the debugging guide"),
}

Searched = Annotated[str, Query(max_length=MAX_QUERY)]


class FoundPiece(BaseModel):
    text: str
    found: bool


class FoundHit(BaseModel):
    """One hit. `where` is the number and title of its chapter, or empty."""

    kind: str
    href: str
    where: str
    heading: tuple[FoundPiece, ...]
    snippet: tuple[FoundPiece, ...]


class SearchAnswer(BaseModel):
    """The hits for `searched`. `whole` is false if nothing has all of its words and these have some."""

    searched: str
    whole: bool
    hits: tuple[FoundHit, ...]


@dataclass(frozen=True)
class SearchPage:
    """`known` says how much there is to find; `most` is how many hits the page shows at most."""

    template: ClassVar[str] = "search.html"
    frame: Frame
    answer: SearchAnswer
    known: str
    max_query: int
    most: int


@router.api_route("/search", methods=["GET", "HEAD"])
async def search_page(context: RequestContextDep, q: Searched = "") -> Response:
    answer = await _search(context, q, HITS_SHOWN)
    counts = await context.site.search.count(context.course)
    frame = await context.frame("Search", "Find a section, a term, a claim, an exercise or a step of debugging.")
    page = SearchPage(frame, answer, _say_known(counts), MAX_QUERY, HITS_SHOWN)
    return context.site.renderer.page(page)


@api.get("/search")
async def suggest(context: RequestContextDep, response: Response, q: Searched) -> SearchAnswer:
    """The best hits for what is typed so far; its last word may be the beginning of one."""
    response.headers["cache-control"] = "private, no-cache"
    return await _search(context, q, SUGGESTED)


async def _search(context: RequestContextDep, q: str, most: int) -> SearchAnswer:
    searched = " ".join(q.split())
    if not searched:
        return SearchAnswer(searched="", whole=True, hits=())
    await context.count(Act.SEARCH)
    found = await context.site.search.find(context.course, searched, most)
    mine = await _search_own_notes(context, searched)
    # What has only some of the words stays out where something has all of them.
    whole = (found.whole and bool(found.hits)) or (mine.whole and bool(mine.hits))
    hits = [hit for part in (mine, found) if part.whole or not whole for hit in part.hits]
    return SearchAnswer(searched=searched, whole=whole or not hits, hits=tuple(map(_show, hits[:most])))


async def _search_own_notes(context: RequestContext, searched: str) -> Found:
    """The reader's own notes, in an index of their own that is dropped with the answer."""
    notes = await context.site.store.notes.of_learner(context.learner) if context.learner else ()
    if not notes:
        return Found((), True)
    return await asyncio.to_thread(_search_notes, context.course, notes, searched)


def _search_notes(course: Course, notes: tuple[Note, ...], searched: str) -> Found:
    index = PassageIndex([passage_of(course, note) for note in notes])
    found = index.find(searched, NOTES_FOUND)
    index.close()
    return found


def _show(hit: Hit) -> FoundHit:
    passage = hit.passage
    return FoundHit(
        kind=passage.kind.value,
        href=passage.href,
        where=f"{passage.number} {passage.within}".strip(),
        heading=_show_pieces(hit.heading),
        snippet=_show_pieces(hit.snippet),
    )


def _show_pieces(pieces: tuple[Piece, ...]) -> tuple[FoundPiece, ...]:
    return tuple(FoundPiece(text=piece.text, found=piece.found) for piece in pieces)


def _say_known(counts: Mapping[Kind, int]) -> str:
    """What there is to find, e.g. "210 sections, 1 claim and 12 exercises"."""
    parts = [f"{counts[kind]} {words[counts[kind] > 1]}" for kind, words in ONE_AND_MANY.items() if counts.get(kind)]
    return " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))
