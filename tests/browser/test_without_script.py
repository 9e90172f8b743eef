"""Without script a learner reads, predicts, answers, runs, hands in and sees the verdict."""

from browser_parts import ROOT, OpenPage
from playwright.sync_api import Page, expect

CHAPTER = "/chapters/a-first-graph"
SOLUTION = ROOT / "tests" / "course" / "exercises" / "double" / "solution.py"


def open_plain(open_page: OpenPage, path: str) -> Page:
    return open_page(path, 390, java_script_enabled=False)


def test_a_prediction_is_committed_and_settled_by_a_run(open_page: OpenPage) -> None:
    page = open_plain(open_page, CHAPTER)
    page.locator("uw-predict input[name=option]").first.check()
    page.locator("uw-predict input[name=confidence]").first.check()
    page.get_by_role("button", name="Commit").click()
    expect(page.locator("uw-predict")).to_have_class("card predict is-committed")
    page.locator("uw-cell").first.get_by_role("button", name="Run").click()
    expect(page.locator(".run-output")).to_contain_text("4.0")
    expect(page.locator(".run svg.graph-picture")).to_be_visible()
    expect(page.locator("uw-predict")).to_have_class("card predict is-resolved")


def test_a_question_is_answered(open_page: OpenPage) -> None:
    page = open_plain(open_page, CHAPTER)
    page.get_by_label("A number").fill("1")
    page.locator("uw-question[data-kind=number]").get_by_role("button").click()
    expect(page.locator("uw-question[data-kind=number]")).to_contain_text("Right.")


def test_a_submission_gets_its_verdict(open_page: OpenPage) -> None:
    page = open_plain(open_page, "/exercises/double")
    page.get_by_label("Your answer").fill(SOLUTION.read_text())
    page.get_by_role("button", name="Submit").click()
    expect(page.locator(".verdict-headline")).to_contain_text("Passed")


def test_a_figure_shows_its_graph_and_says_it_in_words(open_page: OpenPage) -> None:
    page = open_plain(open_page, CHAPTER)
    expect(page.locator("figure.graph-figure svg")).to_be_visible()
    page.get_by_text("The graph in words").click()
    expect(page.locator(".graph-words pre")).to_contain_text("mul")


def test_the_theme_is_chosen_by_a_form(open_page: OpenPage) -> None:
    page = open_plain(open_page, CHAPTER)
    page.locator("uw-theme button").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "light")
    assert page.url.endswith(CHAPTER)
