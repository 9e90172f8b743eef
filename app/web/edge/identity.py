"""Resolve a request to its learner and its course, once, for all its handlers.

A learner is a random id. A browser holds a session: a random token in a cookie, signed so that only tokens from
this site are looked up. The database keeps the token's hash, and a learner may have many sessions. A visit that
leaves nothing creates no learner: the session begins when the first thing worth keeping is stored. Signing in
replaces the browser's session by one of the account's (see signing_in.py).
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from http.cookies import SimpleCookie
from typing import Annotated

from fastapi import Depends, Request
from pydantic import SecretStr

from app.access.tokens import hash_token, make_token
from app.course.model import Course
from app.learning.review import Today
from app.settings import Settings
from app.storage.records import Account, Deck, Session
from app.storage.viewings import Viewing
from app.web.edge.addresses import find_address, hash_address
from app.web.edge.due import find_due_drills, plan_review
from app.web.edge.frame import NO_QUESTIONS, Frame, LearnerFacts, Theme, make_frame, note_viewing
from app.web.edge.links import find_resume
from app.web.edge.opened import HEADER, read_opened
from app.web.edge.rates import Act
from app.web.edge.site import CourseDep, Site, SiteDep
from app.web.edge.terms import are_new_to
from graders.contract.log_lines import current_request
from graders.contract.model import LearnerId
from graders.ledger import Origin

COOKIE_SECONDS = 400 * 24 * 3600
"""The longest that browsers keep a cookie."""
RENEWED_AFTER = timedelta(minutes=10)
THEME_COOKIE = "unwind-theme"
FRAGMENT_HEADER = "x-unwind-fragment"


class NotWhileViewing(Exception):
    """An instructor sees the course as a learner, who neither changes nor sees this. The message is a sentence."""


@dataclass(frozen=True)
class RequestContext:
    """One request. `session` is None for an unknown reader.

    It is None too while an instructor sees the course as a learner. So a page shows nobody's data then, unless it
    asks for `viewing` and takes from it what staff of that section may see of its learner.
    """

    site: Site
    course: Course
    request: Request
    session: Session | None
    theme: Theme
    nonce: str
    now: datetime
    """The time of the request, or the one that was chosen for seeing the course as a learner."""
    viewing: Viewing | None = None
    viewer: Session | None = None
    """The session of whoever sees the course as a learner."""

    @property
    def learner(self) -> LearnerId | None:
        return None if self.session is None else self.session.learner

    @property
    def account(self) -> Account | None:
        return None if self.session is None else self.session.account

    @property
    def wants_fragment(self) -> bool:
        return FRAGMENT_HEADER in self.request.headers

    @property
    def address(self) -> str:
        return find_address(self.request, self.site.settings)

    @property
    def site_address(self) -> str:
        """The address that was asked. A proxy may have ended TLS, so the request alone does not tell the scheme."""
        url = self.request.url
        return f"{'https' if self.site.settings.secure_cookies else url.scheme}://{url.netloc}"

    @property
    def asker(self) -> str:
        """Whose turn in a line a request takes: the learner's, or the address's for a request without a cookie."""
        return self.learner or self.address

    @property
    def origin(self) -> Origin:
        """The hashed address, by which the queue shares its turns fairly, and the request's id for the log."""
        account = self.account
        since = account.made_at if account else self.now if self.session is None else self.session.made_at
        known_seconds = (self.now - since).total_seconds()
        address_key = hash_address(self.address, self.site.settings.secret)
        return Origin(address_key, max(0.0, known_seconds), current_request.get())

    async def count(self, act: Act) -> None:
        """Count one act by this reader. Raises RateExceeded."""
        await self.site.rates.check(act, self.learner, self.address)

    async def count_kept(self, act: Act, text: str) -> None:
        """Count one act that stores a text. Raises RateExceeded, QuotaExceeded, or StorageRefused on a full disk."""
        await self.count(act)
        await self.site.rates.check_bytes(act, self.learner, self.address, len(text.encode()))
        self.site.disk.check()

    async def own_zone(self) -> tzinfo:
        """The time zone of the reader's clock: UTC if it is unknown, and while staff see the course as a learner."""
        if self.learner is None:
            return UTC
        return await self.site.store.review_cards.own_zone(self.learner) or UTC

    async def plan_review(self, deck: Deck) -> Today:
        """What review asks today, and so what the header counts."""
        due, askable = find_due_drills(self.course, deck, self.now), frozenset[str]()
        if due and self.learner is not None:
            askable = await self.site.drills.askable(self.learner, due)
        return plan_review(self.course, deck, self.now, askable)

    async def frame(self, title: str, description: str) -> Frame:
        facts = LearnerFacts()
        if self.learner is not None:
            resume = find_resume(self.course, await self.site.store.readings(self.learner))
            deck = await self.site.store.review_cards.deck_of_day(self.learner, self.now)
            due = len((await self.plan_review(deck)).cards)
            name = self.account.name if self.account else ""
            asked = await self.site.store.threads.unread(self.account.id) if self.account else NO_QUESTIONS
            said = await self.site.store.comments.count_unread(self.learner) if self.account else {}
            facts = LearnerFacts(
                True, resume, name, due, are_new_to(self.site.terms, self.account), asked, sum(said.values())
            )
        if self.viewing is not None:
            facts = LearnerFacts(account_name=self.viewing.name)
        return make_frame(self.site, self.course, self.request, title, description, self.theme, self.nonce, facts)


