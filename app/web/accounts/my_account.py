"""One's own account: where one is signed in, the password, and the roles that others offer."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, ClassVar

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse

from app.access.passwords import MIN_CHARACTERS, BadPassword, check_password
from app.storage.accounts import KnownPassword
from app.storage.records import Account, Membership, SectionId, Session, Status
from app.web.accounts.identity_rows import IdentityRow, show_identities
from app.web.accounts.known_browser import remember_browser
from app.web.accounts.sign_in import Field
from app.web.accounts.verifying import SignInRefused, verify_password
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of, renew_token, sign_in

router = APIRouter(include_in_schema=False)

BROWSERS = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


@dataclass(frozen=True)
class SessionRow:
    """`key` names the session in the form that ends it; it is no token."""

    key: str
    browser: str
    method: str
    begun: str
    used: str
    is_this: bool


@dataclass(frozen=True)
class ProviderRow:
    name: str
    label: str


@dataclass(frozen=True)
class MyAccountPage:
    template: ClassVar[str] = "my_account.html"
    frame: Frame
    name: str
    sessions: tuple[SessionRow, ...]
    offers: tuple[Membership, ...]
    roles: tuple[Membership, ...]
    identities: tuple[IdentityRow, ...]
    providers: tuple[ProviderRow, ...]
    min_characters: int
    problem: str
    done: str
    has_unclaimed: bool
    has_desk: bool
    """Whether the reader teaches in a section, or may make one."""


@router.api_route("/me/account", methods=["GET", "HEAD"])
async def my_account(context: RequestContextDep) -> Response:
    return await _show(context)


@router.post("/me/sessions/end")
async def end_sessions(context: RequestContextDep, session: Annotated[str, Form()]) -> Response:
    """End the session with this key, or all but this browser's."""
    sessions, mine = context.site.store.sessions, _session(context)
    if session == "others":
        await sessions.end_others(_account(context).id, mine.token_hash)
        return await _show(context, done="You are signed in only here now.")
    for one in await sessions.of_learner(mine.learner, context.now):
        if _key(one) == session and one != mine:
            await sessions.end(mine.learner, one.token_hash)
    return RedirectResponse("/me/account", 303)


@router.post("/me/password")
async def change_password(context: RequestContextDep, password: Field, new_password: Field) -> Response:
    """Set a new password, end all other sessions, and give this browser a new token."""
    await context.count(Act.SIGN_IN)
    account = _account(context)
    try:
        await verify_password(context, account.name, password)
        check_password(new_password, account.name)
    except (SignInRefused, BadPassword) as problem:
        return await _show(context, problem=str(problem))
    secret = await context.site.passwords.make_hash(new_password)
    await context.site.store.accounts.change_password(account.id, secret, context.now)
    remember_browser(context, KnownPassword(account, secret))
    session = await sign_in(context, account, "password")
    await context.site.store.sessions.end_others(account.id, session.token_hash)
    return await _show(context, done="Your password is changed. All other browsers are signed out.")


@router.post("/me/offers")
async def answer_offer(
    context: RequestContextDep, section: Annotated[str, Form()], accept: bool = Form()
) -> Response:
    """Take a role that a section offers, or leave the section."""
    sections, actor = context.site.store.sections, actor_of(context)
    here = await sections.find_membership(SectionId(section), _account(context).id)
    if here is not None and here.is_archived:
        return await _show(context, problem=f"{here.title} is archived: nobody joins or leaves it.")
    if not accept:
        await sections.leave(SectionId(section), actor)
    elif await sections.accept(SectionId(section), actor):
        await renew_token(context)
    return RedirectResponse("/me/account", 303)


def _session(context: RequestContext) -> Session:
    assert context.session is not None
    return context.session


def _account(context: RequestContext) -> Account:
    assert context.account is not None
    return context.account


async def _show(context: RequestContext, *, problem: str = "", done: str = "") -> Response:
    store, mine = context.site.store, _session(context)
    living = await store.sessions.of_learner(mine.learner, context.now)
    roles = await store.sections.of_account(_account(context).id)
    page = MyAccountPage(
        frame=await context.frame("Your account", "Where you are signed in, your password, your sections."),
        name=_account(context).name,
        sessions=tuple(_show_session(one, mine) for one in living),
        offers=tuple(role for role in roles if role.status is Status.INVITED),
        roles=tuple(role for role in roles if role.is_active),
        identities=await show_identities(context, _account(context).id),
        providers=tuple(ProviderRow(name, one.provider.label) for name, one in context.site.providers.items()),
        min_characters=MIN_CHARACTERS,
        problem=problem,
        done=done,
        has_unclaimed=mine.unclaimed is not None,
        has_desk=_account(context).is_operator or any(role.is_staff for role in roles),
    )
    return context.site.renderer.page(page, 422 if problem else 200)


def _show_session(session: Session, mine: Session) -> SessionRow:
    return SessionRow(
        key=_key(session),
        browser=describe_browser(session.user_agent),
        method=session.method,
        begun=_show_time(session.made_at),
        used=_show_time(session.seen_at),
        is_this=session.token_hash == mine.token_hash,
    )


def _key(session: Session) -> str:
    return session.token_hash[:16]


def _show_time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"


def describe_browser(user_agent: str) -> str:
    """For example "Firefox on Linux"; what is not recognized is said to be so."""
    browser = next((name for mark, name in BROWSERS if mark in user_agent), "A browser")
    system = next((name for mark, name in SYSTEMS if mark in user_agent), "an unknown system")
    return f"{browser} on {system}"
