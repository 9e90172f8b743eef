"""axe finds nothing on the course's own pages, on a phone, a tablet and a desk, in light and in dark."""

from collections.abc import Iterator

import pytest
from browser_parts import ROOT, scroll_through
from first_view import list_chapters, serve_course
from playwright.sync_api import Browser, Page
from test_accessibility import find_overflow, find_violations

WIDTHS = (320, 768, 1280)
COLOUR_RULES = ("color-contrast", "link-in-text-block")
"""A theme changes colours alone, so only these rules are asked again in the dark."""
PLAIN_PAGES = ("/", "/problems", "/claims", "/me", "/help", "/play")


@pytest.fixture(scope="module")
def course_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve_course(ROOT, tmp_path_factory.mktemp("data")) as address:
        yield address


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(reduced_motion="reduce")
    yield context.new_page()
    context.close()


def find_faults(page: Page, address: str) -> dict[tuple[int, str], list[str]]:
    """What axe finds and how far the page scrolls sideways, by width and theme; the page is loaded once."""
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": WIDTHS[0], "height": 900})
    page.goto(address)
    scroll_through(page)
    faults = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="light")
        wide = find_overflow(page)
        faults[width, "light"] = find_violations(page) + ([f"{wide} px too wide"] if wide > 0 else [])
        page.emulate_media(color_scheme="dark")
        faults[width, "dark"] = find_violations(page, *COLOUR_RULES)
    return {at: found for at, found in faults.items() if found}


@pytest.mark.parametrize("path", PLAIN_PAGES)
def test_axe_finds_nothing_on_a_page(page: Page, course_site: str, path: str) -> None:
    assert find_faults(page, course_site + path) == {}


@pytest.mark.parametrize("place", [0, -1], ids=["first", "last"])
def test_axe_finds_nothing_in_a_chapter(page: Page, course_site: str, place: int) -> None:
    assert find_faults(page, course_site + list_chapters(course_site)[place]) == {}


def test_axe_finds_nothing_on_an_exercise(page: Page, course_site: str) -> None:
    page.goto(course_site + "/problems?kind=bug-hunt")
    link = page.locator(".bank-card h2 a").first.get_attribute("href")
    assert find_faults(page, f"{course_site}{link}") == {}
