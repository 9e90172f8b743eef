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


VIEWS = [
    pytest.param((390, False), id="390-first-and-last"),
    pytest.param((390, True), id="390-every"),
    pytest.param((1280, True), id="1280-every"),
]
"""A width, and whether every chapter is opened: they are many, and grow."""
pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module", params=VIEWS)
def views(browser: Browser, course_site: str, request: pytest.FixtureRequest) -> list[FirstView]:
    width, every = request.param
    chapters = list_chapters(course_site)
    opened = chapters if every else [chapters[0], chapters[-1]]
    return [measure_first_view(browser, course_site, path, width) for path in opened]


def test_the_first_view_of_a_chapter_is_light(views: list[FirstView]) -> None:
    assert len(views) > 1
    assert all(view.of_kind.keys() >= set(KINDS) for view in views)
    heavy = {view.path for view in views if view.total_bytes > MAX_CHAPTER_BYTES}
    assert heavy == set()


def test_an_editor_and_a_chart_are_not_asked_for_before_they_are_near(views: list[FirstView]) -> None:
    asked = [url for view in views for url in view.asked]

    assert any(url.endswith("/site.js") for url in asked)
    assert [url for url in asked if url.endswith(("/editor.js", "/plotly.js"))] == []
