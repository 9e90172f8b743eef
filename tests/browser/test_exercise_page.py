"""The exercise page in the browser: public checks, a diagnosis, a lab's chart, versions, the bank of exercises."""

import re

import pytest
from browser_parts import ROOT, OpenPage, scroll_through, wait_for_near_elements
from playwright.sync_api import Locator, Page, Route, expect

EXERCISES = ROOT / "tests" / "course" / "exercises"
OFF_BY_ONE = "def double(x):\n    return x + 1\n"


def write(page: Page, text: str) -> None:
    scroll_through(page)
    page.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)


def submit(page: Page, text: str) -> None:
    submissions = page.locator(".history-list li").count()
    write(page, text)
    page.get_by_role("button", name="Submit").click()
    expect(page.locator(".history-list li")).to_have_count(submissions + 1)


def complaints_of(page: Page) -> list[str]:
    """Everything that the console says from now on."""
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: heard.append(str(error)))
    return heard


def test_the_public_checks_run_in_place_and_are_no_attempt(open_page: OpenPage) -> None:
    page = open_page("/exercises/double")
    heard = complaints_of(page)
    write(page, OFF_BY_ONE)
    page.get_by_role("button", name="Run the public check").click()
    expect(page.locator("[data-result] .cases-count")).to_have_text(re.compile("0 of 1 public checks passed"))
    expect(page.locator(".case-difference")).to_contain_text("off by")
    expect(page.locator(".history-list li")).to_have_count(0)
    write(page, (EXERCISES / "double" / "solution.py").read_text())
    page.get_by_role("button", name="Run the public check").click()
    expect(page.locator("[data-result] .verdict-headline")).to_contain_text("Every public check holds.")
    expect(page.locator("#solved .tag")).to_have_count(0)
    expect(page.locator(".reference")).to_have_count(0)
    assert heard == []


def test_cases_are_listed_as_they_are_judged(open_page: OpenPage) -> None:
    page = open_page("/exercises/double")

    def hold_back(route: Route) -> None:
        """The verdict waits, so that what came before it can be seen."""
        page.wait_for_selector("[data-live-cases] li")
        route.continue_()

    page.route(re.compile(r"/exercises/double/submissions/\w+$"), hold_back)
    write(page, OFF_BY_ONE)
    with page.expect_request(re.compile(r"/exercises/double/submissions/\w+$")):
        page.get_by_role("button", name="Run the public check").click()
    expect(page.locator("[data-result] .verdict-headline")).to_be_visible()
    expect(page.locator("[data-live-cases]")).to_be_hidden()


def test_the_keys_run_and_submit(open_page: OpenPage) -> None:
    page = open_page("/exercises/double")
    write(page, OFF_BY_ONE)
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-result] .public-check-note")).to_be_visible()
    page.locator(".cm-content").click()
    page.keyboard.press("Control+Shift+Enter")
    expect(page.locator(".history-list li")).to_have_count(1)
    expect(page.locator("[data-result] .public-check-note")).to_have_count(0)


def test_typing_over_coloured_code_leaves_the_console_silent(open_page: OpenPage) -> None:
    page = open_page("/exercises/double")
    heard = complaints_of(page)
    write(page, OFF_BY_ONE)
    page.keyboard.press("Control+A")
    page.keyboard.press("(")
    expect(page.locator(".cm-content")).to_contain_text("(def double(x):")
    page.keyboard.press("Control+A")
    page.keyboard.press("z")
    expect(page.locator(".cm-content")).to_have_text("z")
    assert heard == []


def open_hunt(open_page: OpenPage) -> Page:
    """With its editor, which takes more room than the field it replaces: a choice would move away from a click."""
    page = open_page("/exercises/early-meetings")
    page.locator("uw-submission .cm-editor").wait_for()
    return page


def test_a_bug_hunt_goes_from_wrong_to_right(open_page: OpenPage) -> None:
    page = open_hunt(open_page)
    heard = complaints_of(page)
    hunt = EXERCISES / "early-meetings"
    page.get_by_label("A part of the number is cut off").check()
    page.locator("label.starter-line", has_text="start + length").click()
    expect(page.locator("[data-marked]")).to_have_text("Line 5 is marked: return start + length")
    page.keyboard.press("ArrowUp")
    expect(page.locator("[data-marked]")).to_have_text("Line 4 is marked: length = hours")
    submit(page, (hunt / "attempts" / "rounds.py").read_text())
    expect(page.locator("[data-result] .said")).to_contain_text("not judged yet")
    submit(page, (hunt / "solution.py").read_text())
    expect(page.locator("[data-result] .verdict-headline")).to_contain_text("Your diagnosis is not right")
    expect(page.locator("[data-result] .fault")).to_have_count(0)
    page.get_by_label("A number is right, in another unit").check()
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("[data-result] .verdict-headline")).to_contain_text("Passed")
    expect(page.locator("[data-result] .fault")).to_contain_text("Any one of these lines counts.")
    expect(page.locator(".history-list li")).to_have_count(3)
    assert heard == []


def test_a_choice_of_line_and_kind_survives_a_reload(open_page: OpenPage) -> None:
    page = open_hunt(open_page)
    page.get_by_label("A part of the number is cut off").check()
    page.locator("label.starter-line", has_text="length = hours").click()
    page.reload()
    expect(page.get_by_label("A part of the number is cut off")).to_be_checked()
    expect(page.locator("[data-marked]")).to_contain_text("Line 4 is marked")


