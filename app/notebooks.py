"""Writes a chapter as a Jupyter notebook, and reads a notebook as the draft of a chapter."""

import sys
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


def export_chapter(folder: Path, target: Path | None, out: TextIO) -> int:
    """Writes the notebook of a chapter, by default SLUG.ipynb in this folder. Exit status: 0 written, 1 not."""
    path = folder / "chapter.md"
    if not path.is_file():
        out.write(f"{path} does not exist: name the folder of a chapter or of an exercise\n")
        return REFUSED
    pictures = {picture.name: picture.read_bytes() for picture in sorted((folder / "figures").glob("*.*"))}
    target = target or Path(f"{folder.resolve().name}.ipynb")
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


def import_notebook(notebook: Path, request: Request, out: TextIO) -> int:
    """Writes a notebook as the draft of a chapter, and adds it to course.toml. Exit status: 0 written, 1 not."""
    try:
        course = read_course_file(request.root)
        text = notebook.read_text(encoding="utf-8")
        imported = read_notebook(text, find_title(request, course), choose_concept(request, course), MODULES)
        written = write_chapter(request, course, imported.text)
    except (CannotStart, CannotRegister, NoNotebook) as refusal:
        out.write(f"{refusal}\n")
        return REFUSED
    except (OSError, UnicodeDecodeError) as error:
        out.write(f"{notebook} cannot be read: {error}\n")
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