@dataclass(frozen=True)
class LearnerContext:
    """A request that stores something. Its learner is known from the session, or is new with this request."""

    request_context: RequestContext
    learner: LearnerId

    @property
    def site(self) -> Site:
        return self.request_context.site

    @property
    def course(self) -> Course:
        return self.request_context.course

    @property
    def now(self) -> datetime:
        return self.request_context.now


def cookie_name(settings: Settings) -> str:
    """The __Host- prefix makes browsers refuse a cookie set by a sibling domain; it needs TLS."""
    return "__Host-unwind" if settings.secure_cookies else "unwind"


def sign_token(token: str, secret: SecretStr) -> str:
    return f"{token}.{_signature(token, secret)}"


def read_token(cookie: str, secret: SecretStr) -> str | None:
    """The token in a cookie, or None if this site did not sign the cookie."""
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


def read_theme(request: Request) -> Theme:
    value = request.cookies.get(THEME_COOKIE, Theme.AUTO)
    return Theme(value) if value in list(Theme) else Theme.AUTO


def _read_cookie(request: Request, settings: Settings) -> str | None:
    return read_token(request.cookies.get(cookie_name(settings), ""), settings.secret)


async def get_request_context(request: Request, site: SiteDep, course: CourseDep) -> RequestContext:
    """The request's context. Use renews the session of an account here, so that a person who only reads stays in."""
    known = getattr(request.state, "request_context", None)
    if known is not None:
        assert isinstance(known, RequestContext)
        return known
    now = site.clock()
    token = _read_cookie(request, site.settings)
    context = RequestContext(
        site=site,
        course=course,
        request=request,
        session=None if token is None else await site.store.sessions.find(hash_token(token), now),
        theme=read_theme(request),
        nonce=request.state.nonce,
        now=now,
    )
    if context.session is not None and context.account is not None and token is not None:
        request.state.account_name = context.account.name
        if now - context.session.seen_at > RENEWED_AFTER:
            send_cookie(context, token, context.session)
            _keep_later(context, context.session)
        context = await _find_viewing(context, context.session)
    request.state.request_context = context
    return context


async def _find_viewing(context: RequestContext, session: Session) -> RequestContext:
    """The context of a learner's request if this session's instructor sees the course as one, else as it is."""
    viewing = await context.site.store.viewings.find(session, context.now) if session.is_staff else None
    if viewing is None:
        return context
    context.request.state.viewing = note_viewing(viewing)
    return replace(context, session=None, viewing=viewing, viewer=session, now=viewing.at or context.now)


RequestContextDep = Annotated[RequestContext, Depends(get_request_context)]


async def get_learner_context(context: RequestContextDep) -> LearnerContext:
    """Give this request a learner, and store the session once the request has succeeded."""
    if context.viewing is not None:
        raise NotWhileViewing("This page keeps something for its reader.")
    if context.session is None:
        return _begin_session(context, await _find_beginning(context))
    if context.account is not None:
        return LearnerContext(context, context.session.learner)
    token = _read_cookie(context.request, context.site.settings)
    assert token is not None
    send_cookie(context, token, context.session)
    if context.now - context.session.seen_at > RENEWED_AFTER:
        _keep_later(context, context.session)
    return LearnerContext(context, context.session.learner)


async def _find_beginning(context: RequestContext) -> datetime:
    """When the page was opened from which this request comes, or now. One page begins a few sessions at most."""
    site, note = context.site, context.request.headers.get(HEADER, "")
    key = hash_address(context.address, site.settings.secret)
    opened_at = read_opened(note, context.now, key, site.settings.secret)
    return opened_at if opened_at and await site.rates.take_note(note) else context.now


def _begin_session(context: RequestContext, made_at: datetime) -> LearnerContext:
    """Start with a new token: one that the database does not know was revoked, or its learner deleted."""
    token = make_token()
    session = Session(hash_token(token), LearnerId(secrets.token_hex(16)), made_at, context.now)
    send_cookie(context, token, session)
    _keep_later(context, session)
    return LearnerContext(replace(context, session=session), session.learner)


def send_cookie(context: RequestContext, token: str, session: Session) -> None:
    """Send the browser the token of its session, for as long as the session lasts without being used."""
    settings = context.site.settings
    ends_at = session.limits.expire_at(session.made_at, context.now)
    seconds = min(COOKIE_SECONDS, int((ends_at - context.now).total_seconds()))
    signed = sign_token(token, settings.secret)
    context.request.state.cookies.append(set_cookie(cookie_name(settings), signed, settings, seconds=seconds))


def _keep_later(context: RequestContext, session: Session) -> None:
    async def keep() -> None:
        expires_at = session.limits.expire_at(session.made_at, context.now)
        await context.site.store.sessions.keep(session, context.now, expires_at)

    context.request.state.when_it_went_well.append(keep)


LearnerContextDep = Annotated[LearnerContext, Depends(get_learner_context)]
