"""The tape player in the browser: it steps, agrees with the server, opens folds, asks first, and shares."""

import json
from typing import Any

import player_programs as programs
import pytest
from browser_parts import OpenPage, come_near, pair_looks
from playwright.sync_api import Locator, Page, expect
from test_accessibility import find_overflow, find_violations

SNAPSHOT = """
(svg) => {
  const short = (id) => id.replace(/^.*-picture-/, '');
  const states = ['is-unmade', 'is-recording', 'is-running', 'is-done', 'is-freed', 'is-failed'];
  const marks = (g) => states.filter((name) => g.classList.contains(name)).join(' ');
  const text = (g, selector) => g.querySelector(':scope > ' + selector)?.textContent.trim() ?? null;
  const nodes = [...svg.querySelectorAll('g.node')].map((g) => [
    short(g.id), marks(g), text(g, '.t-grad'), text(g, '.t-seed'),
    g.querySelector(':scope > .saved-bar')?.getAttribute('width') ?? null,
  ]);
  const edges = [...svg.querySelectorAll('g.edge')].map((g) => [
    short(g.dataset.from ?? ''), short(g.dataset.to ?? ''), marks(g)]);
  const exits = [...svg.querySelectorAll('g.exit')].map((g) => [
    g.dataset.node, marks(g), [...g.querySelectorAll('.received > tspan')].map((line) => line.textContent)]);
  const halos = [...svg.querySelectorAll('.wavefront .halo')].map((halo) =>
    ['x', 'y', 'width', 'height'].map((name) => halo.getAttribute(name)));
  return JSON.stringify({nodes, edges, exits, halos});
}
"""


def play(open_page: OpenPage, source: str, width: int = 1280, **options: Any) -> Page:
    """The page to play on, after the code has run."""
    page = open_page(programs.link_to(source), width, **options)
    if width < 768:
        # The link's code is put in place by a script, a moment after the page.
        expect(page.locator(".code-input")).to_have_value(source)
        page.locator(".typed-switch").wait_for()
        page.locator("[data-run]").click()
    page.locator("uw-player[data-tape]").wait_for()
    page.locator("[data-exports]:not([hidden])").wait_for()
    return page


def go(page: Page, taken: int) -> None:
    page.evaluate("taken => document.querySelector('uw-player').go(taken)", taken)


def count_steps(page: Page) -> int:
    return int(page.locator(".player-slider").get_attribute("max") or 0)


def status(page: Page) -> Locator:
    return page.locator("uw-player .player-status")


@pytest.mark.parametrize("name", ["DIAMOND", "TWICE", "CHECKPOINT", "OVERWRITTEN", "SECOND_ORDER", "LOOP"])
def test_the_browser_and_the_server_draw_the_same_at_every_step(open_page: OpenPage, name: str) -> None:
    page = play(open_page, getattr(programs, name))
    run = (page.locator("[data-export=trace]").get_attribute("href") or "").split("/")[3]
    total = count_steps(page)
    assert total > 5
    # Backwards, so that stepping back is what is compared.
    for taken in reversed(range(total + 1)):
        go(page, taken)
        mine = page.evaluate(f"({SNAPSHOT})(document.querySelector('svg.graph-picture'))")
        theirs = page.evaluate(
            f"""async () => {{
              const html = await (await fetch('/runs/{run}?step={taken}')).text();
              const page = new DOMParser().parseFromString(html, 'text/html');
              return ({SNAPSHOT})(page.querySelector('svg.graph-picture'));
            }}"""
        )
        assert json.loads(mine) == json.loads(theirs), f"step {taken}"


def test_gradients_meet_and_are_added(open_page: OpenPage) -> None:
    page = play(open_page, programs.DIAMOND)
    expect(page.locator(".player-count")).to_have_text("4 / 10")
    forward = page.get_by_label("One step forward")
    for _ in range(5):
        forward.click()
    expect(status(page)).to_contain_text("Step 9 of 10: mul (MulBackward0) runs: receives 14.0, sends 42.0 to x")
    expect(page.locator(".received", has_text="=")).to_have_text("12.0 + 2.0 = 14.0")
    expect(page.locator(".cm-lit")).to_have_text("x * 3")
    forward.click()
    expect(page.locator(".node-leaf .t-grad")).to_have_text(".grad += 42.0")


