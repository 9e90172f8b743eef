"""`python -m app export` and `import`: what leaves a course as files that stand alone, and what comes into it."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from app.course.loader import CourseReader
from app.course.standalone import Standalone
from app.exercise_import import Wanted, import_exercise
from app.new import Request
from app.notebooks import EXPORTED, REFUSED, export_chapter, import_notebook
from app.standalone import read_standalone
from app.zips import pack
from graders.contract.exercise_files import MANIFEST


def export(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Writes a chapter's notebook or an exercise's folder. Exit status: 0 written, 1 not."""
    parser = argparse.ArgumentParser(
        prog="python -m app export",
        description="Write a chapter as a Jupyter notebook, or an exercise as a folder that needs no course.",
    )
    parser.add_argument("part", type=Path, metavar="PART", help="the folder of a chapter or of an exercise")
    parser.add_argument("--course", type=Path, default=Path(), help="the folder with course.toml (this one)")
    parser.add_argument(
        "--out", type=Path, metavar="PATH", help="where to write (SLUG.ipynb or NAME in this folder; NAME.zip zips)"
    )
    given = parser.parse_args(arguments)
    out = out or sys.stdout
    part: Path = given.part if given.part.exists() else given.course / given.part
    folder = part.parent if part.suffix in (".md", ".toml") else part
    if (folder / MANIFEST).is_file():
        return _export_exercise(folder.resolve(), given.out, out)
    return export_chapter(folder, given.out, out)


def _export_exercise(folder: Path, target: Path | None, out: TextIO) -> int:
    root, name = folder.parents[1], folder.name
    target = target or Path(name)
    if target.exists():
        out.write(f"{target} already exists: remove it, or name another place with --out\n")
        return REFUSED
    loaded = CourseReader(root).read()
    problems = [found for found in loaded.problems if found.path.startswith(f"exercises/{name}/")]
    if problems or name not in loaded.course.exercises:
        first = f" {problems[0].path}:{problems[0].line}: {problems[0].message}." if problems else ""
        out.write(f"{folder} cannot be exported.{first} `python -m app check` says what to fix\n")
        return REFUSED
    made = read_standalone(loaded.course, name)
    _write(made, target)
    out.write(f"wrote {target}: {len(made.files)} files. Licence: {made.origin.licence}\n")
    out.write(f"Grade with it: python -m graders grade {target} FILE\n" if target.suffix != ".zip" else "")
    return EXPORTED


def _write(made: Standalone, target: Path) -> None:
    if target.suffix == ".zip":
        target.write_bytes(pack(made.origin.exercise, made.files))
        return
    for path, content in made.files.items():
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_bytes(content)


def import_(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Writes a notebook as a draft of a chapter, or a proven exercise. Exit status: 0 written, 1 not."""
    parser = argparse.ArgumentParser(
        prog="python -m app import",
        description="Start a chapter from a Jupyter notebook, or add an exercise from a folder or a zip. "
        "Its check runs its solution.py and cases.py outside the sandbox: import only what you trust.",
    )
    parser.add_argument("source", type=Path, metavar="SOURCE", help="a notebook, or an exercise's folder or zip")
    name_help = "its folder: lower-case letters, digits and hyphens (for an exercise, the name that it has)"
    parser.add_argument("name", metavar="NAME", nargs="?", default="", help=name_help)
    parser.add_argument("--course", type=Path, default=Path(), help="the folder with course.toml (this one)")
    parser.add_argument("--concept", default="", help="a chapter's concept in course.toml (the first)")
    parser.add_argument("--module", default="", help="the id of the chapter's module (the last)")
    parser.add_argument("--add-concepts", action="store_true", help="add an exercise's concepts to course.toml")
    given = parser.parse_args(arguments)
    out, root = out or sys.stdout, given.course.resolve()
    if given.source.is_dir() or given.source.suffix == ".zip":
        wanted = Wanted(given.source, given.name, root, adds_concepts=given.add_concepts)
        return import_exercise(wanted, None, out)
    if not given.name:
        parser.error("a chapter needs a name: write NAME after the notebook")
    return import_notebook(given.source, Request("chapter", given.name, root, "", given.concept, given.module), out)
