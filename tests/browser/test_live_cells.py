"""A cell in the browser: run, see, hover, err, stop, come back."""

from browser_parts import OpenPage, come_near, scroll_through
from playwright.sync_api import Locator, Page, expect

CHAPTER = "/chapters/a-first-graph"


def open_cell(page: Page, place: int = 0) -> Locator:
    scroll_through(page)
    cell = page.locator("uw-cell").nth(place)
    cell.scroll_into_view_if_needed()
    return cell


def write(page: Page, cell: Locator, text: str) -> None:
    cell.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.press("Delete")
    for line in text.split("\n"):
        page.keyboard.type(line)
        page.keyboard.press("Enter")
        page.keyboard.press("Home")


def run_past_the_prediction(cell: Locator) -> None:
    cell.locator("[data-run]").click()
    expect(cell.locator("[data-state]")).to_contain_text("Run again to skip it")
    cell.locator("[data-run]").click()


def test_a_run_prints_and_draws_its_graph(open_page: OpenPage) -> None:
    cell = open_cell(open_page(CHAPTER))
    run_past_the_prediction(cell)
    expect(cell.locator(".cell-output")).to_have_text("4.0")
    expect(cell.locator("g.node-op")).to_contain_text("mul")
    expect(cell.locator("[data-state]")).to_contain_text("Ran in")


