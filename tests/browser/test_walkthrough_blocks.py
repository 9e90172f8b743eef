"""Measurements, walks, incidents and variants in the browser: what a script adds to what already stands there."""

import pytest
from browser_parts import OpenPage, come_near
from playwright.sync_api import expect

pytestmark = pytest.mark.nightly

CHAPTER = "/chapters/a-second-look"
LIGHT_INK, DARK_INK = "rgb(232, 226, 214)", "rgb(35, 32, 27)"


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


def test_the_key_that_prints_draws_the_charts_first(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    page.evaluate(
        """() => {
          window.print = () => {
            const drawn = document.querySelectorAll("uw-measure[data-drawn] .chart:has(svg.main-svg)");
            document.body.dataset.printed = drawn.length;
          };
        }"""
    )
    charts = page.locator("uw-measure[data-figure]").count()
    assert page.locator("uw-measure[data-drawn]").count() == 0

    page.keyboard.press("Control+p")

    expect(page.locator("body")).to_have_attribute("data-printed", str(charts))


def test_on_paper_a_chart_is_dark_on_light_and_fits_whatever_the_screen_shows(open_page: OpenPage) -> None:
    page = open_page(CHAPTER, color_scheme="dark")
    chart = page.locator("#saved-by-size .chart")
    chart.locator("xpath=ancestor::uw-measure").scroll_into_view_if_needed()
    text = chart.locator(".ytitle")
    expect(text).to_have_css("fill", LIGHT_INK)

    page.evaluate("dispatchEvent(new Event('beforeprint'))")

    expect(text).to_have_css("fill", DARK_INK)
    expect(chart.locator("svg.main-svg").first).to_have_attribute("width", "660")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(text).to_have_css("fill", LIGHT_INK)
    wide = chart.evaluate("chart => chart.clientWidth")
    expect(chart.locator("svg.main-svg").first).to_have_attribute("width", str(wide))


def test_a_chart_that_was_printed_in_a_closed_fold_fits_when_the_fold_is_opened(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    measure = page.locator("#saved-by-size")
    measure.evaluate(
        """element => {
          const fold = document.createElement("details");
          element.before(fold);
          fold.append(document.createElement("summary"), element);
          window.print = () => {
            dispatchEvent(new Event("beforeprint"));
            dispatchEvent(new Event("afterprint"));
            document.body.dataset.printed = "yes";
          };
        }"""
    )
    page.keyboard.press("Control+p")
    expect(page.locator("body")).to_have_attribute("data-printed", "yes")

    page.locator("details:has(#saved-by-size) > summary").first.click()
    measure.scroll_into_view_if_needed()

    expect(measure).to_have_attribute("data-drawn", "")
    wide = measure.locator(".chart").evaluate("chart => chart.clientWidth")
    expect(measure.locator("svg.main-svg").first).to_have_attribute("width", str(wide))


def test_what_is_kept_is_amber_and_its_peak_is_not(open_page: OpenPage) -> None:
    """So that the two charts of one chapter that show both agree, in whatever order an author names them."""
    page = open_page(CHAPTER)
    measure = page.locator("#saved-by-size")
    measure.evaluate(
        """element => {
          const trace = name => ({ type: "bar", name, x: ["a"], y: [1] });
          element.dataset.figure = JSON.stringify({ data: [trace("peak"), trace("kept")], layout: {} });
        }"""
    )
    measure.scroll_into_view_if_needed()

    bars = measure.locator(".bars path")
    expect(bars).to_have_count(2)
    amber = page.evaluate(
        """() => {
          const probe = document.body.appendChild(document.createElement("span"));
          probe.style.setProperty("color", "var(--saved)");
          return getComputedStyle(probe).color;
        }"""
    )
    expect(bars.nth(1)).to_have_css("fill", amber)
    expect(bars.nth(0)).not_to_have_css("fill", amber)


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
