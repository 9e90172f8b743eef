"""Signing up, in and out: new tokens, counted failures, and nothing that tells which names exist."""

import httpx2
import pytest
from people import PASSWORD, leave_work, make_account, sign_in, sign_up, without_notes
from site_parts import StoppedClock

from app.access.tokens import hash_token
from app.web.accounts.verifying import FAILURES_OF_ADDRESS, FAILURES_OF_BROWSER, FAILURES_OF_NAME
from app.web.edge.site import Site

WRONG = "this is not my password"


async def test_an_account_is_made_and_shown_in_the_head_of_every_page(browser: httpx2.AsyncClient) -> None:
    answer = await sign_up(browser, "Ada Lovelace")

    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert '<a class="nav-account" href="/me/account">Ada Lovelace</a>' in (await browser.get("/course")).text
    assert "Signed in as Ada Lovelace." in (await browser.get("/me/account")).text
    assert '<a class="nav-account"' in (await browser.get("/chapters/no-such-chapter")).text


async def test_signing_in_from_another_browser_finds_the_same_work(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient
) -> None:
    await sign_up(browser, "Ada")
    await browser.post("/chapters/a-first-graph/read")

    assert (await sign_in(stranger, "ADA")).status_code == 303

    assert "read to the end" in (await stranger.get("/course")).text


async def test_the_session_before_signing_in_is_not_the_one_after(browser: httpx2.AsyncClient, site: Site) -> None:
    await make_account(site, "Ada")
    await leave_work(browser)
    planted = browser.cookies["unwind"]

    await sign_in(browser, "Ada")
    first = browser.cookies["unwind"]
    await sign_in(browser, "Ada")

    assert len({planted, first, browser.cookies["unwind"]}) == 3
    for old in (planted, first):
        assert await site.store.sessions.find(hash_token(old.partition(".")[0]), site.clock()) is None


