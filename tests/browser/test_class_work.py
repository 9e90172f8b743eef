"""What staff see of a class's work, in a browser: axe on each page, nothing scrolls sideways, keys suffice."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from browser_parts import READY_SECONDS, ROOT, answers, find_free_port, pair_looks
from playwright.sync_api import Browser, BrowserContext, Page
from test_accessibility import find_overflow, find_violations

from app.access.passwords import Passwords
from app.access.permissions import Role
from app.learning.grading import Assignment, Credit, Kind
from app.storage.audit import Actor
from app.storage.database import migrate
from app.storage.store import Store
from graders.contract.jobs import GradeJob
from graders.contract.model import ExerciseName
from graders.contract.results import CaseResult, Finding, Outcome, Verdict
from graders.ledger import Database, open_ledger_on

PASSWORD = "ferns dodge my kettle"
PEOPLE = {"Tess Ivory": Role.INSTRUCTOR} | dict.fromkeys(("Ada Okafor", "Bo Lindqvist", "Cyd Marsh"), Role.LEARNER)
WRONG = "def double(x):\n    return x\n"
LOOPS = """def double(values):
    found = []
    for value in values:
        if value > 0:
            found.append(value * 2)
        else:
            found.append(value + value)
    return found
"""
RENAMED = LOOPS.replace("found", "out").replace("value ", "v ").replace("(value", "(v").replace("+ value", "+ v")
MAPS = """def double(values):
    pairs = zip(values, values, strict=True)
    totals = map(sum, pairs)
    return sorted(list(totals), key=abs)[::-1]
