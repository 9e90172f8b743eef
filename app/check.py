"""`python -m app check`: reads a course, runs what it claims, and reports each mistake with its place and remedy.

Exit status: 0 the course holds; 1 it does not; 2 the graders failed or the course has nothing by that name, so that
nothing is said of the course.
"""

import argparse
import difflib
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from app.checking.outside import COMPILER, find_tools
from app.checking.run import CheckOptions, Proof, prove_course
from app.course.explained import PATH as COURSE_FILE
from app.course.explained import check_rules
from app.course.language.toml_file import find_line
from app.course.loader import CourseReader
from app.course.model import Course
from app.course.problems import ContentProblem, Rule
from app.course.publish import list_drafts
from app.pictures.graph.formulas import RULES
from graders.contract.exercise_files import JUDGING_FILES, MANIFEST

HOLDS, BROKEN, FAULT = 0, 1, 2
REMEDIES = {
    "compiler": f"`--outside` runs them outside the box, if this machine has {COMPILER}",
    "ranks": "`--outside` runs them outside the box",
}
MINUTE = 60
PARTS = (
    "*.toml", "*.md", "chapters/*", "chapters/*/*.md", "exercises/*", "exercises/*/*", "gallery/*.py", "drills/*.md",
)  # fmt: skip
"""What an author names with `--only`."""
NOT_UTF_8 = "is not UTF-8"


@dataclass(frozen=True)
class Request:
    """What to check. `only` are paths within the course; empty means all of it."""

    root: Path
    only: tuple[str, ...]
    update: bool
    as_json: bool
    text_only: bool
    outside: bool
    strict: bool


@dataclass(frozen=True)
class Findings:
    """The results to report."""

    course: Course
    problems: tuple[ContentProblem, ...]
    proof: Proof
    drafts: tuple[str, ...]
    advice: tuple[ContentProblem, ...]
    status: int
    read_seconds: float
    seconds: float


def main(arguments: Sequence[str], graders: Sequence[str] | None = None, out: TextIO | None = None) -> int:
    """Checks what the arguments ask for; returns the exit status. `graders` replaces the command that starts them."""
    request = read_request(arguments)
    if unknown := find_unknown(request):
        sys.stderr.write(unknown)
        return FAULT
    started = time.monotonic()
    loaded = CourseReader(request.root).read()
    course, problems = loaded.course, loaded.problems
    read_seconds = time.monotonic() - started
    unreadable = find_unreadable(problems)
    problems = tuple(found for found in (*problems, *check_rules(course, RULES)) if _wants(request, found.path))
    proof = Proof()
    if not request.text_only and course.modules:
        tools = find_tools() if request.outside else {}
        today = datetime.now(UTC).date().isoformat()
        options = CheckOptions(lambda path: _wants(request, path), request.update, today, unreadable, tools)
        proof = prove_course(course, graders or _graders(request.root), options, make_progress(sys.stderr))
    problems = (*problems, *(found for found in check_torch(course, proof) if _wants(request, found.path)))
    found = tuple(sorted([*problems, *proof.problems]))
    drafts = tuple(path for path in list_drafts(course) if _wants(request, path))
    advice = tuple(each for each in loaded.advice if _wants(request, each.path))
    status = _status((*problems, *(advice if request.strict else ())), proof)
    findings = Findings(course, found, proof, drafts, advice, status, read_seconds, time.monotonic() - started)
    report = _write_json if request.as_json else _write_text
    report(findings, out or sys.stdout)
    return status


