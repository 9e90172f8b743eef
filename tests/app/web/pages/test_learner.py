"""A learner without an account: a cookie that comes with the first thing worth keeping."""

from dataclasses import replace
from datetime import timedelta

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import SecretStr
from site_parts import StoppedClock
from sqlalchemy import Connection, select

from app.access.tokens import hash_token
from app.main import create_app
from app.settings import Env, Settings
from app.storage.records import Session
from app.storage.tables import sessions
from app.web.edge.identity import read_token, sign_token
from app.web.edge.site import Site

READ = "/chapters/a-first-graph/read"


def token_of(browser: httpx2.AsyncClient) -> str:
    return browser.cookies["unwind"].partition(".")[0]


async def session_of(browser: httpx2.AsyncClient, site: Site) -> Session:
    found = await site.store.sessions.find(hash_token(token_of(browser)), site.clock())
    assert found is not None
    return found


def count_sessions(connection: Connection) -> int:
    return len(connection.execute(select(sessions)).all())


@pytest.mark.parametrize("path", ["/", "/course", "/chapters/a-first-graph", "/exercises/double", "/claims", "/me"])
async def test_reading_makes_no_learner(browser: httpx2.AsyncClient, path: str) -> None:
    assert "set-cookie" not in (await browser.get(path)).headers


async def test_scrolling_makes_no_learner_either(browser: httpx2.AsyncClient) -> None:
    answer = await browser.put("/api/position", json={"chapter": "a-first-graph", "anchor": "the-product"})

    assert (answer.status_code, "set-cookie" in answer.headers) == (204, False)


async def test_the_first_thing_kept_brings_a_cookie_that_no_script_reads(browser: httpx2.AsyncClient) -> None:
    cookie = (await browser.post(READ)).headers["set-cookie"]

    assert {part.strip() for part in cookie.split(";")[1:]} == {
        "HttpOnly",
        "Max-Age=34560000",
        "Path=/",
        "SameSite=Lax",
    }


async def test_the_database_has_the_hash_and_never_the_cookie(browser: httpx2.AsyncClient, site: Site) -> None:
    await browser.post(READ)

    session = await session_of(browser, site)
    exported = await site.store.export(session.learner)
    assert exported["learners"][0]["id"] == session.learner
    assert token_of(browser) not in str(exported)


async def test_a_learner_s_id_cannot_be_told_from_their_cookie(browser: httpx2.AsyncClient, site: Site) -> None:
    await browser.post(READ)

    assert (await session_of(browser, site)).learner != hash_token(token_of(browser))


async def test_a_learner_may_have_many_sessions(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await browser.post(READ)
    await stranger.post(READ)
    first, second = await session_of(browser, site), await session_of(stranger, site)
    clock.pass_days(1)

    another = replace(second, token_hash="another", learner=first.learner, made_at=clock(), seen_at=clock())
    await site.store.sessions.keep(another, clock(), clock() + timedelta(days=1))

    assert await site.store.sessions.of_learner(first.learner, clock()) == (another, first)
    assert await site.store.sessions.of_learner(second.learner, clock()) == (second,)


async def test_a_revoked_session_is_nobody_and_its_token_is_never_used_again(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    await browser.put("/api/drafts/exercises/double", json={"text": "half done"})
    session, token = await session_of(browser, site), token_of(browser)
    assert "half done" in (await browser.get("/exercises/double")).text

    assert await site.store.sessions.end(session.learner, session.token_hash)

    assert "half done" not in (await browser.get("/exercises/double")).text
    await browser.post(READ)
    assert token_of(browser) != token
    assert (await session_of(browser, site)).learner != session.learner


async def test_nobody_ends_another_learner_s_session(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site
) -> None:
    await browser.post(READ)
    await stranger.post(READ)
    mine, theirs = await session_of(browser, site), await session_of(stranger, site)

    assert not await site.store.sessions.end(theirs.learner, mine.token_hash)
    assert await site.store.sessions.find(mine.token_hash, mine.seen_at) == mine


async def test_a_session_that_is_used_does_not_end_and_an_unused_one_does(
    browser: httpx2.AsyncClient, site: Site, clock: StoppedClock
) -> None:
    await browser.post(READ)
    learner = (await session_of(browser, site)).learner
    clock.pass_days(399)
    await browser.post(READ)
    clock.pass_days(399)
    assert (await session_of(browser, site)).learner == learner
    clock.pass_days(2)

    assert await site.store.sessions.find(hash_token(token_of(browser)), clock()) is None


async def test_a_failed_first_request_keeps_no_session(browser: httpx2.AsyncClient, site: Site) -> None:
    await browser.put("/api/drafts/exercises/nothing", json={"text": "x"})

    assert await site.ledger.database.read(count_sessions) == 0


async def test_the_cookie_is_secure_and_bound_to_its_host_outside_development(settings: Settings) -> None:
    production = settings.model_copy(update={"env": Env.PRODUCTION, "secret": SecretStr("x" * 40)})
    app: FastAPI = create_app(production)
    async with app.router.lifespan_context(app):
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="https://testserver") as browser:
            answer = await browser.post(READ)

    assert answer.headers["set-cookie"].startswith("__Host-unwind=")
    assert "; Secure" in answer.headers["set-cookie"]
    assert "strict-transport-security" in answer.headers


@pytest.mark.parametrize("cookie", ["", "made-up", "made.up", ".", "token.", "ü.ü"])
def test_a_cookie_that_we_did_not_sign_is_nobody(cookie: str) -> None:
    assert read_token(cookie, SecretStr("secret")) is None


def test_a_cookie_that_we_signed_is_read_back_by_the_same_secret_only() -> None:
    signed = sign_token("token", SecretStr("secret"))

    assert read_token(signed, SecretStr("secret")) == "token"
    assert read_token(signed, SecretStr("other")) is None


async def test_a_failed_request_leaves_no_cookie(browser: httpx2.AsyncClient) -> None:
    answer = await browser.put("/api/drafts/exercises/nothing", json={"text": "x"})

    assert (answer.status_code, "set-cookie" in answer.headers) == (404, False)


async def test_a_reader_finds_the_place_where_they_left(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, clock: StoppedClock
) -> None:
    await browser.post("/chapters/a-second-look/read")
    clock.pass_days(1)
    await browser.put("/api/position", json={"chapter": "a-first-graph", "anchor": "the-product"})

    assert "/chapters/a-first-graph#the-product" in (await browser.get("/")).text
    assert "/chapters/a-first-graph#the-product" not in (await stranger.get("/")).text


async def test_a_reader_who_has_finished_a_chapter_goes_on_with_the_next_unread_one(
    browser: httpx2.AsyncClient, clock: StoppedClock
) -> None:
    await browser.post("/chapters/a-first-graph/read")
    after_the_first = (await browser.get("/")).text
    clock.pass_days(1)
    await browser.post("/chapters/a-second-look/read")
    after_both = (await browser.get("/")).text

    assert "Go on with 1.2 A second look" in after_the_first
    assert "Go on with 1.2 A second look" in after_both


async def test_a_place_that_does_not_exist_is_not_kept(browser: httpx2.AsyncClient) -> None:
    await browser.post(READ)

    assert (await browser.put("/api/position", json={"chapter": "a-first-graph", "anchor": "x"})).status_code == 404
    assert (await browser.put("/api/position", json={"chapter": "nope", "anchor": "x"})).status_code == 404