def test_every_key_steps(open_page: OpenPage) -> None:
    page = play(open_page, programs.DIAMOND)
    count = page.locator(".player-count")
    page.get_by_label("One step forward").focus()
    for key, shown in (("ArrowRight", 5), ("ArrowLeft", 4), ("End", 10), ("Home", 0)):
        page.keyboard.press(key)
        expect(count).to_have_text(f"{shown} / 10")
    node = page.locator("g.node[tabindex='0']")
    node.focus()
    page.keyboard.press("ArrowRight")
    expect(count).to_have_text("1 / 10")
    page.keyboard.press("ArrowDown")
    expect(count).to_have_text("1 / 10")
    assert page.evaluate("document.activeElement.matches('g.node')")


def test_play_goes_to_the_end_and_stops_at_a_touch(open_page: OpenPage) -> None:
    page = play(open_page, programs.DIAMOND)
    page.get_by_label("Play", exact=True).click()
    expect(page.locator(".player-count")).to_have_text("6 / 10")
    page.get_by_label("Pause").click()
    page.get_by_label("Play", exact=True).wait_for()
    page.get_by_label("Play", exact=True).click()
    expect(page.locator(".player-count")).to_have_text("10 / 10")
    page.get_by_label("Play", exact=True).wait_for()


def test_the_list_follows_and_leads(open_page: OpenPage) -> None:
    page = play(open_page, programs.DIAMOND)
    page.locator("[data-step='7']").click()
    expect(status(page)).to_contain_text("Step 7 of 10")
    expect(page.locator(".tape-list [aria-current=step]")).to_have_attribute("data-step", "7")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".tape-list [aria-current=step]")).to_have_attribute("data-step", "8")
    assert page.evaluate("document.activeElement.dataset.step") == "8"


def test_held_bytes_are_a_chart_that_is_loaded_when_it_is_opened(open_page: OpenPage) -> None:
    page = play(open_page, programs.DIAMOND)
    summary = page.locator("summary", has_text="Bytes held for backward")
    expect(summary).to_have_text("Bytes held for backward: 20 bytes")
    assert not page.evaluate("'Plotly' in window")
    summary.click()
    page.locator(".player-chart .scatterlayer").wait_for()
    line = page.locator(".player-chart .shapelayer path")
    before = line.get_attribute("d")
    go(page, 9)
    expect(summary).to_have_text("Bytes held for backward: 0 bytes")
    page.wait_for_function(
        "before => document.querySelector('.player-chart .shapelayer path')?.getAttribute('d') !== before", arg=before
    )


def test_a_fold_opens_in_place_and_the_step_stays(open_page: OpenPage) -> None:
    page = play(open_page, programs.LOOP)
    go(page, 20)
    folds = page.locator("g.node[data-fold]")
    closed = page.locator("g.node").count()
    key = folds.first.get_attribute("data-fold")
    folds.first.focus()
    page.keyboard.press("Enter")
    page.locator(f"g.frame[data-fold='{key}']").wait_for()
    assert page.locator("g.node").count() > closed
    expect(status(page)).to_contain_text("Step 20 of")
    assert page.evaluate("document.activeElement.dataset.fold") == key
    page.keyboard.press("Enter")
    page.locator(f"g.node[data-fold='{key}']").wait_for()
    assert page.locator("g.node").count() == closed


def test_a_fold_that_the_server_refuses_to_open_says_why_and_opens_at_the_next_try(open_page: OpenPage) -> None:
    page = play(open_page, programs.LOOP)
    refusal = "This graph was not drawn: too many graphs are being drawn at this moment. Try again in a minute."
    fold = page.locator("g.node[data-fold]").first
    key = fold.get_attribute("data-fold")
    page.route("**/graph?*", lambda route: route.fulfill(status=503, json={"message": refusal}))
    fold.click()
    expect(status(page)).to_have_text(refusal)
    page.unroute("**/graph?*")
    fold.click()
    page.locator(f"g.frame[data-fold='{key}']").wait_for()


def test_a_node_is_found_and_says_what_it_is(open_page: OpenPage) -> None:
    page = play(open_page, programs.DIAMOND)
    page.get_by_label("Find a node").fill("pow")
    page.locator(".node-finder li button").click()
    panel = page.locator(".node-panel")
    expect(panel).to_contain_text("x̄ = ȳ * 2 * x")
    explained = panel.get_by_role("link", name="1.1 A first graph: Predict first")
    expect(explained).to_have_attribute("href", "/chapters/a-first-graph#predict-first")
    go(page, 7)
    expect(panel).to_contain_text("0 bytes now, 4 bytes at most")


def test_what_backward_did_not_reach_says_which_cut_was_in_the_way(open_page: OpenPage) -> None:
    page = play(open_page, programs.LOOP)
    page.locator("summary", has_text="What backward did not reach, and why").click()
    listed = page.locator("details[open] .node-list", has_text="other")
    expect(listed).to_contain_text("other (3,): cut by .detach() line 8")


