"""Reads and checks the judging files of an exercise. An error in them is our fault, not the learner's."""

import os
import re
import stat
import tomllib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pydantic import ValidationError

from graders.contract.exercise_files import BENCHMARK, JUDGING_FILES, MANIFEST, NEEDED_FILES, PROBE, digest_exercise
from graders.contract.manifest import Manifest
from graders.contract.model import ExerciseName
from graders.trusted.faults import ExerciseProblem, OtherVersion

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
MAX_FILE_BYTES = 256 * 1024

Signature = tuple[tuple[str, int, int, int], ...]


@dataclass(frozen=True)
class Exercise:
    """What judging needs from an exercise. The code that runs its programs reads them again each time."""

    name: ExerciseName
    path: Path
    manifest: Manifest
    probe: str
    digest: str
    benchmark: str = ""
    """The text of benchmark.py, for a manifest with [benchmark]."""


def load_exercise(root: Path, name: str, wanted_digest: str = "") -> Exercise:
    """The exercise `root`/`name` as its files are now.

    Raises ExerciseProblem, which names the file, what is wrong and what to write; or OtherVersion if `wanted_digest`
    is given and the files have another.
    """
    if not NAME.fullmatch(name):
        raise ExerciseProblem(f"{name[:80]!r} cannot name an exercise; use small letters, digits and single hyphens")
    path = root / name
    if path.is_symlink() or not path.is_dir():
        raise ExerciseProblem(f"there is no exercise {name!r} in {root}; compare the names of its folders")
    exercise = _read_exercise(path, _sign(path))
    if wanted_digest not in ("", exercise.digest):
        raise OtherVersion(exercise.name, exercise.digest, wanted_digest)
    return exercise


def read_digest(root: Path, name: str) -> str:
    """The digest of the exercise's files as they are now, even if they are invalid; "" if there are none."""
    if not NAME.fullmatch(name):
        return ""
    folder = root / name
    try:
        return _read_digest(folder, _sign(folder))
    except OSError:  # a file that has gone since it was signed
        return ""


def read_digests(root: Path) -> dict[ExerciseName, str]:
    """The digest of every exercise under `root`."""
    names = [ExerciseName(path.name) for path in root.iterdir()] if root.is_dir() else []
    digests = {name: read_digest(root, name) for name in sorted(names)}
    return {name: digest for name, digest in digests.items() if digest}


def _sign(folder: Path) -> Signature:
    """Name, times and size of each judging file: this changes when a file does, and needs no file to be read."""
    signed = []
    for name in JUDGING_FILES:
        try:
            facts = os.lstat(f"{folder}/{name}")
        except OSError:
            continue
        if stat.S_ISREG(facts.st_mode) and facts.st_size <= MAX_FILE_BYTES:
            signed.append((name, facts.st_mtime_ns, facts.st_ctime_ns, facts.st_size))
    return tuple(signed)


@lru_cache(maxsize=512)
def _read_digest(folder: Path, signature: Signature) -> str:
    return digest_exercise({name: (folder / name).read_bytes() for name, *_ in signature}) if signature else ""


@lru_cache(maxsize=64)
def _read_exercise(path: Path, signature: Signature) -> Exercise:
    """Cached, so that a worker reads the files only once until they change."""
    texts = {name: read_file(path, name) for name in NEEDED_FILES}
    manifest, digest = read_manifest(texts[MANIFEST]), _read_digest(path, signature)
    benchmark = read_file(path, BENCHMARK) if manifest.benchmark else ""
    return Exercise(ExerciseName(path.name), path, manifest, texts[PROBE], digest, benchmark)


def read_file(folder: Path, name: str) -> str:
    """A plain file's text. Not a link, which could show a learner a file outside the folder."""
    path = folder / name
    try:
        facts = path.lstat()
    except OSError as error:
        raise ExerciseProblem(f"{name} is missing from {folder}; see docs/writing-an-exercise.md") from error
    if not stat.S_ISREG(facts.st_mode):
        raise ExerciseProblem(f"{name} in {folder} is not a plain file; copy it there")
    if facts.st_size > MAX_FILE_BYTES:
        raise ExerciseProblem(f"{name} in {folder} has {facts.st_size} bytes; keep it under {MAX_FILE_BYTES}")
    try:
        # Editors elsewhere begin a file with a mark of its byte order.
        return path.read_text(encoding="utf-8-sig")
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
