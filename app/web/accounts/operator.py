"""The operator's page about people: accounts and sections."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, ClassVar

from fastapi import APIRouter, Form, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from app.access.names import BadName, clean_name
from app.access.permissions import Role
from app.storage.records import AccountId, AccountLine
from app.web.accounts.one_time_link import show_new_link
from app.web.accounts.sign_in import Field
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContext, RequestContextDep
from app.web.edge.signing_in import actor_of

router = APIRouter(include_in_schema=False)

HOME = "/operator/accounts"


@dataclass(frozen=True)
class AccountRow:
    name: str
    roles: str
    seen: str
    action: str
    is_operator: bool
    is_closed: bool
    is_self: bool


@dataclass(frozen=True)
class AccountsPage:
    template: ClassVar[str] = "accounts.html"
    frame: Frame
    accounts: tuple[AccountRow, ...]
    sections: tuple[str, ...]
    problem: str


@router.api_route("/operator/accounts", methods=["GET", "HEAD"])
async def accounts_page(context: RequestContextDep) -> Response:
    return await _show(context)


@router.post("/operator/accounts/new")
async def make_account(context: RequestContextDep, name: Field) -> Response:
    """Make an account and show the link by which its person chooses a password."""
    try:
        account = await context.site.store.accounts.create(clean_name(name), None, actor_of(context))
    except BadName as problem:
        return await _show(context, str(problem))
    if account is None:
        return await _show(context, f"Somebody here is already called {name}.")
    return await show_new_link(context, account.id, HOME)


@router.post("/operator/accounts/{account}/link")
async def make_link(context: RequestContextDep, account: str) -> Response:
    return await show_new_link(context, AccountId(account), HOME)


@router.post("/operator/accounts/{account}/role")
async def set_role(context: RequestContextDep, account: str, is_operator: Annotated[bool, Form()]) -> Response:
    found = await _find(context, account)
    await context.site.store.accounts.set_operator(found, is_operator, actor_of(context))
    return RedirectResponse(HOME, 303)


@router.post("/operator/accounts/{account}/close")
async def close(context: RequestContextDep, account: str) -> Response:
    await context.site.store.accounts.close(await _find(context, account), actor_of(context))
    return RedirectResponse(HOME, 303)


@router.post("/operator/accounts/{account}/erase")
async def erase(context: RequestContextDep, account: str) -> Response:
    _refuse_own(context, account)
    if not await context.site.store.accounts.erase(AccountId(account), actor_of(context)):
        raise HTTPException(404, "There is no such account.")
    context.site.ledger.tell_forgotten()
    return RedirectResponse(HOME, 303)


@router.post("/operator/sections")
async def make_section(context: RequestContextDep, title: Field, instructor: Field) -> Response:
    """Make a section, and offer its first instructor the role."""
    sections, actor = context.site.store.sections, actor_of(context)
    title = " ".join(title.split())[:120]
    if await context.site.store.accounts.find_by_name(instructor) is None:
        return await _show(context, f"Nobody has the name {instructor}. Make the account first.")
    if not title:
        return await _show(context, "The section has no title; write one that its people will recognize.")
    section = await sections.make(title, actor)
    await sections.invite(section, instructor, Role.INSTRUCTOR, actor)
    return RedirectResponse(HOME, 303)


def _refuse_own(context: RequestContext, account: str) -> None:
    """The page has no such form: a site whose last operator is gone is helped only from its command line."""
    if context.account is not None and context.account.id == account:
        raise HTTPException(409, "This is your own account; another operator can change it.")


async def _find(context: RequestContext, account: str) -> AccountId:
    _refuse_own(context, account)
    found = await context.site.store.accounts.find(AccountId(account))
    if found is None:
        raise HTTPException(404, "There is no such account, or it is closed.")
    return found.id


async def _show(context: RequestContext, problem: str = "") -> Response:
    assert context.account is not None
    store, me = context.site.store, context.account.id
    page = AccountsPage(
        frame=await context.frame("Accounts", "Everybody who can sign in, and the sections."),
        accounts=tuple(_show_account(line, me) for line in await store.accounts.everyone()),
        sections=tuple(section.title for section in await store.sections.all()),
        problem=problem,
    )
    return context.site.renderer.page(page, 422 if problem else 200)


def _show_account(line: AccountLine, me: AccountId) -> AccountRow:
    roles = [f"{role.role} in {role.title}" + ("" if role.is_active else f" ({role.status})") for role in line.roles]
    return AccountRow(
        name=line.account.name,
        roles=", ".join([*(["operator"] if line.account.is_operator else []), *roles]) or "reader",
        seen="closed" if line.is_closed else _show_time(line.seen_at) if line.seen_at else "not signed in",
        action=f"{HOME}/{line.account.id}",
        is_operator=line.account.is_operator,
        is_closed=line.is_closed,
        is_self=line.account.id == me,
    )


def _show_time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC"
