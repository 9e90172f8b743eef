"""An author's preview in a real browser: a saved chapter shows itself in less than a second, where the reader was."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from browser_parts import READY_SECONDS, ROOT, find_free_port
from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("previewed") / "course"
    return Path(shutil.copytree(ROOT / "tests" / "course", folder, ignore=shutil.ignore_patterns(".cache")))


@pytest.fixture(scope="module")
def preview(course: Path) -> Iterator[str]:
    """The address of a website alone, without graders: a preview needs none to show text."""
    port = find_free_port()
    variables = {
        "UNWIND_DATA": str(course.parent / "data"),
        "UNWIND_COURSE": str(course),
        "UNWIND_PREVIEW": "1",
        "UNWIND_PORT": str(port),
    }
    environment = {**os.environ, **variables}
    subprocess.run([sys.executable, "-m", "app", "migrate"], cwd=ROOT, env=environment, check=True)
    command = [sys.executable, "-m", "app.server"]
    serving = subprocess.Popen(command, cwd=ROOT, env=environment)
    address = f"http://127.0.0.1:{port}"
    until = time.monotonic() + READY_SECONDS
    while not answers(address):
        assert serving.poll() is None, "the website ended by itself"
        assert time.monotonic() < until, "the website does not answer"
        time.sleep(0.1)
    yield address
    serving.send_signal(signal.SIGTERM)
    serving.wait(timeout=30)


def answers(address: str) -> bool:
    try:
        with urlopen(f"{address}/healthz", timeout=2) as answer:
            return bool(answer.status == 200)
    except (URLError, TimeoutError, ConnectionError):
        return False


@pytest.fixture
def page(preview: str, browser: Browser) -> Iterator[Page]:
    context = browser.new_context(base_url=preview)
    page = context.new_page()
    page.set_default_timeout(10_000)
    yield page
    context.close()


def edit(course: Path, old: str, new: str) -> None:
    path = course / "chapters" / "a-first-graph" / "chapter.md"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_a_saved_chapter_shows_itself_within_a_second_where_the_reader_was(page: Page, course: Path) -> None:
    page.goto("/chapters/a-first-graph")
    page.wait_for_function("customElements.get('uw-preview') !== undefined")
    page.wait_for_timeout(300)
    page.evaluate("scrollTo(0, 900)")
    page.wait_for_timeout(100)

    started = time.monotonic()
    edit(course, "## Boxes", "## Boxes, saved again")
    page.get_by_role("heading", name="Boxes, saved again").wait_for(state="attached")
    took = time.monotonic() - started

    assert took < 1, f"{took:.2f} s"
    page.wait_for_function("scrollY > 700")


def test_a_mistake_comes_and_goes_as_it_is_made_and_mended(page: Page, course: Path) -> None:
    page.goto("/chapters/a-second-look")
    page.goto("/chapters/a-first-graph")
    page.wait_for_timeout(300)

    edit(course, "Code that is only read", "Code that is [only](#nowhere) read")
    page.locator("aside.problem").wait_for()
    assert "1 mistake" in page.locator(".preview-bar").inner_text()

    edit(course, "[only](#nowhere)", "only")
    page.locator("aside.problem").wait_for(state="detached")
    assert "0 mistakes" in page.locator(".preview-bar").inner_text()
