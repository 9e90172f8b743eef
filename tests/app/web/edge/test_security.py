"""What every response carries, and what every unsafe request must show."""

import re
from collections.abc import Iterator

import httpx2
import pytest
from fastapi import FastAPI

from app.main import MAX_BODY_BYTES, create_app
from app.settings import Settings
from app.web.edge.rates import Rates

PATHS = ("/", "/chapters/a-first-graph", "/nowhere", "/healthz", "/static/old/dist/mark.svg", "/api/openapi.json")
PREDICTION = "/chapters/a-first-graph/predictions/double-use"


@pytest.mark.parametrize("path", PATHS)
async def test_every_response_has_the_policy_and_the_headers(browser: httpx2.AsyncClient, path: str) -> None:
    headers = (await browser.get(path)).headers

    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self' 'nonce-")
    assert "unsafe" not in policy
    assert "style-src-attr 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-opener-policy"] == "same-origin"


@pytest.mark.parametrize("path", ["/static/old/dist/site.js", "/static/old/dist/site.css"])
async def test_a_script_and_a_style_sheet_grant_nothing_if_they_are_opened_as_a_page(
    browser: httpx2.AsyncClient, path: str
) -> None:
    headers = (await browser.get(path)).headers

    assert headers["content-security-policy"] == "default-src 'none'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"


async def test_a_nonce_is_used_once_and_stands_in_its_page(browser: httpx2.AsyncClient) -> None:
    first, second = await browser.get("/help"), await browser.get("/help")

    nonces = [
        re.search(r"'nonce-([^']+)'", page.headers["content-security-policy"]).group(1) for page in (first, second)
    ]
    assert nonces[0] != nonces[1]
    assert nonces[0] in first.text


async def test_a_page_needs_nothing_that_its_policy_forbids(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/chapters/a-first-graph")).text

    assert re.search(r"\sstyle=", page) is None
    assert re.search(r"<style", page) is None
    assert re.search(r"\son[a-z]+=", page) is None
    assert re.search(r"""(?:src|href)=["'](?:https?:)?//""", page) is None


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://elsewhere.example"},
        {"origin": "null"},
        {"origin": ""},
        {"sec-fetch-site": "cross-site", "origin": "http://testserver"},
    ],
)
async def test_a_form_sent_from_elsewhere_changes_nothing(
    browser: httpx2.AsyncClient, headers: dict[str, str]
) -> None:
    form = {"option": "dont-know"}

    refused = await browser.post(PREDICTION, data=form, headers=headers)

    assert refused.status_code == 403
    assert "set-cookie" not in refused.headers
    assert "content-security-policy" in refused.headers


@pytest.mark.parametrize(
    "headers", [{}, {"sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}, {"origin": "http://testserver"}]
)
async def test_a_form_of_ours_is_taken(browser: httpx2.AsyncClient, headers: dict[str, str]) -> None:
    assert (await browser.post(PREDICTION, data={"option": "dont-know"}, headers=headers)).status_code == 303


async def test_reading_from_elsewhere_is_allowed(browser: httpx2.AsyncClient) -> None:
    assert (await browser.get("/", headers={"sec-fetch-site": "cross-site"})).status_code == 200


async def test_a_body_that_says_it_is_too_long_is_refused_in_words(browser: httpx2.AsyncClient) -> None:
    refused = await browser.post("/api/runs", content=b"x" * (MAX_BODY_BYTES + 1))

    assert refused.status_code == 413
    assert refused.json()["headline"] == "Too long"
    assert "content-security-policy" in refused.headers


async def test_a_body_that_lies_about_its_length_is_cut_off_while_it_streams(browser: httpx2.AsyncClient) -> None:
    sent = 0

    async def endless() -> "Iterator[bytes]":  # type: ignore[misc]
        nonlocal sent
        for _ in range(1000):
            sent += 64 * 1024
            yield b"x" * 64 * 1024

    refused = await browser.post("/api/runs", content=endless())

    assert refused.status_code == 413
    assert sent < 4 * MAX_BODY_BYTES


@pytest.mark.parametrize(
    "path", ["/", "/course", "/chapters/a-first-graph", "/exercises/double", "/claims", "/me", "/help", "/healthz"]
)
async def test_head_is_answered_like_get_without_a_body(browser: httpx2.AsyncClient, path: str) -> None:
    get, head = await browser.get(path), await browser.head(path)

    assert (head.status_code, head.headers["content-type"]) == (get.status_code, get.headers["content-type"])


async def test_a_form_in_an_encoding_of_its_own_is_refused_in_words(browser: httpx2.AsyncClient) -> None:
    """Python's own "unicode_escape" makes half a character of six letters, which breaks whatever stores it."""
    part = 'Content-Disposition: form-data; name="iss"\r\n\r\n\\ud800'

    refused = await browser.post(
        "/lti/login",
        content=f"--B\r\n{part}\r\n--B--\r\n",
        headers={"content-type": "multipart/form-data; boundary=B; charset=unicode_escape"},
    )

    assert refused.status_code == 400
    assert "this site reads UTF-8" in refused.text


@pytest.mark.parametrize(
    ("back", "location"),
    [
        ("/course", "/course"),
        ("/chapters/a-first-graph", "/chapters/a-first-graph"),
        ("//elsewhere.example", "/"),
        ("/\\elsewhere.example", "/"),
        ("/\t/elsewhere.example", "/"),
        ("https://elsewhere.example", "/"),
        ("javascript:alert(1)", "/"),
        ("", "/"),
    ],
)
async def test_no_form_sends_its_reader_to_another_site(
    browser: httpx2.AsyncClient, back: str, location: str
) -> None:
    answer = await browser.post("/theme", data={"theme": "dark", "back": back})

    assert (answer.status_code, answer.headers["location"]) == (303, location)


async def test_the_theme_is_kept_and_stands_in_the_page(browser: httpx2.AsyncClient) -> None:
    await browser.post("/theme", data={"theme": "dark", "back": "/"})

    assert 'data-theme="dark"' in (await browser.get("/")).text


async def test_a_made_up_theme_is_refused_and_a_made_up_cookie_ignored(browser: httpx2.AsyncClient) -> None:
    assert (await browser.post("/theme", data={"theme": '"><script>'})).status_code == 422
    browser.cookies.set("unwind-theme", "purple")
    assert 'data-theme="auto"' in (await browser.get("/")).text


async def test_too_many_runs_in_a_minute_are_refused_with_a_time_to_wait(settings: Settings) -> None:
    app: FastAPI = create_app(settings, rates=Rates(factor=0.05))
    async with app.router.lifespan_context(app):
        transport = httpx2.ASGITransport(app=app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver") as browser:
            answers = [await browser.post("/runs", data={"source": "1"}) for _ in range(4)]

    assert [answer.status_code for answer in answers] == [303, 303, 429, 429]
    assert answers[-1].headers["retry-after"] == "30"
    assert "may have 2 runs of code per minute" in answers[-1].text


async def test_a_script_that_drops_its_cookie_meets_the_limit_of_its_address(settings: Settings) -> None:
    app: FastAPI = create_app(settings, rates=Rates(factor=0.0025))
    async with app.router.lifespan_context(app):
        transport = httpx2.ASGITransport(app=app)
        statuses = []
        for _ in range(12):
            async with httpx2.AsyncClient(transport=transport, base_url="http://testserver") as browser:
                statuses.append((await browser.post("/runs", data={"source": "1"})).status_code)

    assert statuses == [303] * 10 + [429] * 2
