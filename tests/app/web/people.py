"""People with accounts, as tests need them: made through the store, signed in through the page."""

import re
import socket

import httpx2

from app.access.permissions import Role
from app.storage.audit import Actor
from app.storage.records import Account, SectionId
from app.web.edge.site import Site

PASSWORD = "ferns dodge my kettle"


def somebody(site: Site) -> Actor:
    return Actor(None, site.clock())


async def make_account(site: Site, name: str, *, is_operator: bool = False) -> Account:
    secret = await site.passwords.make_hash(PASSWORD)
    account = await site.store.accounts.create(name, secret, somebody(site), is_operator=is_operator)
    assert account is not None
    return account


async def join(site: Site, section: SectionId, account: Account, role: Role) -> None:
    assert await site.store.sections.invite(section, account.name, role, somebody(site))
    assert await site.store.sections.accept(section, Actor(account.id, site.clock()))


async def sign_in(browser: httpx2.AsyncClient, name: str, password: str = PASSWORD) -> httpx2.Response:
    return await browser.post("/sign-in", data={"name": name, "password": password})


async def sign_up(browser: httpx2.AsyncClient, name: str, password: str = PASSWORD) -> httpx2.Response:
    return await browser.post("/sign-up", data={"name": name, "password": password})


async def leave_work(browser: httpx2.AsyncClient) -> None:
    await browser.post("/chapters/a-first-graph/answers/how-many-nodes", data={"number": "1"})


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def read_link(page: str) -> str:
    """The path of the one-time link on the page that shows it."""
    found = re.search(r'href="(/link/[\w-]+)"', page)
    assert found
    return found.group(1)


def without_notes(page: str) -> str:
    """A page without what differs at every request: its nonce, and the note of when it was opened."""
    return re.sub(r'(nonce|data-opened)="[^"]*"', "", page)
