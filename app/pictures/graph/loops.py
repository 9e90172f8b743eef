"""The loops of a program's source: which loop variable runs over some of its lines."""

import ast
from collections.abc import Collection

MAX_LETTERS = 20


class LoopNames:
    """The `for` statements of a source, by the lines of their bodies. A source that is no Python has none."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        try:
            tree = ast.parse("\n".join(lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self._loops: list[tuple[int, int, str]] = []
            return
        self._loops = [
            (node.body[0].lineno, node.end_lineno or node.lineno, ast.unparse(node.target)[:MAX_LETTERS])
            for node in ast.walk(tree)
            if isinstance(node, ast.For)
        ]

    def find(self, lines: Collection[int]) -> str:
        """The variable of the innermost loop whose body has all of these lines; "" where none has."""
        known = [line for line in lines if line]
        if not known:
            return ""
        low, high = min(known), max(known)
        around = [loop for loop in self._loops if loop[0] <= low and high <= loop[1]]
        return max(around, default=(0, 0, ""))[2]
