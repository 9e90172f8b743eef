"""Everything works from the keyboard alone."""

from browser_parts import OpenPage, come_near, scroll_through
from playwright.sync_api import Page, expect

CHAPTER = "/chapters/a-first-graph"


def press_until(page: Page, key: str, selector: str, most: int = 120) -> None:
    """Press a key until the focus is on such an element."""
    for _ in range(most):
        page.keyboard.press(key)
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"{key} never reaches {selector}")


def test_tab_reaches_a_prediction_and_commits_it(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    press_until(page, "Tab", "uw-predict input[name=option]")
    page.keyboard.press("Space")
    press_until(page, "Tab", "uw-predict input[name=confidence]")
    page.keyboard.press("Space")
    page.keyboard.press("Enter")
    expect(page.locator("uw-predict")).to_have_class("card predict is-committed")


def test_a_cell_runs_by_key_and_escape_then_tab_leaves_the_editor(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    scroll_through(page)
    cell = page.locator("uw-cell").nth(1)
    cell.locator(".cm-content").focus()
    page.keyboard.press("Control+Enter")
    expect(cell.locator(".cell-output")).to_contain_text("3.0")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(cell.locator("[data-run]")).to_be_focused()


def test_shift_enter_runs_and_goes_on_to_the_next_cell(open_page: OpenPage) -> None:
    page = open_page("/chapters/a-first-graph")
    page.get_by_role("button", name="I don’t know").click()
    expect(page.locator("uw-predict")).to_have_class("card predict is-committed")
    scroll_through(page)
    page.locator("uw-cell").first.locator(".cm-content").focus()
    page.keyboard.press("Shift+Enter")
    expect(page.locator("uw-cell").first.locator(".cell-output")).to_contain_text("4.0")
    expect(page.locator("uw-cell").nth(1).locator(".cm-content")).to_be_focused()


def test_arrows_go_from_node_to_node_and_enter_chooses(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    nodes = page.locator("figure.graph-figure g.node")
    come_near(nodes.first).focus()
    page.keyboard.press("ArrowDown")
    expect(nodes.nth(1)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("uw-question[data-kind=graph-click] input:checked")).to_have_count(1)


def test_arrows_turn_the_page_but_not_while_typing(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    page.get_by_label("A number").focus()
    page.keyboard.press("ArrowRight")
    assert page.url.endswith(CHAPTER)
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/chapters/a-second-look")


def test_a_question_mark_lists_the_keys(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keys")).to_be_hidden()


def test_a_phone_has_a_menu_and_a_desk_has_its_links(open_page: OpenPage) -> None:
    desk = open_page("/course")
    menu, links = "button.site-menu", "#site-nav a"
    expect(desk.locator(menu)).to_be_hidden()
    expect(desk.locator(links).first).to_be_visible()
    phone = open_page("/course", 390)
    expect(phone.locator(links).first).to_be_hidden()
    phone.locator(menu).press("Enter")
    expect(phone.locator(links).first).to_be_visible()


def test_tab_passes_an_editor_in_which_nothing_was_typed(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    scroll_through(page)
    cell = page.locator("uw-cell").nth(1)
    cell.locator(".cm-content").focus()
    expect(cell.locator(".pad-hint")).to_be_visible()
    expect(cell.locator(".cm-content")).to_have_accessible_description(
        "Tab indents once you type. Esc, then Tab leaves the editor."
    )
    page.keyboard.press("Tab")
    expect(cell.locator("[data-run]")).to_be_focused()
    expect(cell.locator(".pad-hint")).to_be_hidden()


def test_tab_indents_after_something_was_typed(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    scroll_through(page)
    editor = page.locator("uw-cell").nth(1).locator(".cm-content")
    editor.focus()
    page.keyboard.press("Control+Home")
    page.keyboard.type("z")
    page.keyboard.press("Home")
    page.keyboard.press("Tab")
    expect(editor).to_be_focused()
    assert editor.locator(".cm-line").first.inner_text().startswith("    z")


def test_a_run_and_its_stop_leave_the_focus_in_the_cell(open_page: OpenPage) -> None:
    page = open_page(CHAPTER)
    scroll_through(page)
    cell = page.locator("uw-cell").nth(1)
    run, stop = cell.locator("[data-run]"), cell.locator("[data-stop]")
    run.press("Enter")
    expect(cell.locator(".cell-output")).to_contain_text("3.0")
    expect(run).to_be_focused()
    cell.locator(".cm-content").press("Control+A")
    page.keyboard.insert_text("print('begun', flush=True)\nwhile True: pass")
    run.press("Enter")
    expect(cell.locator(".cell-output")).to_contain_text("begun")
    press_until(page, "Tab", "[data-stop]", most=1)
    stop.press("Enter")
    expect(stop).to_be_hidden()
    expect(run).to_be_focused()


def test_the_keyboard_alone_leads_from_home_to_a_verdict(open_page: OpenPage) -> None:
    page = open_page("/")
    press_until(page, "Tab", "a.button-main")
    page.keyboard.press("Enter")
    page.wait_for_url("**/chapters/*")
    press_until(page, "Tab", "uw-predict input[name=option]")
    page.keyboard.press("Space")
    press_until(page, "Tab", "uw-predict input[name=confidence]")
    page.keyboard.press("Space")
    press_until(page, "Tab", "uw-predict .button-main")
    page.keyboard.press("Enter")
    expect(page.locator("uw-predict")).to_be_focused()
    press_until(page, "Tab", "uw-cell [data-run]")
    page.keyboard.press("Enter")
    expect(page.locator("uw-predict.is-resolved")).to_be_visible()
    press_until(page, "Tab", "uw-question input[name=number]")
    page.keyboard.type("1")
    press_until(page, "Tab", "uw-question .button-main")
    page.keyboard.press("Enter")
    expect(page.locator("uw-question[data-kind=number]")).to_contain_text("Right.")
    press_until(page, "Tab", "a[href^='/exercises/']")
    page.keyboard.press("Enter")
    page.wait_for_url("**/exercises/*")
    press_until(page, "Tab", ".cm-content")
    press_until(page, "Tab", "[data-submit]")
    page.keyboard.press("Enter")
    expect(page.locator("[data-verdict]")).to_be_focused()
