"""A member of a section asks at a block's mark and is answered; an open page hears of its chapter's new version."""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from browser_parts import READY_SECONDS, ROOT, answers, find_free_port, scroll_through
from playwright.sync_api import Browser, Page, expect
from test_accessibility import find_overflow, find_violations

from app.access.passwords import Passwords
from app.access.permissions import Role
from app.publishing import add_version, make_live
from app.settings import Settings
from app.storage.audit import Actor
from app.storage.database import migrate
from app.storage.store import Store
from graders.ledger import Database

COURSE = ROOT / "tests" / "course"
CHAPTER = "/chapters/a-first-graph"
PASSWORD = "ferns dodge my kettle"
QUESTION = "Why is there one node, and not two?"


async def make_section(settings: Settings) -> None:
    """Ada teaches Bob."""
    database, somebody = Database(settings.database), Actor(None, datetime.now(UTC))
    store, secret = Store(database), await Passwords().make_hash(PASSWORD)
    section = await store.sections.make("Spring", somebody)
    for name, role in (("Ada", Role.INSTRUCTOR), ("Bob", Role.LEARNER)):
        account = await store.accounts.create(name, secret, somebody)
        assert account is not None
        await store.sections.invite(section, name, role, somebody)
        await store.sections.accept(section, Actor(account.id, somebody.at))
    await database.close()


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    made = Settings(data=tmp_path_factory.mktemp("asking"), course=COURSE)
    migrate(made.database, made.data)
    # Playwright has a running loop in this thread.
    with ThreadPoolExecutor(1) as elsewhere:
        elsewhere.submit(lambda: asyncio.run(make_section(made))).result()
    return made


@pytest.fixture(scope="module")
def address(settings: Settings) -> Iterator[str]:
    """A site without a grader, because nothing is run here."""
    port = find_free_port()
    variables = {"UNWIND_DATA": str(settings.data), "UNWIND_COURSE": str(COURSE), "UNWIND_PORT": str(port)}
    command = [sys.executable, "-m", "app", "site"]
    serving = subprocess.Popen(command, cwd=ROOT, env={**os.environ, **variables}, stdout=subprocess.DEVNULL)
    until = time.monotonic() + READY_SECONDS
    while not answers(f"http://127.0.0.1:{port}/healthz"):
        assert serving.poll() is None, "the site ended by itself"
        assert time.monotonic() < until, "the site is not ready"
        time.sleep(0.2)
    yield f"http://127.0.0.1:{port}"
    serving.send_signal(signal.SIGTERM)
    serving.wait(timeout=30)


def sign_in(browser: Browser, address: str, name: str, width: int) -> Page:
    context = browser.new_context(base_url=address, viewport={"width": width, "height": 900}, reduced_motion="reduce")
    page = context.new_page()
    page.goto("/sign-in")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("navigation", name="Site").locator("a.nav-account")).to_have_text(name)
    return page


def find_faults(page: Page) -> list[str]:
    too_wide = find_overflow(page)
    return find_violations(page) + ([f"{too_wide} px too wide"] if too_wide > 0 else [])


@pytest.mark.parametrize("width", [pytest.param(1280, marks=pytest.mark.nightly), 390])
def test_a_question_is_asked_at_a_mark_and_its_answer_comes_back(browser: Browser, address: str, width: int) -> None:
    page = sign_in(browser, address, "Bob", 1280)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(CHAPTER)
    scroll_through(page)
    mark = page.locator('a.report[href$="/square-graph"]')
    mark.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Note it, ask about it, or report a mistake")
    dialog.get_by_role("link", name="Ask about this").click()

    assert find_faults(page) == []
    page.get_by_label("Your question, in Markdown").fill(f"{QUESTION} At {width} px.")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".post")).to_contain_text(f"{width} px")
    assert find_faults(page) == []
    thread = page.url

    staff = sign_in(browser, address, "Ada", 1280)
    staff.set_viewport_size({"width": width, "height": 900})
    staff.goto(thread)
    assert find_faults(staff) == []
    staff.get_by_label("Your reply, in Markdown").fill("One *operation*, one node.")
    staff.get_by_role("button", name="Reply").click()
    expect(staff.locator(".post")).to_have_count(2)
    staff.get_by_role("link", name="All questions of the section").click()
    expect(staff.get_by_role("link", name=QUESTION).first).to_be_visible()
    assert find_faults(staff) == []

    page.goto(CHAPTER)
    page.locator("details.asked summary").first.click()
    assert find_faults(page) == []
    page.locator("details.asked").get_by_role("link", name=f"{width} px").click()
    expect(page.locator(".post")).to_have_count(2)
    for each in (page, staff):
        each.context.close()


def test_an_open_page_says_that_its_chapter_has_a_new_version(
    browser: Browser, address: str, settings: Settings, tmp_path: Path
) -> None:
    page = sign_in(browser, address, "Bob", 1280)
    page.goto(CHAPTER)
    root = Path(shutil.copytree(COURSE, tmp_path / "course"))
    chapter = root / "chapters" / "a-first-graph" / "chapter.md"
    text = chapter.read_text(encoding="utf-8").replace("Code that is only read", "Code that nobody runs")
    chapter.write_text(text, encoding="utf-8")
    make_live(settings.data, COURSE, add_version(root, settings.data, datetime.now(UTC)).version, datetime.now(UTC))

    until = time.monotonic() + READY_SECONDS
    while "nobody runs" not in page.request.get(CHAPTER).text():
        assert time.monotonic() < until, "the new version is not shown"
        time.sleep(0.2)
    expect(page.get_by_role("complementary", name="New version")).to_have_count(0)
    page.mouse.wheel(0, 1500)
    notice = page.get_by_role("complementary", name="New version")
    expect(notice).to_contain_text("This chapter has a new version.", timeout=20_000)
    expect(notice).to_be_in_viewport()
    assert find_faults(page) == []
    notice.get_by_role("link", name="Reload it").click()
    expect(page.locator("main")).to_contain_text("Code that nobody runs")
    page.context.close()
