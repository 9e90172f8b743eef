"""The frame around every page's content. A page's dataclass has one of these as `frame`."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from fastapi import Request
from starlette.routing import Match

from app.course.model import Course
from app.preview import PreviewNote
from app.storage.thread_queries import Unread
from app.storage.viewings import Viewing
from app.web.edge.addresses import find_address, hash_address
from app.web.edge.opened import write_opened

if TYPE_CHECKING:
    from app.web.edge.site import Site


NO_QUESTIONS = Unread()
NOTE_OR_REPORT = "Note it, or report a mistake"


class Theme(StrEnum):
    """The reader's choice, kept in a cookie so that the first paint is already right."""

    AUTO = "auto"
    LIGHT = "light"
    DARK = "dark"


@dataclass(frozen=True)
class Link:
    """A link with its text."""

    href: str
    title: str
    number: str = ""


@dataclass(frozen=True)
class LearnerFacts:
    """What the frame shows about its reader. `known` is false until the reader has left something worth keeping.

    `account_name` is empty until they sign in. `due_today` is how many questions come back today. `has_new_terms`:
    they have not agreed to the terms as they are now. `questions`: those about the course, asked in sections.
    """

    known: bool = False
    resume: Link | None = None
    account_name: str = ""
    due_today: int = 0
    has_new_terms: bool = False
    questions: Unread = NO_QUESTIONS
    new_comments: int = 0
    """On the reader's submissions, by the staff of their sections."""


@dataclass(frozen=True)
class ViewingNote:
    """The banner of an instructor who sees the course as a learner. Times are the section's."""

    who: str
    section_title: str
    shows: str
    until: str


def note_viewing(viewing: Viewing) -> ViewingNote:
    until = f"{viewing.ends_at.astimezone(ZoneInfo(viewing.zone)):%H:%M} {viewing.zone}"
    if viewing.at is not None:
        at = f"{viewing.at.astimezone(ZoneInfo(viewing.zone)):%Y-%m-%d %H:%M} {viewing.zone}"
        return ViewingNote(viewing.name, viewing.section_title, f"what the section sets on {at}", until)
    shows = "their submissions with your section’s comments, and what it sets for them; nothing else of theirs"
    return ViewingNote(viewing.name, viewing.section_title, shows, until)


@dataclass(frozen=True)
class Frame:
    """`path` is the page's own path (for the navigation and the theme form); `asset` maps "site.css" to its URL.

    `title` is the page's; `course_title` the course's, and `brand` its short name. `pages` are those that the header
    links to, beside what every course has. The editor reads `nonce` for its style elements.
    `math_css` is the URL of the style rules that this course's formulas need, or empty.
    """

    title: str
    description: str
    path: str
    theme: Theme
    nonce: str
    asset: Callable[[str], str]
    course_title: str
    brand: str
    pages: tuple[str, ...]
    math_css: str
    learner: LearnerFacts
    viewing: ViewingNote | None = None
    """Set while an instructor sees the course as a learner."""
    peeked: str = ""
    """The version that an operator looks at before it is live."""
    preview: PreviewNote | None = None
    """Set only in an author's preview."""
    opened: str = ""
    """For a reader without a session: the note that the page's script sends with the first thing worth keeping."""
    has_glossary: bool = False
    has_debugging: bool = False
    has_drills: bool = False

    @property
    def mark(self) -> str:
        """What the mark beside each block of the course is for."""
        return "Note it, ask about it, or report a mistake" if self.learner.questions.may_ask else NOTE_OR_REPORT


def make_frame(
    site: "Site",
    course: Course,
    request: Request,
    title: str,
    description: str,
    theme: Theme,
    nonce: str,
    facts: LearnerFacts,
) -> Frame:
    return Frame(
        title=title,
        description=description,
        path=_find_page(request),
        theme=theme,
        nonce=nonce,
        asset=site.assets.url,
        course_title=course.title,
        brand=course.brand or course.title,
        pages=course.pages,
        math_css=math_css_url(course),
        learner=facts,
        viewing=getattr(request.state, "viewing", None),
        peeked=getattr(request.state, "peeked", ""),
        preview=site.preview.note() if site.preview else None,
        opened="" if facts.known else _note_opened(site, request, nonce),
        has_glossary=bool(course.glossary),
        has_debugging=course.debugging is not None,
        has_drills=bool(course.drills),
    )


def _find_page(request: Request) -> str:
    """The request's path, or the home page where a form's answer stands at an address that no link can open."""
    asked = {**request.scope, "method": "GET"}
    opens = request.method in ("GET", "HEAD") or any(
        route.matches(asked)[0] is Match.FULL for route in request.app.routes
    )
    return request.url.path if opens else "/"


def _note_opened(site: "Site", request: Request, nonce: str) -> str:
    settings = site.settings
    key = hash_address(find_address(request, settings), settings.secret)
    return write_opened(site.clock(), nonce, key, settings.secret)


def math_css_url(course: Course) -> str:
    return f"/course/{digest_text(course.math_css)}/math.css" if course.math_css else ""


@lru_cache(maxsize=8)
def digest_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
