"""An exercise that is judged by the kernel's count of memory says so where nothing counts."""

from dataclasses import replace

import httpx2
from fastapi import FastAPI
from site_parts import FakeWorker

from app.web.edge.site import Site


def ask_for_a_meter(app: FastAPI) -> None:
    site: Site = app.state.site
    exercise = site.read_course().exercises["double"]
    measured = replace(exercise, manifest=exercise.manifest.model_copy(update={"memory_meter": True}))
    course = replace(site.read_course(), exercises={**site.read_course().exercises, "double": measured})
    app.state.site = replace(site, read_course=lambda: course)


async def test_a_page_warns_before_a_submission_that_nobody_could_judge(
    browser: httpx2.AsyncClient, app: FastAPI, worker: FakeWorker
) -> None:
    assert "can measure the memory" not in (await browser.get("/exercises/double")).text
    ask_for_a_meter(app)
    assert "no running grader can measure it" in (await browser.get("/exercises/double")).text


async def test_without_any_grader_yet_nothing_is_said(browser: httpx2.AsyncClient, app: FastAPI) -> None:
    ask_for_a_meter(app)
    assert "can measure the memory" not in (await browser.get("/exercises/double")).text
