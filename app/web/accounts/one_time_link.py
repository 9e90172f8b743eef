"""A link that sets a password, once: made by an operator or an instructor, shown to them once, used by its person."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from fastapi import APIRouter, Form, Response
from pydantic import StringConstraints
from starlette.exceptions import HTTPException

from app.access.passwords import MIN_CHARACTERS, BadPassword, check_password
from app.access.tokens import hash_token, make_token
from app.storage.accounts import LINK_LASTS, KnownPassword
from app.storage.records import Account, AccountId
from app.web.accounts.identity_rows import KEY_LENGTH, IdentityRow, show_identities
from app.web.accounts.known_browser import remember_browser
from app.web.accounts.sign_in import Field
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import actor_of, after_sign_in, sign_in

router = APIRouter(include_in_schema=False)

Key = Annotated[str, StringConstraints(max_length=KEY_LENGTH)]


@dataclass(frozen=True)
class LinkPage:
    """The form in which its person chooses a password."""

    template: ClassVar[str] = "link.html"
    frame: Frame
    name: str
    action: str
    problem: str
    min_characters: int
    identities: tuple[IdentityRow, ...]


@dataclass(frozen=True)
class MadeLinkPage:
    """The new link, for the person who made it."""

    template: ClassVar[str] = "made_link.html"
    frame: Frame
    name: str
    path: str
    hours: int
    back: str


@router.api_route("/link/{token}", methods=["GET", "HEAD"])
async def link_page(context: RequestContextDep, token: str) -> Response:
    await context.count(Act.SIGN_IN)
    return await _show(context, await _find(context, token), token)


@router.post("/link/{token}")
async def use_link(
    context: RequestContextDep, token: str, password: Field, keep: Annotated[tuple[Key, ...], Form()] = ()
) -> Response:
    """Set the password. `keep`: the keys of the linked identities that are the person's own; the others end."""
    await context.count(Act.SIGN_IN)
    account = await _find(context, token)
    try:
        check_password(password, account.name)
    except BadPassword as problem:
        return await _show(context, account, token, str(problem))
    secret = await context.site.passwords.make_hash(password)
    kept = [(row.issuer, row.subject) for row in await show_identities(context, account.id) if row.key in keep]
    used = await context.site.store.accounts.use_link(hash_token(token), secret, actor_of(context), kept)
    if used is None:
        raise _dead()
    remember_browser(context, KnownPassword(used, secret))
    return after_sign_in(context, await sign_in(context, used, "one-time link"), "/me/account")


async def show_new_link(context: RequestContext, account: AccountId, back: str) -> Response:
    """Make a link for the account, and show it this once. Raises a 404 if there is no such account."""
    token = make_token()
    found = await context.site.store.accounts.find(account)
    made = await context.site.store.accounts.make_link(
        account, hash_token(token), context.now + LINK_LASTS, actor_of(context)
    )
    if found is None or not made:
        raise HTTPException(404, "There is no such account, or it is closed.")
    frame = await context.frame("A one-time link", "It sets a new password, once.")
    hours = int(LINK_LASTS.total_seconds() // 3600)
    response = context.site.renderer.page(MadeLinkPage(frame, found.name, f"/link/{token}", hours, back))
    response.headers["cache-control"] = "no-store"
    return response


async def _find(context: RequestContext, token: str) -> Account:
    account = await context.site.store.accounts.find_link(hash_token(token), context.now)
    if account is None:
        raise _dead()
    return account


def _dead() -> HTTPException:
    return HTTPException(404, "This link was used, has expired or never existed. Ask for a new one.")


async def _show(context: RequestContext, account: Account, token: str, problem: str = "") -> Response:
    frame = await context.frame("Choose a password", "This link sets your password, once.")
    linked = await show_identities(context, account.id)
    page = LinkPage(frame, account.name, f"/link/{token}", problem, MIN_CHARACTERS, linked)
    return context.site.renderer.page(page, 422 if problem else 200)
