"""What a reader of a tape sees: the line that runs, a picture that fits, one call at a time, no answer too early."""

import player_programs as programs
import pytest
from browser_parts import OpenPage
from playwright.sync_api import Locator, Page, expect
from test_accessibility import find_overflow, find_violations
from test_player import count_steps, go, play

PADDED = "".join(f"unused_{number} = {number}\n" for number in range(80)).join(("", programs.DIAMOND))
"""The recorded lines stand far below the first."""


IS_INSIDE = """lit => {
  const pane = lit.closest(".cm-scroller").getBoundingClientRect();
  const line = lit.getBoundingClientRect();
  return line.top >= pane.top - 1 && line.bottom <= pane.bottom + 1;
}"""


def top_of(part: Locator) -> float:
    return float(part.evaluate("part => part.getBoundingClientRect().top"))


def bottom_of(part: Locator) -> float:
    return float(part.evaluate("part => part.getBoundingClientRect().bottom"))


def width_of(part: Locator) -> float:
    return float(part.evaluate("part => part.getBoundingClientRect().width"))


def test_the_running_line_is_scrolled_into_the_code_and_the_page_stays(open_page: OpenPage) -> None:
    page = play(open_page, PADDED)
    before = page.evaluate("scrollY")
    go(page, 1)
    lit = page.locator(".cm-lit").first
    expect(lit).to_be_visible()
    assert lit.evaluate(IS_INSIDE)
    assert page.evaluate("scrollY") == before


def test_on_a_phone_the_running_line_stands_over_the_picture(open_page: OpenPage) -> None:
    page = play(open_page, programs.DIAMOND, width=390)
    go(page, 1)
    line = page.locator(".player-line")
    expect(line).to_be_visible()
    expect(line).to_contain_text(page.locator(".cm-lit").first.inner_text())


def test_a_wide_picture_fits_its_column_until_its_own_size_is_chosen(open_page: OpenPage) -> None:
    page = play(open_page, programs.DIAMOND, width=390)
    frame, picture = page.locator(".graph-scroll"), page.locator("svg.graph-picture")
    natural = float(picture.get_attribute("width") or 0)
    assert width_of(frame) < natural
    assert width_of(picture) <= width_of(frame)
    page.get_by_role("button", name="1:1").click()
    assert width_of(picture) == natural
    page.get_by_role("button", name="Fit").click()
    assert width_of(picture) <= width_of(frame)


def test_a_picture_that_fits_anyway_offers_no_size(open_page: OpenPage) -> None:
    page = play(open_page, programs.TWICE)
    expect(page.get_by_role("button", name="1:1")).to_be_hidden()


def test_while_predicting_the_tape_does_not_list_what_is_to_come(open_page: OpenPage) -> None:
    page = play(open_page, programs.DIAMOND)
    rows = page.locator(".tape-list button")
    last = rows.last.inner_text()
    page.get_by_label("Let me predict each step of backward").check()
    expect(rows.last).to_have_text("hidden until you have predicted it")
    expect(rows.first).to_contain_text("recorded")
    expect(page.get_by_text("Bytes held for backward:")).to_be_hidden()
    go(page, count_steps(page))
    expect(rows.last).to_have_text(last)


def test_the_question_stands_above_the_picture(open_page: OpenPage) -> None:
    page = play(open_page, programs.DIAMOND)
    page.get_by_label("Let me predict each step of backward").check()
    forward = page.get_by_role("button", name="One step forward")
    forward.click()
    forward.click()
    question = page.locator(".predict-question")
    expect(question).to_be_visible()
    assert bottom_of(question) < top_of(page.locator(".graph-scroll"))


