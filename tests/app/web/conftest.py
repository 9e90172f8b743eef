"""The fixture course as a whole site in this process: a real database and ledger, a clock that stands still."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI
from site_parts import FakeWorker

from app.main import create_app
from app.settings import Settings
from app.storage.database import migrate
from app.web.rates import Rates
from app.web.site import Site

COURSE = Path(__file__).resolve().parents[2] / "course"


@dataclass
class StoppedClock:
    now: datetime = field(default_factory=lambda: datetime(2026, 3, 1, 12, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.now

    def pass_days(self, days: float) -> None:
        self.now += timedelta(days=days)


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = Settings(data=tmp_path, course=COURSE)
    migrate(made.database, made.data)
    return made


@pytest.fixture
async def app(settings: Settings, clock: StoppedClock) -> AsyncIterator[FastAPI]:
    app = create_app(settings, clock=clock, rates=Rates(factor=100))
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
