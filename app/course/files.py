"""Reads a course's files. It may read regular files within the course that are small enough to be text."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from xml.parsers import expat

from app.course.problems import ContentProblem, Report, Rule

MAX_BYTES = 8 << 20
Signature = tuple[tuple[str, int, int], ...]
"""Path, time of change and size of each file."""
PICTURES = {
    ".png": (b"\x89PNG\r\n\x1a\n", b"IEND"),
    ".jpg": (b"\xff\xd8\xff", b"\xff\xd9"),
    ".jpeg": (b"\xff\xd8\xff", b"\xff\xd9"),
    ".webp": (b"RIFF", b""),
    ".gif": (b"GIF8", b""),
}
"""By suffix: how such a picture begins, and what stands near its end."""
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


def read_exercise_files(folder: Path) -> dict[str, bytes]:
    """The files of an exercise's folder that may be read, by path within it; hidden files and bytecode are not."""
    paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*"))}
    root = folder.parents[1]
    return {
        name: path.read_bytes()
        for name, path in paths.items()
        if not any(part.startswith((".", "_")) for part in name.split("/")) and may_be_read(path, root)
    }


def list_drawn_files(folder: Path) -> list[str]:
    """The pictures of a chapter's folder and what the check committed beside them, by path within the folder."""
    paths = [
        path
        for each in ("figures/*", "traces/*.json", "variants/*.json", "measures/*.json")
        for path in folder.glob(each)
    ]
    return sorted(path.relative_to(folder).as_posix() for path in paths if not path.name.startswith("."))


def judge_pictures(root: Path, folder: Path) -> Iterator[ContentProblem]:
    """Pictures in a chapter's figures/ that no browser could show."""
    for path in sorted((folder / "figures").glob("*")):
        if not path.name.startswith(".") and may_be_read(path, root):
            facts = path.stat()
            if wrong := _judge_picture(path, facts.st_mtime_ns, facts.st_size):
                name = path.relative_to(root).as_posix()
                yield ContentProblem(name, wrong.line, Rule.PICTURE, path.name, wrong.message, wrong.remedy)


@dataclass(frozen=True)
class WrongPicture:
    line: int
    message: str
    remedy: str


@lru_cache(maxsize=4096)
def _judge_picture(path: Path, _modified: int, _size: int) -> WrongPicture | None:
    """Kept for as long as the file does not change."""
    content, suffix = path.read_bytes(), path.suffix.lower()
    if suffix == ".svg":
        return _judge_svg(path.name, content)
    if suffix not in PICTURES:
        remedy = f"save it as one of {', '.join(sorted((*PICTURES, '.svg')))}"
        return WrongPicture(1, f"{path.name} is no picture that a page can show", remedy)
    begins, ends = PICTURES[suffix]
    if not content.startswith(begins):
        kind = "HTML" if b"<html" in content[:400].lower() else f"no {suffix[1:].upper()}"
        return WrongPicture(1, f"{path.name} is {kind} inside", "save the picture itself under this name")
    if ends and ends not in content[-64:]:
        return WrongPicture(1, f"{path.name} breaks off before its end", "copy the whole file again")
    return None


def _judge_svg(name: str, content: bytes) -> WrongPicture | None:
    parser, roots = expat.ParserCreate(), list[str]()
    parser.StartElementHandler = lambda tag, attributes: roots.append(tag) if not roots else None
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        what = expat.errors.messages[error.code]
        return WrongPicture(error.lineno, f"{name} is broken: {what}", "save the whole picture again")
    if roots[0].rpartition(":")[2] != "svg":
        return WrongPicture(
            1, f"{name} is no SVG: it begins with <{roots[0]}>", "save the picture itself under this name"
        )
    return None


def sign_files(folder: str, patterns: Sequence[Sequence[str]]) -> Iterator[tuple[str, int, int]]:
    """Path, time and size of each file of the patterns, such as ("chapters", "*", "chapter.md").

    One look into each folder serves all patterns: with Path.glob, 5,000 files took 0.2 s.
    """
    try:
        with os.scandir(folder) as listed:
            found = sorted(listed, key=lambda each: each.name)
    except OSError:
        return
    for entry in found:
        fitting = [pattern for pattern in patterns if pattern[0] == "*" or fnmatchcase(entry.name, pattern[0])]
        if deeper := [pattern[1:] for pattern in fitting if len(pattern) > 1]:
            yield from sign_files(entry.path, deeper)
        if len(deeper) < len(fitting):
            try:
                status = entry.stat()
            except OSError:
                # Removed after it was listed, or a broken link.
                continue
            yield entry.path, status.st_mtime_ns, status.st_size
