"""What a stranger does: clone, one command, read, predict, run, hover, submit; everything in a clean environment."""

import json
import os
import signal
import socket
import subprocess
import time
import tomllib
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import HTTPCookieProcessor, Request, build_opener, urlopen

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

pytestmark = [pytest.mark.browser, pytest.mark.box, pytest.mark.slow, pytest.mark.nightly]

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync"]
FIRST_START_SECONDS = 420.0
# A torch exercise on a busy machine takes its time.
expect.set_options(timeout=30_000)
VERDICT_SECONDS = 60.0
# What pip needs to find packages where an index is mirrored; nothing else of this environment goes along.
KEPT_VARIABLES = ("PATH", "LANG", "SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
HOSTILE = {
    "while True: pass\n": "time_limit",
    "import os\nwhile True:\n    os.fork()\n": "runtime_error",
}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fresh") / "unwind"
    subprocess.run(["git", "clone", "--quiet", "--no-local", str(ROOT), str(folder)], check=True)
    return folder


def find_free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def clean_environment(home: Path) -> dict[str, str]:
    pip = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    # The interpreter that runs the tests is in a virtual environment, which a new user does not have.
    kept["PATH"] = ":".join(part for part in kept["PATH"].split(":") if not part.startswith(str(ROOT)))
    return {**kept, **pip, "HOME": str(home)}


def is_ready(address: str) -> bool:
    try:
        with urlopen(f"{address}/readyz", timeout=2) as answer:
            return json.load(answer)["ready"] is True
    except (URLError, TimeoutError, ConnectionError):
        return False


@pytest.fixture(scope="module")
def site(clone: Path) -> Iterator[str]:
    port = find_free_port()
    address = f"http://127.0.0.1:{port}"
    serving = subprocess.Popen(
        ["make", "serve", f"PORT={port}", f"DATA={clone.parent / 'data'}"],
        cwd=clone,
        env=clean_environment(clone.parent),
        start_new_session=True,
    )
    until = time.monotonic() + FIRST_START_SECONDS
    while not is_ready(address):
        assert serving.poll() is None, "make serve ended by itself"
        assert time.monotonic() < until, "make serve is not ready"
        time.sleep(0.5)
    yield address
    os.killpg(serving.pid, signal.SIGINT)
    serving.wait(timeout=30)
    assert not is_ready(address)


@pytest.fixture(scope="module")
def page(site: str) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser: Browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page(base_url=site, viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
        page.set_default_timeout(30_000)
        yield page
        browser.close()


def exercises(clone: Path) -> list[Path]:
    return sorted(path.parent for path in (clone / "exercises").glob("*/exercise.toml"))


def read_manifest(exercise: Path) -> dict[str, Any]:
    return tomllib.loads((exercise / "exercise.toml").read_text(encoding="utf-8"))


def one_of_each_kind(clone: Path) -> list[Path]:
    """The shortest exercise of each kind."""
    by_minutes = sorted(exercises(clone), key=lambda exercise: (-read_manifest(exercise)["minutes"], exercise.name))
    return list({read_manifest(exercise)["kind"]: exercise for exercise in by_minutes}.values())


def say_fault(exercise: Path, attempt: dict[str, Any] | None = None) -> dict[str, Any]:
    """What is said of a bug hunt's fault: the truth, or what an attempt says."""
    told = attempt or {}
    asked = read_manifest(exercise).get("diagnosis")
    if asked is None:
        return {}
    return {"category": told.get("category", asked["answer"]), "line": told.get("line", asked["lines"][0])}


def judge(site: str, exercise: Path, source: str, said: dict[str, Any] | None = None) -> dict[str, object]:
    """The verdict on a submission that a new learner, with a cookie of their own, hands in over HTTP."""
    learner = build_opener(HTTPCookieProcessor())
    body = {"source": source, "idempotency_key": uuid.uuid4().hex, **(said or {})}
    request = Request(
        f"{site}/api/exercises/{exercise.name}/submissions",
        json.dumps(body).encode(),
        {"Content-Type": "application/json", "Origin": site, "Sec-Fetch-Site": "same-origin"},
    )
    with learner.open(request, timeout=30) as answer:
        accepted = json.load(answer)
    with learner.open(site + accepted["events"], timeout=VERDICT_SECONDS) as stream:
        for _ in stream:
            pass
    with learner.open(f"{site}/api/submissions/{accepted['id']}", timeout=30) as answer:
        return dict(json.load(answer)["verdict"])


def open_first_chapter(page: Page) -> None:
    page.goto("/")
    page.locator("main a[href^='/chapters/']").first.click()
    page.wait_for_url("**/chapters/*")


def first_cell(page: Page) -> Locator:
    cell = page.locator("uw-cell").first
    cell.scroll_into_view_if_needed()
    cell.locator(".cm-editor").wait_for()
    return cell


def test_a_stranger_starts_reading_from_the_home_page(page: Page) -> None:
    open_first_chapter(page)
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator("uw-predict")).not_to_have_count(0)


def test_a_prediction_stands_beside_what_a_run_then_shows(page: Page) -> None:
    open_first_chapter(page)
    predict = page.locator("uw-predict").first
    predict.locator("input[name=option]").first.check()
    predict.get_by_label("A guess").check()
    predict.get_by_role("button", name="Commit").click()
    expect(predict.locator(".truth")).to_have_count(0)
    for cell in page.locator("uw-cell").all():
        cell.scroll_into_view_if_needed()
        cell.locator(".cm-editor").wait_for()
        cell.locator("[data-run]").first.click()
        expect(cell.locator("[data-state]").first).to_contain_text("Ran in")
        if predict.locator(".truth").count():
            return
    raise AssertionError("no cell of the chapter settled its prediction")


def test_hovering_over_a_node_marks_the_code_that_made_it(page: Page) -> None:
    open_first_chapter(page)
    cell = first_cell(page)
    cell.locator("[data-run]").first.click()
    cell.locator("g.node-op").first.wait_for()
    cell.locator("g.node-op").first.hover()
    expect(cell.locator(".cm-lit, .cm-content [class*=lit]").first).to_be_visible()


def test_the_reference_of_every_exercise_passes(site: str, clone: Path) -> None:
    assert exercises(clone)
    for exercise in exercises(clone):
        verdict = judge(site, exercise, (exercise / "solution.py").read_text(encoding="utf-8"), say_fault(exercise))
        assert verdict["outcome"] == "passed", exercise.name


def test_every_known_attempt_gets_its_finding(site: str, clone: Path) -> None:
    """Of the shortest plain exercise, over HTTP; the course's check does it for all, at the graders."""
    exercise = plain_exercise(clone)
    for attempt in read_manifest(exercise)["attempts"]:
        source = (exercise / "attempts" / attempt["file"]).read_text(encoding="utf-8")
        verdict = judge(site, exercise, source, say_fault(exercise, attempt))
        assert verdict["outcome"] == attempt["outcome"], attempt["file"]
        if "finding" in attempt:
            assert isinstance(verdict["finding"], dict), attempt["file"]
            assert verdict["finding"]["code"] == attempt["finding"], attempt["file"]


def plain_exercise(clone: Path) -> Path:
    plain = [exercise for exercise in exercises(clone) if read_manifest(exercise)["flavour"] == "plain"]
    return min(plain, key=lambda exercise: read_manifest(exercise)["minutes"])


def test_an_exercise_of_each_kind_goes_from_wrong_to_right(page: Page, clone: Path) -> None:
    kinds = one_of_each_kind(clone)
    assert len(kinds) >= 2
    for exercise in kinds:
        manifest = read_manifest(exercise)
        wrong = next(found for found in manifest["attempts"] if found["outcome"] == "wrong_answer")
        page.goto(f"/exercises/{exercise.name}")
        fault = say_fault(exercise)
        if fault:
            page.locator(f"input[name=category][value='{fault['category']}']").check()
            page.locator(f"label.starter-line:has(input[name=line][value='{fault['line']}'])").click()
        hand_in(page, (exercise / "attempts" / wrong["file"]).read_text(encoding="utf-8"))
        expect(page.locator("[data-result] .verdict-headline")).to_be_visible()
        expect(page.locator("[data-result]")).not_to_contain_text("Passed")
        if short := manifest["findings"].get(wrong["finding"], {}).get("short"):
            expect(page.locator("[data-result]")).to_contain_text(short.replace("`", ""))
        expect(page.locator(".reference")).to_have_count(0)
        hand_in(page, (exercise / "solution.py").read_text(encoding="utf-8"))
        expect(page.locator("[data-result] .verdict-headline")).to_contain_text("Passed")
        expect(page.locator(".history-list li")).to_have_count(2)


def hand_in(page: Page, text: str) -> None:
    editor = page.locator("uw-submission .cm-content")
    editor.scroll_into_view_if_needed()
    editor.click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)
    handed_in = page.locator(".history-list li").count()
    page.get_by_role("button", name="Submit").click()
    expect(page.locator(".history-list li")).to_have_count(handed_in + 1)


@pytest.mark.parametrize(("source", "outcome"), HOSTILE.items(), ids=["endless-loop", "fork-bomb"])
def test_hostile_submissions_end_and_everything_is_still_alive(
    site: str, clone: Path, page: Page, source: str, outcome: str
) -> None:
    exercise = plain_exercise(clone)
    assert judge(site, exercise, source)["outcome"] == outcome
    assert is_ready(site)
    assert judge(site, exercise, (exercise / "solution.py").read_text(encoding="utf-8"))["outcome"] == "passed"
    open_first_chapter(page)
    cell = first_cell(page)
    cell.locator("[data-run]").first.click()
    expect(cell.locator("[data-state]").first).to_contain_text("Ran in")
