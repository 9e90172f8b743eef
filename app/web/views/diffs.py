"""Two texts line by line, as rows of a table: those that belong together side by side, long equal ones left out."""

import difflib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile, zip_longest
from typing import Literal

from app.web.views.changed_lines import Pair, Part, mark_words, pair_lines

Kind = Literal["same", "changed", "added", "removed"]
Step = tuple[str, int, int, int, int]

CONTEXT_LINES = 3
MAX_ROWS = 2000
"""The most rows of a comparison; a file of line ends alone has 65,000 lines, which is more than anyone reads."""
MAX_MARKED = 300
"""The most rows in which words are compared."""
MAX_ALIGNED = 1000
"""Texts of more lines show replaced lines in their order, without a search for those that are alike."""
# Steps of the matcher, about a second's worth. For each stretch that it finds, it visits every pair of equal lines.
MAX_STEPS = 5_000_000


@dataclass(frozen=True)
class DiffRowView:
    """A row of two files side by side; a number is None if that side has no line here.

    `left_parts` and `right_parts` are the texts of a changed line with the differing words marked; they are empty
    where little is the same. If `skipped` is not 0, that many equal lines were left out, and the row holds nothing
    else.
    """

    kind: Kind
    left_number: int | None
    left: str
    right_number: int | None
    right: str
    skipped: int = 0
    left_parts: tuple[Part, ...] = ()
    right_parts: tuple[Part, ...] = ()


@dataclass(frozen=True)
class ComparisonView:
    """Two texts side by side. `added` and `removed` also count the lines in the `rows_left_out` at the end."""

    rows: tuple[DiffRowView, ...]
    rows_left_out: int
    added: int
    removed: int


def compare_whole(left: str, right: str) -> ComparisonView:
    """Every line of both."""
    one, other = left.splitlines(), right.splitlines()
    return _show([row for step in _match(one, other).get_opcodes() for row in _show_step(step, one, other)])


def compare_briefly(left: str, right: str) -> ComparisonView:
    """The differences with a few lines around them; each equal stretch between is one row. No rows if none differ."""
    one, other = left.splitlines(), right.splitlines()
    rows: list[DiffRowView] = []
    left_at = right_at = 0
    for group in _match(one, other).get_grouped_opcodes(CONTEXT_LINES):
        rows += _bridge(("equal", left_at, group[0][1], right_at, group[0][3]), one, other)
        rows += [row for step in group for row in _show_step(step, one, other)]
        left_at, right_at = group[-1][2], group[-1][4]
    rest = ("equal", left_at, len(one), right_at, len(other))
    return _show([*rows, *_bridge(rest, one, other)] if rows else [])


def _show(rows: list[DiffRowView]) -> ComparisonView:
    return ComparisonView(
        rows=tuple(_mark_rows(rows[:MAX_ROWS])),
        rows_left_out=max(0, len(rows) - MAX_ROWS),
        added=sum(row.kind in ("added", "changed") for row in rows),
        removed=sum(row.kind in ("removed", "changed") for row in rows),
    )


def _mark_rows(rows: list[DiffRowView]) -> Iterator[DiffRowView]:
    marked = 0
    for row in rows:
        if row.kind != "changed" or marked == MAX_MARKED:
            yield row
            continue
        marked += 1
        left, right = mark_words(row.left, row.right)
        yield replace(row, left_parts=left, right_parts=right)


class _Ends(difflib.SequenceMatcher[str]):
    """Equal lines at both ends, and one change between them, for texts that would take too long to match."""

    def __init__(self, left: list[str], right: list[str]) -> None:
        super().__init__(None, (), ())
        self._texts = left, right

    def get_opcodes(self) -> list[Step]:  # type: ignore[override]
        one, other = self._texts
        head = _count_equal(zip(one, other, strict=False))
        tail = min(_count_equal(zip(reversed(one), reversed(other), strict=False)), min(len(one), len(other)) - head)
        left, right = len(one) - tail, len(other) - tail
        steps: list[Step] = [
            ("equal", 0, head, 0, head),
            ("replace", head, left, head, right),
            ("equal", left, len(one), right, len(other)),
        ]
        return [step for step in steps if step[1] < step[2] or step[3] < step[4]]


def _count_equal(pairs: Iterable[tuple[str, str]]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _match(left: list[str], right: list[str]) -> "difflib.SequenceMatcher[str]":
    if left != right and _count_steps(left, right) > MAX_STEPS:
        return _Ends(left, right)
    return difflib.SequenceMatcher(None, left, right, autojunk=False)


def _count_steps(left: list[str], right: list[str]) -> int:
    """An upper bound on the matcher's steps: a line that occurs 1,000 times in each text makes a million pairs."""
    there = Counter(right)
    pairs = sum(count * there[line] for line, count in Counter(left).items())
    return pairs * min(len(left), len(right))


def _bridge(step: Step, left: list[str], right: list[str]) -> list[DiffRowView]:
    """Equal lines between two places, left out unless the row that replaces them would take as much room."""
    count = step[2] - step[1]
    if count <= CONTEXT_LINES:
        return list(_show_step(step, left, right))
    return [DiffRowView("same", None, "", None, "", skipped=count)]


def _show_step(step: Step, left: list[str], right: list[str]) -> Iterator[DiffRowView]:
    kind, left_from, _, right_from, _ = step
    for one, other in _pair(step, left, right):
        here, there = _add(left_from, one), _add(right_from, other)
        yield DiffRowView(
            kind="same" if kind == "equal" else _change(here, there),
            left_number=_add(1, here),
            left="" if here is None else left[here],
            right_number=_add(1, there),
            right="" if there is None else right[there],
        )


def _pair(step: Step, left: list[str], right: list[str]) -> Iterable[Pair]:
    kind, left_from, left_to, right_from, right_to = step
    if kind == "replace" and max(len(left), len(right)) <= MAX_ALIGNED:
        return pair_lines(left[left_from:left_to], right[right_from:right_to])
    return zip_longest(range(left_to - left_from), range(right_to - right_from))


def _add(start: int, place: int | None) -> int | None:
    return None if place is None else start + place


def _change(here: int | None, there: int | None) -> Kind:
    if here is None:
        return "added"
    return "removed" if there is None else "changed"
