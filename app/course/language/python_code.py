"""Says of Python, without running it, whether it parses, does anything, and can fail.

What was found is kept by the code itself: most of a chapter's code is what it was before its author's last edit.
"""

import ast
import warnings
from dataclasses import dataclass
from functools import lru_cache

MAX_KEPT = 4096

_parse = lru_cache(maxsize=4)(ast.parse)
"""A tree is large, and asked for again at once or never."""


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
            # A doubtful escape is a warning today and legal code; the box shows it to the reader.
            warnings.simplefilter("ignore")
            compile(source, "cell.py", "exec", dont_inherit=True)
    except SyntaxError as error:
        return SyntaxMistake(error.lineno or 1, error.msg)
    except ValueError as error:
        return SyntaxMistake(1, str(error))
    return None


@lru_cache(maxsize=MAX_KEPT)
def has_code(source: str) -> bool:
    """Whether there is more than blanks and comments in code that parses."""
    return bool(_parse(source).body)


def source_lines(source: str) -> tuple[str, ...]:
    """The lines of a file as a page numbers them: no blank ones at its end."""
    return tuple(source.rstrip("\n").split("\n"))


def is_code_line(line: str) -> bool:
    """Whether a line is neither blank nor a comment alone."""
    return bool(line.strip()) and not line.lstrip().startswith("#")


@lru_cache(maxsize=MAX_KEPT)
def find_idle_check(source: str) -> SyntaxMistake | None:
    """Why code that parses, and is meant to fail if a sentence is false, could never do so; None where it could."""
    nodes = list(ast.walk(_parse(source)))
    for node in nodes:
        if isinstance(node, ast.Assert) and _is_always_true(node.test):
            return SyntaxMistake(node.lineno, "this `assert` is true whatever the code does")
    if any(isinstance(node, ast.Assert | ast.Raise) or _asserts(node) for node in nodes):
        return None
    return SyntaxMistake(1, "nothing here asserts anything")


def _is_always_true(test: ast.expr) -> bool:
    """A constant, or a tuple: `assert (condition, "message")` never fails."""
    return (isinstance(test, ast.Constant) and bool(test.value)) or (isinstance(test, ast.Tuple) and bool(test.elts))


def _asserts(node: ast.AST) -> bool:
    """A call such as `torch.testing.assert_close(...)`."""
    if not isinstance(node, ast.Call):
        return False
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name.startswith("assert")
