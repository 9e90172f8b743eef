"""Sliders of a measurement: moved, typed, and measured beside the earlier results."""

import json

import pytest
from browser_parts import OpenPage, come_near
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.nightly

CHAPTER = "/chapters/a-second-look"


def near(page: Page) -> Locator:
    measure = come_near(page.locator("#shrinking"))
    slider = measure.get_by_role("slider", name="rate")
    slider.scroll_into_view_if_needed()
    expect(slider).to_be_visible()
    return measure


def lines(measure: Locator) -> list[str]:
    return [trace["name"] for trace in json.loads(measure.get_attribute("data-figure") or "{}")["data"]]


def test_a_slider_rewrites_its_number_and_each_setting_keeps_its_line(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    measure = near(page)
    slider = measure.get_by_role("slider", name="rate")
    expect(slider).to_have_value("0.5")
    slider.focus()
    page.keyboard.press("End")

    expect(measure.get_by_role("status").first).to_have_text("rate 2.2: measured.")
    assert measure.locator("textarea").input_value().startswith("rate = 2.2\n")
    assert lines(measure) == ["rate 0.5", "rate 2.2"]
    expect(measure.locator("[data-table]")).not_to_have_attribute("open", "")
    expect(measure.locator("tbody tr")).to_have_count(8)
    expect(measure.locator("tbody tr.is-fresh")).to_have_count(4)
    assert CHAPTER in page.url


def test_a_slider_follows_the_code_and_rests_while_there_is_no_plain_number(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    measure = near(page)
    slider = measure.get_by_role("slider", name="rate")
    measure.locator("summary", has_text="The code").click()
    editor = measure.locator(".cm-content")
    editor.fill("rate = 1.5\nresult = []")
    expect(slider).to_have_value("1.5")
    editor.fill("rate = 3 / 2\nresult = []")

    expect(slider).to_be_disabled()
