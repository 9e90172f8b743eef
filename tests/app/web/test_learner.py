"""A learner without an account: a cookie that comes with the first thing worth keeping."""

import hashlib

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import SecretStr
from site_parts import StoppedClock

from app.main import create_app
from app.settings import Env, Settings
from app.web.site import Site
from app.web.visit import read_token, sign_token
from graders.contract.model import LearnerId

READ = "/chapters/a-first-graph/read"


@pytest.mark.parametrize("path", ["/", "/course", "/chapters/a-first-graph", "/exercises/double", "/claims", "/me"])
async def test_reading_makes_no_learner(browser: httpx2.AsyncClient, path: str) -> None:
    assert "set-cookie" not in (await browser.get(path)).headers


async def test_scrolling_makes_no_learner_either(browser: httpx2.AsyncClient) -> None:
    answer = await browser.put("/api/place", json={"chapter": "a-first-graph", "anchor": "the-product"})

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

    token = browser.cookies["unwind"].partition(".")[0]
    learner = LearnerId(hashlib.sha256(token.encode()).hexdigest())
    assert (await site.store.export(learner))["learners"][0]["id"] == learner
    assert token not in str(await site.store.export(learner))


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
    await browser.put("/api/place", json={"chapter": "a-first-graph", "anchor": "the-product"})

    assert "/chapters/a-first-graph#the-product" in (await browser.get("/")).text
    assert "/chapters/a-first-graph#the-product" not in (await stranger.get("/")).text


async def test_a_place_that_does_not_exist_is_not_kept(browser: httpx2.AsyncClient) -> None:
    await browser.post(READ)

    assert (await browser.put("/api/place", json={"chapter": "a-first-graph", "anchor": "x"})).status_code == 404
    assert (await browser.put("/api/place", json={"chapter": "nope", "anchor": "x"})).status_code == 404
