"""The operator's terms: shown at sign-up and on the privacy page, and remembered by their digest."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI
from people import sign_up
from pydantic import ValidationError

from app.course.model import Course
from app.main import create_app
from app.settings import Settings
from app.web.edge.assets import Assets
from app.web.edge.terms import read_terms

TEXT = "Be kind.\nAlways.\n\nGrades are <final>.\n"


@pytest.fixture
async def app(settings: Settings, course: Course, assets: Assets, tmp_path: Path) -> AsyncIterator[FastAPI]:
    (tmp_path / "terms.txt").write_text(TEXT, encoding="utf-8")
    with_terms = Settings(**{**settings.model_dump(), "terms": tmp_path / "terms.txt", "sign_up": True})
    app = create_app(with_terms, assets=assets, read_course=lambda: course)
    async with app.router.lifespan_context(app):
        yield app


async def test_terms_are_shown_and_their_version_is_kept(browser: httpx2.AsyncClient, tmp_path: Path) -> None:
    for path in ("/sign-up", "/privacy"):
        page = (await browser.get(path)).text
        assert "<p>Be kind. Always.</p>" in page
        assert "<p>Grades are &lt;final&gt;.</p>" in page

    await sign_up(browser, "Ada")

    terms = read_terms(tmp_path / "terms.txt")
    assert terms is not None
    exported = (await browser.get("/me/export.json")).json()
    assert exported["accounts"][0]["terms_digest"] == terms.digest


def test_an_empty_file_and_none_are_no_terms(tmp_path: Path) -> None:
    (tmp_path / "terms.txt").write_text(" \n", encoding="utf-8")

    assert read_terms(tmp_path / "terms.txt") is None
    assert read_terms(None) is None


def test_terms_that_do_not_exist_are_refused_at_the_start(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="UNWIND_TERMS names"):
        Settings(terms=tmp_path / "missing.txt")


async def test_a_site_may_keep_signing_up_to_itself(settings: Settings, course: Course, assets: Assets) -> None:
    closed = create_app(
        Settings(**{**settings.model_dump(), "sign_up": False}), assets=assets, read_course=lambda: course
    )
    async with closed.router.lifespan_context(closed):
        transport = httpx2.ASGITransport(app=closed, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver") as client:
            assert (await client.get("/sign-up")).status_code == 403
            assert (await sign_up(client, "Ada")).status_code == 403
            assert "/sign-up" not in (await client.get("/sign-in")).text
