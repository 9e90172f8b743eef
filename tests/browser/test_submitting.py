"""Handing in, in the browser: the verdict comes to the page, and the history with it."""

from pathlib import Path

from browser_parts import ROOT, OpenPage, scroll_through
from playwright.sync_api import Page, expect

EXERCISE = ROOT / "tests" / "course" / "exercises" / "double"


def submit(page: Page, answer: Path) -> None:
    scroll_through(page)
    page.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(answer.read_text())
    page.get_by_role("button", name="Submit").click()
    page.locator("[data-result] .verdict-headline").wait_for()


def find_ends_of_long_values(page: Page) -> dict[str, float]:
    """Where the evidence of the open case ends at the right, if each of its values is long and has no space."""
    ends = (
        page.locator(".case[open]")
        .locator(".case-values pre, .case-difference code")
        .evaluate_all(
            "all => all.map((one) => (one.textContent = '0.123456789'.repeat(40), one)).map((one) =>"
            " [one.className || one.closest('div').className,"
            "  Math.max(one.getBoundingClientRect().left + one.scrollWidth, one.getBoundingClientRect().right)])"
        )
    )
    assert {name for name, _ in ends} == {"case-input", "case-got", "case-expected", "got", "wanted"}
    return dict(ends)


def test_a_wrong_answer_shows_its_first_failing_case_first(open_page: OpenPage) -> None:
    page = open_page("/exercises/double")
    submit(page, EXERCISE / "attempts" / "unchanged.py")
    first = page.locator(".case").first
    expect(first).to_have_class("case is-wrong")
    assert first.get_attribute("open") is not None
    for word in ("Input", "Yours", "Expected"):
        expect(first.locator("dt", has_text=word)).to_be_visible()
    expect(page.locator(".history-list li")).to_have_count(1)
    expect(page.locator(".reference")).to_have_count(0)
    page.set_viewport_size({"width": 390, "height": 800})
    assert {name: end for name, end in find_ends_of_long_values(page).items() if end > 390} == {}


def test_a_right_answer_opens_the_reference(open_page: OpenPage) -> None:
    page = open_page("/exercises/double")
    submit(page, EXERCISE / "solution.py")
    expect(page.locator(".verdict-headline")).to_contain_text("Passed")
    expect(page.locator(".reference")).to_contain_text("Your answer and the reference are identical.")
    expect(page.get_by_role("link", name="Next: Every meeting ends too early")).to_be_visible()


def test_a_verdict_has_a_page_of_its_own(open_page: OpenPage) -> None:
    page = open_page("/exercises/double")
    submit(page, EXERCISE / "solution.py")
    page.get_by_role("link", name="this submission").click()
    page.wait_for_url("**/submissions/*")
    expect(page.locator(".verdict-headline")).to_contain_text("Passed")


def test_hints_come_one_at_a_time_and_leave_the_verdict(open_page: OpenPage) -> None:
    page = open_page("/exercises/double")
    submit(page, EXERCISE / "attempts" / "unchanged.py")
    page.get_by_role("button", name="Show hint 1 of 3").click()
    expect(page.locator("details.hint")).to_have_count(1)
    expect(page.get_by_role("button", name="Show hint 2 of 3")).to_be_visible()
    expect(page.locator("details.hint > summary")).to_be_focused()
    expect(page.locator("[data-result] .case.is-wrong").first).to_be_visible()
