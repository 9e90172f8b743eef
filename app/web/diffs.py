"""Two texts line by line, as rows for a table: equal lines beside each other, and long equal stretches left out."""

import difflib
from collections.abc import Iterator
from typing import Literal

from app.web.blocks import DiffRowView

Kind = Literal["same", "changed", "added", "removed"]
Step = tuple[str, int, int, int, int]

CONTEXT_LINES = 3


def compare_whole(left: str, right: str) -> tuple[DiffRowView, ...]:
    """Every line of both."""
    one, other = left.splitlines(), right.splitlines()
    return tuple(row for step in _match(one, other).get_opcodes() for row in _show_step(step, one, other))


def compare_briefly(left: str, right: str) -> tuple[DiffRowView, ...]:
    """What differs, with a few lines around it; each stretch left out is one row. Empty where nothing differs."""
    one, other = left.splitlines(), right.splitlines()
    rows: list[DiffRowView] = []
    left_at = right_at = 0
    for group in _match(one, other).get_grouped_opcodes(CONTEXT_LINES):
        rows += _bridge(("equal", left_at, group[0][1], right_at, group[0][3]), one, other)
        rows += [row for step in group for row in _show_step(step, one, other)]
        left_at, right_at = group[-1][2], group[-1][4]
    rest = ("equal", left_at, len(one), right_at, len(other))
    return (*rows, *_bridge(rest, one, other)) if rows else ()


def _match(left: list[str], right: list[str]) -> "difflib.SequenceMatcher[str]":
    return difflib.SequenceMatcher(None, left, right, autojunk=False)


def _bridge(step: Step, left: list[str], right: list[str]) -> list[DiffRowView]:
    """Equal lines between two places: left out, unless saying so would take as much room."""
    count = step[2] - step[1]
    if count <= CONTEXT_LINES:
        return list(_show_step(step, left, right))
    return [DiffRowView("same", None, "", None, "", skipped=count)]


def _show_step(step: Step, left: list[str], right: list[str]) -> Iterator[DiffRowView]:
    kind, left_from, left_to, right_from, right_to = step
    for offset in range(max(left_to - left_from, right_to - right_from)):
        here = left_from + offset if left_from + offset < left_to else None
        there = right_from + offset if right_from + offset < right_to else None
        yield DiffRowView(
            kind="same" if kind == "equal" else _change(here, there),
            left_number=None if here is None else here + 1,
            left="" if here is None else left[here],
            right_number=None if there is None else there + 1,
            right="" if there is None else right[there],
        )


def _change(here: int | None, there: int | None) -> Kind:
    if here is None:
        return "added"
    return "removed" if there is None else "changed"
