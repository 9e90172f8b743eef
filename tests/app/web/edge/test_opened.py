"""A reader who has read for a while and then runs something is no newcomer, though reading sets no cookie."""

import re
from datetime import UTC, datetime, timedelta

import httpx2
import pytest
from pydantic import SecretStr
from site_parts import StoppedClock

from app.web.edge.opened import LASTS, read_opened, write_opened
from app.web.edge.rates import Rates
from app.web.edge.site import Site

SECRET = SecretStr("a secret")
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ANSWER = {"source": "x = 1"}


def test_a_note_says_when_its_page_was_opened() -> None:
    note = write_opened(NOON, "nonce", "home", SECRET)
    assert read_opened(note, NOON + timedelta(minutes=5), "home", SECRET) == NOON


@pytest.mark.parametrize(
    ("note", "now", "key", "secret"),
    [
        ("", NOON, "home", SECRET),
        ("1.nonce." + "0" * 32, NOON, "home", SECRET),
        ("0" + write_opened(NOON, "nonce", "home", SECRET), NOON, "home", SECRET),
        (write_opened(NOON, "nonce", "elsewhere", SECRET), NOON, "home", SECRET),
        (write_opened(NOON, "nonce", "home", SecretStr("another")), NOON, "home", SECRET),
        (write_opened(NOON, "nonce", "home", SECRET), NOON + LASTS + timedelta(seconds=1), "home", SECRET),
        (write_opened(NOON + timedelta(seconds=5), "nonce", "home", SECRET), NOON, "home", SECRET),
    ],
)
def test_a_note_that_is_forged_old_or_of_another_address_says_nothing(
    note: str, now: datetime, key: str, secret: SecretStr
) -> None:
    assert read_opened(note, now, key, secret) is None


async def read_note(browser: httpx2.AsyncClient) -> str:
    found = re.search(r'data-opened="([^"]+)"', (await browser.get("/exercises/double")).text)
    return found[1] if found else ""


async def submit(browser: httpx2.AsyncClient, note: str, key: str) -> httpx2.Response:
    asked = {**ANSWER, "idempotency_key": key}
    headers = {"x-unwind-opened": note} if note else {}
    return await browser.post("/api/exercises/double/submissions", json=asked, headers=headers)


async def test_who_opened_the_page_earlier_runs_before_who_just_came(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, clock: StoppedClock
) -> None:
    note = await read_note(browser)
    assert "set-cookie" not in (await browser.get("/exercises/double")).headers
    clock.now += timedelta(minutes=5)
    await submit(stranger, "", "somebody-new")
    accepted = (await submit(browser, note, "long-reading")).json()
    assert accepted["ahead"] == 0
    assert (await browser.get(f"/api/submissions/{accepted['id']}")).status_code == 200


async def test_a_reader_with_a_session_gets_no_note(browser: httpx2.AsyncClient) -> None:
    assert await read_note(browser) != ""
    await submit(browser, "", "first-request")
    assert await read_note(browser) == ""


async def test_one_page_does_not_serve_a_flood() -> None:
    rates = Rates()
    assert [await rates.take_note("a note") for _ in range(6)] == [True] * 4 + [False] * 2


async def test_a_note_is_a_hint_and_nothing_that_is_refused_for(browser: httpx2.AsyncClient, site: Site) -> None:
    assert (await submit(browser, "not-a-note", "any-request")).status_code == 202
