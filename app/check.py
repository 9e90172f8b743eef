"""`python -m app check`: reads a course, proves what it promises, and reports each mistake with its place and remedy.

Exit status: 0 the course holds; 1 it does not; 2 the graders failed, and nothing is said of the course.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from app.course.loader import load_course
from app.course.model import Course
from app.course.problems import ContentProblem
from app.proving.prove import Proof, Wish, prove_course

HOLDS, BROKEN, FAULT = 0, 1, 2


@dataclass(frozen=True)
class Request:
    """What is to be checked. `only` are paths within the course; empty means all of it."""

    root: Path
    only: tuple[str, ...]
    update: bool
    as_json: bool
    text_only: bool


def main(arguments: Sequence[str], graders: Sequence[str] | None = None, out: TextIO | None = None) -> int:
    """Checks what the arguments ask for; returns the exit status. `graders` is another command that starts them."""
    request = read_request(arguments)
    started = time.monotonic()
    course, problems = load_course(request.root)
    problems = tuple(found for found in problems if _wants(request, found.path))
    proof = Proof()
    if not request.text_only and course.modules:
        wish = Wish(lambda path: _wants(request, path), request.update, datetime.now(UTC).date().isoformat())
        proof = prove_course(course, graders or _graders(request.root), wish, _progress_line(sys.stderr))
    status = _status(problems, proof)
    report = _write_json if request.as_json else _write_text
    report(
        course,
        tuple(sorted([*problems, *proof.problems])),
        proof,
        status,
        time.monotonic() - started,
        out or sys.stdout,
    )
    return status


def read_request(arguments: Sequence[str]) -> Request:
    """The command line, with a path inside a course turned into that course and a wish for that path alone."""
    parser = argparse.ArgumentParser(
        prog="python -m app check", description="Check a course, and run what it claims."
    )
    parser.add_argument("path", nargs="?", type=Path, default=Path(), help="a course, or a file or folder in one")
    parser.add_argument("--only", action="append", default=[], metavar="PATH", help="check this part of the course")
    parser.add_argument("--update", action="store_true", help="write outputs and pictures that changed, for review")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--text", action="store_true", help="check the text alone; run nothing")
    given = parser.parse_args(arguments)
    root = _find_root(given.path.resolve())
    only = [_within(root, name) for name in given.only]
    if given.path.resolve() != root:
        only.append(_within(root, str(given.path)))
    return Request(root, tuple(only), given.update, given.json, given.text)


def _find_root(path: Path) -> Path:
    return next((folder for folder in (path, *path.parents) if (folder / "course.toml").is_file()), path)


def _within(root: Path, name: str) -> str:
    """A path as problems name it, whether it was given from here or from the course's root."""
    for path in (Path(name).resolve(), (root / name).resolve()):
        if path.exists() and path.is_relative_to(root):
            return path.relative_to(root).as_posix()
    return name


def _wants(request: Request, path: str) -> bool:
    return not request.only or any(path == part or path.startswith(f"{part.rstrip('/')}/") for part in request.only)


def _graders(root: Path) -> list[str]:
    return [sys.executable, "-m", "graders", "stream", "--exercises", str(root / "exercises")]


def _status(problems: Sequence[ContentProblem], proof: Proof) -> int:
    if problems or proof.problems:
        return BROKEN
    return FAULT if proof.faults else HOLDS


def _progress_line(screen: TextIO) -> Callable[[int, int, str], None]:
    """A line that is written over itself on a terminal, and nothing elsewhere."""
    if not screen.isatty():
        return lambda done, total, what: None

    def show(done: int, total: int, what: str) -> None:
        width = 20
        bar = "#" * (width * done // total)
        screen.write(f"\r\x1b[2K[{bar:<{width}}] {done}/{total} {what[:70]}")
        if done == total:
            screen.write("\r\x1b[2K")
        screen.flush()

    return show


def _write_text(
    course: Course, problems: tuple[ContentProblem, ...], proof: Proof, status: int, seconds: float, out: TextIO
) -> None:
    for found in problems:
        out.write(f"{found}\n")
    for fault in proof.faults:
        out.write(f"not the course's fault: {fault}\n")
    for change in proof.updated:
        out.write(f"updated, please review: {change}\n")
    if proof.waiting_for_gpu:
        out.write(f"{proof.waiting_for_gpu} claims need a GPU and were not run here\n")
    said = {HOLDS: "holds", BROKEN: f"has {len(problems)} problems", FAULT: "could not be proven"}[status]
    counted = f"{len(course.chapters)} chapters, {len(course.exercises)} exercises"
    where = f" on torch {proof.hello.torch}, {proof.hello.device}" if proof.hello else ""
    out.write(f"The course {said}: {counted}; {proof.ran} runs, {proof.reused} known{where}; {seconds:.1f} s\n")


def _write_json(
    course: Course, problems: tuple[ContentProblem, ...], proof: Proof, status: int, seconds: float, out: TextIO
) -> None:
    document: dict[str, Any] = {
        "outcome": {HOLDS: "holds", BROKEN: "broken", FAULT: "fault"}[status],
        "problems": [found.__dict__ for found in problems],
        "faults": proof.faults,
        "updated": proof.updated,
        "chapters": len(course.chapters),
        "exercises": len(course.exercises),
        "ran": proof.ran,
        "known": proof.reused,
        "waiting_for_gpu": proof.waiting_for_gpu,
        "worker": proof.hello.model_dump(mode="json") if proof.hello else None,
        "seconds": round(seconds, 3),
    }
    out.write(json.dumps(document, indent=1) + "\n")
