"""Colours code on the server: Pygments' short class names, no inline styles."""

from collections.abc import Iterable
from functools import lru_cache
from html import escape

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES, Token, _TokenType
from pygments.util import ClassNotFound

from app.course.blocks import Html

PLAIN_NAMES = frozenset({"", "text", "plain"})

COLOURED = frozenset(
    (
        *("c", "c1", "ch", "cm", "k", "kc", "kd", "kn", "kr", "m", "mf", "mh", "mi"),
        *("nc", "nd", "nf", "ow", "s", "s1", "s2", "sa", "sd", "se", "si"),
    )
)
"""The classes that the style sheet colours. Spans for other tokens would be four in five, and change nothing."""


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def knows_language(language: str) -> bool:
    """Whether a fence's language can be coloured, or is plain text."""
    return language in PLAIN_NAMES or _lexer(language) is not None


@lru_cache(maxsize=4096)
def highlight(source: str, language: str = "python") -> Html:
    """`<code>` with one `<span class="line" data-line="N">` per line; the caller supplies the `<pre>`."""
    lines = _colour_lines(source, language)
    return _in_code(
        (f'<span class="line" data-line="{n}">{line}</span>' for n, line in enumerate(lines, 1)), language
    )


@lru_cache(maxsize=4096)
def highlight_unnumbered(source: str, language: str = "python") -> Html:
    """As `highlight`, without its spans: only pictures and steps point at lines, and a long page has many lines."""
    return _in_code(_colour_lines(source, language), language)


def _in_code(lines: Iterable[str], language: str) -> Html:
    body = "\n".join(lines)
    return f'<code class="highlight" data-language="{escape(language or "text")}">{body}</code>'


def _colour_lines(source: str, language: str) -> list[str]:
    lexer = None if language in PLAIN_NAMES else _lexer(language)
    pieces = lexer.get_tokens(source) if lexer else [(Token.Text, source)]
    lines: list[list[str]] = [[]]
    for kind, text in pieces:
        name = _class_name(kind)
        for number, part in enumerate(text.split("\n")):
            if number:
                lines.append([])
            if part:
                lines[-1].append(f'<span class="{name}">{escape(part)}</span>' if name else escape(part))
    if len(lines) > 1 and not lines[-1]:
        lines.pop()
    return ["".join(line) for line in lines]


def _class_name(kind: _TokenType) -> str:
    walk: _TokenType | None = kind
    while walk is not None and walk not in STANDARD_TYPES:
        walk = walk.parent
    name = STANDARD_TYPES.get(walk, "") if walk is not None else ""
    return name if name in COLOURED else ""
