"""Signing in through a provider of OpenID Connect, and linking such an identity to one's account.

An answer counts only in the browser that began: it must bring a cookie whose hash was stored under the answer's
state. The cookie's name contains the state's hash, so several tabs do not disturb each other.
"""

from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, ClassVar

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.access.names import MAX_NAME_CHARACTERS, BadName, clean_name
from app.access.tokens import hash_token, make_token
from app.linking.oidc import Flow, OidcClient, Person, ProviderRefused
from app.storage.identities import Attempt
from app.storage.records import Account, AccountId, Identity
from app.web.accounts.sign_in import NextInQuery, show_refusal
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep, set_cookie
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of, after_sign_in, sign_in
from app.web.pages.theme import local_path

router = APIRouter(include_in_schema=False)

LASTS = timedelta(minutes=10)
MAX_STATE_CHARACTERS = 100


@dataclass(frozen=True)
class LinkIdentityPage:
    """A page with a link, because our policy lets no form lead to another site."""

    template: ClassVar[str] = "link_identity.html"
    frame: Frame
    label: str
    href: str


@router.get("/sign-in/with/{provider}")
async def begin(context: RequestContextDep, provider: str, target: NextInQuery = "/") -> Response:
    await context.count(Act.SIGN_IN)
    try:
        return RedirectResponse(await _begin(context, provider, local_path(target), None), 303)
    except ProviderRefused as refusal:
        return await show_refusal(context, str(refusal))


@router.post("/me/identities/link")
async def begin_linking(context: RequestContextDep, provider: Annotated[str, Form(max_length=40)]) -> Response:
    """Only a form of ours begins this: a foreign page could otherwise link its author's identity to an account."""
    await context.count(Act.SIGN_IN)
    assert context.account is not None
    try:
        href = await _begin(context, provider, "/me/account", context.account.id)
    except ProviderRefused as refusal:
        return await show_refusal(context, str(refusal))
    label = _find_client(context, provider).provider.label
    frame = await context.frame(f"Link {label}", "Sign in there once; then you can sign in here with it.")
    return context.site.renderer.page(LinkIdentityPage(frame, label, href))


@router.post("/me/identities/unlink")
async def unlink(
    context: RequestContextDep, issuer: Annotated[str, Form()], subject: Annotated[str, Form()]
) -> Response:
    assert context.account is not None
    identities = context.site.store.identities
    if not await identities.unlink(context.account.id, issuer, subject, actor_of(context)):
        raise HTTPException(422, "This is your only way to sign in; set a password first, by a one-time link.")
    return RedirectResponse("/me/account", 303)


@router.get("/sign-in/callback/{provider}")
async def finish(context: RequestContextDep, provider: str) -> Response:
    await context.count(Act.SIGN_IN)
    answer = dict(context.request.query_params)
    try:
        attempt = await _take_attempt(context, provider, answer.get("state", ""))
        flow = Flow(answer["state"], attempt.nonce, attempt.verifier, _callback(context, provider))
        person = await _find_client(context, provider).finish(flow, answer)
        account = await _find_account(context, attempt, person)
    except ProviderRefused as refusal:
        return await show_refusal(context, str(refusal))
    label = context.site.providers[provider].provider.label
    return after_sign_in(context, await sign_in(context, account, label), attempt.target)


async def _begin(context: RequestContext, provider: str, target: str, account: AccountId | None) -> str:
    client = _find_client(context, provider)
    browser = make_token()
    flow = Flow(make_token(), make_token(), make_token(), _callback(context, provider))
    href = await client.begin(flow)
    state_hash = hash_token(flow.state)
    attempt = Attempt(state_hash, provider, hash_token(browser), flow.nonce, flow.verifier, target, account)
    await context.site.store.identities.keep_attempt(attempt, context.now + LASTS)
    _send_cookie(context, state_hash, browser, int(LASTS.total_seconds()))
    return href


async def _take_attempt(context: RequestContext, provider: str, state: str) -> Attempt:
    """The attempt that this browser began. Raises ProviderRefused; whoever asks, it works once."""
    state_hash = hash_token(state[:MAX_STATE_CHARACTERS])
    attempt = await context.site.store.identities.take_attempt(state_hash, context.now)
    browser = context.request.cookies.get(_cookie_name(context, state_hash), "")
    _send_cookie(context, state_hash, "", 0)
    if attempt is None or attempt.provider != provider or hash_token(browser) != attempt.browser_hash:
        raise ProviderRefused("This sign-in was begun in another browser, is over, or took too long. Begin again.")
    return attempt


async def _find_account(context: RequestContext, attempt: Attempt, person: Person) -> Account:
    """Whom to sign in. Never found by an address of mail, which a provider may give to somebody else one day."""
    identities, actor = context.site.store.identities, actor_of(context)
    known = await identities.find_account(person.issuer, person.subject, context.now)
    identity = Identity(person.issuer, person.subject, person.display, context.now, context.now)
    mine = context.account
    if attempt.account is None:
        if known is None and mine is not None:
            raise ProviderRefused("That identity is not linked to your account. Link it on the page of your account.")
        return known or await _create_account(context, attempt.provider, person, identity)
    if mine is None or mine.id != attempt.account:
        raise ProviderRefused("You were signed out meanwhile. Sign in, and link the identity again.")
    if known is not None and known.id != mine.id:
        raise ProviderRefused("That identity belongs to another account here. Sign in with it, and unlink it there.")
    if not await identities.link(mine.id, identity, actor) and known is None:
        raise ProviderRefused(
            "That identity belongs to an account here that is closed. Ask the person who runs this site."
        )
    return mine


async def _create_account(context: RequestContext, provider: str, person: Person, identity: Identity) -> Account:
    may_sign_up = _find_client(context, provider).provider.sign_up
    if not (context.site.settings.sign_up if may_sign_up is None else may_sign_up):
        raise ProviderRefused(
            "On this site the operator makes the accounts. Ask for a one-time link, sign in with it, and link "
            "this identity on the page of your account."
        )
    account = await context.site.store.identities.create_account(_clean(person.name), identity, actor_of(context))
    if account is None:
        raise ProviderRefused("Your account here is closed. Ask the person who runs this site.")
    return account


def _clean(name: str) -> str:
    try:
        return clean_name(name[:MAX_NAME_CHARACTERS])
    except BadName:
        return "Learner"


def _find_client(context: RequestContext, provider: str) -> OidcClient:
    client = context.site.providers.get(provider)
    if client is None:
        raise HTTPException(404, "This site has no such provider.")
    return client


def _callback(context: RequestContext, provider: str) -> str:
    return f"{context.site.settings.address}/sign-in/callback/{provider}"


def _cookie_name(context: RequestContext, state_hash: str) -> str:
    prefix = "__Host-" if context.site.settings.secure_cookies else ""
    return f"{prefix}oidc-{state_hash[:16]}"


def _send_cookie(context: RequestContext, state_hash: str, value: str, seconds: int) -> None:
    settings = context.site.settings
    cookie = set_cookie(_cookie_name(context, state_hash), value, settings, seconds=seconds)
    context.request.state.cookies.append(cookie)
