"""Names in a question's text that each draw of its variant fills: `{{name}}` in a chapter, a mark in its HTML.

A mark is a name between two private-use characters. Markdown treats it as a word, so a question is parsed once and
filled for each draw. While a formula is typeset, a number takes the mark's place. Code that holds a mark is coloured
only after it is filled, because a value may have several lines.
"""

import re
from collections.abc import Mapping
from html import escape

from app.course.blocks import Html
from app.course.language.code import highlight

PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_]\w*)\s*\}\}")
MARK = re.compile("\ue000([A-Za-z_]\\w*)\ue001")
CODE = re.compile("\ue002([^\ue003]*)\ue003([^\ue004]*)\ue004")

FIRST_NUMBER = 9_700_001
"""Replaces the first mark of a formula: a number that no formula contains otherwise."""


def mark_placeholders(line: str) -> str:
    """A line of a chapter with its placeholders as marks."""
    return PLACEHOLDER.sub("\ue000\\1\ue001", line)


def unmark(text: str) -> str:
    """Text as its author wrote it."""
    return MARK.sub("{{\\1}}", text)


def names_in(text: str) -> tuple[str, ...]:
    """The names of a text's placeholders, without repeats, in order of first use."""
    return tuple(dict.fromkeys(MARK.findall(text)))


def number_marks(tex: str) -> tuple[str, Mapping[str, str]]:
    """A formula with each mark replaced by a number in braces, and the mark's name by number."""
    numbers = {name: str(FIRST_NUMBER + index) for index, name in enumerate(names_in(tex))}
    return MARK.sub(lambda found: f"{{{numbers[found[1]]}}}", tex), {number: name for name, number in numbers.items()}


def restore_marks(html: Html, names: Mapping[str, str]) -> Html:
    """Typeset HTML with the numbers of `number_marks` turned back into marks."""
    for number, name in names.items():
        html = html.replace(number, f"\ue000{name}\ue001")
    return html


def keep_code(source: str, language: str) -> Html:
    """Code that holds marks, in a form that `fill_html` later fills and colours."""
    return f'<pre class="code" tabindex="0">\ue002{language}\ue003{source}\ue004</pre>\n'


def fill_text(text: str, shown: Mapping[str, str]) -> str:
    """The text filled from one draw. A name that the draw does not have remains as its author wrote it."""
    return MARK.sub(lambda found: shown.get(found[1], f"{{{{{found[1]}}}}}"), text)


def fill_html(html: Html, shown: Mapping[str, str]) -> Html:
    """The HTML filled from one draw; its values are escaped."""
    html = CODE.sub(lambda found: highlight(fill_text(found[2], shown), found[1]), html)
    return fill_text(html, {name: escape(value) for name, value in shown.items()})


def code_in(html: Html) -> tuple[tuple[str, str], ...]:
    """The language and source of each code block that a draw fills."""
    return tuple((found[1], found[2]) for found in CODE.finditer(html))
