"""A reader's own notes and bookmarks: the form for one place, and the list of all with its search."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, ClassVar
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Response
from fastapi.responses import RedirectResponse

from app.course.blocks import Html
from app.course.model import Course
from app.course.passages import Kind, Passage
from app.storage.notes import MAX_NOTES_OF_ONE, Note
from app.storage.records import Deck
from app.storage.review_cards import NO_DECK
from app.storage.searching import PassageIndex
from app.web.edge.course_search import MAX_QUERY
from app.web.edge.due import show_date
from app.web.edge.frame import Frame
from app.web.edge.identity import LearnerContextDep, RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.pages.report import SpotDep
from app.web.views.note_text import render_note
from app.web.views.spots import Spot, find_spot, note_address, title_page

router = APIRouter(include_in_schema=False)

MAX_CHARACTERS = 4000
SHOWN = 30
"""Notes on one page. Turning one into HTML takes up to 10 ms, and a reader may have a thousand."""
TOO_MANY = f"You have {MAX_NOTES_OF_ONE} notes, which is as many as one reader may have. Remove some of them first."


@dataclass(frozen=True)
class NoteRow:
    """`href` is the place in the course, or empty if the course has it no longer; `html` is empty for a bookmark."""

    href: str
    edit_href: str
    title: str
    words: str
    html: Html
    saved_on: str
    changed: bool
    """Whether the place reads differently now."""


@dataclass(frozen=True)
class FoundNotes:
    """`whole` is false if no note has all the words, and these have some."""

    notes: tuple[Note, ...]
    whole: bool


@dataclass(frozen=True)
class NotesPage:
    """`rows` are those from the place `first` on, of the `found` that the search keeps, of `total`.

    `newer_href` and `older_href` lead to the rows before and after; empty if there are none.
    """

    template: ClassVar[str] = "notes.html"
    frame: Frame
    rows: tuple[NoteRow, ...]
    first: int
    found: int
    total: int
    whole: bool
    searched: str
    newer_href: str
    older_href: str
    max_query: int


@dataclass(frozen=True)
class NotePage:
    """The form for one place. `kept`: there is a note already; `changed`: the place has changed since."""

    template: ClassVar[str] = "note.html"
    frame: Frame
    href: str
    title: str
    words: str
    action: str
    content_hash: str
    text: str
    kept: bool
    changed: bool
    max_characters: int
    problem: str


@router.api_route("/notes", methods=["GET", "HEAD"])
async def notes_page(
    context: RequestContextDep,
    q: Annotated[str, Query(max_length=MAX_QUERY)] = "",
    after: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """The reader's notes, or those that the search keeps, after as many as `after` says."""
    course, store, learner, searched = context.course, context.site.store, context.learner, " ".join(q.split())
    notes = await store.notes.of_learner(learner) if learner else ()
    deck = await store.review_cards.deck_of_day(learner, context.now) if learner else NO_DECK
    found = FoundNotes(notes, True)
    if searched:
        await context.count(Act.SEARCH)
        found = await asyncio.to_thread(search_notes, course, notes, searched)
    shown = found.notes[after : after + SHOWN]
    page = NotesPage(
        frame=await context.frame("Your notes", "What you wrote and marked in the course."),
        rows=await asyncio.to_thread(lambda: tuple(_show_row(course, note, deck) for note in shown)),
        first=after + 1,
        found=len(found.notes),
        total=len(notes),
        whole=found.whole,
        searched=searched,
        newer_href=_address(searched, max(0, after - SHOWN)) if after else "",
        older_href=_address(searched, after + SHOWN) if after + SHOWN < len(found.notes) else "",
        max_query=MAX_QUERY,
    )
    return context.site.renderer.page(page)


def _address(searched: str, after: int) -> str:
    given = {"q": searched, "after": str(after or "")}
    query = urlencode({name: value for name, value in given.items() if value})
    return f"/notes?{query}" if query else "/notes"


@router.api_route("/notes/{place:path}", methods=["GET", "HEAD"])
async def note_form(context: RequestContextDep, spot: SpotDep) -> Response:
    return await _show_form(context, spot, await _find(context, spot))


@router.post("/notes/{place:path}")
async def save_note(
    asking: RequestContextDep,
    context: LearnerContextDep,
    spot: SpotDep,
    text: Annotated[str, Form()] = "",
    content_hash: Annotated[str, Form(pattern=r"^[0-9a-f]{16}$")] = "",
    remove: Annotated[bool, Form()] = False,
) -> Response:
    """Save or remove the note of one place. Its hash is of the wording that the form was opened on."""
    store, text = context.site.store.notes, text.replace("\r\n", "\n").strip()
    await context.request_context.count_kept(Act.WRITE, text)
    if remove:
        await store.remove(context.learner, spot.page, spot.block)
        return RedirectResponse(spot.href, 303)
    note = Note(spot.page, spot.block, text, content_hash or spot.content_hash, context.now)
    if len(text) > MAX_CHARACTERS:
        problem = f"The note has {len(text)} characters; write at most {MAX_CHARACTERS}."
        return await _show_form(asking, spot, note, problem)
    if not await store.save(context.learner, note):
        return await _show_form(asking, spot, note, TOO_MANY)
    return RedirectResponse(spot.href, 303)


def search_notes(course: Course, notes: tuple[Note, ...], searched: str) -> FoundNotes:
    """The notes that have the words, best first. Their index is made for this search and dropped with it."""
    by_href = {note_address(note.page, note.block): note for note in notes}
    index = PassageIndex([passage_of(course, note) for note in notes])
    found = index.find(searched, len(notes))
    index.close()
    return FoundNotes(tuple(by_href[hit.passage.href] for hit in found.hits), found.whole or not found.hits)


def passage_of(course: Course, note: Note) -> Passage:
    """A note as the search shows it, under the title of its page. Never in the index that all readers share."""
    return Passage(Kind.NOTE, note_address(note.page, note.block), title_page(course, note.page), note.text)


async def _find(context: RequestContext, spot: Spot) -> Note | None:
    if context.learner is None:
        return None
    return (await context.site.store.notes.of_page(context.learner, spot.page)).get(spot.block)


async def _show_form(context: RequestContext, spot: Spot, note: Note | None, problem: str = "") -> Response:
    page = NotePage(
        frame=await context.frame("Your note", "A note or a bookmark of your own, which nobody else sees."),
        href=spot.href,
        title=spot.title,
        words=spot.words,
        action=note_address(spot.page, spot.block),
        content_hash=spot.content_hash,
        text=note.text if note else "",
        kept=note is not None and not problem,
        changed=note is not None and note.content_hash != spot.content_hash,
        max_characters=MAX_CHARACTERS,
        problem=problem,
    )
    return context.site.renderer.page(page, 422 if problem else 200)


def _show_row(course: Course, note: Note, deck: Deck) -> NoteRow:
    spot = find_spot(course, note.page, note.block)
    return NoteRow(
        href=spot.href if spot else "",
        edit_href=note_address(note.page, note.block) if spot else "",
        title=title_page(course, note.page),
        words=spot.words if spot else "a place that the course no longer has",
        html=render_note(note.text) if note.text else "",
        saved_on=show_date(note.saved_at, deck),
        changed=spot is not None and spot.content_hash != note.content_hash,
    )
