"""The whole of a large graph on a canvas: opened on purpose, moved, zoomed, chosen from, stepped, and said."""

import json
import time

import player_programs as programs
import pytest
from browser_parts import OpenPage, pair_looks
from playwright.sync_api import Page, Route, expect
from test_accessibility import find_overflow, find_violations
from test_player import go, play

pytestmark = pytest.mark.nightly

PIXELS = """
() => {
  const canvas = document.querySelector('.whole-canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  const found = new Map();
  for (let at = 0; at < data.length; at += 4) {
    const key = `${data[at]},${data[at + 1]},${data[at + 2]}`;
    found.set(key, (found.get(key) ?? 0) + 1);
  }
  return Object.fromEntries([...found].sort((one, other) => other[1] - one[1]).slice(0, 40));
}
"""
FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def open_whole(page: Page) -> None:
    page.get_by_role("button", name="Open all").click()
    page.locator(".whole-canvas").wait_for()
    page.evaluate(FRAMES)


def count_pixels(page: Page, name: str) -> int:
    page.evaluate(FRAMES)
    colour = page.evaluate(
        """name => {
          const probe = document.createElement('span');
          probe.style.color = `var(${name})`;
          document.body.append(probe);
          const found = getComputedStyle(probe).color.match(/\\d+/g).join(',');
          probe.remove();
          return found;
        }""",
        name,
    )
    return int(page.evaluate(PIXELS).get(colour, 0))


@pytest.mark.nightly  # it measures seconds, which a busy machine takes more of
def test_ten_thousand_operations_open_within_seconds_and_step_fast(open_page: OpenPage) -> None:
    page = play(open_page, programs.LONG_LOOP)
    expect(page.get_by_role("button", name="Open all 10,001 operations")).to_be_visible()
    started = time.monotonic()
    open_whole(page)
    assert time.monotonic() - started < 15
    assert count_pixels(page, "--forward") > 1_000
    per_step = page.evaluate(
        """async () => {
          const player = document.querySelector('uw-player');
          const from = performance.now();
          for (let taken = 1; taken <= 30; taken += 1) {
            player.go(taken);
            await new Promise(requestAnimationFrame);
          }
          return (performance.now() - from) / 30;
        }"""
    )
    assert per_step < 250, f"{per_step:.0f} ms a step"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_wavefront_and_what_has_run_have_their_colours(open_page: OpenPage, theme: str) -> None:
    page = play(open_page, programs.LOOP.replace("range(9)", "range(450)"), color_scheme=theme)
    open_whole(page)
    assert count_pixels(page, "--backward") == 0
    last = int(page.locator(".player-slider").get_attribute("max") or 0)
    go(page, last // 2 + 60)
    some = count_pixels(page, "--backward")
    go(page, last)
    assert count_pixels(page, "--backward") > some > 0


def test_a_click_and_the_arrows_choose_a_node_and_mark_its_line(open_page: OpenPage) -> None:
    page = play(open_page, programs.LOOP.replace("range(9)", "range(90)"))
    open_whole(page)
    canvas = page.locator(".whole-canvas")
    canvas.focus()
    page.keyboard.press("ArrowDown")
    said = page.locator(".whole .graph-details")
    expect(said).to_contain_text("1 of 18")
    expect(said).to_contain_text("line 7")
    expect(page.locator(".cm-lit")).to_have_text("h @ W")
    page.keyboard.press("ArrowDown")
    expect(said).to_contain_text("tanh (TanhBackward0)")
    page.keyboard.press("Enter")
    expect(page.locator(".node-panel")).to_contain_text("x̄ = ȳ * (1 - y**2)")
    page.get_by_label("Find a node").fill("mulback")
    page.locator(".node-finder li button").last.click()
    expect(said).to_contain_text("mul (MulBackward0)")
    expect(page.locator(".node-panel summary")).to_have_text("Node: mul (MulBackward0)")
    page.get_by_label("Find a node").fill("tanh")
    page.locator(".node-finder li button").first.click()
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.evaluate("document.querySelector('.node-panel').hidden = true")
    page.mouse.down()
    page.mouse.up()
    expect(page.locator(".node-panel summary")).to_have_text("Node: tanh (TanhBackward0)")


def test_it_is_moved_and_zoomed_by_mouse_wheel_keys_and_buttons(open_page: OpenPage) -> None:
    page = play(open_page, programs.LOOP.replace("range(9)", "range(90)"))
    open_whole(page)
    canvas = page.locator(".whole-canvas")
    box = canvas.bounding_box()
    assert box is not None
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    seen = [json.dumps(page.evaluate(PIXELS))]

    def changed() -> bool:
        page.evaluate(FRAMES)
        seen.append(json.dumps(page.evaluate(PIXELS)))
        return seen[-1] != seen[-2]

    page.mouse.move(*middle)
    page.mouse.wheel(0, -600)
    assert changed(), "the wheel zooms"
    page.mouse.down()
    page.mouse.move(middle[0] + 90, middle[1] + 70, steps=4)
    page.mouse.up()
    assert changed(), "dragging moves"
    page.get_by_role("button", name="Zoom out").click()
    assert changed(), "a button zooms"
    canvas.focus()
    page.keyboard.press("+")
    assert changed(), "a key zooms"
    page.keyboard.press("Shift+ArrowRight")
    assert changed(), "keys move"
    page.get_by_role("button", name="Show all").click()
    page.mouse.move(2, 2)
    page.evaluate(FRAMES)
    assert json.dumps(page.evaluate(PIXELS)) == seen[0]
    canvas.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".player-count")).not_to_have_text("")
    page.keyboard.press("Escape")
    expect(canvas).to_have_count(0)
    expect(page.locator("svg.graph-picture")).to_be_visible()
    expect(page.get_by_role("button", name="Open all")).to_be_focused()


@pytest.mark.parametrize(("width", "theme"), pair_looks())
def test_axe_finds_nothing_while_the_whole_is_open(open_page: OpenPage, width: int, theme: str) -> None:
    page = play(open_page, programs.LOOP.replace("range(9)", "range(90)"), width, color_scheme=theme)
    open_whole(page)
    assert find_violations(page) == []
    assert find_overflow(page) <= 0


def test_what_the_server_refuses_is_said_and_the_picture_stays(open_page: OpenPage) -> None:
    page = play(open_page, programs.LOOP.replace("range(9)", "range(90)"))
    refusal = "The whole graph cannot be opened: the graph has 30,001 operations; at most 30,000 are opened at once."

    def refuse(route: Route) -> None:
        route.fulfill(status=422, json={"message": refusal})

    page.route("**/whole", refuse)
    page.get_by_role("button", name="Open all").click()
    expect(page.locator(".whole-offer [role=status]")).to_have_text(refusal)
    expect(page.locator("svg.graph-picture")).to_be_visible()