@pytest.mark.parametrize("width", [1280, 390])
def test_each_backward_call_can_be_shown_alone(open_page: OpenPage, width: int) -> None:
    page = play(open_page, programs.SECOND_ORDER, width)
    calls = page.get_by_role("group", name="Graph of one backward call").get_by_role("button")
    assert calls.count() == 3
    picture = page.locator("svg.graph-picture")
    whole = picture.get_attribute("viewBox")
    nodes = page.locator("g.node").count()

    calls.nth(1).click()

    expect(calls.nth(1)).to_have_attribute("aria-pressed", "true")
    hidden = page.locator("g.node.is-elsewhere")
    assert 0 < hidden.count() < nodes
    expect(hidden.first).to_be_hidden()
    assert find_area(picture.get_attribute("viewBox")) < find_area(whole)
    assert find_overflow(page) <= 0
    expect(page.locator("g.node[tabindex='0']")).to_have_count(1)
    expect(page.locator("g.node[tabindex='0']")).to_be_visible()

    calls.first.click()

    expect(page.locator("g.is-elsewhere")).to_have_count(0)
    expect(picture).to_have_attribute("viewBox", str(whole))


def find_area(box: str | None) -> float:
    _, _, width, height = map(float, str(box).split())
    return width * height


def test_a_graph_of_one_backward_call_offers_no_choice(open_page: OpenPage) -> None:
    page = play(open_page, programs.DIAMOND)
    expect(page.get_by_role("group", name="Graph of one backward call")).to_have_count(0)


MATRIX = """\
import torch
W = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
loss = (W * W).sum()
loss.backward()
"""


def test_a_small_matrix_is_laid_out_as_a_grid(open_page: OpenPage) -> None:
    page = play(open_page, MATRIX)
    go(page, count_steps(page))
    page.locator("g.node-leaf").click()
    rows = page.locator(".node-panel .matrix tr")
    expect(rows.first).to_have_text("1.02.0")


SIGNED = """\
import torch
W = torch.tensor([[4.0, -2.0], [0.0, float("nan")]], requires_grad=True)
(W * 2).sum().backward()
"""


def test_a_matrix_is_a_table_whose_cells_are_coloured_by_sign_and_size(open_page: OpenPage) -> None:
    page = play(open_page, SIGNED)
    go(page, count_steps(page))
    page.locator("g.node-leaf").click()
    gradient = (
        page.locator(".node-panel dd").filter(has_text=".grad += ").get_by_role("table", name="Matrix of 2 by 2")
    )
    expect(gradient.get_by_role("cell")).to_have_text(["2.0"] * 4)
    cells = page.locator(".node-panel").get_by_role("table", name="Matrix of 2 by 2").first.get_by_role("cell")
    expect(cells).to_have_text(["4.0", "-2.0", "0.0", "nan"])
    marks = cells.evaluate_all("cells => cells.map(cell => [cell.dataset.sign ?? '', cell.dataset.shade ?? ''])")
    assert marks == [["plus", "5"], ["minus", "3"], ["", ""], ["none", ""]]
    colours = cells.evaluate_all("cells => cells.map(cell => getComputedStyle(cell).backgroundColor)")
    assert len(set(colours)) == 4


def read_visible(page: Page) -> list[float]:
    """The part of the picture that its map marks: x, y, width, height."""
    names = ("x", "y", "width", "height")
    return [float(page.locator(".map-view").get_attribute(name) or 0) for name in names]


def read_scrolled(page: Page) -> list[float]:
    return list(page.locator(".graph-scroll").evaluate("frame => [frame.scrollLeft, frame.scrollTop]"))


def press_map(page: Page, across: float, down: float) -> tuple[float, float]:
    """Presses the pointer at a share of the map's width and height; its place on the page."""
    map_ = page.locator(".graph-map svg")
    map_.scroll_into_view_if_needed()
    box = map_.bounding_box()
    assert box
    x, y = box["x"] + across * box["width"], box["y"] + down * box["height"]
    page.mouse.move(x, y)
    page.mouse.down()
    return x, y