def read_request(arguments: Sequence[str]) -> Request:
    """Parse the command line; a path inside a course becomes that course with `only` set to the path."""
    parser = argparse.ArgumentParser(
        prog="python -m app check", description="Check a course, and run what it claims."
    )
    parser.add_argument("path", nargs="?", type=Path, default=Path(), help="a course, or a file or folder in one")
    parser.add_argument("--course", type=Path, help="the folder with course.toml, as for the other commands")
    parser.add_argument("--only", action="append", default=[], metavar="PATH", help="check this part of the course")
    parser.add_argument("--update", action="store_true", help="write outputs and pictures that changed, for review")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--text", action="store_true", help="check the text alone; run nothing")
    parser.add_argument(
        "--outside", action="store_true", help="also run what the box cannot: compilers, several ranks"
    )
    parser.add_argument("--strict", action="store_true", help="fail on advice too")
    given = parser.parse_args(arguments)
    given.path = given.course if given.course is not None and given.path == Path() else given.path
    root = _find_root((given.course or given.path).resolve())
    only = [_within(root, name) for name in given.only]
    if given.path.resolve() != root:
        only.append(_within(root, str(given.path if given.course else given.path.resolve())))
    return Request(root, tuple(only), given.update, given.json, given.text, given.outside, given.strict)


def find_unknown(request: Request) -> str:
    """What to tell the author about names that the course does not have; empty if it has them all."""
    lines = []
    if not request.root.exists():
        lines.append(f"{request.root} does not exist: name a course's folder, or a file or folder in one")
    elif (request.root / COURSE_FILE).is_file():
        names = [path.relative_to(request.root).as_posix() for each in PARTS for path in request.root.glob(each)]
        for part in request.only:
            path = request.root / part
            if not path.exists() or not path.resolve().is_relative_to(request.root.resolve()):
                near = difflib.get_close_matches(part, names, n=3, cutoff=0.6)
                instead = f"did you mean {' or '.join(near)}?" if near else "name a chapter's or an exercise's folder"
                lines.append(f"{part} is not in the course {request.root}: {instead}")
    return "".join(f"{line}\n" for line in lines)


def _find_root(path: Path) -> Path:
    return next((folder for folder in (path, *path.parents) if (folder / "course.toml").is_file()), path)


def _within(root: Path, name: str) -> str:
    """The path as problems name it, whether it was given relative to this folder or to the course's root."""
    given = [path for path in (Path(name).resolve(), (root / name).resolve()) if path.is_relative_to(root)]
    found = next((path for path in given if path.exists()), given[0] if Path(name).is_absolute() and given else None)
    return found.relative_to(root).as_posix() if found else name


def _wants(request: Request, path: str) -> bool:
    return not request.only or any(path == part or path.startswith(f"{part.rstrip('/')}/") for part in request.only)


def check_torch(course: Course, proof: Proof) -> Iterator[ContentProblem]:
    """A course whose numbers are said to be of another version than the one that has just proven them."""
    if proof.hello is None or not course.torch or not proof.hello.torch:
        return
    here = proof.hello.torch.partition("+")[0]
    if course.torch.split(".")[:2] != here.split(".")[:2]:
        line = find_line((course.root / COURSE_FILE).read_text(encoding="utf-8-sig"), "torch")
        message = f"the course's numbers are said to be of torch {course.torch}, and they were checked on {here}"
        remedy = f'write torch = "{here}" once you have looked at the numbers in the text'
        yield ContentProblem(COURSE_FILE, line, Rule.TORCH_VERSION, course.torch, message, remedy)


def find_unreadable(problems: Sequence[ContentProblem]) -> frozenset[str]:
    """The exercises that nothing can be graded with, because a file that judges is missing or is no Python."""
    rules = (Rule.MISSING_FILE, Rule.PYTHON, Rule.EXERCISE_FILE, Rule.OUTSIDE)
    judging = {name for name in JUDGING_FILES if name != MANIFEST}
    named = [(found.path.split("/"), found) for found in problems if found.rule in rules]
    return frozenset(
        parts[1]
        for parts, found in named
        if parts[0] == "exercises" and (parts[-1] in judging or found.message.endswith(NOT_UTF_8))
    )


def _graders(root: Path) -> list[str]:
    return [sys.executable, "-m", "graders", "stream", "--exercises", str(root / "exercises")]


def _status(problems: Sequence[ContentProblem], proof: Proof) -> int:
    if problems or proof.problems:
        return BROKEN
    return FAULT if proof.faults else HOLDS


