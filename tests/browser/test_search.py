"""The search by keyboard: / opens it, arrows choose, Enter goes there, Esc closes it."""

from browser_parts import OpenPage
from playwright.sync_api import Page, expect
from test_accessibility import find_violations

CHAPTER = "/chapters/a-first-graph"


def open_search(page: Page) -> None:
    page.keyboard.press("/")
    expect(page.get_by_role("combobox", name="Search the course")).to_be_focused()


def test_slash_opens_it_and_enter_goes_to_the_chosen_hit(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    open_search(page)
    page.keyboard.type("leaf")
    options = page.get_by_role("option")
    expect(options.first).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")
    field = page.get_by_role("combobox")
    expect(field).to_have_attribute("aria-activedescendant", options.first.get_attribute("id") or "")
    href = options.first.get_attribute("href") or ""
    page.keyboard.press("Enter")
    page.wait_for_url(f"**{href}")


def test_arrows_go_round_by_way_of_the_field(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    open_search(page)
    page.keyboard.type("leaf")
    options = page.get_by_role("option")
    expect(options.first).to_be_visible()
    page.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowDown")
    expect(page.locator("[role=option][aria-selected=true]")).to_have_count(0)
    page.keyboard.press("ArrowDown")
    expect(options.first).to_have_attribute("aria-selected", "true")


def test_enter_alone_opens_the_page_with_all_hits(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    open_search(page)
    page.keyboard.type("leaf")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?q=leaf")
    expect(page.locator(".search-hits li").first).to_be_visible()


def test_escape_closes_it_and_gives_the_focus_back(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    door = page.get_by_role("link", name="Search")
    door.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Search")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Search")).to_be_hidden()
    expect(door).to_be_focused()


def test_typing_on_cancels_the_request_before(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    page.evaluate(
        """() => {
          const plain = fetch; window.asked = []; window.cancelled = [];
          window.fetch = (address, options) => {
            asked.push(address);
            options.signal.addEventListener("abort", () => cancelled.push(address));
            return address.endsWith("q=le") ? new Promise(() => {}) : plain(address, options);
          };
        }"""
    )
    open_search(page)
    page.keyboard.type("le")
    page.wait_for_function("() => asked.length === 1")
    page.keyboard.type("af")
    expect(page.get_by_role("option").first).to_contain_text("Leaf")
    assert page.evaluate("asked") == ["/api/search?q=le", "/api/search?q=leaf"]
    assert page.evaluate("cancelled")[0] == "/api/search?q=le"


def test_nothing_found_is_said(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    open_search(page)
    page.keyboard.type("xylophone")
    expect(page.get_by_role("status").filter(has_text="Nothing contains “xylophone”.")).to_be_visible()


def test_a_slash_typed_into_a_field_is_a_slash(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    field = page.get_by_label("A number")
    field.focus()
    page.keyboard.type("1/2")
    expect(field).to_have_value("1/2")
    expect(page.get_by_role("dialog", name="Search")).to_have_count(0)


def test_axe_finds_nothing_in_the_dialog(open_page: OpenPage) -> None:
    for width, theme in ((320, "dark"), (1280, "light")):
        page = open_page(CHAPTER, width, color_scheme=theme)
        page.locator("a.search-door").click()
        expect(page.get_by_role("combobox")).to_be_focused()
        page.keyboard.type("leaf")
        expect(page.get_by_role("option").first).to_be_visible()
        page.keyboard.press("ArrowDown")
        assert find_violations(page) == []


def test_without_script_the_link_leads_to_the_same(open_page: OpenPage) -> None:
    page = open_page(CHAPTER, 390, java_script_enabled=False)
    page.get_by_role("link", name="Search").click()
    page.get_by_label("Words, or the beginning of one").fill("leaf")
    page.get_by_role("button", name="Search").click()
    page.locator(".search-hits a").first.click()
    assert "#" in page.url
