"""The operator publishes a version of the course while readers read; each sees one version, and no request fails."""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI
from people import make_account, sign_in
from site_parts import COURSE, StoppedClock

from app.main import create_app
from app.publishing import add_version
from app.settings import Settings
from app.web.edge.assets import Assets
from app.web.edge.rates import Rates
from app.web.edge.site import Site
from graders.contract.course_versions import version_folder

PAGE = "/operator/course"
CHAPTER = "/chapters/a-first-graph"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
FIRST, SECOND = "Both operands are", "Both sides are"
PROSE, NEW_PROSE = "Code that is only read", "Code that nobody runs"


@pytest.fixture
async def app(settings: Settings, clock: StoppedClock, assets: Assets) -> AsyncIterator[FastAPI]:
    """A site that reads its course itself."""
    app = create_app(settings, clock=clock, rates=Rates(factor=100), assets=assets)
    async with app.router.lifespan_context(app):
        yield app


@pytest.fixture
async def operator(site: Site, browser: httpx2.AsyncClient) -> httpx2.AsyncClient:
    await make_account(site, "Eve", is_operator=True)
    await sign_in(browser, "Eve")
    return browser


def add_edited(site: Site, root: Path) -> str:
    """Add the fixture course with a sentence and an explanation changed; the new version's name."""
    shutil.copytree(COURSE, root)
    chapter = root / "chapters" / "a-first-graph" / "chapter.md"
    text = chapter.read_text(encoding="utf-8").replace(FIRST, SECOND).replace(PROSE, NEW_PROSE)
    chapter.write_text(text, encoding="utf-8")
    return add_version(root, site.settings.data, NOON).version


async def test_an_operator_sees_what_would_change_publishes_it_and_goes_back(
    operator: httpx2.AsyncClient, site: Site, tmp_path: Path
) -> None:
    version = await asyncio.to_thread(add_edited, site, tmp_path / "edited")
    before = (await operator.get(PAGE)).text
    assert "1 change from what is live" in before
    assert "questions and predictions that changed: double-use" in before

    published = await operator.post(PAGE, data={"version": version})
    assert (published.status_code, published.headers["location"]) == (303, PAGE)
    assert site.read_course().root == version_folder(site.settings.data, version)
    after = (await operator.get(PAGE)).text
    assert "Go back to given" in after
    assert "change from what is live" not in after

    assert (await operator.post(PAGE, data={"version": "given"})).status_code == 303
    assert site.read_course().root == COURSE
    lines = await site.store.accounts.audit_lines()
    told = [(line.actor, line.object, line.before) for line in lines if line.verb == "publish the course"]
    assert told == [("Eve", "given", version), ("Eve", version, "given")]


async def test_an_operator_looks_at_a_version_before_it_is_live(
    operator: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, tmp_path: Path
) -> None:
    version = await asyncio.to_thread(add_edited, site, tmp_path / "edited")
    there = f"{PAGE}/{version}/chapters/a-first-graph"
    assert f'href="{there}"' in (await operator.get(PAGE)).text

    peeked, live = (await operator.get(there)).text, (await operator.get(CHAPTER)).text
    assert (PROSE in live, NEW_PROSE in live, PROSE in peeked, NEW_PROSE in peeked) == (True, False, False, True)
    assert f"You look at the version {version}" in peeked
    assert "You look at the version" not in live
    assert "data-version" not in peeked
    assert "/chapters/a-first-graph/figures/" in live
    assert f'="{CHAPTER}/figures/' not in peeked
    figures = set(re.findall(rf"{there}/figures/[\w.-]+", peeked))
    assert figures
    assert {(await operator.get(figure)).status_code for figure in figures} == {200}
    assert (await operator.get(f"{PAGE}/{version}/exercises/double")).status_code == 200
    for path in (f"{PAGE}/{version}/chapters/nowhere", f"{PAGE}/20260301-120000-0123abcd/chapters/a-first-graph"):
        assert (await operator.get(path)).status_code == 404
    assert (await stranger.get(there)).status_code == 303


@pytest.mark.parametrize("version", ["20260301-120000-0123abcd", "../../etc", "x" * 40])
async def test_what_is_no_version_is_refused_in_words(operator: httpx2.AsyncClient, site: Site, version: str) -> None:
    refused = await operator.post(PAGE, data={"version": version})

    assert refused.status_code == 422
    assert "version" in refused.text
    assert site.read_course().root == COURSE


async def test_a_version_that_was_broken_in_its_folder_does_not_go_live(
    operator: httpx2.AsyncClient, site: Site, tmp_path: Path
) -> None:
    version = await asyncio.to_thread(add_edited, site, tmp_path / "edited")
    (version_folder(site.settings.data, version) / "course.toml").write_text("[", encoding="utf-8")

    refused = await operator.post(PAGE, data={"version": version})

    assert refused.status_code == 422
    assert "course.toml:1" in refused.text
    assert (await operator.get(CHAPTER)).status_code == 200


async def test_an_answer_keeps_the_version_that_its_learner_saw(
    operator: httpx2.AsyncClient, site: Site, tmp_path: Path
) -> None:
    version = await asyncio.to_thread(add_edited, site, tmp_path / "edited")
    given = site.read_course().version
    await operator.post(f"{CHAPTER}/answers/how-many-nodes", data={"number": "1"})
    await operator.post(PAGE, data={"version": version})
    await operator.post(f"{CHAPTER}/predictions/double-use", data={"option": "dont-know"})
    eve = await site.store.accounts.find_by_name("Eve")
    assert eve is not None

    history = await site.store.history(eve.learner, "a-first-graph")

    assert history.answers[0].course_version == given
    assert history.predictions["double-use"].course_version == site.read_course().version != given


async def test_a_page_is_told_that_its_chapter_has_another_version(
    operator: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, tmp_path: Path
) -> None:
    """Also if its place is gone; and not if only another chapter has changed."""
    version = await asyncio.to_thread(add_edited, site, tmp_path / "edited")
    opened = [find_version((await stranger.get(path)).text) for path in (CHAPTER, "/chapters/a-second-look")]
    await operator.post(PAGE, data={"version": version})

    told = []
    for chapter, anchor in (("a-first-graph", "retrieve"), ("a-first-graph", "gone"), ("a-second-look", "gone")):
        answer = await stranger.put("/api/position", json={"chapter": chapter, "anchor": anchor})
        told.append((answer.status_code, answer.headers["x-unwind-chapter"]))

    changed = find_version((await stranger.get(CHAPTER)).text)
    assert changed != opened[0]
    assert told == [(204, changed), (404, changed), (404, opened[1])]


def find_version(page: str) -> str:
    found = re.search(r'data-version="([0-9a-f]{16})"', page)
    assert found
    return found.group(1)


async def test_no_request_fails_while_the_course_changes(
    operator: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site, tmp_path: Path
) -> None:
    version = await asyncio.to_thread(add_edited, site, tmp_path / "edited")
    statuses: set[int] = set()
    done = asyncio.Event()

    async def read_on() -> None:
        while not done.is_set():
            for path in (CHAPTER, "/course", "/exercises/double", "/search?q=leaf", "/glossary"):
                statuses.add((await stranger.get(path)).status_code)

    readers = [asyncio.create_task(read_on()) for _ in range(3)]
    for wanted in (version, "given", version):
        assert (await operator.post(PAGE, data={"version": wanted})).status_code == 303
    done.set()
    await asyncio.gather(*readers)

    assert statuses == {200}