@pytest.mark.parametrize("width", [1280, 390])
def test_a_picture_larger_than_its_frame_has_a_map_that_moves_it(open_page: OpenPage, width: int) -> None:
    page = play(open_page, programs.WIDE, width)
    page.get_by_role("button", name="1:1").click()
    area = page.locator("svg.graph-picture").get_attribute("viewBox")
    _, _, whole_width, whole_height = map(float, str(area).split())
    assert page.locator(".map-node").count() > 10
    expect(page.locator(".graph-map")).to_be_visible()
    left, top, seen_width, seen_height = read_visible(page)
    assert (left, top) == (0, 0)
    assert seen_width < whole_width or seen_height < whole_height

    press_map(page, 0.99, 0.99)
    page.wait_for_function("document.querySelector('.graph-scroll').scrollTop > 0")
    page.mouse.up()

    left, top, seen_width, seen_height = read_visible(page)
    assert left + seen_width == pytest.approx(whole_width, abs=2)
    assert top + seen_height == pytest.approx(whole_height, abs=2)
    at_end = read_scrolled(page)
    x, y = press_map(page, 0.9, 0.9)
    page.mouse.move(x - 40, y - 40, steps=4)
    page.wait_for_function("end => document.querySelector('.graph-scroll').scrollTop < end", arg=at_end[1])
    page.mouse.up()
    assert find_overflow(page) <= 0


def test_the_map_follows_the_arrow_keys_and_is_for_pointers_alone(open_page: OpenPage) -> None:
    page = play(open_page, programs.WIDE, width=390)
    page.get_by_role("button", name="1:1").click()
    map_ = page.locator(".graph-map")
    expect(map_).to_be_visible()
    expect(map_).to_have_attribute("aria-hidden", "true")
    before = read_visible(page)[1]
    page.locator("g.node[tabindex='0']").focus()
    for _ in range(page.locator("g.node").count() - 1):
        page.keyboard.press("ArrowDown")
    page.wait_for_function(
        "before => Number(document.querySelector('.map-view').getAttribute('y')) > before", arg=before
    )
    page.emulate_media(media="print")
    expect(map_).to_be_hidden()


def test_a_picture_that_fits_its_frame_has_no_map(open_page: OpenPage) -> None:
    page = play(open_page, programs.TWICE)
    expect(page.locator("svg.graph-picture")).to_be_visible()
    expect(page.locator(".graph-map")).to_be_hidden()


EIGHT = """\
import torch
W = torch.arange(64.0).reshape(8, 8).sub(31.5).div(1e6).requires_grad_()
loss = (W * W).sum()
loss.backward()
"""


@pytest.mark.parametrize("width", [1280, 390])
def test_a_matrix_of_eight_by_eight_is_a_table_in_its_panel(open_page: OpenPage, width: int) -> None:
    page = play(open_page, EIGHT, width)
    go(page, count_steps(page))
    page.locator("g.node-leaf").click()
    panel = page.locator(".node-panel")
    tables = panel.get_by_role("table", name="Matrix of 8 by 8")
    expect(tables).to_have_count(2)  # its value, and what is added to its empty .grad
    expect(tables.first.get_by_role("row")).to_have_count(8)
    expect(tables.first.get_by_role("cell").first).to_have_text("-3.15e-05")
    expect(page.locator("g.node-leaf .t-grad")).to_contain_text("‖")
    frame = panel.locator(".matrix-frame").first
    assert width_of(frame) <= width_of(panel)
    assert find_overflow(page) <= 0
    frame.focus()
    before = page.locator(".player-count").inner_text()
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".player-count")).to_have_text(before)
    assert find_violations(page) == []


def test_a_step_back_shows_the_matrix_that_the_leaf_was_then(open_page: OpenPage) -> None:
    source = EIGHT + "with torch.no_grad():\n    W.zero_()\nloss = W.sum()\nloss.backward()\n"
    page = play(open_page, source)
    page.locator("g.node-leaf").click()
    value = page.locator(".node-panel dd").filter(has=page.get_by_role("table")).first
    go(page, count_steps(page))
    expect(value.get_by_role("cell").first).to_have_text("0.0")
    expect(value).to_contain_text("‖0‖")
    go(page, 1)
    expect(value.get_by_role("cell").first).to_have_text("-3.15e-05")
