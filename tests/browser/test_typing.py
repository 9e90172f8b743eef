"""The picture that follows the typing: it never tells a half line off, and never gives a prediction away."""

import player_programs as programs
from browser_parts import OpenPage
from playwright.sync_api import Locator, Page, expect
from test_live_cells import CHAPTER, open_cell, run_past_the_prediction
from test_player import play

ASKED = "as_typed"


def type_below(page: Page, cell: Locator, text: str) -> None:
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.press("Enter")
    page.keyboard.press("Home")
    page.keyboard.type(text)


def note_requests(page: Page) -> list[str]:
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.post_data or "") if "/api/runs" in request.url else None)
    return sent


def test_a_half_written_line_keeps_the_last_picture_and_is_not_told_off(open_page: OpenPage) -> None:
    page = play(open_page, programs.DIAMOND)
    cell = page.locator("uw-cell")
    drawn = page.locator("g.node-op").count()
    type_below(page, cell, "c = x.sin(")
    page.keyboard.press("Delete")

    expect(cell.locator("[data-state]")).to_have_text("Waiting for a whole line …")
    assert page.locator("g.node-op").count() == drawn
    expect(cell.locator(".cm-mistake")).to_have_count(0)
    expect(cell.locator(".cell-output .mistake-head")).to_have_count(0)

    page.keyboard.type(")")
    expect(page.locator("g.node-op", has_text="sin")).to_have_count(1)
    expect(cell.locator("[data-state]")).to_have_text("Drawn as typed.")


def test_a_name_that_is_half_written_is_waited_for_until_the_cursor_leaves_its_line(open_page: OpenPage) -> None:
    page = play(open_page, programs.DIAMOND)
    cell = page.locator("uw-cell")
    type_below(page, cell, "c = xx")

    expect(cell.locator("[data-state]")).to_have_text("Waiting for a whole line …")
    page.keyboard.press("Control+Home")
    page.keyboard.type("k = 1\n")

    expect(cell.locator("[data-state]")).to_contain_text("raises NameError")
    expect(page.locator("uw-cell[data-behind]")).to_have_count(1)
    expect(cell.locator(".cm-mistake")).to_have_count(0)


def test_a_chapter_s_cell_follows_once_its_prediction_is_settled(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    cell = open_cell(page)
    sent = note_requests(page)
    type_below(page, cell, "z = x.exp()")
    expect(cell.locator("[data-state]")).to_have_text("Predict first; then the picture follows your typing.")
    assert sent == []

    run_past_the_prediction(cell)
    expect(cell.locator("g.node-op", has_text="exp")).to_have_count(1)
    type_below(page, cell, "w = z.sin()")

    expect(cell.locator("g.node-op", has_text="sin")).to_have_count(1)
    assert ASKED in sent[-1]


def test_one_run_at_a_time_follows_and_earlier_ones_are_stopped(open_page: OpenPage) -> None:
    page = play(open_page, programs.DIAMOND)
    cell = page.locator("uw-cell")
    stopped: list[str] = []
    page.on("request", lambda request: stopped.append(request.url) if request.url.endswith("/stop") else None)
    type_below(page, cell, "import time; time.sleep(2.5)")
    page.wait_for_timeout(900)
    page.keyboard.press("Control+End")
    for _ in range(len("import time; time.sleep(2.5)")):
        page.keyboard.press("Backspace")
    page.keyboard.type("c = x.cos()")

    expect(page.locator("g.node-op", has_text="cos")).to_have_count(1)
    assert len(stopped) >= 1


def test_a_run_that_failed_shows_nothing_of_an_open_prediction(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    cell = open_cell(page)
    sent = note_requests(page)
    type_below(page, cell, "1 / 0")
    run_past_the_prediction(cell)
    expect(cell.locator("[data-state]")).to_contain_text("ZeroDivisionError")

    cell.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    for _ in range(len("1 / 0")):
        page.keyboard.press("Backspace")
    page.wait_for_timeout(1200)

    assert len(sent) == 1
    assert ASKED not in sent[0]


def test_what_is_typed_during_a_run_is_drawn_when_the_run_is_over(open_page: OpenPage) -> None:
    page = play(open_page, programs.DIAMOND)
    cell = page.locator("uw-cell")
    type_below(page, cell, "import time; time.sleep(1.5)")
    cell.locator("[data-run]").click()
    expect(page.locator("uw-cell[data-running]")).to_have_count(1)
    type_below(page, cell, "c = x.cos()")

    expect(page.locator("g.node-op", has_text="cos")).to_have_count(1, timeout=15_000)
    expect(cell.locator("[data-state]")).to_have_text("Drawn as typed.")


def test_where_nothing_may_be_stored_the_picture_follows_all_the_same(open_page: OpenPage) -> None:
    page = play(open_page, programs.DIAMOND)
    page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('forbidden'); } })")
    page.reload()
    cell = page.locator("uw-cell")
    type_below(page, cell, "c = x.cos()")
    expect(page.locator("g.node-op", has_text="cos")).to_have_count(1)

    cell.get_by_label("Redraw as I type").uncheck()
    type_below(page, cell, "d = x.sin()")
    page.wait_for_timeout(1200)
    expect(page.locator("g.node-op", has_text="sin")).to_have_count(0)
