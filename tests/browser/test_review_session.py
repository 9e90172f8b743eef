"""A session of review in Chromium: by keyboard alone, and without script; axe finds nothing on any of its pages."""

import contextlib
import os
import sqlite3
from pathlib import Path

import pytest
from browser_parts import OpenPage, pair_looks, scroll_through, wait_for_near_elements
from playwright.sync_api import Page, expect
from test_accessibility import find_overflow, find_violations

CHAPTER = "/chapters/a-first-graph"
QUESTIONS = 4
PICTURES = os.environ.get("REVIEW_PICTURES", "")
"""A folder for pictures of each page, for a person to look at."""


def answer_the_chapter(page: Page) -> None:
    """Every question once, as a reader does."""
    scroll_through(page)
    block = page.locator("uw-question[data-kind=number]")
    block.get_by_label("A number").fill("1")
    block.get_by_role("button", name="Answer").click()
    block = page.locator("uw-question[data-kind=choice]")
    block.locator("input").first.check()
    block.get_by_role("button", name="Answer").click()
    block = page.locator("uw-question[data-kind=graph-click]")
    block.locator("input").first.check()
    block.get_by_role("button", name="Answer").click()
    block = page.locator("uw-question[data-kind=open]")
    block.locator("textarea").fill("twelve")
    block.get_by_role("button", name="Compare").click()
    block.get_by_role("button", name="Save").click()
    expect(block).to_contain_text("Saved: 0 of 2.")


def let_days_pass(data: Path, days: int = 3) -> None:
    """Every answer so far was given that much earlier."""
    with contextlib.closing(sqlite3.connect(data / "unwind.sqlite3")) as database:
        database.execute("UPDATE answers SET answered_at = answered_at - ?", (days * 86_400,))
        database.execute("UPDATE learners SET cards_version = NULL")
        database.commit()


def look_at(page: Page, name: str) -> None:
    wait_for_near_elements(page)
    assert find_violations(page) == []
    assert find_overflow(page) <= 0
    if PICTURES:
        page.screenshot(path=f"{PICTURES}/{name}.png", full_page=True)


def is_over(page: Page) -> bool:
    return page.get_by_role("heading", name="What came today").is_visible()


def press_answer(page: Page) -> None:
    """Answer by keyboard alone, right or wrong."""
    kind = page.locator("uw-review").get_attribute("data-kind")
    if kind == "number":
        page.keyboard.type("1")
        page.keyboard.press("Enter")
    elif kind == "open":
        page.keyboard.type("twelve, because there are three uses")
        page.keyboard.press("Control+Enter")
    else:
        page.keyboard.press("1")
        expect(page.locator("uw-review input:checked")).to_have_count(1)
        page.keyboard.press("Enter")
    page.wait_for_url("**/review/answers/*")


def press_on(page: Page) -> None:
    """From the truth to the next question, by keyboard alone."""
    rubric = page.locator("form.rubric input")
    if rubric.count():
        for box in rubric.all():
            box.press("Space")
        page.get_by_role("button", name="Save my ticks").press("Enter")
    else:
        expect(page.locator("a[autofocus]")).to_be_focused()
        page.keyboard.press("Enter")
    page.wait_for_url("**/review")


@pytest.mark.parametrize(("width", "theme"), pair_looks())
def test_a_session_by_keyboard_alone(open_page: OpenPage, data: Path, width: int, theme: str) -> None:
    page = open_page(CHAPTER, width, color_scheme=theme)
    answer_the_chapter(page)
    let_days_pass(data)
    page.goto("/review")
    expect(page.locator("#review-place")).to_have_text(f"Question 1 of {QUESTIONS}")
    for step in range(4 * QUESTIONS):
        if is_over(page):
            break
        look_at(page, f"{width}-{theme}-{step}-question")
        press_answer(page)
        look_at(page, f"{width}-{theme}-{step}-truth")
        press_on(page)
    expect(page.locator(".review-rows li")).to_have_count(QUESTIONS)
    look_at(page, f"{width}-{theme}-end")
    assert page.locator(".nav-due").count() == 0


@pytest.mark.parametrize("width", [pytest.param(1280, marks=pytest.mark.nightly), 390])
def test_a_session_without_script(open_page: OpenPage, data: Path, width: int) -> None:
    page = open_page(CHAPTER, width, java_script_enabled=False)
    block = page.locator("uw-question[data-kind=graph-click]")
    block.locator("input").first.check()
    block.get_by_role("button", name="Answer").click()
    let_days_pass(data)
    page.goto("/course")
    expect(page.locator(".nav-due")).to_have_text("1 due today")
    page.goto("/review")
    for _ in range(3):
        if is_over(page):
            break
        page.locator("uw-review input[name=node]").first.check()
        page.get_by_role("button", name="Answer").click()
        expect(page.locator(".judgement")).to_contain_text("It comes back")
        page.get_by_role("link", name="Next question").or_(page.get_by_role("link", name="To the summary")).click()
        # A click does not wait for the page that it leads to, and is_over looks at once.
        page.wait_for_url("**/review")
    expect(page.locator(".review-rows li")).to_have_count(1)


def test_a_click_in_the_picture_chooses_the_node(open_page: OpenPage, data: Path) -> None:
    page = open_page(CHAPTER)
    scroll_through(page)
    block = page.locator("uw-question[data-kind=graph-click]")
    block.locator("input").first.check()
    block.get_by_role("button", name="Answer").click()
    expect(block.locator(".judgement")).to_be_visible()
    let_days_pass(data)
    page.goto("/review")
    wait_for_near_elements(page)
    page.locator("g.node").nth(1).click()
    expect(page.locator("uw-review input[name=node]:checked")).to_have_count(1)
