"""A program's loops: which names are loop variables, and what such a variable was when a node was made.

A loop variable says where a loop stands, and not what a tensor is.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import FrameType

from .scopes import read_local

MAX_TURNS = 20_000
MAX_LETTERS = 20
MAX_DULL = 100
"""After so many values that are no int or str, as in a loop over tensors, a loop's variable is no longer read."""

Loops = tuple[tuple[int, tuple[str, ...]], ...]
"""Loops, the outermost first: the line of each and its variables."""


@lru_cache(maxsize=8)
def find_loop_names(source: str) -> frozenset[str]:
    """The targets of every `for` statement of the source, and of no other assignment."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return frozenset()
    loops = {
        name for node in ast.walk(tree) if isinstance(node, ast.For | ast.AsyncFor) for name in _list(node.target)
    }
    assigned = {name for node in ast.walk(tree) for name in _list_assigned(node)}
    return frozenset(loops - assigned)


@dataclass(slots=True)
class Turn:
    """The nodes start <= n < end, made while the loop that begins at `line` had the value in `text`, as "t = 2"."""

    line: int
    text: str
    start: int
    end: int


class TurnLog:
    """The turns of the program's loops in which nodes were made, as far as a loop variable is a plain int or str."""

    def __init__(self, source: str) -> None:
        self._around = find_loops_around(source)
        self._latest: dict[int, Turn] = {}
        self._dull: dict[int, int] = {}
        """How often in a row a loop's variable was neither an int nor a str."""
        self.turns: list[Turn] = []

    def note(self, frame: FrameType | None, before: int, after: int) -> None:
        """The call at which the frame stands made the nodes before <= n < after."""
        loops = self._around.get(frame.f_lineno) if frame is not None else None
        if frame is None or not loops or len(self.turns) >= MAX_TURNS:
            return
        for line, names in loops:
            if self._dull.get(line, 0) > MAX_DULL:
                continue
            text = _tell_value(frame, names)
            if text is None:
                continue
            self._dull[line] = 0 if text else self._dull.get(line, 0) + 1
            turn = self._latest.get(line)
            if turn is not None and turn.text == text:
                turn.end = after
                continue
            turn = self._latest[line] = Turn(line, text, before, after)
            if text:
                self.turns.append(turn)


def _tell_value(frame: FrameType, names: tuple[str, ...]) -> str | None:
    """`t = 2` for the first of the names that holds a plain int or str; "" if none does.

    None in a frame that has none of them, as that of a lambda in the loop's body.
    """
    values = {name: value for name in names if (value := read_local(frame, name)) is not None}
    for name, value in values.items():
        if type(value) is int and abs(value) < 10**9:
            return f"{name} = {value}"[:MAX_LETTERS]
        if type(value) is str and value.isprintable():
            return f"{name} = {value[:MAX_LETTERS]!r}"[:MAX_LETTERS]
    return "" if values else None


@lru_cache(maxsize=8)
def find_loops_around(source: str) -> dict[int, Loops]:
    """For each line in the body of a `for`, the loops around it in the same function."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return {}
    found: dict[int, Loops] = {}
    # Outer statements come first, so an inner loop or function replaces what was said of its lines.
    waiting: list[tuple[ast.AST, Loops]] = [(tree, ())]
    while waiting:
        node, around = waiting.pop()
        if isinstance(node, ast.For | ast.AsyncFor):
            around = (*around, (node.lineno, tuple(_list(node.target))))
            _mark(found, node.body, around)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            around = ()
            _mark(found, node.body, around)
        waiting.extend((child, around) for child in ast.iter_child_nodes(node))
    return found


def _mark(found: dict[int, Loops], body: list[ast.stmt], around: Loops) -> None:
    for line in range(body[0].lineno, (body[-1].end_lineno or body[-1].lineno) + 1):
        found[line] = around


def _list_assigned(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Assign):
        for target in node.targets:
            yield from _list(target)
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.NamedExpr):
        yield from _list(node.target)


def _list(target: ast.AST) -> Iterator[str]:
    yield from (
        node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
