"""The calendar's address: a secret of its own, shown once, replaced and ended by its learner."""

import re
from datetime import UTC, datetime

import httpx2
from icalendar import Calendar
from people import leave_work
from site_parts import StoppedClock

from app.web.edge.request_log import hide_token


async def make_address(browser: httpx2.AsyncClient) -> str:
    page = await browser.post("/me/calendar")
    found = re.search(r'value="http://testserver(/calendar/[\w-]+\.ics)"', page.text)
    assert found, page.text
    assert page.headers["cache-control"] == "no-store"
    return found[1]


def starts(text: str) -> list[datetime]:
    calendar = Calendar.from_ical(text)
    return [event.decoded("DTSTART") for event in calendar.walk("VEVENT")]


async def test_a_program_without_a_cookie_reads_the_days(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, clock: StoppedClock
) -> None:
    await leave_work(browser)
    address = await make_address(browser)

    feed = await stranger.get(address)

    assert feed.headers["content-type"] == "text/calendar; charset=utf-8"
    assert starts(feed.text) == [datetime(2026, 3, 3, 9, tzinfo=UTC)]
    assert "set-cookie" not in feed.headers
    clock.pass_days(5)
    assert starts((await stranger.get(address)).text) == [datetime(2026, 3, 6, 9, tzinfo=UTC)]


async def test_the_address_is_shown_once(browser: httpx2.AsyncClient) -> None:
    await leave_work(browser)
    address = await make_address(browser)

    page = (await browser.get("/me/calendar")).text

    assert "Your calendar has an address since 2026-03-01." in page
    assert address not in page
    assert address.split("/")[2].removesuffix(".ics") not in (await browser.get("/me/export.json")).text


async def test_a_new_address_ends_the_old_one_and_the_end_ends_both(browser: httpx2.AsyncClient) -> None:
    await leave_work(browser)
    first, second = await make_address(browser), await make_address(browser)
    assert [(await browser.get(address)).status_code for address in (first, second)] == [404, 200]

    await browser.post("/me/calendar/end")

    assert (await browser.get(second)).status_code == 404


async def test_somebody_unknown_has_no_calendar(browser: httpx2.AsyncClient) -> None:
    assert "Nothing comes back yet" in (await browser.get("/me/calendar")).text
    assert (await browser.post("/me/calendar")).status_code == 404


async def test_erasing_ones_data_ends_the_calendar(browser: httpx2.AsyncClient) -> None:
    await leave_work(browser)
    address = await make_address(browser)

    await browser.post("/me/delete")

    assert (await browser.get(address)).status_code == 404


def test_the_log_hides_the_address() -> None:
    assert hide_token("/calendar/secret.ics") == "/calendar/..."
