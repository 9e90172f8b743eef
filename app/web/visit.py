"""Who asks: a request as a visit, its learner by cookie, and the frame of the page that answers it.

A learner is a random id in a cookie, signed so that only ids of ours are looked up; the database keeps the
id's hash. A visit that leaves nothing makes no learner: the cookie comes with the first thing worth keeping.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from http.cookies import SimpleCookie
from typing import Annotated

from fastapi import Depends, Request
from pydantic import SecretStr

from app.course.model import Chapter, Course
from app.settings import Settings
from app.web.page import Frame, LearnerFacts, Place, Theme
from app.web.rates import Act
from app.web.site import Site, SiteNow
from graders.contract.model import LearnerId

COOKIE_SECONDS = 400 * 24 * 3600
"""The longest that browsers keep a cookie; each write renews it."""
THEME_COOKIE = "unwind-theme"
FRAGMENT_HEADER = "x-unwind-fragment"


@dataclass(frozen=True)
class Visit:
    """One request. `token` is the cookie's id, and `learner` its hash; both None for a reader we do not know."""

    site: Site
    request: Request
    token: str | None
    theme: Theme
    nonce: str
    now: datetime

    @property
    def learner(self) -> LearnerId | None:
        return None if self.token is None else hash_token(self.token)

    @property
    def wants_fragment(self) -> bool:
        return FRAGMENT_HEADER in self.request.headers

    @property
    def address(self) -> str:
        return find_address(self.request, self.site.settings)

    async def count(self, act: Act) -> None:
        """Count one act of this reader's. Raises RateExceeded."""
        await self.site.rates.check(act, self.learner, self.address)

    async def frame(self, title: str, description: str) -> Frame:
        course, learner = self.site.course, self.learner
        facts = LearnerFacts()
        if learner is not None:
            facts = LearnerFacts(True, find_place(course, await self.site.store.last_reading(learner)))
        return make_frame(self.site, self.request, title, description, self.theme, self.nonce, facts)


@dataclass(frozen=True)
class Writer:
    """A visit that leaves something: its learner is known, from the cookie or as of now."""

    visit: Visit
    learner: LearnerId

    @property
    def site(self) -> Site:
        return self.visit.site

    @property
    def now(self) -> datetime:
        return self.visit.now


def hash_token(token: str) -> LearnerId:
    return LearnerId(hashlib.sha256(token.encode()).hexdigest())


def cookie_name(settings: Settings) -> str:
    """The __Host- prefix makes browsers refuse a cookie set by a sibling domain; it needs TLS."""
    return "__Host-unwind" if settings.secure_cookies else "unwind"


def sign_token(token: str, secret: SecretStr) -> str:
    return f"{token}.{_signature(token, secret)}"


def read_token(cookie: str, secret: SecretStr) -> str | None:
    """The id in a cookie, or None if the cookie is not one that we signed."""
    token, _, signature = cookie.partition(".")
    fits = hmac.compare_digest(signature.encode(), _signature(token, secret).encode())
    return token if token and fits else None


def _signature(token: str, secret: SecretStr) -> str:
    return hmac.new(secret.get_secret_value().encode(), token.encode(), hashlib.sha256).hexdigest()[:32]


def set_cookie(name: str, value: str, settings: Settings, *, seconds: int, script: bool = False) -> str:
    """A Set-Cookie header's value. `script`: whether the page's script may read and write it."""
    cookie: SimpleCookie = SimpleCookie({name: value})
    morsel = cookie[name]
    morsel["path"] = "/"
    morsel["max-age"] = seconds
    morsel["samesite"] = "Lax"
    morsel["httponly"] = not script
    morsel["secure"] = settings.secure_cookies
    return morsel.OutputString()


def find_address(request: Request, settings: Settings) -> str:
    """The address that limits count by. Behind a trusted proxy, the one that the proxy itself added."""
    if settings.trust_proxy and (forwarded := request.headers.get("x-forwarded-for")):
        return forwarded.rpartition(",")[2].strip()
    return request.client.host if request.client else "unknown"


def find_place(course: Course, reading: tuple[str, str] | None) -> Place | None:
    """Where a learner left off, if that chapter still stands."""
    if reading is None:
        return None
    chapter = find_chapter(course, reading[0])
    return None if chapter is None else place_of(chapter, reading[1])


def find_chapter(course: Course, slug: str) -> Chapter | None:
    return next((chapter for chapter in course.chapters if chapter.slug == slug), None)


def place_of(chapter: Chapter, anchor: str = "") -> Place:
    return Place(f"/chapters/{chapter.slug}" + (f"#{anchor}" if anchor else ""), chapter.title, chapter.number)


def make_frame(
    site: Site, request: Request, title: str, description: str, theme: Theme, nonce: str, facts: LearnerFacts
) -> Frame:
    return Frame(
        title=title,
        description=description,
        path=request.url.path,
        theme=theme,
        nonce=nonce,
        asset=site.assets.url,
        course_title=site.course.title,
        math_css=math_css_url(site.course),
        learner=facts,
        preview=site.preview.note() if site.preview else None,
        has_glossary=bool(site.course.glossary),
        has_debugging=site.course.debugging is not None,
    )


def math_css_url(course: Course) -> str:
    return f"/course/{digest_text(course.math_css)}/math.css" if course.math_css else ""


@lru_cache(maxsize=8)
def digest_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def read_theme(request: Request) -> Theme:
    value = request.cookies.get(THEME_COOKIE, Theme.AUTO)
    return Theme(value) if value in list(Theme) else Theme.AUTO


def get_visit(request: Request, site: SiteNow) -> Visit:
    cookie = request.cookies.get(cookie_name(site.settings), "")
    return Visit(
        site=site,
        request=request,
        token=read_token(cookie, site.settings.secret),
        theme=read_theme(request),
        nonce=request.state.nonce,
        now=site.clock(),
    )


VisitNow = Annotated[Visit, Depends(get_visit)]


def get_writer(visit: VisitNow) -> Writer:
    """Know this visit's learner from here on, and renew their cookie."""
    token = visit.token or secrets.token_urlsafe(32)
    settings = visit.site.settings
    signed = sign_token(token, settings.secret)
    visit.request.state.cookies.append(set_cookie(cookie_name(settings), signed, settings, seconds=COOKIE_SECONDS))
    return Writer(replace(visit, token=token), hash_token(token))


WriterNow = Annotated[Writer, Depends(get_writer)]
