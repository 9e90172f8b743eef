"""Every answer and every log line about a request carry its id; the access log says nothing about who reads."""

import logging
from dataclasses import replace

import httpx2
import pytest
from fastapi import FastAPI

from app.main import create_app
from app.settings import Settings
from app.web.edge.site import Site
from graders.contract.log_lines import TextLine

ID = "x-request-id"


async def ask(settings: Settings, path: str, **headers: str) -> httpx2.Response:
    app = create_app(settings)
    async with app.router.lifespan_context(app):
        transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver") as client:
            return await client.get(path, headers=headers)


async def test_each_answer_has_an_id_of_its_own(browser: httpx2.AsyncClient) -> None:
    ids = {(await browser.get(path)).headers[ID] for path in ("/healthz", "/healthz", "/nowhere")}
    assert len(ids) == 3


async def test_no_log_holds_the_token_of_a_one_time_link(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "app.web.edge.request_log")
    await ask(settings.model_copy(update={"access_log": True}), "/link/abcdef")

    (line,) = [record.getMessage() for record in caplog.records if "GET" in record.getMessage()]
    assert line.startswith("GET /link/... 404 ")


@pytest.mark.parametrize(
    ("trusted", "given", "taken"),
    [
        (True, "from-the-proxy-1", True),
        (True, "spaces and\x7f", False),
        (True, "short", False),
        (False, "from-the-proxy-1", False),
    ],
)
async def test_only_a_trusted_proxy_names_requests(
    settings: Settings, trusted: bool, given: str, taken: bool
) -> None:
    answer = await ask(settings.model_copy(update={"trust_proxy": trusted}), "/healthz", **{ID: given})
    assert (answer.headers[ID] == given) is taken


async def test_the_access_log_has_method_path_status_and_id_and_no_more(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "app.web.edge.request_log")
    caplog.handler.setFormatter(TextLine("website"))
    answer = await ask(settings.model_copy(update={"access_log": True}), "/nowhere?secret=1", cookie="learner=ann")

    (line,) = [line for line in caplog.text.splitlines() if "GET" in line]
    assert " INFO website: GET /nowhere 404 " in line
    assert line.endswith(f" ms [request {answer.headers[ID]}]")
    assert not any(word in line for word in ("secret", "learner", "ann", "127.0.0.1"))


async def test_without_the_setting_nothing_is_logged(
    browser: httpx2.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    await browser.get("/healthz")
    assert [record for record in caplog.records if record.name == "app.web.edge.request_log"] == []


async def test_a_fault_is_logged_under_the_id_that_its_page_shows(
    browser: httpx2.AsyncClient, app: FastAPI, caplog: pytest.LogCaptureFixture
) -> None:
    site: Site = app.state.site

    def fail() -> None:
        raise RuntimeError("a bug")

    app.state.site = replace(site, read_course=fail)
    caplog.handler.setFormatter(TextLine("website"))
    answer = await browser.get("/api/home/tape")
    assert answer.status_code == 500
    request = answer.headers[ID]
    assert request in answer.json()["message"]
    assert any(f"fault at GET /api/home/tape [request {request}]" in line for line in caplog.text.splitlines())


async def test_a_submission_keeps_the_id_of_the_request_that_made_it(browser: httpx2.AsyncClient, site: Site) -> None:
    answer = await browser.post(
        "/api/exercises/double/submissions", json={"source": "x = 1", "idempotency_key": "with-a-request"}
    )
    claim = await site.ledger.claim(answer.json()["id"], "any-grader")

    assert claim is not None
    assert claim.request == answer.headers[ID]
