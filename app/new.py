"""`python -m app new course|chapter|exercise|drill NAME`: writes a start that passes `check`, for its author."""

import argparse
import shlex
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from pydantic import ValidationError

from app.course.course_file import ChapterEntry, CourseFile
from app.course.drills.drill import FOLDER as DRILLS
from app.course.language.options import ID
from app.course.registering import CannotRegister, register_chapter

SCAFFOLDS = Path(__file__).parent / "scaffolds"


class CannotStart(Exception):
    """The author must fix something first; the message says what."""


@dataclass(frozen=True)
class Request:
    kind: str
    name: str
    root: Path
    title: str
    concept: str
    module: str


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Writes the files and says what to do next. Exit status: 0 written, 1 not, and nothing was changed."""
    request = read_request(arguments)
    out = out or sys.stdout
    try:
        written = start(request)
    except (CannotStart, CannotRegister) as refusal:
        out.write(f"{refusal}\n")
        return 1
    for path in written:
        out.write(f"wrote {path.relative_to(request.root).as_posix()}\n")
    out.write(_say_what_next(request))
    return 0


def start(request: Request) -> list[Path]:
    """Writes what was asked for. Raises CannotStart or CannotRegister."""
    if request.kind == "course":
        return start_course(request)
    course = read_course_file(request.root)
    if request.kind == "drill":
        return start_drill(request, course)
    return start_chapter(request, course) if request.kind == "chapter" else start_exercise(request, course)


def read_request(arguments: Sequence[str]) -> Request:
    parser = argparse.ArgumentParser(
        prog="python -m app new", description="Start a course, a drill, or a chapter or an exercise as a draft."
    )
    parser.add_argument("kind", choices=("course", "chapter", "exercise", "drill"))
    parser.add_argument("name", metavar="NAME", help="its folder's name: lower-case letters, digits and hyphens")
    parser.add_argument("--course", type=Path, default=Path(), help="the folder with course.toml (this one)")
    parser.add_argument("--title", default="", help="its title, if it is not the words of NAME")
    parser.add_argument("--concept", default="", help="its concept in course.toml (the first)")
    parser.add_argument("--module", default="", help="the id of the chapter's module (the last)")
    given = parser.parse_args(arguments)
    # A new course is a folder within the one that was named.
    root = given.course / given.name if given.kind == "course" else given.course
    return Request(given.kind, given.name, root.resolve(), given.title, given.concept, given.module)


def start_course(request: Request) -> list[Path]:
    """A folder with a course.toml that has one module and, so far, no chapter."""
    check_name(request.name)
    path = request.root / "course.toml"
    if path.exists():
        raise CannotStart(f"{path} already exists: choose another name")
    scaffold = (SCAFFOLDS / "course.toml").read_text(encoding="utf-8")
    request.root.mkdir(parents=True, exist_ok=True)
    path.write_text(
        _fill(scaffold, request.title or _title_of(request.name), request.concept or "names"), encoding="utf-8"
    )
    return [path]


def read_course_file(root: Path) -> CourseFile:
    path = root / "course.toml"
    try:
        return CourseFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError as error:
        raise CannotStart(f"{path} does not exist: go to a course's folder, or name it with --course") from error
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise CannotStart(f"{path} cannot be read; `python -m app check` says what to fix") from error


def start_chapter(request: Request, course: CourseFile) -> list[Path]:
    scaffold = (SCAFFOLDS / "chapter.md").read_text(encoding="utf-8")
    return write_chapter(
        request, course, _fill(scaffold, find_title(request, course), choose_concept(request, course))
    )


def find_title(request: Request, course: CourseFile) -> str:
    """The title that the author gave, or the planned chapter's, or the words of its name."""
    entry = _entry(request, course)
    return request.title or (entry.title if entry else "") or _title_of(request.name)


def _entry(request: Request, course: CourseFile) -> ChapterEntry | None:
    return next((e for module in course.modules for e in module.chapters if e.slug == request.name), None)


def write_chapter(request: Request, course: CourseFile, text: str) -> list[Path]:
    """Writes a chapter's text, and adds it to course.toml if it is not planned there. The text's path comes first."""
    folder = _fresh_folder(request, "chapters", "chapter.md")
    written = []
    if _entry(request, course) is None:
        path = request.root / "course.toml"
        # Before the chapter is written, so that a refusal leaves nothing behind.
        registered = register_chapter(path.read_text(encoding="utf-8"), request.name, request.module)
        path.write_text(registered, encoding="utf-8")
        written.append(path)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "chapter.md").write_text(text, encoding="utf-8")
    return [folder / "chapter.md", *written]