async def test_signing_out_ends_the_session_and_begins_with_a_new_learner(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    await sign_up(browser, "Ada")
    await leave_work(browser)
    cookie = browser.cookies["unwind"]

    answer = await browser.post("/sign-out")

    assert answer.headers["clear-site-data"] == '"storage"'
    assert "unwind" not in browser.cookies
    browser.cookies.set("unwind", cookie)
    assert (await browser.get("/me/account")).status_code == 303
    await leave_work(browser)
    assert len((await browser.get("/me/export.json")).json()["answers"]) == 1
    assert (await browser.get("/me/export.json")).json()["accounts"] == []


async def test_an_unknown_name_and_a_wrong_password_get_the_same_answer(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    await make_account(site, "Ada")

    answers = [await sign_in(browser, name, WRONG) for name in ("Ada", "Bob")]

    assert [answer.status_code for answer in answers] == [403, 403]
    pages = [without_notes(answer.text.replace("Bob", "Ada")) for answer in answers]
    assert pages[0] == pages[1]
    assert "unwind" not in browser.cookies
    assert WRONG not in pages[0]


async def test_a_name_may_be_tried_ten_times_in_a_quarter_of_an_hour(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await make_account(site, "Ada")
    await make_account(site, "Bob")

    tried = [(await sign_in(browser, "Ada", WRONG)).status_code for _ in range(FAILURES_OF_NAME + 1)]

    assert tried == [403] * FAILURES_OF_NAME + [429]
    assert (await sign_in(browser, "ADA")).status_code == 429
    assert (await sign_in(browser, "Bob")).status_code == 303
    clock.pass_days(1 / 24)
    assert (await sign_in(browser, "Ada")).status_code == 303


async def test_nobody_is_kept_out_of_a_browser_that_they_used_before(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site
) -> None:
    await make_account(site, "Ada")
    await sign_in(browser, "Ada")
    await browser.post("/sign-out")
    for number in range(FAILURES_OF_ADDRESS):
        await sign_in(stranger, "Ada" if number < FAILURES_OF_NAME else f"name {number}", WRONG)
    assert (await sign_in(stranger, "Ada")).status_code == 429

    tried = [(await sign_in(browser, "Ada", WRONG)).status_code for _ in range(FAILURES_OF_BROWSER - 1)]

    assert tried == [403] * (FAILURES_OF_BROWSER - 1)
    assert (await sign_in(browser, "Ada")).status_code == 303


async def test_a_known_browser_may_fail_ten_times_and_is_known_to_one_account(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site
) -> None:
    await make_account(site, "Ada")
    await make_account(site, "Bob")
    await sign_in(browser, "Ada")
    for _ in range(FAILURES_OF_NAME):
        await sign_in(stranger, "Bob", WRONG)

    assert (await sign_in(browser, "Bob")).status_code == 429
    tried = [(await sign_in(browser, "Ada", WRONG)).status_code for _ in range(FAILURES_OF_BROWSER + 1)]
    assert tried == [403] * FAILURES_OF_BROWSER + [429]


async def test_a_new_password_makes_every_browser_unknown(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site
) -> None:
    ada = await make_account(site, "Ada")
    await sign_in(browser, "Ada")
    another = "a spoon under the piano"
    await site.store.accounts.change_password(ada.id, await site.passwords.make_hash(another), site.clock())
    for _ in range(FAILURES_OF_NAME):
        await sign_in(stranger, "Ada", WRONG)

    assert (await sign_in(browser, "Ada", another)).status_code == 429


async def test_an_address_may_fail_fifty_times(browser: httpx2.AsyncClient, site: Site) -> None:
    await make_account(site, "Ada")
    for number in range(FAILURES_OF_ADDRESS):
        await sign_in(browser, f"name {number}", WRONG)

    assert (await sign_in(browser, "Ada")).status_code == 429


async def test_a_class_signs_in_from_one_address(browser: httpx2.AsyncClient, site: Site) -> None:
    await make_account(site, "Ada")

    answers = [await sign_in(browser, "Ada") for _ in range(FAILURES_OF_ADDRESS + 10)]

    assert {answer.status_code for answer in answers} == {303}


@pytest.mark.parametrize(
    ("name", "password", "words"),
    [
        ("Ada", "short", "write at least 12"),
        ("Ada", "password12345", "attackers"),
        ("", PASSWORD, "name"),
        ("a" * 41, PASSWORD, "at most 40"),
        ("ADA Taken", PASSWORD, "already called"),
    ],
)
async def test_what_cannot_be_an_account_is_refused_with_the_remedy(
    browser: httpx2.AsyncClient, site: Site, name: str, password: str, words: str
) -> None:
    await make_account(site, "Ada taken")

    answer = await sign_up(browser, name, password)

    assert answer.status_code == 422
    assert words in answer.text
    assert password not in answer.text or password == PASSWORD
    assert "unwind" not in browser.cookies


@pytest.mark.parametrize(
    "target", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)"]
)
async def test_signing_in_leads_to_no_other_site(browser: httpx2.AsyncClient, site: Site, target: str) -> None:
    await make_account(site, "Ada")

    form = {"name": "Ada", "password": PASSWORD, "next": target}

    assert (await browser.post("/sign-in", data=form)).headers["location"] == "/"


async def test_a_form_of_another_site_signs_nobody_in_or_out(browser: httpx2.AsyncClient, site: Site) -> None:
    await make_account(site, "Ada")
    foreign = {"sec-fetch-site": "cross-site"}
    form = {"name": "Ada", "password": PASSWORD}

    assert (await browser.post("/sign-in", data=form, headers=foreign)).status_code == 403
    await sign_in(browser, "Ada")
    assert (await browser.post("/sign-out", headers=foreign)).status_code == 403
    assert (await browser.get("/me/account")).status_code == 200


async def test_a_session_ends_when_it_is_not_used_and_at_the_latest_after_half_a_year(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await make_account(site, "Ada")
    await sign_in(browser, "Ada")
    for _ in range(8):
        clock.pass_days(20)
        assert (await browser.get("/me/account")).status_code == 200
    clock.pass_days(21)
    assert (await browser.get("/me/account")).status_code == 303

    await sign_in(browser, "Ada")
    clock.pass_days(31)
    assert (await browser.get("/me/account")).status_code == 303


async def test_staff_stay_signed_in_for_half_a_day(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await make_account(site, "Eve", is_operator=True)
    await sign_in(browser, "Eve")

    clock.pass_days(0.4)
    assert (await browser.get("/me/account")).status_code == 200
    clock.pass_days(0.6)
    assert (await browser.get("/me/account")).status_code == 303
