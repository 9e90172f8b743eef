"""The tokens of a chapter as a tree: a directive holds its parts; everything else remains a token."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from markdown_it.token import Token

from app.course.language.directive_scan import Fence


@dataclass
class Directive:
    """One directive. `content` is the literal text of a code fence; `parts` are the contents of a colon fence."""

    fence: Fence
    content: str = ""
    parts: "list[Part]" = field(default_factory=list)


Part = Token | Directive


def nest(tokens: Sequence[Token]) -> list[Part]:
    """The tree of a flat token list."""
    top: list[Part] = []
    stack = [top]
    for token in tokens:
        if token.type == "directive_open":
            directive = Directive(token.meta["fence"], token.content)
            stack[-1].append(directive)
            stack.append(directive.parts)
        elif token.type == "directive_close":
            stack.pop()
        else:
            stack[-1].append(token)
    return top


def tokens_of(parts: Sequence[Part]) -> list[Token]:
    """The plain tokens among the parts."""
    return [part for part in parts if isinstance(part, Token)]


def directives_of(parts: Sequence[Part]) -> list[Directive]:
    return [part for part in parts if isinstance(part, Directive)]


def line_of(parts: Sequence[Part], otherwise: int) -> int:
    """The first line (from 1) of the parts; `otherwise` if none has a line."""
    for part in parts:
        if isinstance(part, Directive):
            return part.fence.line
        if part.map:
            return part.map[0] + 1
    return otherwise


def groups(tokens: Sequence[Token]) -> list[list[Token]]:
    """The tokens grouped by top-level element: each paragraph, list or table is one group."""
    found: list[list[Token]] = []
    depth = 0
    for token in tokens:
        if depth == 0:
            found.append([])
        found[-1].append(token)
        depth += token.nesting
    return found


def children(group: Sequence[Token]) -> list[list[Token]]:
    """The elements directly inside one element, e.g. the items of a list."""
    return groups(group[1:-1])


def plain_text(tokens: Sequence[Token]) -> str:
    """The text without its markup."""
    words: list[str] = []
    for token in tokens:
        if token.type == "inline":
            words.append(plain_text(token.children or []))
        elif token.type in ("softbreak", "hardbreak"):
            words.append(" ")
        elif token.content:
            words.append(token.content)
    return "".join(words).strip()
