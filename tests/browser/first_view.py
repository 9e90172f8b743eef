"""What a page's first view costs a stranger with an empty cache: every byte that its requests bring, by kind."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.request import urlopen

from browser_parts import READY_SECONDS, ROOT, find_free_port
from playwright.sync_api import Browser, Page

MAX_CHAPTER_BYTES = 150_000
KINDS = ("Document", "Stylesheet", "Script", "Font")
"""What every chapter needs. Its icon is of the kind "Other"."""
HEIGHT = 900


@dataclass(frozen=True)
class FirstView:
    """Bytes on the wire by kind, headers included, the page itself as "Document"; and the URLs that it asked for."""

    path: str
    of_kind: dict[str, int]
    asked: tuple[str, ...]

    @property
    def total_bytes(self) -> int:
        return sum(self.of_kind.values())


def count_bytes(page: Page) -> list[tuple[str, int]]:
    """Fills itself while the page loads: the kind of each answer, and its bytes."""
    kinds: dict[str, str] = {}
    answers: list[tuple[str, int]] = []
    wire = page.context.new_cdp_session(page)
    wire.send("Network.enable")
    wire.on("Network.responseReceived", lambda event: kinds.update({event["requestId"]: event["type"]}))
    wire.on(
        "Network.loadingFinished",
        lambda event: answers.append((kinds[event["requestId"]], int(event["encodedDataLength"]))),
    )
    return answers


def measure_first_view(browser: Browser, site: str, path: str, width: int) -> FirstView:
    """Opens a page, and does nothing until it asks for nothing more."""
    page = browser.new_context(viewport={"width": width, "height": HEIGHT}).new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    answers = count_bytes(page)
    page.goto(site + path)
    page.wait_for_load_state("networkidle")
    page.context.close()
    of_kind = {kind: sum(size for other, size in answers if other == kind) for kind in {kind for kind, _ in answers}}
    return FirstView(path, of_kind, tuple(asked))


def list_chapters(site: str) -> list[str]:
    """The paths of all chapters that the course's map links to, in its order."""
    with urlopen(f"{site}/course") as answer:
        return list(dict.fromkeys(re.findall(r'href="(/chapters/[^"/#]+)"', answer.read().decode())))


@contextmanager
def serve_course(course: Path, data: Path) -> Iterator[str]:
    """The website alone, without a grader, as its own process; its address."""
    port = find_free_port()
    variables = {**os.environ, "UNWIND_DATA": str(data), "UNWIND_COURSE": str(course), "UNWIND_PORT": str(port)}
    serving = subprocess.Popen(
        [sys.executable, "-m", "app", "site"], cwd=ROOT, env=variables, stdout=subprocess.DEVNULL
    )
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until_served(serving, address)
        yield address
    finally:
        serving.send_signal(signal.SIGINT)
        serving.wait(timeout=30)


def wait_until_served(serving: "subprocess.Popen[bytes]", address: str) -> None:
    until = time.monotonic() + READY_SECONDS
    while True:
        assert serving.poll() is None, "the site ended by itself"
        assert time.monotonic() < until, "the site does not answer"
        try:
            with urlopen(f"{address}/healthz", timeout=2):
                return
        except OSError:
            time.sleep(0.2)
