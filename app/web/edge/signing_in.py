"""Begin and end an account's session in this browser. Each time the browser gets a new token, or none."""

import hmac
from datetime import datetime
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from app.access.tokens import hash_token, make_token
from app.storage.audit import Actor
from app.storage.records import Account, Session
from app.web.edge.addresses import hash_address
from app.web.edge.identity import RequestContext, cookie_name, send_cookie, set_cookie
from app.web.edge.terms import are_new_to

USER_AGENT_CHARACTERS = 120
MAX_TARGET_CHARACTERS = 400
"""Of the address to which a person goes on after a form."""


async def sign_in(context: RequestContext, account: Account, method: str) -> Session:
    """Begin a session in place of this browser's. `method` says how: "password", or a provider's name."""
    return await _begin(context, account, method, context.now, context.now)


async def _begin(
    context: RequestContext, account: Account, method: str, made_at: datetime, authenticated_at: datetime | None
) -> Session:
    token = make_token()
    roles = await context.site.store.sections.of_account(account.id)
    session = Session(
        token_hash=hash_token(token),
        learner=account.learner,
        made_at=made_at,
        seen_at=context.now,
        account=account,
        authenticated_at=authenticated_at,
        method=method,
        user_agent=_user_agent(context.request),
        is_staff=account.is_operator or any(membership.is_staff for membership in roles),
    )
    session = await context.site.store.sessions.begin_signed_in(session, context.session)
    send_cookie(context, token, session)
    return session


async def renew_token(context: RequestContext) -> None:
    """Give the browser a new token for the session that it has, because what the account may do has changed.

    The person has not shown again that it is they, so the session is as old as before, and its sign-in as recent.
    """
    session = context.session
    assert session is not None
    assert session.account is not None
    await _begin(context, session.account, session.method, session.made_at, session.authenticated_at)


async def sign_out(context: RequestContext) -> None:
    """End this browser's session. The next thing worth keeping begins with a new learner."""
    if context.session is not None:
        await context.site.store.sessions.end(context.session.learner, context.session.token_hash)
    forget_cookie(context)


def forget_cookie(context: RequestContext) -> None:
    settings = context.site.settings
    context.request.state.cookies.append(set_cookie(cookie_name(settings), "", settings, seconds=0))


def after_sign_in(context: RequestContext, session: Session, target: str) -> Response:
    """Go on to the page that was wanted; first to new terms, and to the question whose earlier work this is."""
    if are_new_to(context.site.terms, session.account):
        wanted = f"/terms?next={quote(target, safe='/')}"
        # It is a target of /join, which refuses a longer one.
        target = wanted if len(wanted) <= MAX_TARGET_CHARACTERS else "/terms"
    if session.unclaimed is None:
        return RedirectResponse(target, 303)
    return RedirectResponse(f"/join?next={quote(target, safe='/')}", 303)


def actor_of(context: RequestContext) -> Actor:
    """Who acts in this request, for the audit."""
    account = None if context.account is None else context.account.id
    return Actor(account, context.now, hash_address(context.address, context.site.settings.secret))


def hash_key(context: RequestContext, kind: str, text: str) -> str:
    """A keyed hash to count failures by, because names are few enough to try them all against a plain one."""
    key = context.site.settings.secret.get_secret_value().encode()
    return hmac.new(key, f"{kind}:{text}".encode(), "sha256").hexdigest()[:32]


def _user_agent(request: Request) -> str:
    return request.headers.get("user-agent", "")[:USER_AGENT_CHARACTERS]