def test_a_node_lights_its_expression_and_an_expression_its_node(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    cell = open_cell(page)
    run_past_the_prediction(cell)
    cell.locator("g.node-op").hover()
    expect(cell.locator(".cm-lit")).to_have_text("x * x")
    expect(cell.locator(".graph-details")).to_contain_text("mul")
    page.mouse.move(0, 0)
    cell.locator(".cm-line", has_text="x * x").hover(position={"x": 50, "y": 8})
    expect(cell.locator("g.node-op")).to_have_class("node node-op is-lit")


def test_a_listing_and_its_static_graph_light_each_other(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    figure = page.locator("figure.graph-figure")
    come_near(figure).locator("g.node-op").first.hover()
    lit = "[...(CSS.highlights.get('uw-lit') ?? [])].map(String)"
    assert page.evaluate(lit) == ["x * x"]
    figure.locator("[data-line='4']").hover(position={"x": 90, "y": 8})
    expect(figure.locator("g.is-lit")).to_have_count(1)


def test_a_prediction_is_committed_first_and_settled_by_the_run(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    cell = open_cell(page)
    predict = page.locator("uw-predict")
    predict.locator("input[name=option]").first.check()
    predict.get_by_label("Certain").check()
    predict.get_by_role("button", name="Commit").click()
    expect(predict).to_have_class("card predict is-committed")
    expect(predict.locator(".truth")).to_have_count(0)
    cell.locator("[data-run]").click()
    expect(predict).to_have_class("card predict is-resolved")
    expect(predict).to_contain_text("That is not what happens")
    expect(predict.locator(".truth")).to_contain_text("The run prints")


def test_an_error_stands_on_the_line_that_raised_it(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    cell = open_cell(page, 1)
    write(page, cell, "y = x * 3\n1 / 0")
    page.keyboard.press("Control+Enter")
    expect(cell.locator(".cm-mistake")).to_contain_text("1 / 0")
    expect(cell.locator(".cm-mistake-note")).to_contain_text("ZeroDivisionError")
    expect(cell.locator(".mistake-head")).to_contain_text("ZeroDivisionError on your line 2")
    expect(cell.locator("[data-state]")).to_have_text("ZeroDivisionError on line 2.")


def test_what_a_program_prints_is_text_and_never_markup(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    cell = open_cell(page, 1)
    write(page, cell, "print('<img src=x onerror=alert(1)>')")
    page.keyboard.press("Control+Enter")
    expect(cell.locator(".cell-output")).to_contain_text("<img src=x onerror=alert(1)>")
    assert cell.locator(".cell-output img").count() == 0


def test_stop_ends_an_endless_loop_and_the_cell_runs_again(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    cell = open_cell(page, 1)
    write(page, cell, "print('begun', flush=True)\nwhile True: pass")
    page.keyboard.press("Control+Enter")
    expect(cell.locator(".cell-output")).to_contain_text("begun")
    cell.get_by_role("button", name="Stop").click()
    expect(cell.get_by_role("button", name="Stop")).to_be_hidden()
    write(page, cell, "print('again')")
    page.keyboard.press("Control+Enter")
    expect(cell.locator(".cell-output")).to_contain_text("again")


def test_a_draft_survives_a_reload_and_reset_can_be_undone(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    cell = open_cell(page, 1)
    write(page, cell, "print('mine')")
    page.reload()
    cell = open_cell(page, 1)
    expect(cell.locator(".cm-content")).to_contain_text("print('mine')")
    cell.get_by_role("button", name="Reset").click()
    expect(cell.locator(".cm-content")).to_contain_text("y = x * 3")
    cell.get_by_role("button", name="Undo reset").click()
    expect(cell.locator(".cm-content")).to_contain_text("print('mine')")


def test_a_settled_prediction_stands_in_the_cell_beside_what_happened(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    cell = open_cell(page)
    predict = page.locator("uw-predict")
    predict.locator("input[name=option]").first.check()
    predict.get_by_label("Certain").check()
    predict.get_by_role("button", name="Commit").click()
    cell.locator("[data-run]").click()
    settled = cell.locator(".settled")
    expect(settled.locator(".is-wrong")).to_contain_text("You predicted")
    expect(settled.locator(".is-right")).to_contain_text("What happens")
    expect(cell.locator("[data-state]")).to_contain_text("Your prediction is settled below.")
    expect(settled.get_by_role("link", name="Read why")).to_have_attribute("href", "#double-use")


def test_a_run_after_an_error_does_not_look_failed_before_it_has_ended(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    cell = open_cell(page, 1)
    write(page, cell, "1 / 0")
    page.keyboard.press("Control+Enter")
    expect(cell).to_have_attribute("data-failed", "")
    write(page, cell, "print('begun', flush=True)\nwhile True: pass")
    page.keyboard.press("Control+Enter")
    expect(cell.locator(".cell-output")).to_contain_text("begun")
    assert cell.get_attribute("data-failed") is None
    cell.get_by_role("button", name="Stop").click()


def test_a_long_program_scrolls_within_its_cell(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    cell = open_cell(page, 1)
    cell.evaluate("(cell, text) => cell.replaceText(text)", "x = 1\n" * 1000)
    editor = cell.locator(".cm-editor")
    assert editor.evaluate("editor => editor.clientHeight <= innerHeight")


def test_on_a_phone_a_long_sentence_about_a_run_has_a_row_of_its_own(open_page: OpenPage) -> None:
    page = open_page(CHAPTER, width=390)
    cell = open_cell(page, 1)
    cell.evaluate("(cell, text) => cell.replaceText(text)", "#" * 70_000)
    cell.locator("[data-run]").click()
    state = cell.locator("[data-state]")
    expect(state).to_contain_text("longer than")

    said, bar = state.bounding_box(), cell.locator(".pad-bar").bounding_box()
    assert said
    assert bar
    assert said["width"] > 0.9 * bar["width"]


def test_code_scrolled_sideways_passes_beneath_the_line_numbers(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    cell = open_cell(page, 1)
    colour = "part => getComputedStyle(part).backgroundColor"
    beside = cell.locator(".cell-body").evaluate(colour)
    assert cell.locator(".cm-gutters").evaluate(colour) == beside != "rgba(0, 0, 0, 0)"


def test_the_reader_chooses_between_the_code_of_two_tabs(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    cell = open_cell(page, 1)
    other = page.context.new_page()
    other.goto(CHAPTER)
    write(other, open_cell(other, 1), "print('from the other tab')")
    asked = cell.get_by_role("alert")
    expect(asked).to_contain_text("Another tab or device has changed this code")
    page.bring_to_front()
    with page.expect_navigation():
        asked.get_by_role("button", name="Take the other version").click()
    expect(open_cell(page, 1).locator(".cm-content")).to_have_text("print('from the other tab')")


def test_what_another_device_stored_is_replaced_only_on_request(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    cell = open_cell(page, 1)
    draft = f"/api/drafts/{cell.get_attribute('data-draft')}"
    assert page.request.put(draft, data={"text": "print('elsewhere')"}).status == 204
    with page.expect_response(f"**{draft}") as refused:
        write(page, cell, "print('here')")
    assert refused.value.status == 409
    with page.expect_response(f"**{draft}") as stored:
        cell.get_by_role("alert").get_by_role("button", name="Keep this version").click()
    assert stored.value.status == 204
    page.reload()
    expect(open_cell(page, 1).locator(".cm-content")).to_have_text("print('here')")
