"""Adds an exercise from a folder or a zip to a course, once the course's own check has proven it."""

import io
import json
import re
import shutil
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from pydantic import ValidationError

from app.check import HOLDS
from app.check import main as check
from app.course.course_file import CourseFile
from app.course.exercise_file import EXERCISE_FILES
from app.course.registering import CannotRegister, register_concepts
from app.course.standalone import LICENCE, ORIGIN, README, Origin
from app.new import CannotStart, check_name, read_course_file, write_command
from app.zips import MAX_BYTES, Refused, read_folder, unpack
from graders.contract.exercise_files import JUDGING_FILES, MANIFEST
from graders.contract.manifest import Manifest

WRITTEN, NOT_WRITTEN = 0, 1
TAKEN_FILES = re.compile(r"(attempts|mutants)/[A-Za-z0-9_-]+\.py")
TAKEN_NAMES = frozenset({*EXERCISE_FILES, *JUDGING_FILES, LICENCE, ORIGIN, README})


@dataclass(frozen=True)
class Wanted:
    """What to import. `name` is empty for the name that the folder has."""

    source: Path
    name: str
    root: Path
    adds_concepts: bool


@dataclass(frozen=True)
class Incoming:
    """An exercise that may be proven: its files, and the course.toml that it needs."""

    name: str
    files: Mapping[str, bytes]
    course: CourseFile
    concepts: Mapping[str, str]
    """Those that course.toml gets."""
    course_text: str


def import_exercise(wanted: Wanted, graders: Sequence[str] | None, out: TextIO) -> int:
    """Writes the exercise, or says why not and changes nothing. `graders` replaces the command that starts them."""
    try:
        incoming = read_incoming(wanted)
        said = prove(incoming, graders)
        write(incoming, wanted.root)
    except (Refused, CannotStart, CannotRegister) as refusal:
        out.write(f"{refusal}\nNothing was changed.\n")
        return NOT_WRITTEN
    except OSError as error:
        out.write(f"{error.filename or wanted.source}: {(error.strerror or str(error)).lower()}\n")
        return NOT_WRITTEN
    out.write(said)
    out.write(f"wrote exercises/{incoming.name}: {len(incoming.files)} files\n")
    if incoming.concepts:
        out.write(f"wrote course.toml: concepts {', '.join(incoming.concepts)}\n")
    out.write(f"Offer it:   :::{{exercise}} {incoming.name}  in a chapter\n")
    out.write(f"Prove it:   {write_command(wanted.root, 'check', f'--only exercises/{incoming.name}')}\n")
    return WRITTEN


def read_incoming(wanted: Wanted) -> Incoming:
    """Reads and judges the files without running any. Raises Refused, CannotStart, CannotRegister and OSError."""
    course = read_course_file(wanted.root)
    found_name, files = _read_source(wanted.source)
    name = wanted.name or found_name
    check_name(name)
    taken = {path.name.casefold() for path in (wanted.root / "exercises").glob("*")}
    if name in taken:
        raise Refused(f"exercises/{name} is there already: give another name, `import {wanted.source} NAME`")
    _check_files(files)
    manifest = _read_manifest(files[MANIFEST])
    missing = [each for each in manifest.concepts if each not in course.concepts]
    concepts = _find_concepts(missing, files, wanted)
    course_text = register_concepts((wanted.root / "course.toml").read_text(encoding="utf-8"), concepts)
    kept = {path: content for path, content in files.items() if path != README}
    return Incoming(name, kept, course, concepts, course_text)


def _read_source(source: Path) -> tuple[str, dict[str, bytes]]:
    if source.is_dir():
        return source.resolve().name, read_folder(source)
    with source.open("rb") as opened:
        content = opened.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise Refused(f"{source} has more than {MAX_BYTES} bytes: an exercise is smaller")
    return unpack(content)


