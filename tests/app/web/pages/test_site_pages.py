"""The other pages: home, map, claims, help, static files, health, and errors in words."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI
from site_parts import HELLO, FakeWorker

from app.main import create_app
from app.settings import Settings
from app.web.edge.access import OPEN, RULES
from app.web.edge.assets import read_assets
from app.web.edge.errors import WORDS
from app.web.edge.site import Site
from app.web.views.outcomes import HEADLINES, NAMES
from graders.contract.results import Outcome


async def test_the_home_page_says_what_this_is_runs_something_and_starts_the_course(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    page = (await browser.get("/")).text

    assert "Two chapters, one exercise, every directive." in page
    assert 'href="/chapters/a-first-graph"' in page
    assert 'action="/runs"' in page


async def test_the_map_has_written_chapters_as_links_and_planned_ones_as_words(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/course")).text

    assert 'href="/chapters/a-second-look"' in page
    assert "A third thing" in page
    assert 'href="/chapters/a-third-thing"' not in page


async def test_claims_are_listed_with_the_myths_they_correct_and_their_evidence(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/claims")).text

    assert "A tensor that is used twice gets the gradient of its last use." in page
    assert "1 held" in page


async def test_the_help_says_when_a_question_comes_back(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/help")).text

    assert "after some 2, 11, 46 days, at most 60" in page
    assert "asks at most 20 questions, 5 of them for the first time" in page


async def test_the_help_names_the_limits_of_a_cell(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/help")).text

    assert "1024 MiB" in page
    assert "Ctrl or ⌘ + Enter" in page


def test_every_outcome_has_a_headline_and_a_name() -> None:
    assert set(HEADLINES) == set(Outcome) == set(NAMES)


def test_no_sentence_of_ours_ends_without_a_full_stop() -> None:
    assert [line for line in HEADLINES.values() if not line.endswith(".")] == []
    assert [words for words in WORDS.values() if not (words.message + words.remedy).endswith(".")] == []


async def test_an_error_is_a_page_for_readers_and_json_for_programs(browser: httpx2.AsyncClient) -> None:
    page, answer = await browser.get("/nowhere"), await browser.get("/api/nowhere")

    assert (page.status_code, answer.status_code) == (404, 404)
    assert "Page not found" in page.text
    assert answer.json() == {"status": 404, **WORDS[404].__dict__}


async def test_a_wrong_method_is_said_in_words(browser: httpx2.AsyncClient) -> None:
    answer = await browser.post("/course")

    assert (answer.status_code, set(answer.headers["allow"].split(", "))) == (405, {"GET", "HEAD"})
    assert "does not accept such a request" in answer.text


async def test_a_bug_of_ours_tells_nothing_of_the_inside(
    app: FastAPI, browser: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(RULES, "/broken", OPEN)  # type: ignore[arg-type]

    @app.get("/broken")
    async def broken() -> None:
        raise RuntimeError("the inside of the server")

    answer = await browser.get("/broken")

    assert answer.status_code == 500
    assert "Our fault" in answer.text
    assert "inside of the server" not in answer.text
    assert "content-security-policy" in answer.headers


async def test_the_process_is_alive_without_a_grader_and_not_ready(browser: httpx2.AsyncClient) -> None:
    alive, ready = await browser.get("/healthz"), await browser.get("/readyz")

    assert (alive.status_code, ready.status_code) == (200, 503)
    assert ready.json() == {"ready": False, "profiles": [], "graders": []}


async def test_the_operators_page_shows_each_grader_with_its_profile_and_the_queues(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    page = (await browser.get("/operator")).text

    assert HELLO.worker in page
    assert "P2: the same from an ordinary user, in a user namespace" in page
    assert "12 of 12" in page
    assert "0 waiting, 0 running" in page


async def test_the_operators_page_says_that_nobody_serves(browser: httpx2.AsyncClient) -> None:
    assert "No grader has reported lately" in (await browser.get("/operator")).text


async def test_readiness_names_the_isolation_profile(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    ready = await browser.get("/readyz")

    assert ready.status_code == 200
    assert ready.json()["profiles"] == [HELLO.profile]
    assert "refused" not in ready.json()["graders"][0]


async def test_numbers_for_operators_hold_patterns_and_no_ids(
    browser: httpx2.AsyncClient, worker: FakeWorker
) -> None:
    page = (await browser.post("/runs", data={"source": "1"})).headers["location"]
    await browser.get(page)

    text = (await browser.get("/metrics")).text

    labels = 'http_request_method="GET",http_response_status_code="200",http_route="/runs/{run_id}"'
    assert f"http_server_request_duration_seconds_count{{{labels}}} 1.0" in text
    assert 'unwind_jobs_total{kind="run"} 1.0' in text
    assert "unwind_grader_slots 1.0" in text
    assert page.rpartition("/")[2] not in text


async def test_the_api_describes_itself(browser: httpx2.AsyncClient) -> None:
    paths = (await browser.get("/api/openapi.json")).json()["paths"]

    assert {path: sorted(methods) for path, methods in paths.items()} == {
        "/api/runs": ["post"],
        "/api/runs/{run_id}/stop": ["post"],
        "/api/runs/{run_id}/graph": ["get"],
        "/api/runs/{run_id}/whole": ["get"],
        "/api/chapters/{slug}/graphs/{graph_id}/tape": ["get"],
        "/api/home/tape": ["get"],
        "/api/runs/{run_id}/trace": ["get"],
        "/api/runs/{run_id}/figure": ["get"],
        "/api/chapters/{slug}/graphs/{graph_id}": ["get"],
        "/api/exercises/{name}/submissions": ["post"],
        "/api/submissions/{submission_id}": ["get"],
        "/api/submissions/{submission_id}/events": ["get"],
        "/api/submissions/{submission_id}/stop": ["post"],
        "/api/exercises/{name}/checks": ["post"],
        "/api/drafts/{key}": ["put"],
        "/api/position": ["put"],
        "/api/search": ["get"],
        "/api/drill/{graph}": ["get"],
        "/api/drill/{graph}/tape": ["get"],
    }


@pytest.fixture
def static(tmp_path: Path) -> Path:
    (tmp_path / "dist").mkdir()
    (tmp_path / "fonts").mkdir()
    (tmp_path / "dist" / "site.css").write_text("body { color: black }" * 40, encoding="utf-8")
    (tmp_path / "dist" / "notes.py").write_text("secret", encoding="utf-8")
    (tmp_path / "fonts" / "text.woff2").write_bytes(b"wOF2")
    return tmp_path


@pytest.fixture
async def visitor(settings: Settings, static: Path) -> AsyncIterator[httpx2.AsyncClient]:
    app = create_app(settings, assets=read_assets(static))
    async with (
        app.router.lifespan_context(app),
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://testserver") as client,
    ):
        yield client


async def test_a_bundle_is_kept_forever_under_its_hash(visitor: httpx2.AsyncClient, static: Path) -> None:
    url = read_assets(static).url("site.css")
    answer = await visitor.get(url)
    again = await visitor.get(url, headers={"if-none-match": answer.headers["etag"]})

    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-encoding"] == "gzip"
    assert answer.text.startswith("body {")
    assert again.status_code == 304


async def test_an_old_hash_gets_todays_file_and_is_asked_to_check_again(visitor: httpx2.AsyncClient) -> None:
    answer = await visitor.get("/static/0123456789ab/fonts/text.woff2")

    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")


@pytest.mark.parametrize(
    "path", ["dist/notes.py", "dist/..%2f..%2fpackage.json", "dist/", "%2e%2e/README.md", "src/site.ts"]
)
async def test_nothing_but_bundles_and_fonts_is_served(visitor: httpx2.AsyncClient, path: str) -> None:
    assert (await visitor.get(f"/static/x/{path}")).status_code == 404


def test_a_changed_file_changes_every_url(static: Path) -> None:
    before = read_assets(static)
    (static / "fonts" / "text.woff2").write_bytes(b"wOF3")

    assert read_assets(static).url("site.css") != before.url("site.css")


async def test_the_rules_of_formulas_come_under_their_hash(browser: httpx2.AsyncClient, site: Site) -> None:
    page = (await browser.get("/")).text
    url = re.search(r'href="(/course/[0-9a-f]+/math\.css)"', page)
    assert url
    answer = await browser.get(url.group(1))

    assert answer.text == site.read_course().math_css
    assert "immutable" in answer.headers["cache-control"]
