"""No chapter of the course outgrows its first view: bytes on the wire, which no busy machine can change."""

from collections.abc import Iterator

import pytest
from browser_parts import ROOT
from first_view import KINDS, MAX_CHAPTER_BYTES, FirstView, list_chapters, measure_first_view, serve_course
from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def course_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve_course(ROOT, tmp_path_factory.mktemp("data")) as address:
        yield address


@pytest.fixture(scope="module", params=[390, pytest.param(1280, marks=pytest.mark.nightly)])
def views(browser: Browser, course_site: str, request: pytest.FixtureRequest) -> list[FirstView]:
    return [measure_first_view(browser, course_site, path, request.param) for path in list_chapters(course_site)]


def test_the_first_view_of_every_chapter_is_light(views: list[FirstView]) -> None:
    assert len(views) > 1
    assert all(view.of_kind.keys() >= set(KINDS) for view in views)
    heavy = {view.path for view in views if view.total_bytes > MAX_CHAPTER_BYTES}
    assert heavy == set()


def test_an_editor_and_a_chart_are_not_asked_for_before_they_are_near(views: list[FirstView]) -> None:
    asked = [url for view in views for url in view.asked]

    assert any(url.endswith("/site.js") for url in asked)
    assert [url for url in asked if url.endswith(("/editor.js", "/plotly.js"))] == []
