"""How smoothly the player steps, in a real browser without a graphics card: one step of the tape per frame.

Draws a recorded graph with folds opened until about sixty boxes show, gives it to the built player, and lets it take
a step in every animation frame for some seconds. Prints frames per second, and milliseconds of script per step.
"""

import json
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Route, sync_playwright

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "app" / "pictures")]

from picture_parts import open_recorded  # noqa: E402

from app.pictures import Graph, Picture, draw_graph, write_tape  # noqa: E402

CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
PROGRAMS = ("transformer", "rnn", "mlp")
WANTED_BOXES = 60
SECONDS = 4
GOAL_FRAMES = 55

STEP_EACH_FRAME = """
(seconds) => new Promise((done) => {
  const player = document.querySelector('uw-player');
  const total = Number(document.querySelector('.player-slider').max);
  let taken = 0, frames = 0, work = 0, longest = 0;
  const start = performance.now();
  let before = start;
  const frame = (now) => {
    longest = Math.max(longest, now - before);
    before = now;
    const began = performance.now();
    taken = taken >= total ? 0 : taken + 1;
    player.go(taken);
    work += performance.now() - began;
    frames += 1;
    if (now - start < seconds * 1000) return requestAnimationFrame(frame);
    done({ frames: (frames - 1) / ((now - start) / 1000), work: work / frames, longest, total });
  };
  requestAnimationFrame(frame);
})
"""


def open_folds(graph: Graph) -> Picture:
    """A picture with enough folds opened to show the wanted number of boxes."""
    opened: frozenset[str] = frozenset()
    picture = draw_graph(graph, id_prefix="p")
    while len(picture.nodes) < WANTED_BOXES and picture.folds:
        opened |= {picture.folds[0]}
        picture = draw_graph(graph, id_prefix="p", opened=opened)
    return picture


def write_page(name: str) -> tuple[str, int]:
    graph = open_recorded(name)
    picture = open_folds(graph)
    tape = json.dumps(write_tape(graph).document).replace("<", "\\u003c")
    html = (
        '<!doctype html><html lang="en"><head><link rel="stylesheet" href="/dist/site.css">'
        '<script type="module" src="/dist/site.js"></script></head><body>'
        f'<uw-player><script type="application/json">{tape}</script>'
        f'<uw-graph><div class="graph-scroll">{picture.svg}</div></uw-graph></uw-player></body></html>'
    )
    return html, len(picture.nodes)


def measure(page: Page, name: str) -> tuple[dict[str, Any], int]:
    html, boxes = write_page(name)

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix("http://bench/")
        file = ROOT / "static" / path
        if path == "":
            route.fulfill(body=html, content_type="text/html; charset=utf-8")
        elif file.is_file():
            route.fulfill(path=file)
        else:
            route.fulfill(status=404)

    page.unroute_all()
    page.route("http://bench/**", answer)
    page.goto("http://bench/")
    page.locator("uw-player[data-tape]").wait_for()
    page.locator("summary", has_text="The tape").click()
    page.evaluate(STEP_EACH_FRAME, 1)
    return page.evaluate(STEP_EACH_FRAME, SECONDS), boxes


def main() -> None:
    print(f"{'program':14}{'boxes':>7}{'steps':>7}{'frames/s':>10}{'script ms/step':>16}{'longest frame ms':>18}")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        for name in PROGRAMS:
            found, boxes = measure(page, name)
            times = f"{found['frames']:10.1f}{found['work']:16.2f}{found['longest']:18.1f}"
            print(f"{name:14}{boxes:7}{found['total']:7}{times}")
        browser.close()
    print(f"goal: at least {GOAL_FRAMES} frames a second with {WANTED_BOXES} boxes")


if __name__ == "__main__":
    main()
