"""A picture that follows the typing: from the end of the pause to the picture, and the editor's longest task.

python bench/live_picture.py [--rounds 20] [--course .]

A browser types a comment's letters at the end of a program of 20 lines on /play. After each pause the code runs, is
traced and drawn. Printed: milliseconds from the request, which is sent when the pause ends, until the picture is in
the page (median, p95, longest), and the longest task of the page's thread in milliseconds while that went on.
"""

import argparse
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright
from submissions import ROOT, find_percentile, open_site

FLAGS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-sync"
PROGRAM = """import torch

torch.manual_seed(0)
x = torch.randn(4, 3)
w1 = torch.randn(3, 5, requires_grad=True)
b1 = torch.zeros(5, requires_grad=True)
w2 = torch.randn(5, 2, requires_grad=True)
b2 = torch.zeros(2, requires_grad=True)
target = torch.randn(4, 2)

hidden = (x @ w1 + b1).tanh()
out = hidden @ w2 + b2
error = out - target
loss = (error * error).mean()
penalty = (w1 * w1).sum() + (w2 * w2).sum()
total = loss + 0.01 * penalty

total.backward()
print(w1.grad.norm(), w2.grad.norm())
# """
WATCH = """() => {
  window.took = []; window.long = 0;
  const send = window.fetch;
  let begun = 0;
  window.fetch = (url, options) => {
    if (String(url).endsWith("/api/runs")) begun = performance.now();
    return send(url, options);
  };
  addEventListener("uw-ran", () => window.took.push(performance.now() - begun));
  new PerformanceObserver((list) => {
    for (const task of list.getEntries()) window.long = Math.max(window.long, task.duration);
  }).observe({ type: "longtask" });
}"""


def measure(page: Any, rounds: int) -> tuple[list[float], float]:
    """The milliseconds of each round, and the longest task; 0.0 if none took more than 50 ms."""
    page.locator(".cm-content").first.click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(PROGRAM)
    page.locator("uw-cell[data-behind]").wait_for(state="detached")
    page.wait_for_timeout(3000)
    page.evaluate(WATCH)
    for number in range(rounds):
        page.keyboard.type("abcdefghij"[number % 10])
        page.wait_for_function("count => window.took.length >= count", arg=number + 1, timeout=20_000)
    return page.evaluate("window.took"), page.evaluate("window.long")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--course", type=Path, default=ROOT)
    chosen = parser.parse_args()
    with open_site(chosen.course.absolute(), rate_factor=10.0) as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS.split())
        page = browser.new_page(base_url=f"http://127.0.0.1:{site.port}", viewport={"width": 1280, "height": 900})
        page.goto("/play")
        took, longest = measure(page, chosen.rounds)
        browser.close()
    told = (f"{word} {find_percentile(took, share):.0f} ms" for word, share in (("median", 0.5), ("p95", 0.95)))
    print(f"picture after the pause, {len(took)} times: {', '.join(told)}, longest {max(took):.0f} ms")
    print(f"longest task of the page: {longest:.0f} ms" if longest else "longest task of the page: below 50 ms")


if __name__ == "__main__":
    main()
