"""Measurements, walks, incidents and variants in the browser: what a script adds to what already stands there."""

from browser_parts import OpenPage, come_near
from playwright.sync_api import expect

CHAPTER = "/chapters/a-second-look"


def test_a_chart_is_drawn_when_it_comes_near_and_its_library_is_not_loaded_before(open_page: OpenPage) -> None:
    page = open_page(f"{CHAPTER}#another-look", width=800)
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    assert page.evaluate("'Plotly' in window") is False

    measure = page.locator("#saved-by-size")
    measure.scroll_into_view_if_needed()
    expect(measure.locator(".chart svg.main-svg").first).to_be_visible()

    assert errors == []
    assert measure.locator("path.point").count() == 6


def test_a_measurement_taken_again_takes_the_place_of_the_committed_one(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    measure = come_near(page.locator("#saved-by-size"))
    measure.locator("summary", has_text="The code").click()
    come_near(measure.locator("[data-run]")).click()

    expect(page.locator("#saved-by-size .measured-where")).to_have_text("Measured just now, on this server.")
    expect(page.locator("#saved-by-size [data-run]")).to_be_visible()
    expect(page.locator("#saved-by-size tbody tr")).to_have_count(3)


def test_a_walk_shows_one_state_at_a_time_with_its_lines_marked(open_page: OpenPage) -> None:
    steps = come_near(open_page(CHAPTER).locator("#one-backward"))
    expect(steps.locator(".state:visible")).to_have_count(1)
    expect(steps.locator(".line[data-now]")).to_have_text(["grad = None"])

    steps.get_by_role("button", name="Next").click()

    expect(steps.get_by_role("status")).to_have_text("2 of 2")
    expect(steps.locator(".line[data-now]")).to_have_text(["grad = 2", "grad = grad + 3"])
    expect(steps.locator(".state:visible")).to_contain_text("they add")


def test_without_script_every_state_is_there(open_page: OpenPage) -> None:
    steps = open_page(CHAPTER, java_script_enabled=False).locator("#one-backward")

    expect(steps.locator(".state:visible")).to_have_count(2)


def test_a_switch_changes_how_an_incident_goes(open_page: OpenPage) -> None:
    incident = come_near(open_page(CHAPTER).locator("#the-missing-zero"))
    incident.locator("[data-run]").click()
    expect(incident.locator(".cell-output")).to_have_text("6")

    incident.get_by_label("Clear the gradient before each step").check()
    incident.locator("[data-run]").click()
    expect(incident.locator(".cell-output")).to_have_text("2")


def test_another_one_like_this_has_other_numbers(open_page: OpenPage) -> None:
    question = open_page(CHAPTER).locator("#after-several-calls")
    asked = question.locator(".card-prompt").inner_text()
    question.locator("input[name=number]").fill("77")
    question.get_by_role("button", name="Answer").click()
    question.get_by_role("button", name="Another one like this").click()

    expect(question.get_by_role("button", name="Answer")).to_be_visible()
    assert question.locator(".card-prompt").inner_text() != asked
