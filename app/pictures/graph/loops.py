"""The loops of a program's source: which loop runs over some of its lines, and what its variable was."""

import ast
from bisect import bisect_left
from collections.abc import Collection
from typing import NamedTuple

from graders.contract.trace import Turns

MAX_LETTERS = 20


class Loop(NamedTuple):
    """A `for` statement: its body's first line and its last, its own line, and its variable."""

    first: int = 0
    last: int = 0
    line: int = 0
    variable: str = ""


class LoopNames:
    """The `for` statements of a source, by the lines of their bodies. A source that is no Python has none."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        try:
            tree = ast.parse("\n".join(lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._loops: list[Loop] = []
            return
        self._loops = [
            Loop(
                node.body[0].lineno,
                node.end_lineno or node.lineno,
                node.lineno,
                ast.unparse(node.target)[:MAX_LETTERS],
            )
            for node in ast.walk(tree)
            if isinstance(node, ast.For)
        ]

    def find(self, lines: Collection[int]) -> Loop:
        """The innermost loop whose body has all of these lines; one without a variable where none has."""
        known = [line for line in lines if line]
        if not known:
            return Loop()
        low, high = min(known), max(known)
        around = [loop for loop in self._loops if loop.first <= low and high <= loop.last]
        return max(around, default=Loop())


class TurnValues:
    """What a loop's variable was when some nodes were made."""

    def __init__(self, turns: Turns) -> None:
        self._rows: dict[int, list[tuple[int, int, str]]] = {}
        for line, value, first, last in zip(turns.line, turns.value, turns.first, turns.last, strict=True):
            self._rows.setdefault(line, []).append((last, first, value))
        for rows in self._rows.values():
            rows.sort()

    def find(self, loop: Loop, first: int, last: int) -> str:
        """`t = 2` where the nodes from `first` to `last` were made in one turn of the loop; else ""."""
        rows = self._rows.get(loop.line, [])
        at = bisect_left(rows, (first, -1, ""))
        if at == len(rows) or rows[at][1] > last or (at + 1 < len(rows) and rows[at + 1][1] <= last):
            return ""
        return rows[at][2]