def make_progress(screen: TextIO, clock: Callable[[], float] = time.monotonic) -> Callable[[int, int, str], None]:
    """On a terminal, one line that is rewritten, with the time that is left; elsewhere, one line per tenth."""
    if not screen.isatty():
        return lambda done, total, what: _tell_tenths(screen, done, total, what)
    started = clock()

    def show(done: int, total: int, what: str) -> None:
        width = 20
        bar = "#" * (width * done // total)
        left = _say_left((clock() - started) / done * (total - done))
        screen.write(f"\r\x1b[2K[{bar:<{width}}] {done}/{total}{left} {what[:50]}")
        if done == total:
            screen.write("\r\x1b[2K")
        screen.flush()

    return show


def _say_left(seconds: float) -> str:
    """In steps that a reader can follow: ten seconds, then minutes."""
    if seconds < MINUTE:
        return f", about {10 * math.ceil(seconds / 10)} s left" if seconds > 0 else ""
    return f", about {math.ceil(seconds / MINUTE)} min left"


def _tell_tenths(screen: TextIO, done: int, total: int, what: str) -> None:
    if done == total or done * 10 // total > (done - 1) * 10 // total:
        screen.write(f"{done} of {total} proven; last: {what}\n")
        screen.flush()


def _write_text(findings: Findings, out: TextIO) -> None:
    proof, course = findings.proof, findings.course
    for found in findings.problems:
        out.write(f"{found}\n")
    for fault in proof.faults:
        out.write(f"not the course's fault: {fault}\n")
    for change in proof.updated:
        out.write(f"updated, please review: {change}\n")
    for found in findings.advice:
        out.write(f"advice: {found}\n")
    for path in findings.drafts:
        out.write(f"{path}: a draft; only the preview shows it\n")
    out.writelines(_say_waiting(proof))
    advised = f" and {_count(len(findings.advice), 'piece')} of advice" if findings.advice else ""
    broken = f"has {_count(len(findings.problems), 'problem')}{advised}"
    said = {HOLDS: "holds", BROKEN: broken, FAULT: "could not be proven"}[findings.status]
    counted = f"{_count(len(course.chapters), 'chapter')}, {_count(len(course.exercises), 'exercise')}"
    where = f" on torch {proof.hello.torch}, {proof.hello.device}" if proof.hello else ""
    ran = f"{_count(proof.ran, 'run')}, {proof.reused} known"
    out.write(f"The course {said}: {counted}; {ran}{where}; {findings.seconds:.1f} s\n")


def _say_waiting(proof: Proof) -> Iterator[str]:
    """A line for each kind of check that this machine, or this command, left out."""
    if proof.waiting_for_gpu:
        yield f"{_count(proof.waiting_for_gpu, 'claim')} with `:needs: gpu` not run here\n"
    for need, count in proof.waiting_outside.items():
        yield f"{_count(count, 'block')} with `:needs: {need}` not run here; {REMEDIES[need]}\n"
    for name in proof.waiting_for_meter:
        yield f"exercises/{name}: not run: no memory cgroup here measures a peak; see docs/operating.md\n"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _write_json(findings: Findings, out: TextIO) -> None:
    proof = findings.proof
    document: dict[str, Any] = {
        "outcome": {HOLDS: "holds", BROKEN: "broken", FAULT: "fault"}[findings.status],
        "problems": [found.__dict__ for found in findings.problems],
        "faults": proof.faults,
        "updated": proof.updated,
        "drafts": findings.drafts,
        "advice": [found.__dict__ for found in findings.advice],
        "chapters": len(findings.course.chapters),
        "exercises": len(findings.course.exercises),
        "ran": proof.ran,
        "repeated": proof.repeated,
        "known": proof.reused,
        "waiting_for_gpu": proof.waiting_for_gpu,
        "waiting_outside": proof.waiting_outside,
        "waiting_for_meter": proof.waiting_for_meter,
        "worker": proof.hello.model_dump(mode="json") if proof.hello else None,
        "seconds": round(findings.seconds, 3),
        "timings": {
            "read_seconds": round(findings.read_seconds, 3),
            "prove_seconds": round(findings.seconds - findings.read_seconds, 3),
            "run_seconds": proof.seconds,
        },
    }
    out.write(json.dumps(document, indent=1) + "\n")
