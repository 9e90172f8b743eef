"""`python -m app export` and `import`: write a chapter as a Jupyter notebook, or read a notebook as a draft."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from app.course.blocks import VariantDraw
from app.course.notebooks.from_notebook import NoNotebook, read_notebook
from app.course.notebooks.to_notebook import write_notebook
from app.course.problems import Report
from app.course.questions.committed import VARIANTS, VariantFile, draws_of, read_file
from app.course.registering import CannotRegister
from app.new import CannotStart, Request, choose_concept, find_title, read_course_file, write_chapter, write_command

EXPORTED, REFUSED = 0, 1
MODULES = frozenset({*sys.stdlib_module_names, "numpy", "torch"})
"""What a cell can import in the box."""


def export(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Writes the notebook of a chapter. Exit status: 0 written, 1 not."""
    parser = argparse.ArgumentParser(
        prog="python -m app export", description="Write a chapter as a Jupyter notebook."
    )
    parser.add_argument("chapter", type=Path, metavar="CHAPTER", help="its folder, or its chapter.md")
    parser.add_argument("--course", type=Path, default=Path(), help="the folder with course.toml (this one)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to write (SLUG.ipynb in this folder)")
    given = parser.parse_args(arguments)
    out = out or sys.stdout
    chapter: Path = given.chapter if given.chapter.exists() else given.course / given.chapter
    folder = chapter.parent if chapter.suffix == ".md" else chapter
    path = folder / "chapter.md"
    if not path.is_file():
        out.write(f"{path} does not exist: name a chapter's folder\n")
        return REFUSED
    pictures = {picture.name: picture.read_bytes() for picture in sorted((folder / "figures").glob("*.*"))}
    target: Path = given.out or Path(f"{folder.resolve().name}.ipynb")
    notebook = write_notebook(path.read_text(encoding="utf-8-sig"), pictures, _read_first_draws(folder))
    target.write_text(notebook, encoding="utf-8")
    out.write(f"wrote {target}\n")
    return EXPORTED


def _read_first_draws(folder: Path) -> dict[str, VariantDraw]:
    """The first committed draw of each question. Unreadable files are skipped, because the check reports them."""
    draws = {}
    for path in sorted((folder / VARIANTS).glob("*.json")):
        file = read_file(path.read_text(encoding="utf-8"), VariantFile, Report(path.name))
        if file and file.draws:
            draws[path.stem] = draws_of(file)[0]
    return draws


def import_(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Writes a notebook as the draft of a chapter, and adds it to course.toml. Exit status: 0 written, 1 not."""
    parser = argparse.ArgumentParser(
        prog="python -m app import", description="Start a chapter from a Jupyter notebook."
    )
    parser.add_argument("notebook", type=Path, metavar="NOTEBOOK")
    parser.add_argument("name", metavar="NAME", help="the chapter's folder: lower-case letters, digits and hyphens")
    parser.add_argument("--course", type=Path, default=Path(), help="the folder with course.toml (this one)")
    parser.add_argument("--concept", default="", help="its concept in course.toml (the first)")
    parser.add_argument("--module", default="", help="the id of the chapter's module (the last)")
    given = parser.parse_args(arguments)
    out = out or sys.stdout
    request = Request("chapter", given.name, given.course.resolve(), "", given.concept, given.module)
    try:
        course = read_course_file(request.root)
        text = given.notebook.read_text(encoding="utf-8")
        imported = read_notebook(text, find_title(request, course), choose_concept(request, course), MODULES)
        written = write_chapter(request, course, imported.text)
    except (CannotStart, CannotRegister, NoNotebook) as refusal:
        out.write(f"{refusal}\n")
        return REFUSED
    except (OSError, UnicodeDecodeError) as error:
        out.write(f"{given.notebook} cannot be read: {error}\n")
        return REFUSED
    figures = written[0].parent / "figures"
    for name, picture in imported.pictures.items():
        figures.mkdir(exist_ok=True)
        (figures / name).write_bytes(picture)
        written.append(figures / name)
    for path in written:
        out.write(f"wrote {path.relative_to(request.root).as_posix()}\n")
    for note in imported.notes:
        out.write(f"note: {note}\n")
    proof = write_command(request.root, "check", f"--update --only chapters/{request.name}")
    out.write(f"Prove it: {proof}\n")
    return EXPORTED
