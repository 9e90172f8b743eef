"""A submission asks for the exercise as its files are on the website; an operator sees which grader has others."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI
from site_parts import HELLO, FakeWorker, read_stream

from app.course.model import Exercise
from app.web.edge.exercise_digest import read_digest
from app.web.edge.site import Site
from graders.contract.jobs import GradeJob
from graders.contract.product import VERSION


@pytest.fixture
def double(app: FastAPI, tmp_path: Path) -> Exercise:
    """An exercise of the site whose files a test may edit."""
    site: Site = app.state.site
    course = site.read_course()
    exercise = replace(course.exercises["double"], folder=tmp_path / "exercises" / "double")
    shutil.copytree(course.exercises["double"].folder, exercise.folder)
    edited = replace(course, exercises={**course.exercises, "double": exercise})
    app.state.site = replace(site, read_course=lambda: edited)
    return exercise


async def hand_in(browser: httpx2.AsyncClient, key: str) -> None:
    accepted = await browser.post(
        "/api/exercises/double/submissions", json={"source": "x = 1", "idempotency_key": key}
    )
    read_stream(await browser.get(accepted.json()["events"]))


async def test_a_job_asks_for_the_version_that_the_files_have_when_it_is_handed_in(
    browser: httpx2.AsyncClient, worker: FakeWorker, double: Exercise
) -> None:
    before = read_digest(double.folder)
    await hand_in(browser, "before-the-edit")
    (double.folder / "prompt.md").write_text("Another prompt.")
    await hand_in(browser, "another-prompt")
    (double.folder / "cases.py").write_text("# other cases")
    await hand_in(browser, "other-cases")

    asked = [job.exercise_digest for job in worker.jobs if isinstance(job, GradeJob)]
    assert asked == [before, before, read_digest(double.folder)]
    assert len(set(asked)) == 2


async def test_the_operators_page_says_what_waits_because_nobody_can_judge_it(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    same = {name: read_digest(exercise.folder) for name, exercise in site.read_course().exercises.items()}
    await browser.post("/api/exercises/double/submissions", json={"source": "x = 1", "idempotency_key": "a" * 16})
    unserved = (await browser.get("/operator")).text
    assert "<td>cpu</td><td>all of the queue</td><td>1</td>" in unserved
    assert "start a grader with --queue cpu" in unserved

    hello = HELLO.model_copy(update={"version": "0.0.9", "code": "c0de", "exercises": same | {"double": "0" * 16}})
    await site.ledger.say_hello(hello)
    page = (await browser.get("/operator")).text
    assert f"<td>cpu</td><td>double in version {same['double']}</td><td>1</td>" in page
    assert f"<td>double</td><td>{same['double']}</td><td>{'0' * 16}: fake-1</td>" in page
    assert f"The versions of Unwind differ: 0.0.9 (fake-1); {VERSION} (the website)." in page
    assert "<dt>Unwind</dt><dd>0.0.9, code c0de</dd>" in page


async def test_the_operators_page_says_which_exercises_a_grader_has_in_another_version(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    exercises = site.read_course().exercises
    same = {name: read_digest(exercise.folder) for name, exercise in exercises.items()}
    other = {name: digest for name, digest in same.items() if name != "early-meetings"} | {"double": "0" * 16}
    for name, has in (("same", same), ("other", other), ("any", None)):
        await site.ledger.say_hello(HELLO.model_copy(update={"worker": name, "exercises": has}))

    page = (await browser.get("/operator")).text

    told = re.findall(r"<h3>(.*?)</h3>.*?<dt>Exercises</dt><dd>(.*?)</dd>", page, re.DOTALL)
    assert dict(told) == {
        "any": "judged in any version",
        "other": "another version of double; without early-meetings",
        "same": "the website&#39;s versions",
    }
