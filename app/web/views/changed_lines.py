"""Lines that were replaced: which of them belong together, and which words differ within two that do."""

import difflib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest

Part = tuple[str, bool]
"""A piece of a line, and whether it is only in this line."""
Pair = tuple[int | None, int | None]

NAME = re.compile(r"\w+")
WORD = re.compile(r"\w+|\s+|[^\w\s]")
ALIKE = 0.5
"""Lines that share at least this much of their names and numbers are one line that was changed."""
MAX_PAIRS = 900
"""Beyond so many pairs, replaced lines stand side by side in their order: learners choose both texts."""
MAX_WORDS = 120
"""Beyond so many words, a line is shown without marks."""


def pair_lines(left: Sequence[str], right: Sequence[str]) -> list[Pair]:
    """The places of both sides, row by row and in their order: the most alike lines share a row.

    Between those, lines share rows in their order, whatever they say.
    """
    anchors = _find_alike(left, right) if len(left) * len(right) <= MAX_PAIRS else []
    rows: list[Pair] = []
    here = there = 0
    for one, other in [*anchors, (len(left), len(right))]:
        rows += zip_longest(range(here, one), range(there, other))
        rows.append((one, other))
        here, there = one + 1, other + 1
    return rows[:-1]


def _find_alike(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """The pairs of alike lines, in order on both sides, that share the most in all."""
    ones, others = [Counter(_split(line)) for line in left], [Counter(_split(line)) for line in right]
    best = [[0.0] * (len(right) + 1) for _ in range(len(left) + 1)]
    shared = [[_share(one, other) for other in others] for one in ones]
    for i in reversed(range(len(left))):
        for j in reversed(range(len(right))):
            together = shared[i][j] + best[i + 1][j + 1] if shared[i][j] >= ALIKE else 0.0
            best[i][j] = max(together, best[i + 1][j], best[i][j + 1])
    found, i, j = list[tuple[int, int]](), 0, 0
    while i < len(left) and j < len(right):
        if best[i][j] == best[i + 1][j]:
            i += 1
        elif best[i][j] == best[i][j + 1]:
            j += 1
        else:
            found.append((i, j))
            i, j = i + 1, j + 1
    return found


def _split(line: str) -> list[str]:
    """The names and numbers: almost every line of a program has brackets and commas."""
    return NAME.findall(line)[:MAX_WORDS]


def _share(one: Counter[str], other: Counter[str]) -> float:
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0


def mark_words(left: str, right: str) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Both lines in parts, the words marked that the other has not. No parts if they have little in common."""
    one, other = WORD.findall(left), WORD.findall(right)
    if max(len(one), len(other)) > MAX_WORDS or _share(Counter(_split(left)), Counter(_split(right))) < ALIKE:
        return (), ()
    steps = difflib.SequenceMatcher(None, one, other, autojunk=False).get_opcodes()
    return (
        tuple(_join(("".join(one[start:end]), kind != "equal") for kind, start, end, _, _ in steps)),
        tuple(_join(("".join(other[start:end]), kind != "equal") for kind, _, _, start, end in steps)),
    )


def _join(parts: Iterator[Part]) -> Iterator[Part]:
    """Neighbours of one sort as one part; a space between two marked words is marked too."""
    text, marked = "", False
    space = ""
    for words, is_marked in parts:
        if not words:
            continue
        if not is_marked and words.isspace() and marked:
            space += words
            continue
        if is_marked == marked:
            text, space = text + space + words, ""
            continue
        if text:
            yield text, marked
        text, marked, space = space + words, is_marked, ""
    if text:
        yield text, marked
    if space:
        yield space, False
