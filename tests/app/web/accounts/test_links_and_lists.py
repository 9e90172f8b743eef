"""One-time links, the desk of a section, and the operator's lists."""

import re

import httpx2
import pytest
from people import PASSWORD, join, make_account, read_link, sign_in, somebody
from site_parts import StoppedClock

from app.access.permissions import Role
from app.storage.records import Account, SectionId
from app.web.edge.site import Site

ANOTHER = "a spoon under the piano"


@pytest.fixture
async def section(site: Site) -> SectionId:
    return await site.store.sections.make("Spring", somebody(site))


@pytest.fixture
async def ada(site: Site, section: SectionId) -> Account:
    """The section's instructor."""
    account = await make_account(site, "Ada")
    await join(site, section, account, Role.INSTRUCTOR)
    return account


@pytest.fixture
async def eve(site: Site) -> Account:
    return await make_account(site, "Eve", is_operator=True)


async def test_an_instructor_s_link_lets_a_learner_choose_a_password_once(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, section: SectionId, ada: Account
) -> None:
    bob = await make_account(site, "Bob")
    await join(site, section, bob, Role.LEARNER)
    await sign_in(browser, "Ada")

    made = await browser.post(f"/desk/{section}/people/{bob.id}/link")
    path = read_link(made.text)
    assert made.headers["cache-control"] == "no-store"
    assert "Bob" in (await stranger.get(path)).text
    weak = await stranger.post(path, data={"password": "short"})
    used = await stranger.post(path, data={"password": ANOTHER})
    again = await stranger.post(path, data={"password": PASSWORD})

    assert (weak.status_code, used.status_code, again.status_code) == (422, 303, 404)
    assert "Signed in as Bob." in (await stranger.get("/me/account")).text
    verbs = [(line.actor, line.verb, line.object) for line in await site.store.accounts.audit_lines()]
    assert verbs[:2] == [("Bob", "use a one-time link", "Bob"), ("Ada", "make a one-time link", "Bob")]


async def test_a_link_is_of_no_use_after_a_day(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, eve: Account, clock: StoppedClock
) -> None:
    ada = await make_account(site, "Ada")
    await sign_in(browser, "Eve")
    path = read_link((await browser.post(f"/operator/accounts/{ada.id}/link")).text)

    clock.pass_days(1)

    assert (await stranger.get(path)).status_code == 404
    assert (await stranger.post(path, data={"password": ANOTHER})).status_code == 404


@pytest.mark.parametrize("role", [Role.INSTRUCTOR, Role.ASSISTANT])
async def test_nobody_resets_the_password_of_staff(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, ada: Account, role: Role
) -> None:
    bob = await make_account(site, "Bob")
    await join(site, section, bob, role)
    await sign_in(browser, "Ada")

    assert (await browser.post(f"/desk/{section}/people/{bob.id}/link")).status_code == 404


async def test_inviting_an_account_gives_no_right_over_it(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, ada: Account
) -> None:
    bob = await make_account(site, "Bob")
    await sign_in(browser, "Ada")

    await browser.post(f"/desk/{section}/people", data={"name": "bob", "role": "learner"})

    assert "Bob</th><td>learner, invited" in (await browser.get(f"/desk/{section}")).text
    assert (await browser.post(f"/desk/{section}/people/{bob.id}/link")).status_code == 404


async def test_an_instructor_makes_no_instructor_and_changes_none(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, ada: Account
) -> None:
    bob = await make_account(site, "Bob")
    await join(site, section, bob, Role.INSTRUCTOR)
    await make_account(site, "Cyd")
    await sign_in(browser, "Ada")

    lower = await browser.post(f"/desk/{section}/people", data={"name": "BOB", "role": "learner"})
    raised = await browser.post(f"/desk/{section}/people", data={"name": "Cyd", "role": "instructor"})
    ended = await browser.post(f"/desk/{section}/people/{bob.id}/end")

    assert (lower.status_code, raised.status_code, ended.status_code) == (422, 422, 404)
    assert [person.name for person in await site.store.sections.people(section)] == ["Ada", "Bob"]


async def test_what_needs_a_recent_sign_in_asks_for_it_and_changes_nothing(
    browser: httpx2.AsyncClient, site: Site, section: SectionId, ada: Account, clock: StoppedClock
) -> None:
    await make_account(site, "Bob")
    await sign_in(browser, "Ada")
    clock.pass_days(20 / 24 / 60)
    form = {"name": "Bob", "role": "learner"}
    came_from = {"referer": f"http://testserver/desk/{section}"}

    answer = await browser.post(f"/desk/{section}/people", data=form, headers=came_from)

    assert (answer.status_code, answer.headers["location"]) == (303, f"/sign-in?next=/desk/{section}")
    assert len(await site.store.sections.people(section)) == 1
    assert "Confirm that it is you" in (await browser.get(answer.headers["location"])).text
    await sign_in(browser, "Ada")
    assert (await browser.post(f"/desk/{section}/people", data=form)).headers["location"] == f"/desk/{section}"


async def test_an_operator_makes_accounts_and_sections(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, eve: Account
) -> None:
    await sign_in(browser, "Eve")

    path = read_link((await browser.post("/operator/accounts/new", data={"name": "Ada"})).text)
    await stranger.post(path, data={"password": ANOTHER})
    taken = await browser.post("/operator/accounts/new", data={"name": "ada"})
    await browser.post("/operator/sections", data={"title": "Spring 2026", "instructor": "Ada"})

    assert taken.status_code == 422
    assert "Spring 2026</strong> invites you as instructor" in (await stranger.get("/me/account")).text
    assert "instructor in Spring 2026 (invited)" in (await browser.get("/operator/accounts")).text
    assert "make a section" in (await browser.get("/operator/audit")).text


async def test_an_operator_closes_and_erases_accounts(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, eve: Account
) -> None:
    ada = await make_account(site, "Ada")
    await sign_in(browser, "Eve")
    await sign_in(stranger, "Ada")

    await browser.post(f"/operator/accounts/{ada.id}/close")
    assert (await stranger.get("/me/account")).status_code == 303
    assert (await sign_in(stranger, "Ada")).status_code == 403
    assert re.search(r"Ada</th><td>reader</td><td>closed", (await browser.get("/operator/accounts")).text)

    await browser.post(f"/operator/accounts/{ada.id}/erase")
    assert "Ada</th>" not in (await browser.get("/operator/accounts")).text
    assert (await browser.post(f"/operator/accounts/{ada.id}/erase")).status_code == 404


@pytest.mark.parametrize("act", ["role", "close", "erase"])
async def test_an_operator_does_not_end_their_own_account(
    browser: httpx2.AsyncClient, site: Site, eve: Account, act: str
) -> None:
    await sign_in(browser, "Eve")

    answer = await browser.post(f"/operator/accounts/{eve.id}/{act}", data={"is_operator": "false"})

    assert answer.status_code == 409
    assert await site.store.accounts.find(eve.id) == eve


async def test_a_new_operator_signs_in_again(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, eve: Account
) -> None:
    ada = await make_account(site, "Ada")
    await sign_in(browser, "Eve")
    await sign_in(stranger, "Ada")

    await browser.post(f"/operator/accounts/{ada.id}/role", data={"is_operator": "true"})

    assert (await stranger.get("/operator/accounts")).status_code == 303
    await sign_in(stranger, "Ada")
    assert (await stranger.get("/operator/accounts")).status_code == 200
