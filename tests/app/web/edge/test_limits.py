"""What one reader may do and keep, what everybody behind one address may, and what happens near a full disk."""

from datetime import timedelta

import httpx2
import pytest
from fastapi import FastAPI
from site_parts import StoppedClock
from sqlalchemy import Connection, func, select

from app.storage.tables import learners, sessions
from app.web.edge import disk, hosts, rates
from app.web.edge.disk import Disk
from app.web.edge.rates import ADDRESS_FACTOR, BYTES_A_DAY, PER_MINUTE, Act, QuotaExceeded, RateExceeded, Rates
from app.web.edge.site import Site
from graders.contract.model import LearnerId
from graders.ledger import StorageRefused
from graders.ledger.tables import submissions

ANSWER = {"source": "x", "idempotency_key": "k" * 16}
FLOODER, HONEST = LearnerId("flooder"), LearnerId("honest")


async def test_what_one_learner_is_refused_takes_nothing_from_others_at_the_address() -> None:
    limits = Rates()
    refused = 0
    for _ in range(PER_MINUTE[Act.RUN] * ADDRESS_FACTOR * 2):
        try:
            await limits.check(Act.RUN, FLOODER, "class")
        except RateExceeded:
            refused += 1

    assert refused > 0
    await limits.check(Act.RUN, HONEST, "class")


async def test_a_class_of_300_behind_one_address_is_not_refused() -> None:
    limits = Rates()

    for number in range(300):
        for act, count in ((Act.RUN, 3), (Act.SUBMIT, 1), (Act.WRITE, 40), (Act.FOLLOW, 1)):
            for _ in range(count):
                await limits.check(act, LearnerId(f"learner {number}"), "class")


async def test_a_script_that_drops_its_cookie_meets_the_address_s_limit() -> None:
    limits = Rates()

    for number in range(PER_MINUTE[Act.SUBMIT] * ADDRESS_FACTOR):
        await limits.check(Act.SUBMIT, LearnerId(f"new {number}"), "class")

    with pytest.raises(RateExceeded, match="Everybody at your network's address together may have 3000 submissions"):
        await limits.check(Act.SUBMIT, LearnerId("newest"), "class")


async def test_a_learner_keeps_so_much_in_a_day_and_is_told_what_is_safe() -> None:
    limits = Rates()
    await limits.check_bytes(Act.WRITE, HONEST, "class", BYTES_A_DAY)

    with pytest.raises(QuotaExceeded, match=r"You may have 16 MiB kept per day.*so far is safe"):
        await limits.check_bytes(Act.WRITE, HONEST, "class", 1)
    await limits.check_bytes(Act.WRITE, FLOODER, "class", 1)


async def test_pictures_that_followed_the_typing_all_day_leave_room_for_an_answer() -> None:
    limits = Rates()
    await limits.check_bytes(Act.TYPE, HONEST, "class", BYTES_A_DAY)

    await limits.check_bytes(Act.SUBMIT, HONEST, "class", BYTES_A_DAY)
    with pytest.raises(QuotaExceeded):
        await limits.check_bytes(Act.TYPE, HONEST, "class", 1)


async def test_too_much_text_is_refused_in_words(
    browser: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await browser.put("/api/drafts/exercises/double", json={"text": "x" * 1000})).status_code == 204
    monkeypatch.setattr(rates.Rates, "check_bytes", _refuse_bytes)

    answer = await browser.put("/api/drafts/exercises/double", json={"text": "x" * 1000})

    assert (answer.status_code, "kept per day" in answer.text) == (429, True)


async def _refuse_bytes(self: Rates, act: Act, learner: LearnerId | None, address: str, count: int) -> None:
    raise QuotaExceeded(BYTES_A_DAY)


async def test_near_a_full_disk_nothing_more_is_taken(
    browser: httpx2.AsyncClient, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "LEAST_FREE_BYTES", 1 << 62)

    answer = await browser.post(
        "/api/exercises/double/submissions", json={"source": "x", "idempotency_key": "k" * 16}
    )

    assert answer.status_code == 503
    assert "cannot save anything just now. Nothing was changed." in answer.text
    with pytest.raises(StorageRefused) as refusal:
        Disk(site.settings.data).check()
    assert "MiB left" in refusal.value.reason


def count(connection: Connection) -> tuple[int, ...]:
    found = (
        connection.execute(select(func.count()).select_from(table)) for table in (learners, sessions, submissions)
    )
    return tuple(one.scalar_one() for one in found)  # type: ignore[return-value]


async def test_a_learner_whom_no_session_leads_to_any_more_is_forgotten(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await browser.post("/api/exercises/double/submissions", json=ANSWER)
    clock.pass_days(399)
    await stranger.post("/chapters/a-first-graph/read")
    assert await site.store.forget_unreachable(clock()) == 0
    clock.pass_days(2)

    assert await site.store.forget_unreachable(clock()) == 1
    assert await site.ledger.database.read(count) == (1, 1, 0)


async def test_a_learner_who_has_only_just_come_is_not_swept(site: Site, clock: StoppedClock) -> None:
    """The first thing they left is committed a moment before their session."""
    await site.store.save_draft(HONEST, "exercises/double", "x", clock())  # type: ignore[arg-type]

    assert await site.store.forget_unreachable(clock() + timedelta(hours=23)) == 0
    assert await site.store.forget_unreachable(clock() + timedelta(hours=25)) == 1


@pytest.mark.parametrize(
    "header",
    ["localhost", "LOCALHOST:8000", "127.0.0.1:8000", "[::1]:8000", "192.168.1.20", "site:8000", "course.example"],
)
def test_a_name_of_ours_is_answered(header: str) -> None:
    assert hosts.is_ours(header, hosts.read_hosts("course.example, other.example"))


@pytest.mark.parametrize("header", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "a.b:c"])
def test_another_name_is_not(header: str) -> None:
    assert not hosts.is_ours(header, hosts.read_hosts("course.example"))


async def test_a_request_under_another_name_is_refused_and_the_name_not_repeated(browser: httpx2.AsyncClient) -> None:
    answer = await browser.get("/course/", headers={"host": "evil.example"})

    assert answer.status_code == 421
    assert "evil" not in answer.text + str(answer.headers)


async def test_a_slash_too_many_stays_on_the_site(browser: httpx2.AsyncClient, app: FastAPI) -> None:
    answer = await browser.get("/course/")

    assert (answer.status_code, answer.headers["location"]) == (307, "/course")