def _check_files(files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        if path not in TAKEN_NAMES and not TAKEN_FILES.fullmatch(path):
            raise Refused(f"{path} belongs to no exercise: take it out (docs/writing-an-exercise.md lists the files)")
        try:
            content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Refused(f"{path} is not UTF-8 from byte {error.start} on: save it as UTF-8") from error
    if lacking := [name for name in EXERCISE_FILES if name not in files]:
        raise Refused(f"there is no {', '.join(lacking)}: an exercise needs it (docs/writing-an-exercise.md)")


def _read_manifest(content: bytes) -> Manifest:
    try:
        return Manifest.model_validate(tomllib.loads(content.decode("utf-8-sig")))
    except tomllib.TOMLDecodeError as error:
        raise Refused(f"{MANIFEST} is not TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise Refused(f"{MANIFEST}: {place}: {first['msg']} (docs/writing-an-exercise.md)") from error


def _find_concepts(missing: Sequence[str], files: Mapping[str, bytes], wanted: Wanted) -> dict[str, str]:
    """The words of the concepts to add. Raises Refused if they may not be added, or have no words."""
    if not missing:
        return {}
    named = ", ".join(missing)
    words = _read_origin(files.get(ORIGIN, b""))
    if without := [each for each in missing if not words.get(each)]:
        raise Refused(f"course.toml has no concept {', '.join(without)}: write it there, under [concepts]")
    if not wanted.adds_concepts:
        raise Refused(f"course.toml has no concept {named}: `--add-concepts` adds it as {ORIGIN} words it")
    return {each: words[each] for each in missing}


def _read_origin(content: bytes) -> dict[str, str]:
    """The concepts of origin.toml; none if there is no such file."""
    if not content:
        return {}
    try:
        return Origin.model_validate(tomllib.loads(content.decode("utf-8-sig"))).concepts
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise Refused(f"{ORIGIN} cannot be read: export the exercise again, or remove the file") from error


def prove(incoming: Incoming, graders: Sequence[str] | None) -> str:
    """Checks the exercise in a course that has nothing else; returns what the check said. Raises Refused."""
    with tempfile.TemporaryDirectory(prefix="import-") as made:
        root, said = Path(made), io.StringIO()
        (root / "course.toml").write_text(_write_course(incoming), encoding="utf-8")
        _write_files(root / "exercises" / incoming.name, incoming.files)
        status = check([str(root), "--only", f"exercises/{incoming.name}"], graders, said)
    if status != HOLDS:
        raise Refused(f"{said.getvalue()}The exercise was not proven, so it was not added.")
    return said.getvalue()


def _write_course(incoming: Incoming) -> str:
    """A course.toml for one exercise, with the concepts and the torch of the course that it goes to."""
    concepts = {**incoming.course.concepts, **incoming.concepts}
    torch = [f"torch = {json.dumps(incoming.course.torch)}"] if incoming.course.torch else []
    lines = ["format = 1", 'title = "Import"', 'tagline = "One exercise"', *torch, "[concepts]"]
    lines += [f"{name} = {json.dumps(words, ensure_ascii=False)}" for name, words in concepts.items()]
    module = ("[[modules]]", 'id = "import"', "number = 1", 'title = "Import"', 'summary = "One exercise."')
    return "\n".join([*lines, *module, ""])


def _write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)


def write(incoming: Incoming, root: Path) -> None:
    """Puts the exercise in place in one step, then its concepts; after an error neither is there."""
    home = root / "exercises"
    home.mkdir(exist_ok=True)
    # The course's readers skip folders that begin with a dot.
    staged, target = Path(tempfile.mkdtemp(prefix=".import-", dir=home)), home / incoming.name
    course, fresh = root / "course.toml", root / ".course.toml.import"
    placed = staged
    try:
        staged.chmod(0o755)
        _write_files(staged, incoming.files)
        if incoming.concepts:
            fresh.write_text(incoming.course_text, encoding="utf-8")
        placed = staged.rename(target)
        if incoming.concepts:
            fresh.replace(course)
    except OSError:
        shutil.rmtree(placed, ignore_errors=True)
        fresh.unlink(missing_ok=True)
        raise
