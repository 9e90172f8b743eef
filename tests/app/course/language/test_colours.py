"""Colours in code: a token that the style sheet does not colour has no span."""

import re
from pathlib import Path

from app.course.language.code import COLOURED, highlight, highlight_unnumbered

STYLES = Path(__file__).resolve().parents[4] / "static" / "src" / "code.css"


def test_the_classes_are_those_that_the_style_sheet_colours() -> None:
    groups = re.findall(r"\.highlight :is\(([^)]*)\)", STYLES.read_text("utf8"))

    assert {name.strip(" .") for group in groups for name in group.split(",")} == COLOURED


def test_a_name_and_a_dot_are_plain_and_a_keyword_has_its_colour() -> None:
    line = '<span class="line" data-line="1"><span class="k">return</span> x.y</span>'

    assert highlight("return x.y") == f'<code class="highlight" data-language="python">{line}</code>'


def test_code_at_whose_lines_nothing_points_has_the_same_colours_and_no_lines() -> None:
    numbered = highlight("x = 1\nreturn x\n")

    assert highlight_unnumbered("x = 1\nreturn x\n") == re.sub(
        r'<span class="line"[^>]*>(.*)</span>', r"\1", numbered
    )