def test_nodes_are_coloured_by_a_number_that_they_also_say(open_page: OpenPage) -> None:
    page = play(open_page, programs.DIAMOND)
    page.get_by_label("Colour the nodes").select_option("norm")
    expect(page.locator(".metric")).to_have_count(4)
    expect(page.locator("g.shade-4 .metric")).to_have_text("‖ȳ‖ 14.0")
    page.get_by_label("Colour the nodes").select_option("")
    expect(page.locator(".metric")).to_have_count(0)


def test_the_first_nan_is_found(open_page: OpenPage) -> None:
    page = play(open_page, "import torch\nx = torch.tensor(0.0, requires_grad=True)\ny = x.log() * 0\ny.backward()\n")
    page.get_by_label("Colour the nodes").select_option("finite")
    expect(page.locator("g.node", has=page.get_by_text("first NaN or Inf"))).to_contain_text("log")


def test_a_prediction_is_asked_before_the_step_is_shown(open_page: OpenPage) -> None:
    page = play(open_page, programs.DIAMOND)
    go(page, 5)
    page.get_by_label("Let me predict").check()
    forward = page.get_by_label("One step forward")
    forward.click()
    expect(page.locator(".predict-question")).to_contain_text("Which node runs next?")
    expect(page.locator(".player-count")).to_have_text("5 / 10")
    page.locator("g.node", has_text="a + b").click()
    expect(page.locator(".predict-said")).to_contain_text("✓ Yes: loss = add (AddBackward0), line 6. 1 of 1 right.")
    expect(page.locator(".player-count")).to_have_text("6 / 10")
    # All gradients here are single numbers: a question after a shape would have one answer.
    forward.click()
    expect(page.locator(".predict-question")).to_contain_text("How many bytes")
    page.locator(".predict-choices").get_by_role("button", name="8 bytes", exact=True).click()
    expect(page.locator(".predict-said")).to_contain_text("✗ You said 8 bytes; it is 16 bytes. 1 of 2 right.")
    expect(page.locator(".player-count")).to_have_text("7 / 10")
    forward.click()
    page.locator(".predict-choices").get_by_role("button", name="Skip").click()
    expect(page.locator(".player-count")).to_have_text("8 / 10")


def test_a_prediction_can_ask_for_a_shape(open_page: OpenPage) -> None:
    page = play(open_page, programs.LOOP)
    page.get_by_label("Let me predict").check()
    forward = page.get_by_label("One step forward")
    for _ in range(2):
        forward.click()
    page.locator(".predict-choices").get_by_role("button", name="Skip").click()
    forward.click()
    expect(page.locator(".predict-question")).to_contain_text("shape of the gradient")
    page.locator(".predict-choices").get_by_role("button", name="(3,)", exact=True).click()
    expect(page.locator(".predict-said")).to_contain_text("✓ Yes: (3,). 1 of 1 right.")


def test_code_runs_as_it_is_typed_and_can_be_told_not_to(open_page: OpenPage) -> None:
    page = play(open_page, programs.DIAMOND)
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("c = x.sin()")
    expect(page.locator("g.node-op", has_text="sin")).to_have_count(1)
    page.get_by_label("Redraw as I type").uncheck()
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type(" + x.cos()")
    page.wait_for_timeout(1200)
    expect(page.locator("g.node-op", has_text="cos")).to_have_count(0)
    page.reload()
    expect(page.get_by_label("Redraw as I type")).not_to_be_checked()


def test_on_a_phone_code_runs_when_it_is_told_to(open_page: OpenPage) -> None:
    page = open_page(programs.link_to(programs.DIAMOND), 390)
    expect(page.get_by_label("Redraw as I type")).not_to_be_checked()
    expect(page.locator(".code-input")).to_have_value(programs.DIAMOND)


def test_a_link_carries_the_code_past_the_server(open_page: OpenPage) -> None:
    page = play(open_page, programs.DIAMOND)
    page.get_by_role("button", name="Copy a link").click()
    page.wait_for_function("location.hash.length > 10")
    again = open_page(page.evaluate("location.pathname + location.hash"))
    expect(again.locator(".code-input")).to_have_value(programs.DIAMOND)


def test_a_broken_link_leaves_the_page_as_it_is(open_page: OpenPage) -> None:
    page = open_page("/play#code=!!!")
    expect(page.locator(".code-input")).to_contain_text("b = h**2")


