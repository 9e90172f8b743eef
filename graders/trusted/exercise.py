"""An exercise's folder, read and checked. A folder that is not as it should be is our fault, never the learner's."""

import os
import re
import stat
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import ValidationError

from graders.contract.manifest import Manifest
from graders.contract.model import ExerciseName
from graders.trusted.faults import ExerciseProblem
from graders.trusted.findings import ENGINE_CODES

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
FILES = ("exercise.toml", "prompt.md", "hints.md", "starter.py", "solution.py", "cases.py", "probe.py")
LARGEST_FILE_BYTES = 256 * 1024
HINTS = 3

Look = tuple[tuple[str, int, int, int], ...]


@dataclass(frozen=True)
class Exercise:
    """What judging needs of an exercise; its programs are read afresh by whoever runs them."""

    name: ExerciseName
    path: Path
    manifest: Manifest
    probe: str


def load_exercise(root: Path, name: str) -> Exercise:
    """The exercise `root`/`name`, as its files are now.

    Raises ExerciseProblem, naming the file, what is wrong and what to write.
    """
    if not NAME.fullmatch(name):
        raise ExerciseProblem(f"{name[:80]!r} is no exercise's name; use small letters, digits and single hyphens")
    path = root / name
    if path.is_symlink() or not path.is_dir():
        raise ExerciseProblem(f"there is no exercise {name!r} in {root}; look at the folder's names")
    return _read_exercise(path, _look_at(path) + _look_at(path / "attempts"))


def _look_at(folder: Path) -> Look:
    """What changes when a file of the folder does; nothing of it is read."""
    if not folder.is_dir():
        return ()
    with os.scandir(folder) as entries:
        facts = ((entry.name, entry.stat(follow_symlinks=False)) for entry in entries)
        return tuple(sorted((name, fact.st_mtime_ns, fact.st_ctime_ns, fact.st_size) for name, fact in facts))


@lru_cache(maxsize=64)
def _read_exercise(path: Path, _seen: Look) -> Exercise:
    """Read once a worker while nothing has changed: some thirty files stand in the folder of one exercise."""
    texts = {file: read_file(path, file) for file in FILES}
    manifest = read_manifest(texts["exercise.toml"])
    check_attempts(path, manifest)
    if (hints := len(re.findall(r"^## ", texts["hints.md"], re.MULTILINE))) != HINTS:
        raise ExerciseProblem(f"hints.md has {hints} headings; write {HINTS} hints, each under its own '## '")
    return Exercise(ExerciseName(path.name), path, manifest, texts["probe.py"])


def read_file(folder: Path, name: str) -> str:
    """A plain file's text: a link could show a learner what lies outside of the folder."""
    path = folder / name
    try:
        facts = path.lstat()
    except OSError as error:
        raise ExerciseProblem(f"{name} is missing from {folder}; see docs/writing-an-exercise.md") from error
    if not stat.S_ISREG(facts.st_mode):
        raise ExerciseProblem(f"{name} in {folder} is not a plain file; copy it there")
    if facts.st_size > LARGEST_FILE_BYTES:
        raise ExerciseProblem(f"{name} in {folder} has {facts.st_size} bytes; keep it under {LARGEST_FILE_BYTES}")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ExerciseProblem(f"{name} in {folder} is not UTF-8; save it as UTF-8") from error


def read_manifest(text: str) -> Manifest:
    try:
        return Manifest.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ExerciseProblem(f"exercise.toml: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise ExerciseProblem(f"exercise.toml: {where} is {first.get('input')!r}; {first['msg']}") from error


def check_attempts(folder: Path, manifest: Manifest) -> None:
    """Every attempt that is named exists, every one that exists is named, and each finding is a known code."""
    named = {attempt.file for attempt in manifest.attempts}
    there = {path.name for path in (folder / "attempts").glob("*.py")}
    for file in sorted(named ^ there):
        wrong = (
            "is not in exercise.toml; add [[attempts]]" if file in there else "is missing; write it or take it out"
        )
        raise ExerciseProblem(f"attempts/{file} {wrong}")
    for attempt in manifest.attempts:
        read_file(folder / "attempts", attempt.file)
        if attempt.finding and attempt.finding not in manifest.findings.keys() | ENGINE_CODES:
            raise ExerciseProblem(
                f"attempts/{attempt.file}: finding {attempt.finding!r} is not known; add [findings.*]"
            )
