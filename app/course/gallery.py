"""The course's gallery: short programs to step through, each a Python file that says in its docstring what to see."""

import ast
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from app.course.files import may_be_read

FOLDER = "gallery"


@dataclass(frozen=True)
class Snippet:
    """A program with its title and the sentences that say what to watch; `source` is without that docstring."""

    id: str
    title: str
    text: str
    source: str


def read_gallery(root: Path) -> tuple[Snippet, ...]:
    """The gallery of the course at `root`, in the order of the file names; read again when a file changes."""
    paths = sorted((root / FOLDER).glob("*.py"))
    return tuple(_read_kept(path, path.stat().st_mtime_ns) for path in paths if may_be_read(path, root))


@lru_cache(maxsize=256)
def _read_kept(path: Path, changed_ns: int) -> Snippet:
    return read_snippet(path.stem, path.read_text(encoding="utf-8", errors="replace"))


def read_snippet(name: str, text: str) -> Snippet:
    """A file's text as a snippet. Without a docstring, or where it is no Python, the name is its title."""
    try:
        body = ast.parse(text).body
    except SyntaxError:
        body = []
    first = body[0] if body else None
    if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
        return Snippet(name, name, "", text)
    title, _, rest = str(first.value.value).strip().partition("\n")
    lines = text.splitlines()[first.end_lineno or 0 :]
    source = "\n".join(lines).strip("\n") + "\n"
    return Snippet(name, title.strip(), " ".join(rest.split()), source)
