"""One exercise of each kind of the course, from a wrong answer over its finding and a hint to another right one."""

from collections.abc import Iterator

import pytest
from browser_parts import ROOT, scroll_through, serve_graded
from playwright.sync_api import Browser, Page, expect

from graders.contract.manifest import Attempt
from graders.contract.results import Outcome
from graders.trusted.exercise import Exercise, load_exercise

EXERCISES = ROOT / "exercises"
NAMES = sorted(found.parent.name for found in EXERCISES.glob("*/exercise.toml"))
FIRST_OF_KIND = {load_exercise(EXERCISES, name).manifest.kind: name for name in reversed(NAMES)}
VERDICT_MS = 60_000

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def course_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve_graded(ROOT, tmp_path_factory.mktemp("data")) as address:
        yield address


@pytest.fixture
def page(course_site: str, browser: Browser) -> Iterator[Page]:
    context = browser.new_context(base_url=course_site, reduced_motion="reduce")
    yield context.new_page()
    context.close()


def read_attempt(name: str, attempt: Attempt) -> str:
    return (EXERCISES / name / "attempts" / attempt.file).read_text()


def choose_attempts(exercise: Exercise) -> tuple[Attempt, Attempt]:
    """The first wrong answer with a finding of the exercise's own, and the last right one."""
    known = exercise.manifest.attempts
    wrong = next(attempt for attempt in known if attempt.finding in exercise.manifest.findings and not attempt.cheat)
    *_, right = (attempt for attempt in known if attempt.outcome is Outcome.PASSED)
    return wrong, right


def submit(page: Page, text: str, handed_in: int) -> None:
    page.locator(".cm-content").click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)
    page.get_by_role("button", name="Submit").click()
    expect(page.locator(".history-list li")).to_have_count(handed_in, timeout=VERDICT_MS)


def diagnose(page: Page, exercise: Exercise) -> None:
    """Choose the right kind of fault and a guilty line, if the exercise asks for them."""
    if asked := exercise.manifest.diagnosis:
        page.locator(f"input[name=category][value={asked.answer}]").check()
        page.locator(f"input[name=line][value='{asked.lines[0]}']").check()


@pytest.mark.parametrize("name", [pytest.param(name, id=kind) for kind, name in FIRST_OF_KIND.items()])
def test_an_exercise_goes_from_wrong_to_right(page: Page, name: str) -> None:
    exercise = load_exercise(EXERCISES, name)
    wrong, right = choose_attempts(exercise)
    heard: list[str] = []
    page.on("console", lambda message: heard.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.goto(f"/exercises/{name}")
    scroll_through(page)
    diagnose(page, exercise)

    submit(page, read_attempt(name, wrong), 1)
    assert wrong.finding is not None
    said = exercise.manifest.findings[wrong.finding].short.replace("`", "")
    expect(page.locator("[data-result]")).to_contain_text(said)
    expect(page.locator("[data-result] .case.is-wrong").first).to_be_visible()
    expect(page.locator(".reference")).to_have_count(0)

    page.get_by_role("button", name="Show hint 1 of 3").click()
    expect(page.locator("details.hint")).to_have_count(1)
    expect(page.locator("[data-result]")).to_contain_text(said)

    submit(page, read_attempt(name, right), 2)
    expect(page.locator("[data-result] .verdict-headline")).to_contain_text("Passed")
    expect(page.locator("[data-result] .case.is-wrong")).to_have_count(0)
    expect(page.locator(".reference")).to_be_visible()
    expect(page.get_by_role("link", name="Next: ")).to_be_visible()
    assert heard == []
