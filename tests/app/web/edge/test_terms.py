"""The operator's terms: shown at sign-up and on the privacy page, and remembered by their digest."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI
from people import PASSWORD, leave_work, sign_in, sign_up
from pydantic import ValidationError

from app.course.model import Course
from app.main import create_app
from app.settings import Settings
from app.web.edge.assets import Assets
from app.web.edge.site import Site
from app.web.edge.terms import Terms, read_terms

NOTICE = "The terms of this site are new to you."
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


async def test_changed_terms_are_asked_about_again(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site
) -> None:
    await sign_up(browser, "Ada")
    assert NOTICE not in (await browser.get("/course")).text
    change_terms(site)

    assert NOTICE in (await browser.get("/course")).text
    assert "They have changed since you agreed" in (await browser.get("/terms")).text
    assert (await sign_in(stranger, "Ada")).headers["location"] == "/terms?next=/"
    assert (await browser.post("/me/terms", data={"digest": "an older one", "next": "/course"})).status_code == 200
    assert NOTICE in (await browser.get("/course")).text
    agreed = await browser.post("/me/terms", data={"digest": "a new one", "next": "/course"})

    assert (agreed.status_code, agreed.headers["location"]) == (303, "/course")
    assert NOTICE not in (await browser.get("/course")).text
    assert (await sign_in(stranger, "Ada")).headers["location"] == "/"


async def test_a_long_way_back_does_not_end_at_a_refusal_between_signing_in_and_new_terms(
    browser: httpx2.AsyncClient, stranger: httpx2.AsyncClient, site: Site
) -> None:
    await sign_up(browser, "Ada")
    await browser.post("/chapters/a-first-graph/read")
    change_terms(site)
    await leave_work(stranger)

    form = {"name": "Ada", "password": PASSWORD, "next": "/search?q=" + "a&" * 190}
    answer = await stranger.post("/sign-in", data=form)

    assert answer.headers["location"].startswith("/join?next=/terms")
    assert (await stranger.get(answer.headers["location"])).status_code == 200


async def test_the_answer_to_a_form_leads_back_to_a_page_that_can_be_opened(
    browser: httpx2.AsyncClient, site: Site
) -> None:
    await sign_up(browser, "Ada")
    change_terms(site)
    refused = await browser.post("/me/password", data={"password": "wrong, wrong", "new_password": "a new password"})

    assert NOTICE in refused.text
    assert 'href="/terms?next=/"' in refused.text
    assert '<input type="hidden" name="back" value="/">' in refused.text
    assert 'href="/terms?next=/terms"' not in (await browser.post("/me/terms", data={"digest": "stale"})).text
    assert (
        'name="back" value="/sign-in"' in (await browser.post("/sign-in", data={"name": "x", "password": "y"})).text
    )


async def test_somebody_without_an_account_is_asked_nothing(browser: httpx2.AsyncClient) -> None:
    page = (await browser.get("/terms")).text

    assert "Be kind. Always." in page
    assert "I agree" not in page
    assert NOTICE not in (await browser.get("/course")).text
    assert (await browser.post("/me/terms", data={"digest": "x"})).headers["location"].startswith("/sign-in")


def change_terms(site: Site) -> None:
    object.__setattr__(site, "terms", Terms(("Be kinder.",), "a new one"))


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