@pytest.mark.parametrize(("kind", "begins"), [("svg", b"<svg"), ("png", b"\x89PNG")])
def test_the_picture_can_be_taken_along(open_page: OpenPage, kind: str, begins: bytes) -> None:
    page = play(open_page, programs.DIAMOND)
    with page.expect_download() as download:
        page.locator(f"[data-export={kind}]").click()
    body = download.value.path().read_bytes()
    assert body.startswith(begins)
    if kind == "svg":
        assert b'stroke="rgb(' in body
        assert b"class=" in body


def test_without_script_a_run_is_stepped_by_links(open_page: OpenPage) -> None:
    page = open_page("/play", java_script_enabled=False)
    page.get_by_role("button", name="Run").click()
    while not page.locator(".run-headline").count():
        page.wait_for_timeout(200)
        page.reload()
    page.get_by_role("link", name="To the end").click()
    expect(page.locator(".player-status")).to_contain_text("Step 10 of 10: x.grad: None += 42.0 gives 42.0")
    page.get_by_role("link", name="One step back").click()
    expect(page.locator(".player-status")).to_contain_text("Step 9 of 10")
    expect(page.locator(".tape-table [aria-current=step] th")).to_have_text("9")


@pytest.mark.parametrize(("width", "theme"), pair_looks())
@pytest.mark.parametrize("name", ["CHECKPOINT", pytest.param("OVERWRITTEN", marks=pytest.mark.nightly)])
def test_axe_finds_nothing_in_a_player_with_everything_open(
    open_page: OpenPage, width: int, theme: str, name: str
) -> None:
    page = play(open_page, getattr(programs, name), width, color_scheme=theme)
    page.evaluate("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    page.locator(".player-chart .scatterlayer").wait_for()
    page.locator("g.node-op").first.click()
    for taken in (2, 7, 9):
        go(page, taken)
        assert find_violations(page) == []
    go(page, 5)
    page.get_by_label("Let me predict").check()
    page.get_by_label("One step forward").click()
    page.get_by_label("One step forward").click()
    page.get_by_label("Colour the nodes").select_option("bytes")
    assert find_violations(page) == []
    assert find_overflow(page) <= 0


def test_a_figure_of_the_course_steps_too_and_marks_its_code(open_page: OpenPage) -> None:
    page = open_page("/chapters/a-first-graph")
    figure = come_near(page.locator("figure.graph-figure").first)
    figure.get_by_role("button", name="Step through it").click()
    expect(figure.locator(".player-status")).to_contain_text("The graph was recorded in")
    figure.get_by_label("To the beginning").click()
    figure.get_by_label("One step forward").click()
    expect(figure.locator(".player-status")).to_contain_text("Step 1 of")
    assert page.evaluate("CSS.highlights.get('uw-lit')?.size") == 1
    expect(figure.locator("g.node.is-unmade")).to_have_count(1)
    expect(figure.get_by_label("Let me predict")).to_have_count(0)  # It never runs backward.
    assert find_violations(page) == []


OWN_ENGINE = """\
class Value:
    def __init__(self, data, _prev=(), _op=""):
        self.data, self.grad, self._prev, self._op = data, 0.0, _prev, _op
        self._backward = lambda: None

    def __mul__(self, other):
        out = Value(self.data * other.data, (self, other), "*")
        def _backward():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad
        out._backward = _backward
        return out

    def backward(self):
        self.grad = 1.0
        self._backward()

x, w = Value(3.0), Value(2.0)
y = x * w
y.backward()
"""


def test_an_engine_of_the_readers_own_is_not_asked_for_bytes(open_page: OpenPage) -> None:
    page = open_page(programs.link_to(OWN_ENGINE).replace("/play", "/play?flavour=plain", 1))
    page.locator("uw-player[data-tape]").wait_for()
    page.locator(".player-panel summary", has_text="The tape").wait_for()
    expect(page.locator("g.node", has_text="*")).to_have_count(1)
    expect(page.locator("summary", has_text="Bytes held")).to_have_count(0)
    assert page.locator(".player-colouring option").all_inner_texts() == [
        "plain",
        "by the gradient's norm",
        "by NaN and Inf",
    ]
    page.get_by_label("Let me predict").check()
    page.get_by_label("To the beginning").click()
    while page.locator(".player-slider").input_value() != str(count_steps(page)):
        assert "bytes" not in page.locator(".player-predict").inner_text()
        skip = page.get_by_role("button", name="Skip")
        if skip.is_visible():
            skip.click()
        else:
            page.get_by_label("One step forward").click()
