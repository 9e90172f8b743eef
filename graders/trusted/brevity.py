"""How long a program is, where an exercise allows only a short one: counted outside the box, from the text alone."""

import io
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from graders.contract.manifest import TOO_LONG, Brevity, Manifest
from graders.contract.results import Finding
from graders.trusted.finding_sentences import find_for_exercise

OPENING, CLOSING = "([{", ")]}"
UNCOUNTED: Final = ("import", "from", "def", "@")
# Beside these, `match` and `case` begin a header too, and are names elsewhere.
STRICT: Final = ("if", "elif", "else", "for", "while", "with", "try", "except", "finally", "class", "def", "async")
HEADERS: Final = (*STRICT, "match", "case")
NO_HEADER: Final = ("=", ":", ".", ",")
DATA: Final = (tokenize.STRING, tokenize.NUMBER, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING))
DATA_CHARACTERS: Final = 20
EMPTY: Final = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
)


@dataclass(frozen=True)
class Length:
    """Statements, without imports, `def` lines, decorators and short lone texts; characters of all tokens."""

    statements: int
    characters: int

    def exceeds(self, most: Brevity) -> bool:
        return self.statements > most.statements or self.characters > most.characters


def weigh_length(source: str, manifest: Manifest) -> Finding | None:
    """The exercise's finding with the figures, if the program is longer than the exercise allows."""
    most = manifest.brevity
    length = measure_length(source) if most else None
    if most is None or length is None or not length.exceeds(most):
        return None
    found = find_for_exercise(TOO_LONG, manifest)
    figures = (
        f"Yours has {length.statements} statements and {length.characters} characters; "
        f"{most.statements} and {most.characters} are allowed."
    )
    return found.model_copy(update={"long": f"{figures} {found.long}".strip()})


def measure_length(source: str) -> Length | None:
    """None for a text that is no Python: the box says what is wrong with it.

    A second statement on a line counts, and so does one on the line of its header. Characters are those of all tokens
    but comments, so that a long text for `exec` is long too. Texts and numbers count as one more statement for each
    whole 20 characters of all of them together, docstrings included: a program can hide in either.
    """
    try:
        lines = list(_split_lines(tokenize.generate_tokens(io.StringIO(source).readline)))
    except (tokenize.TokenError, SyntaxError):
        return None
    statements = sum(_count_statements(line) for line in lines)
    tokens = [token for line in lines for token in line]
    as_data = sum(len(token.string) for token in tokens if token.type in DATA)
    return Length(statements + as_data // DATA_CHARACTERS, sum(len(token.string) for token in tokens))


def _split_lines(tokens: Iterable[tokenize.TokenInfo]) -> Iterator[list[tokenize.TokenInfo]]:
    """Logical lines that are not empty."""
    line: list[tokenize.TokenInfo] = []
    for token in tokens:
        if token.type == tokenize.NEWLINE:
            yield line
            line = []
        elif token.type not in EMPTY:
            line.append(token)
    if line:
        yield line


def _count_statements(line: list[tokenize.TokenInfo]) -> int:
    if all(token.type == tokenize.STRING for token in line):
        return 0
    first = line[0].string
    count = 0 if first in UNCOUNTED else 1
    depth = lambdas = 0
    header = first in HEADERS and (first in STRICT or (line[1:2] and line[1].string not in NO_HEADER))
    for token, after in zip(line, [*line[1:], None], strict=True):
        depth += (token.string in OPENING) - (token.string in CLOSING) if token.type == tokenize.OP else 0
        if depth or after is None:
            continue
        if token.string == "lambda":
            lambdas += 1
        elif token.string == ";":
            count += 1
        elif token.string == ":" and lambdas:
            lambdas -= 1
        elif token.string == ":" and header:
            count, header = count + 1, False
    return count
