"""A drill in Chromium, on a course of its own: wrong by keyboard alone, its feedback, the tape, the next; and without
script. axe finds nothing on any of its pages."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser_parts import ROOT, OpenPage, pair_looks, serve_graded, wait_for_near_elements
from playwright.sync_api import Locator, Page, expect
from test_accessibility import find_overflow, find_violations

QUESTION = """\
:::{question} uses
:kind: number
:role: synthetic
:concepts: accumulation
:variant: uses
What is `x.grad` after this program?

- [ ] {{last}}
  > That is what arrives through the last line alone.
- [ ] *
  > Write down what each use of `x` sends back, and add.

+++
The factors of `x` add up to {{answer}}.
:::
"""
GENERATOR = '''\
"""A leaf with three uses."""

from random import Random


def draw(rng: Random, level: int) -> dict[str, object]:
    """The last factor is always 7, so that its share is one wrong answer for every draw."""
    first, second, start = rng.sample(range(10, 1000), 3)
    code = "\\n".join([
        "import torch",
        "",
        f"x = torch.tensor({start}.0, requires_grad=True)",
        f"a = x * {first}.0",
        f"b = x * {second}.0",
        "c = a + b",
        "d = x * 7.0",
        "e = c + d",
        "e.backward()",
    ])
    return {"code": code, "observe": "gradient x", "answer": first + second + 7, "last": 7}
'''


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A site whose course has one drill. The fixture course has none: its graders would draw in every other test."""
    root = tmp_path_factory.mktemp("drilled")
    course = Path(
        shutil.copytree(ROOT / "tests" / "course", root / "course", ignore=shutil.ignore_patterns(".cache"))
    )
    (course / "drills").mkdir()
    (course / "drills" / "uses.md").write_text(QUESTION, encoding="utf-8")
    (course / "drills" / "uses.py").write_text(GENERATOR, encoding="utf-8")
    with serve_graded(course, root / "data") as address:
        yield address


def look_at(page: Page) -> None:
    wait_for_near_elements(page)
    assert find_violations(page) == []
    assert find_overflow(page) <= 0


def ask_drawn(page: Page) -> None:
    """From the choice to a question, by Enter. The stock is filled within seconds after the start."""
    button = page.get_by_role("button", name="Draw")
    for _ in range(40):
        button.press("Enter")
        page.wait_for_load_state()
        if page.locator("uw-review").count():
            return
        page.wait_for_timeout(500)
    pytest.fail("no graph was drawn")


def tab_to(page: Page, part: Locator) -> None:
    for _ in range(30):
        page.keyboard.press("Tab")
        wait_for_near_elements(page)
        if part.count() and part.evaluate("part => part === document.activeElement"):
            return
    pytest.fail("Tab does not lead there")


@pytest.mark.parametrize(("width", "theme"), pair_looks())
def test_a_wrong_answer_by_keyboard_alone_then_the_tape_and_the_next(
    open_page: OpenPage, width: int, theme: str
) -> None:
    page = open_page("/drill", width, color_scheme=theme)
    look_at(page)
    ask_drawn(page)
    first = page.url
    expect(page.get_by_label("A number")).to_be_focused()
    look_at(page)

    page.keyboard.type("7")
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_contain_text("That is what arrives through the last line alone.")
    expect(page.locator("#main")).to_contain_text("Not this time.")
    look_at(page)

    expect(page.get_by_role("button", name="Next graph")).to_be_focused()
    tab_to(page, page.get_by_role("button", name="Step through it"))
    page.keyboard.press("Enter")
    expect(page.get_by_label("Step of the tape")).to_be_visible()
    tab_to(page, page.get_by_label("Step of the tape"))
    count = page.locator(".player-count")
    before = count.inner_text()
    page.keyboard.press("ArrowRight")
    expect(count).not_to_have_text(before)
    look_at(page)

    page.get_by_role("button", name="Next graph").press("Enter")
    expect(page.get_by_label("A number")).to_be_focused()
    assert page.url != first


def test_what_is_typed_before_the_questions_script_has_come_is_kept(open_page: OpenPage) -> None:
    page = open_page("/drill", 390)
    ask_drawn(page)
    page.route("**/questions*.js*", lambda route: route.abort())
    page.reload()
    page.keyboard.type("123")
    expect(page.get_by_label("A number")).to_have_value("123")


def test_a_drill_without_script(open_page: OpenPage) -> None:
    page = open_page("/drill", 390, java_script_enabled=False)
    ask_drawn(page)
    page.get_by_label("A number").fill("7")
    page.get_by_role("button", name="Answer").click()
    expect(page.locator("#main")).to_contain_text("That is what arrives through the last line alone.")
    page.get_by_role("button", name="Next graph").click()
    expect(page.get_by_label("A number")).to_have_value("")
