"""What several browser tests use: a running site, free ports, readiness, and scrolling through a page."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from _pytest.mark import ParameterSet
from playwright.sync_api import Locator, Page

ROOT = Path(__file__).resolve().parents[2]
READY_SECONDS = 90.0
CHROMIUM = "/usr/bin/chromium"
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

OpenPage = Callable[..., Page]


def pair_looks(narrow: int = 390, wide: int = 1280) -> list[ParameterSet]:
    """Parameters (width, theme): every run tries the narrow width in dark, where most breaks; nightly, the others."""
    nightly = ((wide, "light"), (wide, "dark"), (narrow, "light"))
    return [pytest.param(narrow, "dark"), *(pytest.param(*look, marks=pytest.mark.nightly) for look in nightly)]


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def is_ready(address: str) -> bool:
    try:
        with urlopen(f"{address}/readyz", timeout=2) as answer:
            return b'"ready":true' in answer.read()
    except (URLError, TimeoutError, ConnectionError):
        return False


def answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=2):
            return True
    except (URLError, TimeoutError, ConnectionError):
        return False


@contextmanager
def serve_graded(course: Path, data: Path) -> Iterator[str]:
    """The whole site with a grader, started as one command; its address."""
    port = find_free_port()
    address = f"http://127.0.0.1:{port}"
    variables = {**os.environ, "UNWIND_DATA": str(data), "UNWIND_COURSE": str(course), "UNWIND_PORT": str(port)}
    serving = subprocess.Popen(
        [sys.executable, "-m", "app", "serve"], cwd=ROOT, env=variables, stdout=subprocess.DEVNULL
    )
    try:
        until = time.monotonic() + READY_SECONDS
        while not is_ready(address):
            assert serving.poll() is None, "the site ended by itself"
            assert time.monotonic() < until, "the site is not ready"
            time.sleep(0.2)
        yield address
    finally:
        serving.send_signal(signal.SIGINT)
        serving.wait(timeout=30)


NEAR_IS_AWAKE = """() => [...document.querySelectorAll(":not(:defined)")].every(element => {
  const box = element.getBoundingClientRect();
  return !element.checkVisibility() || box.bottom < 0 || box.top > innerHeight;
})"""


def wait_for_near_elements(page: Page) -> None:
    """Until the script of every element in the window has come."""
    page.wait_for_function(NEAR_IS_AWAKE)


def come_near(part: Locator) -> Locator:
    """As a reader does who scrolls there and looks before acting."""
    part.scroll_into_view_if_needed()
    wait_for_near_elements(part.page)
    return part


def scroll_through(page: Page) -> None:
    """To the end and back, so that parts that start only when they come into view have started."""
    height = int(page.evaluate("document.documentElement.scrollHeight"))
    for y in range(0, height, 500):
        page.evaluate(f"scrollTo(0, {y})")
        page.wait_for_timeout(30)
        wait_for_near_elements(page)
    cells = page.locator("uw-cell:visible, uw-submission:has(textarea):visible").count()
    page.wait_for_function("count => document.querySelectorAll('.cm-editor').length >= count", arg=cells)
    page.evaluate("scrollTo(0, 0)")
