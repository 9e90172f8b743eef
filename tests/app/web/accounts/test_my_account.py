"""One's own account: sessions that can be ended from elsewhere, and a password that ends them all."""

import re

import httpx2
from people import PASSWORD, join, make_account, sign_in, somebody
from site_parts import StoppedClock

from app.access.permissions import Role
from app.access.tokens import hash_token
from app.storage.accounts import LINK_LASTS
from app.storage.records import Status
from app.web.accounts.my_account import describe_browser
from app.web.edge.site import Site

ANOTHER = "a spoon under the piano"


async def test_all_sessions_are_listed_and_one_can_be_ended(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site
) -> None:
    await make_account(site, "Ada")
    stranger.headers["user-agent"] = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    await sign_in(browser, "Ada")
    await sign_in(stranger, "Ada")

    page = (await browser.get("/me/account")).text
    assert "<strong>Firefox on Linux</strong>" in page
    (key,) = re.findall(r'name="session" value="(\w{16})"', page)
    await browser.post("/me/sessions/end", data={"session": key})

    assert (await stranger.get("/me/account")).status_code == 303
    assert (await browser.get("/me/account")).status_code == 200


async def test_signing_out_everywhere_else_leaves_this_browser_in(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site
) -> None:
    await make_account(site, "Ada")
    await sign_in(browser, "Ada")
    await sign_in(stranger, "Ada")

    await browser.post("/me/sessions/end", data={"session": "others"})

    assert (await stranger.get("/me/account")).status_code == 303
    assert (await browser.get("/me/account")).status_code == 200


async def test_nobody_ends_a_session_of_somebody_else(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site
) -> None:
    ada = await make_account(site, "Ada")
    await make_account(site, "Bob")
    await sign_in(browser, "Ada")
    await sign_in(stranger, "Bob")
    (session,) = await site.store.sessions.of_learner(ada.learner, site.clock())

    await stranger.post("/me/sessions/end", data={"session": session.token_hash[:16]})
    await stranger.post("/me/sessions/end", data={"session": "others"})

    assert (await browser.get("/me/account")).status_code == 200


async def test_a_new_password_needs_the_old_one_and_signs_others_out(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site
) -> None:
    await make_account(site, "Ada")
    await sign_in(browser, "Ada")
    await sign_in(stranger, "Ada")
    before = browser.cookies["unwind"]

    wrong = await browser.post("/me/password", data={"password": "a guess at it", "new_password": ANOTHER})
    weak = await browser.post("/me/password", data={"password": PASSWORD, "new_password": "password1234"})
    done = await browser.post("/me/password", data={"password": PASSWORD, "new_password": ANOTHER})

    assert (wrong.status_code, weak.status_code, done.status_code) == (422, 422, 200)
    assert browser.cookies["unwind"] != before
    assert (await browser.get("/me/account")).status_code == 200
    assert (await stranger.get("/me/account")).status_code == 303
    assert (await sign_in(stranger, "Ada", PASSWORD)).status_code == 403
    assert (await sign_in(stranger, "Ada", ANOTHER)).status_code == 303


async def test_accepting_a_role_gives_this_browser_a_new_token(browser: httpx2.AsyncClient, site: Site) -> None:
    ada = await make_account(site, "Ada")
    section = await site.store.sections.make("Spring", somebody(site))
    await site.store.sections.invite(section, "Ada", Role.ASSISTANT, somebody(site))
    await sign_in(browser, "Ada")
    before = browser.cookies["unwind"]
    assert "invites you as assistant" in (await browser.get("/me/account")).text
    assert (await browser.get(f"/desk/{section}")).status_code == 404

    await browser.post("/me/offers", data={"section": section, "accept": "true"})

    assert browser.cookies["unwind"] != before
    assert (await browser.get(f"/desk/{section}")).status_code == 200
    assert await site.store.sections.find_role(section, ada.id) is not None


async def test_accepting_a_role_does_not_count_as_signing_in_again(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await make_account(site, "Ada")
    section = await site.store.sections.make("Spring", somebody(site))
    await site.store.sections.invite(section, "Ada", Role.INSTRUCTOR, somebody(site))
    await sign_in(browser, "Ada")
    clock.pass_days(20 / 24 / 60)

    await browser.post("/me/offers", data={"section": section, "accept": "true"})
    answer = await browser.post(f"/desk/{section}/people", data={"name": "Ada", "role": "learner"})

    assert answer.headers["location"].startswith("/sign-in?")


async def test_a_new_password_ends_a_one_time_link(browser: httpx2.AsyncClient, site: Site) -> None:
    ada = await make_account(site, "Ada")
    await site.store.accounts.make_link(ada.id, hash_token("link"), site.clock() + LINK_LASTS, somebody(site))
    await sign_in(browser, "Ada")
    assert (await browser.get("/link/link")).status_code == 200

    await browser.post("/me/password", data={"password": PASSWORD, "new_password": ANOTHER})

    assert (await browser.get("/link/link")).status_code == 404


async def test_a_member_can_leave(browser: httpx2.AsyncClient, site: Site) -> None:
    ada = await make_account(site, "Ada")
    section = await site.store.sections.make("Spring", somebody(site))
    await join(site, section, ada, Role.LEARNER)
    await sign_in(browser, "Ada")

    await browser.post("/me/offers", data={"section": section, "accept": "false"})

    assert [one.status for one in await site.store.sections.of_account(ada.id)] == [Status.LEFT]
    assert "Spring" not in (await browser.get("/me/account")).text


def test_browsers_are_named_as_people_know_them() -> None:
    edge = "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/1 Safari/537.36 Edg/1"
    phone = "Mozilla/5.0 (Linux; Android 14) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/1 Mobile Safari/537.36"

    assert describe_browser(edge) == "Edge on Windows"
    assert describe_browser(phone) == "Chrome on Android"
    assert describe_browser("") == "A browser on an unknown system"