def start_exercise(request: Request, course: CourseFile) -> list[Path]:
    folder = _fresh_folder(request, "exercises", "exercise.toml")
    title, concept = request.title or _title_of(request.name), choose_concept(request, course)
    written = []
    for source in sorted((SCAFFOLDS / "exercise").rglob("*")):
        if source.suffix not in (".py", ".md", ".toml"):
            continue
        target = folder / source.relative_to(SCAFFOLDS / "exercise")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_fill(source.read_text(encoding="utf-8"), title, concept), encoding="utf-8")
        written.append(target)
    return written


def start_drill(request: Request, course: CourseFile) -> list[Path]:
    """A question and its generator, in the folder of all drills."""
    check_name(request.name)
    concept, written = choose_concept(request, course), []
    for suffix in (".md", ".py"):
        target = request.root / DRILLS / f"{request.name}{suffix}"
        if target.exists():
            raise CannotStart(f"{DRILLS}/{target.name} already exists: choose another name")
        text = (SCAFFOLDS / "drill" / f"drill{suffix}").read_text(encoding="utf-8")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(_fill(text, "", concept).replace("{{name}}", request.name), encoding="utf-8")
        written.append(target)
    return written


def _fresh_folder(request: Request, home: str, file: str) -> Path:
    check_name(request.name)
    folder = request.root / home / request.name
    if (folder / file).exists():
        raise CannotStart(f"{home}/{request.name}/{file} already exists: choose another name")
    return folder


def check_name(name: str) -> None:
    if not ID.fullmatch(name):
        raise CannotStart(
            f"{name!r} cannot be a folder's name here: write lower-case letters, digits and single hyphens"
        )


def choose_concept(request: Request, course: CourseFile) -> str:
    if not course.concepts:
        raise CannotStart(
            'course.toml has no concepts: write `[concepts]` and a line such as `names = "What a name is"`'
        )
    concept = request.concept or next(iter(course.concepts))
    if concept not in course.concepts:
        raise CannotStart(f"course.toml has no concept {concept!r}: it has {', '.join(course.concepts)}")
    return concept


def _title_of(name: str) -> str:
    words = name.replace("-", " ")
    return words[:1].upper() + words[1:]


def _fill(text: str, title: str, concept: str) -> str:
    # Double quotes would end the title in exercise.toml; a colon would break it in front matter.
    plain = title.replace('"', "'").replace(": ", ", ")
    return text.replace("{{title}}", plain).replace("{{concept}}", concept)


def _say_what_next(request: Request) -> str:
    match request.kind:
        case "course":
            lines = [
                f"Go on:      {write_command(request.root, 'new', 'chapter first-steps')}",
                f"Read it:    make preview{name_course(request.root, make=True)}",
                f"Prove it:   {write_command(request.root, 'check')}",
            ]
        case "chapter":
            lines = [
                f"Read it:    make preview{name_course(request.root, make=True)}, then /chapters/{request.name}",
                f"Prove it:   {write_command(request.root, 'check', f'--only chapters/{request.name}')}",
                "Publish it: write your own text, and remove `draft: true`; learners do not see a draft",
            ]
        case "drill":
            proof = f"--only {DRILLS}/{request.name}.md --update"
            lines = [
                "Read on:    docs/writing-a-drill.md explains what a drill may ask",
                f"Prove it:   {write_command(request.root, 'check', proof)}",
                "Publish it: write your own program, and commit its three files; learners find it on /drill",
            ]
        case _:
            lines = [
                "Read on:    docs/writing-an-exercise.md explains each file",
                f"Offer it:   :::{{exercise}} {request.name}  in a chapter",
                f"Prove it:   {write_command(request.root, 'check', f'--only exercises/{request.name}')}",
                "Publish it: write your own task, and remove `draft = true`",
            ]
    return "\n".join(lines) + "\n"


def write_command(root: Path, command: str, rest: str = "") -> str:
    """A command as its author can type it in this folder; the course is named unless it is this folder."""
    return f"python -m app {command} {rest}".rstrip() + name_course(root)


def name_course(root: Path, *, make: bool = False) -> str:
    if root == Path().resolve():
        return ""
    return f" COURSE={shlex.quote(str(root))}" if make else f" --course {shlex.quote(str(root))}"
