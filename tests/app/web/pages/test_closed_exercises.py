"""An exercise is closed where no running grader has what it needs: the kernel's count of memory, or a card."""

from dataclasses import replace

import httpx2
import pytest
from fastapi import FastAPI
from site_parts import HELLO, FakeWorker

from app.web.edge.site import Site
from graders.contract.jobs import Device, Queue

NEEDS = {
    "a meter": ({"memory_meter": True}, {"memory_cgroup": True}),
    "a card": ({"device": Device.GPU}, {"queue": Queue.GPU, "device": "a card"}),
}
"""What the exercise says, and what a grader that can judge it says."""
needing = pytest.mark.parametrize("need", NEEDS)


def ask_for(app: FastAPI, need: str) -> None:
    site: Site = app.state.site
    exercise = site.read_course().exercises["double"]
    measured = replace(exercise, manifest=exercise.manifest.model_copy(update=NEEDS[need][0]))
    course = replace(site.read_course(), exercises={**site.read_course().exercises, "double": measured})
    app.state.site = replace(site, read_course=lambda: course)


CLOSED = "This exercise is closed on this site"
ANSWER = {"source": "x = 1", "idempotency_key": "0123456789abcdef"}


@needing
async def test_the_page_says_that_the_exercise_is_closed_and_its_buttons_are_off(
    browser: httpx2.AsyncClient, app: FastAPI, worker: FakeWorker, need: str
) -> None:
    open_page = (await browser.get("/exercises/double")).text
    assert (CLOSED in open_page, "data-submit disabled" in open_page) == (False, False)
    ask_for(app, need)
    closed_page = (await browser.get("/exercises/double")).text
    assert (CLOSED in closed_page, "data-submit disabled" in closed_page) == (True, True)


@pytest.mark.parametrize("what", ["submissions", "checks"])
@needing
async def test_nothing_can_be_submitted_and_the_text_is_kept(
    browser: httpx2.AsyncClient, app: FastAPI, worker: FakeWorker, what: str, need: str
) -> None:
    ask_for(app, need)
    by_script = await browser.post(f"/api/exercises/double/{what}", json=ANSWER)
    by_form = await browser.post(f"/exercises/double/{what}", data=ANSWER)

    assert (by_script.status_code, by_form.status_code) == (409, 409)
    assert by_script.json()["message"].startswith(CLOSED)
    assert CLOSED in by_form.text
    assert "x = 1" in by_form.text
    assert worker.jobs == []


@needing
async def test_with_a_grader_that_can_judge_it_is_open(
    browser: httpx2.AsyncClient, app: FastAPI, worker: FakeWorker, need: str
) -> None:
    ask_for(app, need)
    await worker.ledger.say_hello(HELLO.model_copy(update={"worker": "another", **NEEDS[need][1]}))
    assert CLOSED not in (await browser.get("/exercises/double")).text
    assert (await browser.post("/api/exercises/double/submissions", json=ANSWER)).status_code == 202


@needing
async def test_without_any_grader_it_is_open_and_what_comes_waits(
    browser: httpx2.AsyncClient, app: FastAPI, need: str
) -> None:
    ask_for(app, need)
    assert CLOSED not in (await browser.get("/exercises/double")).text


async def test_an_exercise_on_a_gpu_says_how_much_of_it_the_reader_may_have(
    browser: httpx2.AsyncClient, app: FastAPI
) -> None:
    assert "your time on the GPU" not in (await browser.get("/exercises/double")).text
    ask_for(app, "a card")
    page = (await browser.get("/exercises/double")).text
    assert "<dt>GPU memory</dt><dd>4096 MiB</dd>" in page
    assert "<dt>your time on the GPU</dt><dd>0 of 600 s used within the last hour</dd>" in page
