"""Reads a course's files. It may read regular files within the course that are small enough to be text."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from app.course.problems import ContentProblem, Report, Rule

MAX_BYTES = 8 << 20
LINKABLE = ("chapters/*", "chapters/*/*", "chapters/*/*/*", "exercises/*", "exercises/*/*", "exercises/*/*/*")


def may_be_read(path: Path, root: Path) -> bool:
    """Refuses a pipe, which could block its reader, a device, which may never end, and a link out of the course."""
    try:
        facts = path.stat()
        inside = not path.is_symlink() or path.resolve().is_relative_to(root.resolve())
    except OSError:
        return False
    return inside and stat.S_ISREG(facts.st_mode) and facts.st_size <= MAX_BYTES


def find_strays(root: Path) -> Iterator[ContentProblem]:
    """Problems for links out of the course, whose targets another clone would lack, and for irregular files."""
    for pattern in LINKABLE:
        for path in sorted(root.glob(pattern)):
            if found := _describe_stray(path, root):
                message, remedy = found
                name = path.relative_to(root).as_posix()
                yield ContentProblem(name, 1, Rule.OUTSIDE, name, f"{name} {message}", remedy)


def _describe_stray(path: Path, root: Path) -> tuple[str, str] | None:
    """What is wrong with a path, and the remedy; None for a folder or an acceptable file."""
    if path.is_symlink():
        target = os.path.realpath(path)
        if not Path(target).is_relative_to(root.resolve()):
            return f"is a link to {target}, outside the course", "copy its target into the course"
        if not Path(target).exists():
            return "is a broken link", "remove it, or create its target"
    if path.is_dir() or may_be_read(path, root):
        return None
    if path.is_file():
        return f"has {path.stat().st_size} bytes", f"keep it under {MAX_BYTES}"
    return "is not a regular file", "remove it, or replace it with a regular file"


def read_text(path: Path, root: Path, rule: Rule, report: Report) -> str:
    """A text file of the course, however its lines end; bytes that are no UTF-8 are reported at its own path."""
    try:
        # Some editors end lines with a carriage return and begin a file with a byte order mark.
        return path.read_text(encoding="utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        line = path.read_bytes()[: error.start].count(b"\n") + 1
        there = Report(path.relative_to(root).as_posix())
        there.add(line, rule, path.name, f"{path.name} is not UTF-8", "save it as UTF-8")
        report.problems += there.problems
        return path.read_text(encoding="utf-8", errors="replace")