"""


async def make_class(data: Path) -> tuple[str, str]:
    """A section whose learners handed in; returns its id, and the id of a submission that passed."""
    url = f"sqlite:///{data}/unwind.sqlite3"
    migrate(url, data)
    database = Database(url)
    store, ledger = Store(database), open_ledger_on(database, data / "wakeups")
    somebody = Actor(None, datetime.now(UTC))
    section = await store.sections.make("Spring 2026, Tuesdays", somebody)
    people = {}
    for name, role in PEOPLE.items():
        account = await store.accounts.create(name, await Passwords().make_hash(PASSWORD), somebody)
        assert account is not None
        await store.sections.invite(section, name, role, somebody)
        await store.sections.accept(section, Actor(account.id, somebody.at))
        people[name] = account
    await store.assignments.make(section, assign(somebody.at), somebody)
    texts = [("Ada Okafor", WRONG), ("Ada Okafor", LOOPS), ("Bo Lindqvist", MAPS), ("Cyd Marsh", RENAMED)]
    ids = []
    for number, (name, source) in enumerate(texts):
        job = GradeJob(exercise=ExerciseName("double"), source=source)
        ids.append((await ledger.submit(people[name].learner, f"handed-in-{number}", job)).id)
        claim = await ledger.claim(ids[-1], "a test")
        assert claim is not None
        await ledger.finish(claim, judge(job))
    await ledger.close()
    return section, ids[1]


def assign(now: datetime) -> list[Assignment]:
    """A lab of next week that opened before anybody handed in, and two parts of a chapter that are late by now."""
    chapter, days = "a-first-graph", timedelta(days=1)
    lab = Assignment("", Kind.EXERCISE, "double", "Lab 1: Double", points=10, due_at=now + 7 * days, attempts=3)
    parts = [
        Assignment(
            "", kind, chapter, title, points=4, credit=Credit.SHARE, due_at=now - days, closes_at=now + 9 * days
        )
        for kind, title in (
            (Kind.RETRIEVAL, "A first graph: questions"),
            (Kind.PREDICTIONS, "A first graph: guesses"),
        )
    ]
    return [lab, *parts]


def judge(job: GradeJob) -> Verdict:
    if job.source != WRONG:
        return Verdict(outcome=Outcome.PASSED, exercise=job.exercise, profile="P1")
    finding = Finding(code="not-doubled", short="The result is not twice the input.")
    case = CaseResult(name="one", idea="A number.", passed=False, public=True, finding=finding)
    return Verdict(outcome=Outcome.WRONG_ANSWER, exercise=job.exercise, finding=finding, cases=(case,))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, str]]:
    """The address of a site without a grader, a section on it, and a submission."""
    data = tmp_path_factory.mktemp("class")
    (data / "wakeups").mkdir()
    made: list[tuple[str, str]] = []
    # In a thread of its own: Playwright's loop may run in this one.
    making = threading.Thread(target=lambda: made.append(asyncio.run(make_class(data))))
    making.start()
    making.join()
    port = find_free_port()
    environment = {**os.environ, "UNWIND_DATA": str(data), "UNWIND_PORT": str(port)}
    environment["UNWIND_COURSE"] = str(ROOT / "tests" / "course")
    command = [sys.executable, "-m", "app", "site"]
    serving = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
    address, until = f"http://127.0.0.1:{port}", time.monotonic() + READY_SECONDS
    while not answers(f"{address}/healthz"):
        assert serving.poll() is None, "the site ended by itself"
        assert time.monotonic() < until, "the site is not ready"
        time.sleep(0.2)
    yield address, *made[0]
    serving.send_signal(signal.SIGTERM)
    serving.wait(timeout=30)


def sign_in(browser: Browser, address: str, name: str, width: int, theme: str) -> Page:
    context: BrowserContext = browser.new_context(
        base_url=address,
        viewport={"width": width, "height": 900},
        color_scheme="dark" if theme == "dark" else "light",
    )
    page = context.new_page()
    page.goto("/sign-in?next=/desk")
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/desk")
    return page


def look(page: Page, path: str, name: str) -> list[str]:
    """What is wrong with the page, by axe and by its width. With PNG_FOLDER it leaves a picture."""
    page.goto(path)
    width = page.viewport_size["width"] if page.viewport_size else 0
    if folder := os.environ.get("PNG_FOLDER"):
        theme = "dark" if page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") else "light"
        page.screenshot(path=Path(folder) / f"{name}-{width}-{theme}.png", full_page=True)
    found = [f"{name}: {violation}" for violation in find_violations(page)]
    return found + ([f"{name} scrolls sideways"] if find_overflow(page) > 0 else [])


@pytest.mark.nightly
@pytest.mark.parametrize(("width", "theme"), pair_looks())
def test_the_pages_of_what_was_handed_in(
    browser: Browser, place: tuple[str, str, str], width: int, theme: str
) -> None:
    address, section, submission = place
    page = sign_in(browser, address, "Tess Ivory", width, theme)
    base = f"/desk/{section}"

    found = look(page, f"{base}/submissions", "submissions")
    found += look(page, f"{base}/submissions/exercises/double", "attempts")
    page.get_by_role("link", name="Ada Okafor", exact=True).press("Enter")
    page.wait_for_url("**/people/*")
    found += look(page, page.url, "person")
    page.goto(f"{base}/submissions/{submission}")
    page.get_by_label("On line").fill("5")
    page.get_by_label("Comment, in Markdown").fill(f"At {width}, {theme}: *both* branches do the same.")
    page.get_by_role("button", name="Comment", exact=True).press("Enter")
    page.get_by_text("Comment 1", exact=False).first.wait_for()
    found += look(page, f"{base}/submissions/{submission}", "handed-in")
    found += look(page, f"{base}/likeness/double", "likeness")
    page.get_by_role("link", name="Ada Okafor and Cyd Marsh").press("Enter")
    page.wait_for_url("**/likeness/double/*/*")
    found += look(page, page.url, "pair")

    found += look(page, f"{base}/view-as", "view-as")
    page.get_by_role("link", name="Ada Okafor", exact=True).press("Enter")
    page.get_by_label("Why you look").fill("She asked what her page shows.")
    found += [f"reason: {violation}" for violation in find_violations(page)]
    page.get_by_role("button", name="See it as Ada Okafor").press("Enter")
    page.wait_for_url("**/course")
    found += look(page, "/exercises/double", "viewed-exercise")
    found += look(page, "/notes", "viewed-refusal")
    page.get_by_role("button", name="End the view").press("Enter")
    page.wait_for_url("**/view-as")

    ada = sign_in(browser, address, "Ada Okafor", width, theme)
    found += look(ada, "/me/comments", "my-comments")
    found += look(ada, "/exercises/double", "exercise")
    ada.get_by_role("link", name="1 new comment").last.press("Enter")
    ada.wait_for_url("**/submissions/*")
    found += look(ada, ada.url, "submission")

    assert found == []


@pytest.mark.nightly
@pytest.mark.parametrize(("width", "theme"), pair_looks())
def test_the_pages_of_assignments(browser: Browser, place: tuple[str, str, str], width: int, theme: str) -> None:
    address, section, _ = place
    page = sign_in(browser, address, "Tess Ivory", width, theme)
    base = f"/desk/{section}/assignments"

    found = look(page, base, "assignments")
    found += look(page, f"{base}/new", "new-assignments")
    found += look(page, f"{base}/preview", "preview")
    page.goto(base)
    page.get_by_role("link", name="Lab 1: Double").press("Enter")
    page.wait_for_url("**/assignments/*")
    page.get_by_label("Learner", exact=True).select_option("Ada Okafor")
    page.get_by_label("Days more").fill("3")
    page.get_by_label("Reason; the learner sees it").fill(f"Ill, at {width}, {theme}")
    page.get_by_role("button", name="Grant", exact=True).press("Enter")
    page.get_by_text(f"Ill, at {width}, {theme}").wait_for()
    found += look(page, page.url, "assignment")

    ada = sign_in(browser, address, "Ada Okafor", width, theme)
    found += look(ada, "/me/grades", "grades")
    edges = ada.eval_on_selector_all(
        ".own-grades td.why", "cells => cells.map(one => one.getBoundingClientRect().right)"
    )
    assert edges
    assert max(edges) <= width, "why a grade is what it is can be read without scrolling sideways"
    for path, name in (
        ("/exercises/double", "assigned-exercise"),
        ("/chapters/a-first-graph", "assigned-chapter"),
        ("/course", "assigned-map"),
    ):
        found += look(ada, path, name)

    assert found == []


@pytest.mark.nightly
@pytest.mark.parametrize(("width", "theme"), pair_looks())
def test_the_gradebook_and_judging_again(
    browser: Browser, place: tuple[str, str, str], width: int, theme: str
) -> None:
    address, section, _ = place
    page = sign_in(browser, address, "Tess Ivory", width, theme)
    base, reason = f"/desk/{section}", f"A draw, at {width}, {theme}"

    found = look(page, f"{base}/gradebook", "gradebook")
    page.get_by_role("row", name="Ada Okafor").get_by_role("link").first.press("Enter")
    page.wait_for_url("**/gradebook/*/*")
    page.get_by_label("Points, in place of the computed grade").fill("7,5")
    page.get_by_label("Reason; the learner sees it").fill(reason)
    page.get_by_role("button", name="Set the grade").press("Enter")
    page.get_by_text(reason).first.wait_for()
    found += look(page, page.url, "grade")
    found += look(page, f"{base}/gradebook/files", "files")

    page.goto(f"{base}/regrades")
    page.get_by_label("What was wrong; the learners see it").fill(reason)
    page.get_by_role("button", name="Judge again").press("Enter")
    page.wait_for_url("**/regrades/*")
    found += look(page, page.url, "regrade")
    page.get_by_role("button", name="Drop this, and change nothing").press("Enter")
    page.get_by_text("Dropped.").wait_for()
    found += look(page, f"{base}/regrades", "regrades")

    assert found == []
