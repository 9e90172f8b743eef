"""A chapter as it is read: its end keeps the reader's place."""

from browser_parts import OpenPage
from playwright.sync_api import expect


def test_reading_to_the_end_stays_there_and_names_the_next_chapter(open_page: OpenPage) -> None:
    page = open_page("/chapters/a-first-graph")
    page.get_by_role("button", name="I have read to the end").click()
    page.wait_for_url("**#finish")
    following = page.locator("#finish").get_by_role("link", name="1.2 A second look")
    expect(following).to_be_in_viewport()
