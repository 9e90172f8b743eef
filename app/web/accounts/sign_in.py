"""Signing up, in and out, with a name and a password."""

from dataclasses import dataclass
from typing import Annotated, ClassVar
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Response
from fastapi.responses import RedirectResponse

from app.access.names import BadName, clean_name
from app.access.passwords import MIN_CHARACTERS, BadPassword, check_password
from app.storage.accounts import KnownPassword
from app.storage.records import Account
from app.web.accounts.known_browser import remember_browser
from app.web.accounts.verifying import SignInRefused, verify_password
from app.web.edge.access import NotAllowed
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.rates import Act
from app.web.edge.signing_in import MAX_TARGET_CHARACTERS, actor_of, after_sign_in, sign_in, sign_out
from app.web.pages.theme import local_path

router = APIRouter(include_in_schema=False)

MAX_FIELD_CHARACTERS = 400
Field = Annotated[str, Form(max_length=MAX_FIELD_CHARACTERS)]
NextInQuery = Annotated[str, Query(alias="next", max_length=MAX_TARGET_CHARACTERS)]
NextInForm = Annotated[str, Form(alias="next", max_length=MAX_TARGET_CHARACTERS)]


@dataclass(frozen=True)
class ProviderLink:
    href: str
    label: str


@dataclass(frozen=True)
class SignInPage:
    """`again`: somebody is signed in, and has to show that it is still they."""

    template: ClassVar[str] = "sign_in.html"
    frame: Frame
    name: str
    next: str
    problem: str
    again: bool
    may_sign_up: bool
    providers: tuple[ProviderLink, ...]
    has_terms: bool
    joins: bool
    """Whether the reader came by the link of a section's code or by a personal one."""


@dataclass(frozen=True)
class SignUpPage:
    """`terms` are the operator's paragraphs, which a person agrees to by signing up; often there are none."""

    template: ClassVar[str] = "sign_up.html"
    frame: Frame
    name: str
    next: str
    problem: str
    terms: tuple[str, ...]
    min_characters: int


@router.api_route("/sign-in", methods=["GET", "HEAD"])
async def sign_in_page(context: RequestContextDep, target: NextInQuery = "/") -> Response:
    name = context.account.name if context.account else ""
    return await _show_sign_in(context, name, local_path(target))


@router.post("/sign-in")
async def sign_in_by_password(
    context: RequestContextDep, name: Field, password: Field, target: NextInForm = "/"
) -> Response:
    await context.count(Act.SIGN_IN)
    try:
        account = await verify_password(context, name, password)
    except SignInRefused as refusal:
        return await _show_sign_in(context, name, local_path(target), str(refusal), refusal.status)
    return after_sign_in(context, await sign_in(context, account, "password"), local_path(target))


@router.api_route("/sign-up", methods=["GET", "HEAD"])
async def sign_up_page(context: RequestContextDep, target: NextInQuery = "/") -> Response:
    _refuse_where_closed(context)
    return await _show_sign_up(context, "", local_path(target))


@router.post("/sign-up")
async def sign_up(context: RequestContextDep, name: Field, password: Field, target: NextInForm = "/") -> Response:
    _refuse_where_closed(context)
    await context.count(Act.SIGN_IN)
    context.site.disk.check()
    try:
        account = await _make_account(context, clean_name(name), password)
    except (BadName, BadPassword) as problem:
        return await _show_sign_up(context, name, local_path(target), str(problem))
    return after_sign_in(context, await sign_in(context, account, "password"), local_path(target))


@router.post("/sign-out")
async def leave(context: RequestContextDep) -> Response:
    await sign_out(context)
    # Editors keep drafts in the browser too; the next person at this computer must not find them.
    return RedirectResponse("/", 303, {"clear-site-data": '"storage"'})


async def _make_account(context: RequestContext, name: str, password: str) -> Account:
    """Raises BadName or BadPassword."""
    check_password(password, name)
    site = context.site
    secret = await site.passwords.make_hash(password)
    digest = site.terms.digest if site.terms else None
    account = await site.store.accounts.create(name, secret, actor_of(context), terms_digest=digest)
    if account is None:
        raise BadName(f"Somebody here is already called {name}. Add a word or a number to your name.")
    remember_browser(context, KnownPassword(account, secret))
    return account


def _refuse_where_closed(context: RequestContext) -> None:
    if not context.site.settings.sign_up:
        raise NotAllowed("On this site the operator makes the accounts. Reading needs no account.")


async def show_refusal(context: RequestContext, problem: str) -> Response:
    """The page for signing in, with the reason why another way did not work."""
    return await _show_sign_in(context, "", "/", problem, 403)


async def _show_sign_in(
    context: RequestContext, name: str, target: str, problem: str = "", status: int = 200
) -> Response:
    title = "Confirm that it is you" if context.account else "Sign in"
    page = SignInPage(
        frame=await context.frame(title, "Sign in with your name and password."),
        name=name,
        next=target,
        problem=problem,
        again=context.account is not None,
        may_sign_up=context.site.settings.sign_up,
        providers=tuple(
            ProviderLink(f"/sign-in/with/{name}?{urlencode({'next': target})}", client.provider.label)
            for name, client in context.site.providers.items()
        ),
        has_terms=context.site.terms is not None,
        joins=target.startswith("/join-section/"),
    )
    return context.site.renderer.page(page, status)


async def _show_sign_up(context: RequestContext, name: str, target: str, problem: str = "") -> Response:
    page = SignUpPage(
        frame=await context.frame("Make an account", "A name and a password keep your work on every device."),
        name=name,
        next=target,
        problem=problem,
        terms=context.site.terms.paragraphs if context.site.terms else (),
        min_characters=MIN_CHARACTERS,
    )
    return context.site.renderer.page(page, 422 if problem else 200)
