"""A reader says what is wrong in a block: with the mouse, by keys, on a phone, and without script."""

import pytest
from browser_parts import OpenPage, scroll_through
from playwright.sync_api import Page, expect
from test_accessibility import find_overflow, find_violations
from test_keyboard import press_until

CHAPTER = "/chapters/a-first-graph"
MARKS = ".text > a.report"


def test_a_block_shows_its_mark_under_the_mouse_and_sends_a_report(open_page: OpenPage) -> None:
    page = open_page(CHAPTER, 1280)
    scroll_through(page)
    mark = page.locator(".text > .prose + a.report").first
    expect(mark).to_have_css("opacity", "0")
    page.locator(".text > .prose:has(+ a.report)").first.hover()
    expect(mark).to_have_css("opacity", "1")
    expect(page.locator(f"{MARKS}:not([tabindex])")).to_have_count(1)
    mark.click()

    dialog = page.get_by_role("dialog", name="Note it, or report a mistake")
    expect(dialog.get_by_role("textbox")).to_be_focused()
    assert find_violations(page) == []
    dialog.get_by_role("textbox").fill("The sum is 7.")
    dialog.get_by_role("button", name="Send").click()
    expect(dialog.get_by_role("status")).to_contain_text("Your report is stored")
    page.keyboard.press("Escape")
    expect(mark).to_be_focused()
    page.goto(page.url.replace(CHAPTER, "/me"))
    expect(page.locator("#me-reports + .account-row")).to_contain_text("The sum is 7.")


def test_all_marks_are_one_stop_of_the_tab_key_which_follows_the_reader(open_page: OpenPage) -> None:
    page = open_page(CHAPTER, 1280)
    scroll_through(page)
    assert page.locator(MARKS).count() > 5
    expect(page.locator(f"{MARKS}:not([tabindex])")).to_have_count(1)

    field = page.get_by_label("A number")
    field.focus()
    expect(page.locator(f"{MARKS}:not([tabindex])")).to_have_attribute(
        "href", "/report/chapters/a-first-graph/how-many-nodes"
    )
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator(f"{MARKS}:not([tabindex])")).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator(f"{MARKS}:not([tabindex])")).to_be_focused()
    expect(page.locator(f"{MARKS}:not([tabindex])")).not_to_have_attribute(
        "href", "/report/chapters/a-first-graph/how-many-nodes"
    )
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Note it, or report a mistake")).to_be_visible()


def test_the_terms_of_the_glossary_are_one_stop_of_the_tab_key_too(open_page: OpenPage) -> None:
    page = open_page("/glossary", 1280)
    marks = page.locator(".glossary a.report")
    expect(marks.first).to_have_css("opacity", "0")

    press_until(page, "Tab", ".glossary a.report")
    expect(page.locator(".glossary a.report:not([tabindex])")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    expect(marks.nth(1)).to_be_focused()
    expect(marks.nth(1)).to_have_css("opacity", "1")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Note it, or report a mistake")).to_be_visible()


def test_a_phone_shows_every_mark_in_the_gap_beside_the_text(open_page: OpenPage) -> None:
    page = open_page(CHAPTER, 390, has_touch=True, is_mobile=True)
    scroll_through(page)

    boxes = [mark.bounding_box() for mark in page.locator(MARKS).all()]

    assert all(box and box["x"] >= 0 and box["width"] >= 24 and box["height"] >= 24 for box in boxes)
    expect(page.locator(MARKS).first).to_have_css("opacity", "1")
    assert find_overflow(page) <= 0


def test_without_script_the_mark_leads_to_a_page_with_the_form(open_page: OpenPage) -> None:
    page: Page = open_page(CHAPTER, 390, java_script_enabled=False)
    page.goto(page.url.replace(CHAPTER, page.locator(MARKS).first.get_attribute("href") or ""))
    page.get_by_role("textbox").fill("The sum is 7.")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("status")).to_contain_text("Your report is stored")
    page.get_by_role("link", name="Back to the place").click()
    page.wait_for_url(f"**{CHAPTER}#*")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_form_s_own_page_is_clean(open_page: OpenPage, theme: str) -> None:
    page = open_page("/report/glossary/leaf", 320, color_scheme=theme)

    assert find_violations(page) == []
    assert find_overflow(page) <= 0
