"""Finds out, without running it, whether Python code parses, does anything, and can fail.

Results are cached by source: most of a chapter's code is unchanged by its author's last edit.
"""

import ast
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

MAX_KEPT = 4096

_parse = lru_cache(maxsize=4)(ast.parse)
"""A small cache: a syntax tree is large, and is needed again at once or never."""


@dataclass(frozen=True)
class SyntaxMistake:
    """A parse error; `line` counts from 1 within the code."""

    line: int
    message: str


@lru_cache(maxsize=MAX_KEPT)
def find_syntax_mistake(source: str) -> SyntaxMistake | None:
    """The first mistake that keeps `source` from compiling, or None."""
    try:
        with warnings.catch_warnings():
            # An invalid escape is legal code that warns; the warning is shown to the reader when the code runs.
            warnings.simplefilter("ignore")
            compile(source, "cell.py", "exec", dont_inherit=True)
    except SyntaxError as error:
        return SyntaxMistake(error.lineno or 1, error.msg)
    except ValueError as error:
        return SyntaxMistake(1, str(error))
    except (MemoryError, RecursionError):
        # What the parser and the compiler raise where brackets or operators are nested beyond their stacks.
        return SyntaxMistake(1, "this is nested more deeply than Python compiles: write it in smaller parts")
    return None


@lru_cache(maxsize=MAX_KEPT)
def has_code(source: str) -> bool:
    """Whether code that parses contains more than whitespace and comments."""
    return bool(_parse(source).body)


def source_lines(source: str) -> tuple[str, ...]:
    """The lines of a file as a page numbers them, without blank lines at the end."""
    return tuple(source.rstrip("\n").split("\n"))


def is_code_line(line: str) -> bool:
    """Whether a line is neither blank nor only a comment."""
    return bool(line.strip()) and not line.lstrip().startswith("#")


@lru_cache(maxsize=MAX_KEPT)
def find_idle_check(source: str) -> SyntaxMistake | None:
    """Why a claim's code, which parses, could never fail even if its sentence were false; None if it can fail."""
    nodes = list(ast.walk(_parse(source)))
    for node in nodes:
        if isinstance(node, ast.Assert) and _is_always_true(node.test):
            return SyntaxMistake(node.lineno, "this `assert` is true whatever the code does")
    if any(isinstance(node, ast.Assert | ast.Raise) or _asserts(node) for node in nodes):
        return None
    return SyntaxMistake(1, "nothing here asserts anything")


def _is_always_true(test: ast.expr) -> bool:
    """Whether a test is a constant or a tuple: `assert (condition, "message")` never fails."""
    return (isinstance(test, ast.Constant) and bool(test.value)) or (isinstance(test, ast.Tuple) and bool(test.elts))


@lru_cache(maxsize=MAX_KEPT)
def find_certain_asserts(source: str) -> tuple[int, ...]:
    """The lines of the asserts that code is bound to come to: under no condition, in no function and no handler."""
    return tuple(sorted(_walk_certain(_parse(source).body)))


def _walk_certain(body: Sequence[ast.stmt]) -> Iterator[int]:
    for statement in body:
        match statement:
            case ast.Assert():
                yield statement.lineno
            case ast.For() | ast.While() | ast.With() | ast.Try():
                yield from _walk_certain(statement.body)


def _asserts(node: ast.AST) -> bool:
    """Whether a node is a call such as `torch.testing.assert_close(...)`."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name.startswith("assert")
