"""The home page: its graph is there before anything runs, and the head of every page stands in one row."""

import pytest
from browser_parts import OpenPage, wait_for_near_elements
from playwright.sync_api import expect


def test_the_graph_can_be_stepped_through_before_anything_has_run(open_page: OpenPage) -> None:
    page = open_page("/")
    wait_for_near_elements(page)
    page.get_by_role("button", name="Step through it").click()
    page.get_by_role("button", name="To the end").click()
    expect(page.locator(".player-status")).to_contain_text("x.grad")
    expect(page.locator(".cell-output")).to_be_hidden()


def test_without_script_the_graph_is_there(open_page: OpenPage) -> None:
    page = open_page("/", java_script_enabled=False)
    expect(page.locator("svg.graph-picture")).to_be_visible()


@pytest.mark.parametrize("width", [320, 768, 1280])
def test_the_head_of_a_page_is_one_row(open_page: OpenPage, width: int) -> None:
    page = open_page("/help", width)
    middles = """() => [...document.querySelectorAll(".site-head > *")]
      .filter(part => part.checkVisibility())
      .map(part => part.getBoundingClientRect())
      .map(box => Math.round((box.top + box.bottom) / 2))"""
    found = page.evaluate(middles)
    assert len(found) >= 3
    assert max(found) - min(found) <= 2
