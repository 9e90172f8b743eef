"""How still a page stands while it loads, and that its policy is kept."""

from browser_parts import OpenPage, scroll_through
from playwright.sync_api import Browser, Page, expect

CHAPTER = "/chapters/a-first-graph"
MAX_SHIFT = 0.02

WATCH_SHIFTS = """
window.shifted = 0;
new PerformanceObserver(list => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({type: "layout-shift", buffered: true});
document.addEventListener("securitypolicyviolation", event => {
  (window.violations ??= []).push(event.violatedDirective + " " + event.blockedURI);
});
"""


def open_watched(browser: Browser, site: str, path: str, width: int) -> Page:
    """A page with an empty cache that remembers what moved and what its policy forbade."""
    page = browser.new_context(viewport={"width": width, "height": 900}).new_page()
    page.add_init_script(WATCH_SHIFTS)
    page.goto(site + path)
    page.wait_for_load_state("networkidle")
    return page


def test_nothing_moves_while_fonts_and_editors_load(browser: Browser, site: str) -> None:
    page = open_watched(browser, site, CHAPTER, 390)
    scroll_through(page)
    assert page.evaluate("window.shifted") <= MAX_SHIFT
    page.context.close()


def test_the_policy_is_kept_by_everything_on_the_page(browser: Browser, site: str) -> None:
    page = open_watched(browser, site, CHAPTER, 1280)
    scroll_through(page)
    page.locator("uw-cell").nth(1).locator("[data-run]").click()
    expect(page.locator("uw-cell").nth(1).locator(".cell-output")).to_contain_text("3.0")
    assert page.evaluate("window.violations ?? []") == []
    page.context.close()


def test_every_request_stays_on_the_site(browser: Browser, site: str) -> None:
    asked: list[str] = []
    page = browser.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(site + CHAPTER)
    scroll_through(page)
    assert [url for url in asked if not url.startswith((site, "data:"))] == []
    page.close()


def test_the_theme_changes_at_once_and_the_next_page_is_painted_in_it(open_page: OpenPage) -> None:
    page = open_page(CHAPTER, color_scheme="light")
    light = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    button = page.locator("uw-theme button")
    button.click()
    button.click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") != light
    page.goto("/course")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
