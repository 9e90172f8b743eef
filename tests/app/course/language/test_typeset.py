"""Formulas are typeset on the server, and come without style attributes."""

import json
import re
from pathlib import Path

import pytest

from app.course.language.markdown import make_parser
from app.course.language.prose import Prose
from app.course.language.typeset import MathMistake, Typesetter
from app.course.loader import KATEX
from app.course.problems import Report

REPOSITORY = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def typesetter() -> Typesetter:
    return Typesetter(KATEX.read_text(encoding="utf-8"))


def test_a_formula_has_html_for_the_eye_and_mathml_for_the_rest(typesetter: Typesetter) -> None:
    html = typesetter.typeset(r"\frac{a}{b}", display=False)

    assert isinstance(html, str)
    assert "<math " in html
    assert 'aria-hidden="true"' in html
    assert "style=" not in html


def test_each_style_becomes_a_class_with_the_same_declarations(typesetter: Typesetter) -> None:
    html = typesetter.typeset(r"x^{2}", display=True)

    assert isinstance(html, str)
    rules = typesetter.stylesheet()
    assert "height:" in rules
    for name in re.findall(r"kx-[0-9a-f]{8}", html):
        assert f".katex .{name}{{" in rules


def test_a_mistake_has_its_position_and_the_nearest_command(typesetter: Typesetter) -> None:
    assert typesetter.typeset(r"a + \frca{1}{2}", display=False) == MathMistake(
        "Undefined control sequence: \\frca", 4, "did you mean '\\frac'?"
    )


def test_a_formula_that_ends_too_soon_has_no_position(typesetter: Typesetter) -> None:
    found = typesetter.typeset(r"\frac{1}{", display=False)

    assert isinstance(found, MathMistake)
    assert "end of input" in found.message


def test_a_formula_may_not_link_or_load(typesetter: Typesetter) -> None:
    assert isinstance(typesetter.typeset(r"\href{javascript:alert(1)}{x}", display=False), MathMistake)


def test_the_server_and_the_stylesheet_use_the_same_katex() -> None:
    package = json.loads((REPOSITORY / "static" / "package.json").read_text(encoding="utf-8"))
    pinned = {**package.get("dependencies", {}), **package.get("devDependencies", {})}["katex"]

    assert f"KaTeX {pinned}," in (KATEX.parent / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("written", "held"),
    [
        ("The slope is $2x$.", [".</span>"]),
        ("(with $x$), so $y$: that", ["),</span>", ":</span>"]),
        ("$x$ is 3.", []),
        ("a sum $a + b$, which may break", []),
    ],
)
def test_punctuation_stays_on_the_line_of_a_formula_that_cannot_break(
    typesetter: Typesetter, written: str, held: list[str]
) -> None:
    report = Report("chapter.md")
    html = Prose(make_parser(), typesetter, report, "").inline(written, 1)

    assert report.problems == []
    assert html.count("unbroken") == len(held)
    assert all(end in html for end in held)
