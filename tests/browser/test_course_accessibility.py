"""axe finds nothing on the course's own pages: on a phone in light and a desk in dark; nightly on a tablet too."""

from collections.abc import Iterator, Sequence

import pytest
from browser_parts import ROOT, scroll_through
from first_view import list_chapters, serve_course
from playwright.sync_api import Browser, Page
from test_accessibility import find_overflow, find_violations

LIGHT, DARK = "light", "dark"
OFTEN = ((320, LIGHT), (1280, DARK))
EVERY = tuple((width, theme) for width in (320, 768, 1280) for theme in (LIGHT, DARK))
LOOKS = [pytest.param(OFTEN, id="often"), pytest.param(EVERY, id="every", marks=pytest.mark.nightly)]
COLOUR_RULES = ("color-contrast", "link-in-text-block")
"""A theme changes colours alone, so only these rules are asked again in the dark."""
PLAIN_PAGES = ("/", "/problems", "/me", "/help", "/play")
LONG_PAGE = "/claims"
Looks = Sequence[tuple[int, str]]


@pytest.fixture(scope="module")
def course_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve_course(ROOT, tmp_path_factory.mktemp("data")) as address:
        yield address


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(reduced_motion="reduce")
    yield context.new_page()
    context.close()


def find_faults(page: Page, address: str, looks: Looks) -> dict[tuple[int, str], list[str]]:
    """What axe finds and how far the page scrolls sideways, by width and theme; the page is loaded once."""
    page.emulate_media(color_scheme=LIGHT)
    page.set_viewport_size({"width": looks[0][0], "height": 900})
    page.goto(address)
    scroll_through(page)
    faults = {}
    for width, theme in looks:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=DARK if theme == DARK else LIGHT)
        wide = find_overflow(page)
        found = find_violations(page, *(COLOUR_RULES if theme == DARK else ()))
        faults[width, theme] = found + ([f"{wide} px too wide"] if wide > 0 else [])
    return {at: found for at, found in faults.items() if found}


@pytest.mark.parametrize("looks", LOOKS)
@pytest.mark.parametrize("path", PLAIN_PAGES)
def test_axe_finds_nothing_on_a_page(page: Page, course_site: str, path: str, looks: Looks) -> None:
    assert find_faults(page, course_site + path, looks) == {}


@pytest.mark.nightly
def test_axe_finds_nothing_on_the_longest_page(page: Page, course_site: str) -> None:
    assert find_faults(page, course_site + LONG_PAGE, EVERY) == {}


@pytest.mark.nightly
def test_axe_finds_nothing_in_the_first_chapter(page: Page, course_site: str) -> None:
    assert find_faults(page, course_site + list_chapters(course_site)[0], OFTEN) == {}


@pytest.mark.nightly
def test_axe_finds_nothing_in_any_chapter(page: Page, course_site: str) -> None:
    chapters = list_chapters(course_site)
    assert len(chapters) > 1
    faults = {path: find_faults(page, course_site + path, EVERY) for path in chapters}
    assert {path: found for path, found in faults.items() if found} == {}


@pytest.mark.parametrize("looks", LOOKS)
def test_axe_finds_nothing_on_an_exercise(page: Page, course_site: str, looks: Looks) -> None:
    page.goto(course_site + "/problems?kind=bug-hunt")
    link = page.locator(".bank-card h2 a").first.get_attribute("href")
    assert find_faults(page, f"{course_site}{link}", looks) == {}
