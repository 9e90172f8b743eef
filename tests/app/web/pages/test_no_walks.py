"""No request walks the blocks of the course or reads its files: what pages look up was gathered when it was read."""

import shutil
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from site_parts import COURSE, FRAGMENT, FakeWorker

from app.course.block_tree import blocks_within
from app.course.gallery import read_snippet
from app.course.index import index_blocks
from app.course.loader import load_course
from app.course.model import index_course
from app.course.symptoms import read_symptoms

CHAPTER = "/chapters/a-first-graph"
PAGES = [
    "/",
    "/course",
    "/modules/start",
    CHAPTER,
    "/chapters/a-second-look",
    "/problems",
    "/exercises/double",
    "/claims",
    "/course/papers",
    "/glossary",
    "/debugging?q=gradient",
    "/play",
    "/me",
    "/api/chapters/a-first-graph/graphs/square-graph",
]


@contextmanager
def counting(*functions: Any) -> Iterator[dict[str, int]]:
    """How often each of the functions is called in here, in any thread that begins in here too."""
    names: dict[CodeType, str] = {function.__code__: function.__name__ for function in functions}
    calls: dict[str, int] = {}

    def look(frame: FrameType, event: str, _arg: object) -> None:
        if event == "call" and frame.f_code in names:
            calls[names[frame.f_code]] = calls.get(names[frame.f_code], 0) + 1

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        yield calls
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


SCANS = (blocks_within, index_blocks, index_course, read_symptoms, read_snippet)


def test_reading_a_course_walks_its_blocks_and_is_counted() -> None:
    with counting(*SCANS) as calls:
        load_course(COURSE)

    assert set(calls) == {scan.__name__ for scan in SCANS}


@pytest.mark.parametrize("address", PAGES)
async def test_no_page_walks_the_course(browser: httpx2.AsyncClient, address: str) -> None:
    await browser.post(f"{CHAPTER}/read")
    with counting(*SCANS) as calls:
        answer = await browser.get(address)

    assert answer.status_code == 200
    assert calls == {}


async def test_nothing_that_a_reader_does_walks_the_course(browser: httpx2.AsyncClient, worker: FakeWorker) -> None:
    run = {"source": "y = x * x", "chapter": "a-first-graph", "cell": "square-cell"}
    with counting(*SCANS) as calls:
        answers = [
            await browser.post(f"{CHAPTER}/predictions/double-use", data={"option": "dont-know"}, headers=FRAGMENT),
            await browser.post(f"{CHAPTER}/answers/how-many-nodes", data={"number": "1"}, headers=FRAGMENT),
            await browser.post("/api/runs", json=run),
            await browser.put("/api/drafts/chapters/a-first-graph/square-cell", json={"text": "x = 1"}),
            await browser.put("/api/position", json={"chapter": "a-first-graph", "anchor": "boxes"}),
        ]

    assert [answer.status_code for answer in answers] == [200, 200, 200, 204, 204]
    assert calls == {}


async def test_the_gallery_is_that_of_the_course_as_it_was_read(
    browser: httpx2.AsyncClient, app: FastAPI, tmp_path: Path
) -> None:
    root = Path(shutil.copytree(COURSE, tmp_path / "course"))
    course = load_course(root)[0]
    app.state.site = replace(app.state.site, read_course=lambda: course)
    shutil.rmtree(root / "gallery")

    assert "Two ways to one loss" in (await browser.get("/play")).text
