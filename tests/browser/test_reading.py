"""A chapter as it is read: its end keeps the reader's place."""

from browser_parts import OpenPage
from playwright.sync_api import expect


def test_reading_to_the_end_stays_there_and_names_the_next_chapter(open_page: OpenPage) -> None:
    page = open_page("/chapters/a-first-graph")
    page.get_by_role("button", name="I have read to the end").click()
    page.wait_for_url("**#finish")
    following = page.locator("#finish").get_by_role("link", name="1.2 A second look")
    expect(following).to_be_in_viewport()


def test_by_touch_no_copy_button_covers_code_and_a_question_has_none(open_page: OpenPage) -> None:
    page = open_page("/chapters/a-second-look", width=390, has_touch=True, is_mobile=True)
    covers = page.locator(".listing > .copy:visible").evaluate_all(
        """buttons => buttons.map(button => {
          const code = button.parentElement.querySelector("pre");
          return button.getBoundingClientRect().bottom > code.getBoundingClientRect().top;
        })"""
    )
    assert covers
    assert not any(covers)
    assert page.locator("uw-question .copy").count() == 0
