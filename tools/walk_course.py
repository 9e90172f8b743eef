"""Walks a served course as a learner would, in a real browser: every cell run, every question answered.

    .venv/bin/python tools/walk_course.py http://127.0.0.1:8000 [--course .] [--only SLUG] [--width 390] [--shots DIR]

In each chapter it makes the predictions, runs cells and measurements and compares their output with the chapter's,
and answers each question wrong once and right once. It lists the browser's errors, sideways scrolling and what axe
finds. Exit status: 0 if there are no problems, otherwise 1.
"""

import argparse
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # noqa: E402
from playwright.sync_api import Locator, Page, ViewportSize, expect, sync_playwright  # noqa: E402

from app.course.block_tree import blocks_of  # noqa: E402
from app.course.blocks import Cell, Measure, Predict  # noqa: E402
from app.course.checking.judging import tidy_output  # noqa: E402
from app.course.loader import load_course  # noqa: E402
from app.course.model import Chapter  # noqa: E402
from app.course.questions.kinds import (  # noqa: E402
    Choice,
    GraphClick,
    Number,
    Open,
    Order,
    Question,
    Several,
    Text,
    WrongLine,
)
from app.course.questions.question import QuestionBase  # noqa: E402

CHROMIUM = "/usr/bin/chromium"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
RUN_MILLISECONDS = 60_000
NOT_A_NUMBER_OF_ANY_QUESTION = "-12345.678"


@dataclass
class Walk:
    """The result for one chapter: counts, and one line per problem."""

    slug: str
    cells: int = 0
    wrong: int = 0
    right: int = 0
    predictions: int = 0
    problems: list[str] = field(default_factory=list)


def walk_chapter(page: Page, chapter: Chapter) -> Walk:
    walk = Walk(chapter.slug)
    page.on("console", lambda said: walk.problems.append(f"console: {said.text}") if said.type == "error" else None)
    page.on("pageerror", lambda error: walk.problems.append(f"script: {error}"))
    page.goto(f"/chapters/{chapter.slug}")
    scroll_through(page)
    for predict in blocks_of(Predict, chapter.blocks):
        make_prediction(page, predict, walk)
    for cell in blocks_of(Cell, chapter.blocks):
        run_cell(page, cell, walk)
    for measure in blocks_of(Measure, chapter.blocks):
        run_cell(page, measure.cell, walk, expected=False)
    for question in blocks_of(QuestionBase, chapter.blocks):
        answer_question(page, question, walk)
    if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
        walk.problems.append("the page scrolls sideways")
    scroll_through(page)
    for violation in Axe().run(page).response["violations"]:
        places = [node["target"] for node in violation["nodes"]][:3]
        walk.problems.append(f"axe: {violation['id']} at {places}")
    return walk


def scroll_through(page: Page) -> None:
    """Scrolls to the end and back, so that parts that start only when they come into view have started."""
    for y in range(0, int(page.evaluate("document.documentElement.scrollHeight")), 600):
        page.evaluate(f"scrollTo(0, {y})")
        page.wait_for_timeout(40)
    page.evaluate("scrollTo(0, 0)")


def unfold(element: Locator) -> None:
    """Opens every fold that the element is in: a measurement's code is folded, and it may be in a fold itself."""
    element.evaluate(
        "e => { for (let up = e; up; up = up.parentElement) if (up.localName === 'details') up.open = true; }"
    )


def make_prediction(page: Page, predict: Predict, walk: Walk) -> None:
    block = page.locator(f"uw-predict[id='{predict.id}']")
    unfold(block)
    block.locator("input[name=option]").first.check()
    block.locator("input[name=confidence]").first.check()
    block.locator("button").first.click()
    expect(block).not_to_have_attribute("data-state", "open")
    walk.predictions += 1


def run_cell(page: Page, cell: Cell, walk: Walk, *, expected: bool = True) -> None:
    element = page.locator(f"[data-cell='{cell.id}']").first
    if cell.needs != "cpu":
        return
    unfold(element)
    element.scroll_into_view_if_needed()
    button = element.locator("[data-run]")
    state = element.locator("[data-state]")
    button.click()
    try:
        expect(state).to_contain_text("Ran in", timeout=RUN_MILLISECONDS)
    except AssertionError:
        if not cell.raises:
            walk.problems.append(f"cell {cell.id}: {state.inner_text()!r}")
    walk.cells += 1
    shown = tidy_output(element.locator(".cell-output").inner_text()) if expected else ""
    if expected and cell.expected is not None and not cell.raises and shown != tidy_output(cell.expected):
        walk.problems.append(f"cell {cell.id} printed {shown[:120]!r}, and the chapter has {cell.expected[:120]!r}")


