"""Questions in the browser: answered in place, by form or by a click on the graph."""

from browser_parts import OpenPage, come_near
from playwright.sync_api import expect

CHAPTER = "/chapters/a-first-graph"


def test_a_wrong_number_says_why_and_a_right_one_is_kept(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    question = page.locator("uw-question[data-kind=number]")
    question.get_by_label("A number").fill("2")
    question.get_by_role("button").click()
    expect(question).to_contain_text("Two operands, but one operation.")
    question.get_by_label("A number").fill("1")
    question.get_by_role("button").click()
    expect(question).to_contain_text("Right.")
    page.reload()
    expect(question).to_contain_text("Right.")


def test_a_node_of_the_graph_is_chosen_by_clicking_it(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    come_near(page.locator("figure.graph-figure g.node-leaf")).click()
    question = page.locator("uw-question[data-kind=graph-click]")
    expect(question.locator("input:checked")).to_have_count(1)
    question.get_by_role("button").click()
    expect(question).to_contain_text("Right.")


def test_an_open_answer_is_compared_and_ticked_by_its_writer(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    question = page.locator("uw-question[data-kind=open]")
    expect(question.locator(".model-answer")).to_have_count(0)
    question.get_by_label("In your own words").fill("Twelve, since three uses add up.")
    question.get_by_role("button").click()
    expect(question.locator(".model-answer")).to_contain_text("12")
    question.get_by_label("Three contributions").check()
    question.get_by_role("button").click()
    expect(question).to_contain_text("Saved: 1 of 2.")


def test_not_knowing_is_an_answer(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    page.get_by_role("button", name="I don’t know").click()
    expect(page.locator("uw-predict")).to_contain_text("that is a fine answer")


def test_an_answer_that_cannot_be_sent_stays_on_the_page(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    question = come_near(page.locator("uw-question[data-kind=choice]"))
    question.locator("input").first.check()
    page.context.set_offline(True)
    question.get_by_role("button").click()
    expect(question.get_by_role("alert")).to_contain_text("Not sent: the server cannot be reached.")
    expect(question.locator("input").first).to_be_checked()
    page.context.set_offline(False)
    question.get_by_role("button").click()
    expect(question).to_have_class("card question is-right")


def test_a_number_that_cannot_be_read_stays_to_be_corrected(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    question = come_near(page.locator("uw-question[data-kind=number]"))
    field = question.get_by_label("A number")
    field.fill("one")
    question.get_by_role("button").click()
    expect(question.get_by_role("alert")).to_contain_text("is not a number")
    expect(field).to_have_value("one")
    expect(field).to_have_attribute("aria-invalid", "true")


def test_a_judgement_is_told_in_a_region_that_was_there_before(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    question = come_near(page.locator("uw-question[data-kind=number]"))
    question.get_by_label("A number").fill("2")
    question.get_by_role("button").click()
    expect(page.locator(".answer-told")).to_contain_text("Not yet. Two operands, but one operation.")
