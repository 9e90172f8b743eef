"""An exercise that is judged by the kernel's count of memory is closed where nothing counts it."""

from dataclasses import replace

import httpx2
import pytest
from fastapi import FastAPI
from site_parts import HELLO, FakeWorker

from app.web.edge.site import Site


def ask_for_a_meter(app: FastAPI) -> None:
    site: Site = app.state.site
    exercise = site.read_course().exercises["double"]
    measured = replace(exercise, manifest=exercise.manifest.model_copy(update={"memory_meter": True}))
    course = replace(site.read_course(), exercises={**site.read_course().exercises, "double": measured})
    app.state.site = replace(site, read_course=lambda: course)


CLOSED = "This exercise is closed on this site"
ANSWER = {"source": "x = 1", "idempotency_key": "0123456789abcdef"}


async def test_the_page_says_that_the_exercise_is_closed_and_its_buttons_are_off(
    browser: httpx2.AsyncClient, app: FastAPI, worker: FakeWorker
) -> None:
    open_page = (await browser.get("/exercises/double")).text
    assert (CLOSED in open_page, "data-submit disabled" in open_page) == (False, False)
    ask_for_a_meter(app)
    closed_page = (await browser.get("/exercises/double")).text
    assert (CLOSED in closed_page, "data-submit disabled" in closed_page) == (True, True)


@pytest.mark.parametrize("what", ["submissions", "checks"])
async def test_nothing_can_be_submitted_and_the_text_is_kept(
    browser: httpx2.AsyncClient, app: FastAPI, worker: FakeWorker, what: str
) -> None:
    ask_for_a_meter(app)
    by_script = await browser.post(f"/api/exercises/double/{what}", json=ANSWER)
    by_form = await browser.post(f"/exercises/double/{what}", data=ANSWER)

    assert (by_script.status_code, by_form.status_code) == (409, 409)
    assert by_script.json()["message"].startswith(CLOSED)
    assert CLOSED in by_form.text
    assert "x = 1" in by_form.text
    assert worker.jobs == []


async def test_with_a_grader_that_measures_it_is_open(
    browser: httpx2.AsyncClient, app: FastAPI, worker: FakeWorker
) -> None:
    ask_for_a_meter(app)
    await worker.ledger.say_hello(HELLO.model_copy(update={"worker": "metered", "memory_cgroup": True}))
    assert CLOSED not in (await browser.get("/exercises/double")).text
    assert (await browser.post("/api/exercises/double/submissions", json=ANSWER)).status_code == 202


async def test_without_any_grader_it_is_open_and_what_comes_waits(browser: httpx2.AsyncClient, app: FastAPI) -> None:
    ask_for_a_meter(app)
    assert CLOSED not in (await browser.get("/exercises/double")).text