def answer_question(page: Page, block: Question, walk: Walk) -> None:
    element = page.locator(f"uw-question[data-question='{block.id}']")
    unfold(element)
    seed = element.locator("input[name=draw]")
    draw = block.find_draw(int(seed.get_attribute("value") or "0")) if seed.count() else None
    question = block.fill(draw) if draw else block
    if isinstance(question, Open):
        element.locator("textarea").fill("What I would say.")
        send(element)
        expect(element.locator(".model-answer")).to_be_visible()
        element.locator("input[name=rubric]").first.check()
        send(element)
        expect(element).to_contain_text("Saved: 1 of")
        walk.right += 1
        return
    try:
        give(element, question, right=False)
        send(element)
        expect(element.locator(".judgement")).to_contain_text("Not yet.")
        walk.wrong += 1
        if isinstance(question, Choice | Several) and not element.locator(".feedback").count():
            walk.problems.append(f"question {block.id}: a wrong answer gets no feedback")
        give(element, question, right=True)
        send(element)
        expect(element.locator(".judgement")).to_contain_text("Right.")
        walk.right += 1
    except AssertionError as error:
        walk.problems.append(f"question {block.id}: {str(error).splitlines()[0]}")


def send(element: Locator) -> None:
    element.locator("form button").first.click()


def give(element: Locator, question: Question, *, right: bool) -> None:
    """Fills in a right or a wrong answer."""
    match question:
        case Choice() | Several():
            choose(element, question, right=right)
        case Number():
            value = repr(question.value) if right else NOT_A_NUMBER_OF_ANY_QUESTION
            element.locator("input[name=number]").fill(value)
        case Text():
            element.locator("input[name=text]").fill(question.accepted[0] if right else "no such word")
        case WrongLine():
            numbers = range(1, len(question.lines) + 1)
            line = next(number for number in numbers if (number in question.guilty) is right)
            element.locator(f"input[name=line][value='{line}']").check()
        case Order():
            letters = sorted(question.letters(), key=question.letters().__getitem__)
            element.locator("input[name=order]").fill(" ".join(letters if right else letters[::-1]))
        case GraphClick():
            click_node(element, question, right=right)


def choose(element: Locator, question: Choice | Several, *, right: bool) -> None:
    for option in question.options:
        box = element.locator(f"input[name=option][value='{option.id}']")
        if isinstance(question, Several):
            box.set_checked(option.right is right)
        elif option.right is right:
            box.check()
            return


def click_node(element: Locator, question: GraphClick, *, right: bool) -> None:
    """Finds a right or wrong node by the names that the picture's list shows. Clicks a right one in the picture."""
    labels = element.locator("label:has(input[name=node])")
    for label in labels.all():
        words = label.inner_text().replace("(", " ").replace(")", " ").replace(",", " ").split()
        if bool(set(words) & set(question.targets)) is not right:
            continue
        field = label.locator("input")
        if not right:
            field.check()
            return
        drawn = f"[id='{element.get_attribute('data-graph')}'] g.node[data-node='{field.get_attribute('value')}']"
        element.page.locator(drawn).first.click()
        expect(field).to_be_checked()
        return
    raise AssertionError(f"no node to choose among {[label.inner_text() for label in labels.all()]}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("address")
    parser.add_argument("--course", type=Path, default=ROOT)
    parser.add_argument("--only", default="")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--shots", type=Path)
    given = parser.parse_args()
    course, _ = load_course(given.course.resolve())
    found = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for chapter in course.chapters:
            if given.only and chapter.slug != given.only:
                continue
            context = browser.new_context(
                base_url=given.address,
                viewport=ViewportSize(width=given.width, height=900),
                color_scheme="dark" if given.dark else "light",
                reduced_motion="reduce",
            )
            page = context.new_page()
            walk = walk_chapter(page, chapter)
            if given.shots:
                given.shots.mkdir(parents=True, exist_ok=True)
                page.screenshot(path=given.shots / f"{chapter.slug}-{given.width}.png", full_page=True)
            context.close()
            found += len(walk.problems)
            lines = (
                f"{chapter.number} {chapter.slug}: {walk.predictions} predictions, {walk.cells} cells run, questions "
                f"answered wrong {walk.wrong} and right {walk.right}, {len(walk.problems)} problems",
                *(f"    {problem}" for problem in walk.problems),
            )
            sys.stdout.write("\n".join(lines) + "\n")
            sys.stdout.flush()
        browser.close()
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
