"""The whole site on the fixture course, started as one command, and a headless browser in front of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_parts import CHROMIUM, FLAGS, ROOT, OpenPage, serve_graded
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, sync_playwright


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker("browser")
            item.add_marker("slow")


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the running site's database."""
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="session")
def site(data: Path) -> Iterator[str]:
    """The address of a running site with a grader, on the fixture course."""
    with serve_graded(ROOT / "tests" / "course", data) as address:
        yield address


# One browser a module: its event loop must not stand in the way of asynchronous tests elsewhere.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(site: str, browser: Browser) -> Iterator[OpenPage]:
    """Opens a path of the site as a new learner. Options are those of a browser context; `width` in pixels."""
    contexts: list[BrowserContext] = []

    def open_it(path: str, width: int = 1280, **options: Any) -> Page:
        size = ViewportSize(width=width, height=900)
        context = browser.new_context(base_url=site, viewport=size, reduced_motion="reduce", **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.goto(path)
        return page

    yield open_it
    for context in contexts:
        context.close()