def test_without_script_a_bug_hunt_is_answered_and_its_checks_run(open_page: OpenPage) -> None:
    page = open_page("/exercises/early-meetings", 390, java_script_enabled=False)
    page.get_by_label("Your answer").fill((EXERCISES / "early-meetings" / "solution.py").read_text())
    page.get_by_label("A number is right, in another unit").check()
    page.locator("label.starter-line", has_text="length = hours").click()
    page.get_by_role("button", name="Run the 2 public checks").click()
    expect(page.locator(".verdict-headline")).to_contain_text("Every public check holds.")
    page.locator(".chapter-where a").click()
    expect(page.get_by_label("A number is right, in another unit")).to_be_checked()
    page.get_by_role("button", name="Submit").click()
    expect(page.locator(".verdict-headline")).to_contain_text("Passed")


def test_a_lab_goes_from_over_budget_to_a_personal_best(open_page: OpenPage) -> None:
    page = open_page("/exercises/pull-back")
    heard = complaints_of(page)
    lab = EXERCISES / "pull-back"
    submit(page, (lab / "attempts" / "keeps_all.py").read_text())
    expect(page.locator("#chart")).to_contain_text("None of yours has passed yet.")
    submit(page, (lab / "solution.py").read_text())
    expect(page.locator("#chart")).to_contain_text("Your best: 9 units held with 28 forward steps.")
    scroll_through(page)
    chart, ranking = page.locator("#chart .lab-chart").all()
    expect(chart.locator("tbody tr")).to_have_count(5)
    expect(chart.locator("tbody tr").filter(has_text="number 1")).to_contain_text("over")
    expect(ranking.locator("tbody tr")).to_have_count(1)
    expect(ranking.locator("tbody tr")).to_contain_text("your best")
    assert heard == []


def test_an_old_version_comes_back_into_the_editor(open_page: OpenPage) -> None:
    page = open_page("/exercises/double")
    submit(page, OFF_BY_ONE)
    submit(page, "def double(x):\n    return x * 3\n")
    page.locator(".history-head a").last.click()
    page.get_by_label("Compare with").select_option(index=0)
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("#compare .diff-text.diff-right")).to_contain_text("return x + 1")
    page.get_by_role("button", name="Put this version back in the editor").click()
    scroll_through(page)
    expect(page.locator(".cm-content")).to_contain_text("return x + 1")
    expect(page.locator("[data-state]")).to_have_text("That version is back in the editor.")


def test_the_bank_is_filtered_in_place(open_page: OpenPage) -> None:
    page = open_page("/problems")
    heard = complaints_of(page)
    page.evaluate("window.stayed = true")
    page.get_by_role("navigation", name="Kind").get_by_role("link", name="bug-hunt").click()
    expect(page.locator(".bank-card")).to_have_count(1)
    assert page.url.endswith("/problems?kind=bug-hunt")
    expect(page.get_by_role("navigation", name="Kind").get_by_role("link", name="bug-hunt")).to_be_focused()
    page.go_back()
    expect(page.locator(".bank-card")).to_have_count(3)
    assert page.evaluate("window.stayed") is True
    assert heard == []


def test_the_keyboard_skips_the_filters_and_the_list_stays_as_it_is(open_page: OpenPage) -> None:
    page = open_page("/problems?kind=bug-hunt")
    page.locator("uw-bank").evaluate("bank => (bank.stayed = true)")
    skip = page.get_by_role("link", name="Skip the filters")
    skip.focus()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("#bank-shown")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator(".bank-card a").first).to_be_focused()
    assert page.locator("uw-bank").evaluate("bank => bank.stayed") is True


def test_the_bank_is_filtered_without_script(open_page: OpenPage) -> None:
    page = open_page("/problems", 390, java_script_enabled=False)
    page.locator(".bank-fold > summary").click()
    page.get_by_role("navigation", name="Difficulty").get_by_role("link", name="hard").click()
    expect(page.locator(".bank-card")).to_have_count(1)
    page.get_by_role("link", name="Show all").click()
    expect(page.locator(".bank-card")).to_have_count(3)


def test_on_a_phone_a_link_leads_past_the_task_to_the_answer(open_page: OpenPage) -> None:
    page = open_page("/exercises/early-meetings", width=390)
    page.get_by_role("link", name="To your answer").click()
    expect(page.locator(".attempt .pad")).to_be_in_viewport()


def test_on_paper_all_of_an_answer_is_printed(open_page: OpenPage) -> None:
    page = open_page("/exercises/double")
    code = "\n".join(f"line_{number} = {number}" for number in range(200))
    page.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(code)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    expect(page.locator(".pad-printed")).to_have_text(code)
    expect(page.locator(".pad-printed")).to_be_visible()
    expect(page.locator(".cm-editor")).to_be_hidden()


@pytest.mark.parametrize("name", ["double", "early-meetings", "pull-back"])
def test_on_a_desk_an_answer_is_submitted_without_scrolling(open_page: OpenPage, name: str) -> None:
    page = open_page(f"/exercises/{name}")
    page.set_viewport_size({"width": 1280, "height": 800})
    wait_for_near_elements(page)
    submit_button = page.get_by_role("button", name="Submit")
    page.locator(".cm-editor").wait_for()
    expect(submit_button).to_be_in_viewport(ratio=1)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(submit_button).to_be_in_viewport(ratio=1)
    assert find_what_is_over(submit_button) == ""


def find_what_is_over(part: Locator) -> str:
    """The element that covers the middle of a part, or "": such a part cannot be clicked."""
    return str(
        part.evaluate(
            """part => {
              const box = part.getBoundingClientRect();
              const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
              return part.contains(top) ? "" : String(top?.outerHTML);
            }"""
        )
    )
