"""The fixture course as a whole site in this process: a real database and ledger, a clock that stands still."""

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI
from site_parts import COURSE, FakeWorker, StoppedClock

from app.access.passwords import Passwords
from app.course.loader import load_course
from app.course.model import Course
from app.main import create_app
from app.settings import Settings
from app.web.edge.assets import Assets, read_assets
from app.web.edge.rates import Rates
from app.web.edge.site import Site

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
"""Tests sign people in thousands of times, and the site's own hasher takes 20 ms for each."""


SMOKE = ("pages/test_site_pages.py", "pages/test_chapter.py", "api/test_submissions.py", "edge/test_security.py")
"""Files that `make test-fast` runs although they open a site: the way from a page to a verdict."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each of these opens a site of its own, which takes some hundredths of a second; they are thousands."""
    for item in items:
        opens = {"app", "settings"} & set(getattr(item, "fixturenames", ()))
        if opens and not str(item.path).endswith(SMOKE):
            item.add_marker("site")


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


@pytest.fixture(scope="session")
def course() -> Course:
    return load_course(COURSE)[0]


@pytest.fixture(scope="session")
def assets() -> Assets:
    return read_assets()


@pytest.fixture
def settings(tmp_path: Path, empty_database: Path) -> Settings:
    shutil.copy(empty_database, tmp_path)
    return Settings(data=tmp_path, course=COURSE)


@pytest.fixture
async def app(settings: Settings, clock: StoppedClock, course: Course, assets: Assets) -> AsyncIterator[FastAPI]:
    app = create_app(
        settings,
        clock=clock,
        rates=Rates(factor=100),
        assets=assets,
        read_course=lambda: course,
        passwords=Passwords(CHEAP),
    )
    async with app.router.lifespan_context(app):
        yield app


@pytest.fixture
def site(app: FastAPI) -> Site:
    site = app.state.site
    assert isinstance(site, Site)
    return site


@pytest.fixture
async def browser(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    """Keeps cookies; follows no redirect by itself."""
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://testserver") as client:
        yield client


@pytest.fixture
async def stranger(app: FastAPI) -> AsyncIterator[httpx2.AsyncClient]:
    """Another browser."""
    transport = httpx2.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=transport, base_url="http://testserver") as client:
        yield client


@pytest.fixture
async def worker(site: Site) -> AsyncIterator[FakeWorker]:
    """Stands where the graders stand: claims what is queued and ends it as the test says."""
    worker = FakeWorker(site.ledger)
    async with worker.running():
        yield worker
