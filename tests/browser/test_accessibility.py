"""axe finds nothing, and nothing scrolls sideways, on phones and desks, in light and in dark."""

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from browser_parts import ROOT, OpenPage, pair_looks, scroll_through
from playwright.sync_api import Page

PAGES = ("/", "/chapters/a-first-graph", "/chapters/a-second-look", "/exercises/double", "/exercises/early-meetings")
QUIET_PAGES = (
    "/course",
    "/problems",
    "/claims",
    "/course/interview",
    "/glossary",
    "/search",
    "/search?q=leaf",
    "/debugging",
    "/debugging?way=2-1",
    "/me",
    "/me/calendar",
    "/review",
    "/me/chapters/a-first-graph",
    "/notes",
    "/notes/chapters/a-first-graph/double-use",
    "/help",
    "/operator",
    "/nowhere",
)
LAB = ROOT / "tests" / "course" / "exercises" / "pull-back"


def find_violations(page: Page, *only: str) -> list[str]:
    """What axe finds by all its rules, or only by those named."""
    options = {"resultTypes": ["violations"], **({"runOnly": list(only)} if only else {})}
    found = Axe().run(page, options=options).response["violations"]
    return [f"{rule['id']}: {node['target']} {node['html'][:120]}" for rule in found for node in rule["nodes"]]


def find_overflow(page: Page) -> int:
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@pytest.mark.parametrize(("width", "theme"), pair_looks(narrow=320))
@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_nothing_after_scrolling_through_the_page(
    open_page: OpenPage, path: str, width: int, theme: str
) -> None:
    page = open_page(path, width, color_scheme=theme)
    scroll_through(page)
    assert find_violations(page) == []
    assert find_overflow(page) <= 0


@pytest.mark.parametrize("path", QUIET_PAGES)
def test_the_pages_without_cells_are_as_clean(open_page: OpenPage, path: str) -> None:
    page = open_page(path, 320, color_scheme="dark")
    assert find_violations(page) == []
    assert find_overflow(page) <= 0


@pytest.mark.parametrize(("width", "theme"), [(320, "dark"), pytest.param(1280, "light", marks=pytest.mark.nightly)])
def test_axe_finds_nothing_in_what_runs_and_answers_put_on_the_page(
    open_page: OpenPage, width: int, theme: str
) -> None:
    page = open_page("/chapters/a-first-graph", width, color_scheme=theme)
    scroll_through(page)
    predict = page.locator("uw-predict")
    predict.locator("input[name=option]").first.check()
    predict.locator("input[name=confidence]").first.check()
    predict.get_by_role("button", name="Commit").click()
    page.locator("uw-predict.is-committed").wait_for()
    page.locator("uw-cell").first.locator("[data-run]").click()
    page.locator("uw-predict.is-resolved").wait_for()
    page.locator("uw-cell").first.locator(".graph-picture").wait_for()
    question = page.locator("uw-question[data-kind=choice]")
    question.locator("input").last.check()
    question.get_by_role("button").click()
    page.locator("uw-question[data-kind=choice].is-wrong").wait_for()
    assert find_violations(page) == []
    assert find_overflow(page) <= 0


@pytest.mark.parametrize(("width", "theme"), [(320, "dark"), pytest.param(1280, "light", marks=pytest.mark.nightly)])
def test_axe_finds_nothing_in_a_lab_and_in_a_submission_beside_another(
    open_page: OpenPage, width: int, theme: str
) -> None:
    page = open_page("/exercises/pull-back", width, color_scheme=theme)
    for answer in ("attempts/keeps_all.py", "solution.py"):
        scroll_through(page)
        page.locator(".cm-content").click()
        page.keyboard.press("Control+A")
        page.keyboard.insert_text((LAB / answer).read_text())
        page.get_by_role("button", name="Submit").click()
        page.locator("[data-result] .verdict-headline").wait_for()
        page.locator("[data-result]").evaluate("place => place.replaceChildren()")
    page.locator(".history-list li").nth(1).wait_for()
    scroll_through(page)
    page.locator("#chart .legendtext").first.wait_for()
    assert find_violations(page) == []
    assert find_overflow(page) <= 0
    page.locator(".history-head a").first.click()
    page.locator("#compare .diff-right").first.wait_for()
    assert find_violations(page) == []
    assert find_overflow(page) <= 0


@pytest.mark.parametrize(("width", "theme"), [(320, "light"), pytest.param(1280, "dark", marks=pytest.mark.nightly)])
def test_axe_finds_nothing_in_a_verdict(open_page: OpenPage, width: int, theme: str) -> None:
    page = open_page("/exercises/double", width, color_scheme=theme)
    scroll_through(page)
    page.get_by_role("button", name="Submit").click()
    page.locator(".verdict-headline").wait_for()
    assert find_violations(page) == []
    assert find_overflow(page) <= 0
