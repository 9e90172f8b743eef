"""What several browser tests use: where the repository is, free ports, readiness, and scrolling through a page."""

import socket
from collections.abc import Callable
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from playwright.sync_api import Page

ROOT = Path(__file__).resolve().parents[2]
READY_SECONDS = 90.0

OpenPage = Callable[..., Page]


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def is_ready(address: str) -> bool:
    try:
        with urlopen(f"{address}/readyz", timeout=2) as answer:
            return b'"ready":true' in answer.read()
    except (URLError, TimeoutError, ConnectionError):
        return False


def scroll_through(page: Page) -> None:
    """To the end and back, so that everything that wakes when it comes near has woken."""
    height = int(page.evaluate("document.documentElement.scrollHeight"))
    for y in range(0, height, 500):
        page.evaluate(f"scrollTo(0, {y})")
        page.wait_for_timeout(30)
    cells = page.locator("uw-cell:visible, uw-submission:has(textarea):visible").count()
    page.wait_for_function("count => document.querySelectorAll('.cm-editor').length >= count", arg=cells)
    page.evaluate("scrollTo(0, 0)")
