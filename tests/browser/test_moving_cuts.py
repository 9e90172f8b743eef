"""Cuts between layers: dragged, moved by keys, added, removed; each way of cutting is measured beside the others."""

import pytest
from browser_parts import OpenPage, come_near
from playwright.sync_api import Locator, Page, expect

pytestmark = pytest.mark.nightly

CHAPTER = "/chapters/a-second-look"


def near(page: Page) -> Locator:
    measure = come_near(page.locator("#longest-segment"))
    measure.locator(".cuts-bar").scroll_into_view_if_needed()
    return measure


def rows(measure: Locator) -> list[list[str]]:
    return [line.split("\t") for line in measure.locator("tbody").inner_text().split("\n")]


def test_a_cut_that_is_dragged_rewrites_the_list_and_is_measured_beside_it(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    measure = near(page)
    strip, handle = (measure.locator(name).first.bounding_box() for name in (".cuts-strip", ".cuts-handle"))
    assert strip
    assert handle
    middle = strip["y"] + strip["height"] / 2
    page.mouse.move(handle["x"] + handle["width"] / 2, middle)
    page.mouse.down()
    page.mouse.move(strip["x"] + strip["width"] * 2 / 12, middle, steps=4)
    page.mouse.up()

    expect(measure.locator("tr.is-fresh")).to_contain_text("[2, 6]")
    assert [row[1:] for row in rows(measure)] == [["3", "6"], ["3", "6"]]
    assert measure.locator("textarea").input_value().startswith("boundaries = [2, 6]\n")
    expect(measure.get_by_role("status").first).to_have_text("3 segments of 2, 4, 6: segments 3, longest 6.")


def test_a_cut_moves_by_keys_between_its_neighbours_and_the_page_does_not_turn(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    measure = near(page)
    cut = measure.get_by_role("slider", name="Cut 1 of 2")
    cut.focus()
    page.keyboard.press("End")
    expect(cut).to_have_attribute("aria-valuenow", "5")
    page.keyboard.press("ArrowRight")
    expect(cut).to_have_attribute("aria-valuenow", "5")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")

    expect(measure.locator("tbody tr.is-fresh")).to_contain_text("[2, 6]")
    expect(cut).to_have_attribute("aria-valuetext", "after layer 2: 2 layers before it, 4 after it")
    assert CHAPTER in page.url


def test_cuts_are_added_spread_and_removed(open_page: OpenPage) -> None:
    measure = near(open_page(CHAPTER))
    measure.get_by_role("button", name="Add a cut").click()
    expect(measure.locator("tr.is-fresh")).to_contain_text("[4, 6, 9]")
    measure.get_by_role("button", name="Spread evenly").click()
    expect(measure.locator("tr.is-fresh")).to_contain_text("[3, 6, 9]")
    measure.get_by_role("slider", name="Cut 3 of 3").press("Delete")

    expect(measure.locator("tr.is-fresh")).to_contain_text("[3, 6]")
    expect(measure.locator("tbody tr")).to_have_count(4)


def test_the_strip_follows_the_code(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    measure = near(page)
    measure.locator("summary", has_text="The code").click()
    editor = measure.locator(".cm-content")
    editor.click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("Shift+End")
    page.keyboard.insert_text("boundaries = [1, 2, 3]")

    expect(measure.get_by_role("slider")).to_have_count(3)


def test_without_script_the_cuts_are_shown_and_said_to_stand_in_the_code(open_page: OpenPage) -> None:
    measure = open_page(CHAPTER, java_script_enabled=False).locator("#longest-segment")

    expect(measure.locator(".cuts-words")).to_contain_text("The list boundaries in the code below")
    expect(measure.get_by_role("img", name="12 layers in 3 segments")).to_be_visible()
    expect(measure.get_by_role("button", name="Add a cut")).to_have_count(0)
