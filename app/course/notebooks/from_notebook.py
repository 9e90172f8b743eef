"""A Jupyter notebook as the draft of a chapter: its prose and its cells. Pure: takes and returns text.

In a notebook every cell sees the names of the cells before it. In a chapter each cell starts afresh, so that a reader
can run any of them. A cell therefore names the earlier ones that it depends on.
"""

import ast
import base64
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.course.language.directive_scan import OPTION
from app.course.language.python_code import find_syntax_mistake, has_code
from app.course.notebooks.dependencies import KnownCell, Missing, find_needed, read_names
from app.course.notebooks.to_notebook import META, SPLIT, digest_source

HEADING = re.compile(r"(?P<marks>#{1,6}) +(?P<words>.*)$")
MAGIC = re.compile(r"\s*[%!]|.*\?\s*$")
ATTACHMENT = re.compile(r"\]\(attachment:([^)\s]+)\)")
ENVIRONMENT = re.compile(
    r"(?P<before>\$\$\s*)?\\begin\{(?P<name>(?:align|equation|gather|eqnarray|displaymath)\*?)\}"
    r"(?P<inner>.*?)\\end\{(?P=name)\}",
    re.DOTALL,
)
TEX_DISPLAY = re.compile(r"\\\[(.+?)\\\]", re.DOTALL)
TEX_INLINE = re.compile(r"\\\((.+?)\\\)")
RECORDED = {"image/png": "png", "image/jpeg": "jpg", "image/svg+xml": "svg"}
"""Pictures among a cell's outputs, with the suffix that they get."""
HTML_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
WORDS_A_MINUTE = 200


class NoNotebook(Exception):
    """The file cannot be read as a notebook; the message says why."""


@dataclass(frozen=True)
class Imported:
    """A chapter's text and the pictures for its figures/, by name."""

    text: str
    pictures: Mapping[str, bytes]
    notes: tuple[str, ...] = ()
    """What could not be taken over as it was."""


@dataclass
class _Import:
    """What has been read so far."""

    missing: Missing
    title: str = ""
    level: int = 1
    cells: int = 0
    words: int = 0
    known: list[KnownCell] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    pictures: dict[str, bytes] = field(default_factory=dict)
    parts: list[str] = field(default_factory=list)


def read_notebook(text: str, title: str, concept: str, modules: Collection[str]) -> Imported:
    """The chapter made from a notebook. An unedited export of a chapter gives the same chapter again.

    `title` is used if the notebook has no heading. Raises NoNotebook.
    """
    cells = _read_cells(text)
    if cells and all(_origin(cell) is not None for cell in cells):
        lines = [line for cell in cells for line in _origin(cell) or ()]
        return Imported("\n".join(lines), _pictures(cells))
    reading = _Import(Missing(modules))
    front = _origin(cells[0]) if cells else None
    if front and front[0].rstrip() == "---":
        cells = cells[1:]
    else:
        front = None
    for cell in cells:
        if cell.get("cell_type") == "markdown":
            _take_prose(cell, reading)
        elif cell.get("cell_type") == "code":
            _take_code(cell, reading)
    body = "\n\n".join(part for part in reading.parts if part.strip())
    head = "\n".join([*front, ""]) if front else _front_matter(reading.title or title, reading, concept)
    return Imported(f"{head}\n{body}\n", reading.pictures, tuple(reading.notes))


def _read_cells(text: str) -> list[dict[str, Any]]:
    try:
        document = json.loads(text)
    except ValueError as error:
        raise NoNotebook(f"this is not JSON: {error}") from error
    cells = document.get("cells") if isinstance(document, dict) else None
    if not isinstance(cells, list) or document.get("nbformat") != 4:
        raise NoNotebook("this is not a notebook of format 4: open it in Jupyter and save it again")
    return [cell for cell in cells if isinstance(cell, dict)]


def _source(cell: Mapping[str, Any]) -> str:
    return _join(cell.get("source", ""))


def _join(text: object) -> str:
    return "".join(map(str, text)) if isinstance(text, list) else str(text)


def _origin(cell: Mapping[str, Any]) -> list[str] | None:
    """The lines of the chapter that the cell was made from; None if it has none or was edited since."""
    kept = cell.get("metadata", {}).get(META, {})
    same = kept.get("digest") == digest_source(_source(cell))
    return [str(line) for line in kept["chapter"]] if same and "chapter" in kept else None


def _pictures(cells: Sequence[Mapping[str, Any]]) -> dict[str, bytes]:
    return {name: picture for cell in cells for name, picture in _attachments(cell).items()}


def _attachments(cell: Mapping[str, Any]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for name, by_media in (cell.get("attachments") or {}).items():
        encoded = next(iter(by_media.values()), "")
        found[_file_name(name)] = base64.b64decode(_join(encoded))
    return found


def _file_name(name: str) -> str:
    """A file name within figures/, without any path."""
    return re.sub(r"[^\w.-]", "-", name).lstrip(".-") or "picture"


def _take_prose(cell: Mapping[str, Any], reading: _Import) -> None:
    origin = _origin(cell)
    if origin is not None:
        reading.parts.append("\n".join(origin).strip("\n"))
        return
    reading.pictures |= _attachments(cell)
    text = HTML_COMMENT.sub("", _source(cell))
    text = _write_formulas(text)
    reading.words += len(text.split())
    text = ATTACHMENT.sub(lambda found: f"](figures/{_file_name(found[1])})", text)
    lines: list[str] = []
    in_code = False
    for line in text.split("\n"):
        in_code ^= line.lstrip().startswith(("```", "~~~"))
        heading = None if in_code else HEADING.match(line)
        lines += [line.replace(SPLIT, "\\+++") if line == SPLIT else line] if not heading else _head(heading, reading)
    reading.parts += ["\n".join(lines).strip("\n"), _carried(cell)]


def _write_formulas(text: str) -> str:
    """TeX as other systems mark it: environments and brackets become dollars."""
    text = ENVIRONMENT.sub(_wrap_environment, text)
    text = TEX_DISPLAY.sub(lambda found: f"\n$$\n{found[1].strip()}\n$$\n", text)
    return TEX_INLINE.sub(lambda found: f"${found[1].strip()}$", text)


def _wrap_environment(found: re.Match[str]) -> str:
    name, inner = found["name"].rstrip("*"), "\n".join(line for line in found["inner"].split("\n") if line.strip())
    if name not in ("equation", "displaymath", "math"):
        name = {"align": "aligned", "eqnarray": "aligned", "gather": "gathered"}.get(name, name)
        inner = f"\\begin{{{name}}}\n{inner}\n\\end{{{name}}}"
    return f"{found['before']}{inner}" if found["before"] else f"\n$$\n{inner}\n$$\n"


def _carried(cell: Mapping[str, Any]) -> str:
    """The lines that a cell carries for parts of the chapter that a notebook does not show, such as a setup."""
    kept = cell.get("metadata", {}).get(META, {})
    return "\n".join(map(str, kept.get("chapter", ())[int(kept.get("own", 0)) :])).strip("\n")


def _head(heading: re.Match[str], reading: _Import) -> list[str]:
    """The first heading of the first level is the title; the others go down one level at a time."""
    words = heading["words"].strip(" #")
    if len(heading["marks"]) == 1 and not reading.title:
        reading.title = words
        return []
    reading.level = max(2, min(len(heading["marks"]), reading.level + 1))
    return [f"{'#' * reading.level} {words}"]


def _take_code(cell: Mapping[str, Any], reading: _Import) -> None:
    origin = _origin(cell)
    if origin is not None:
        reading.parts.append("\n".join(origin).strip("\n"))
        return
    edited = _edit_fence(cell)
    if edited:
        reading.parts.append(edited)
        return
    lines = [f"# {line}" if MAGIC.match(line) else line for line in _source(cell).split("\n")]
    source = "\n".join(lines).strip("\n")
    if find_syntax_mistake(source) or not has_code(source):
        reading.parts.append(f"```text\n{source}\n```" if source.strip() else "")
        return
    reading.cells += 1
    source, missed = reading.missing.drop(source)
    for module in missed:
        reading.notes.append(
            f"cell {reading.cells} needs {module}, which a cell here cannot import: what uses it is a comment now"
        )
    if not has_code(source):
        reading.parts += [f"```text\n{source}\n```", *_write_pictures(cell, reading)]
        return
    names = read_names(source)
    needed = find_needed(names, reading.known)
    known = KnownCell(f"cell-{reading.cells}", source, names)
    reading.parts += [_write_fence(cell, known, needed, is_whole=not missed), *_write_pictures(cell, reading)]
    if not _errors(cell):
        # Code that ends in an error would end every cell that depends on it.
        reading.known.append(known)


def _edit_fence(cell: Mapping[str, Any]) -> str:
    """A chapter's cell whose code was edited in the notebook: its fence with the new code, under its old id."""
    kept = cell.get("metadata", {}).get(META, {})
    lines = [str(line) for line in kept.get("chapter", ())]
    if not lines or "{cell}" not in lines[0]:
        return ""
    own = min(int(kept.get("own", len(lines))), len(lines))
    first = next((n for n in range(1, own) if not OPTION.match(lines[n])), own)
    output = next((n for n in range(first, own) if lines[n].rstrip() == "---"), own - 1)
    code = _source(cell).split("\n")[int(kept.get("skip", 0)) :]
    return "\n".join([*lines[:first], *code, *lines[output:]]).strip("\n")


def _write_fence(cell: Mapping[str, Any], known: KnownCell, needed: Sequence[KnownCell], *, is_whole: bool) -> str:
    """The cell with the ids of those that run before it; if it `is_whole`, with the output that was recorded."""
    source = known.source
    options = [f":depends-on: {', '.join(other.id for other in needed)}"] if needed else []
    if not any(re.search(r"\btorch\b", code) for code in (source, *(other.source for other in needed))):
        options.append(":flavour: plain")
    options += [f":raises: {name}" for name in _errors(cell)[:1]]
    outputs = _outputs(cell)
    fence = _fence_for(source)
    shown = _show_last_value(source, outputs)
    printed = _printed(outputs) if shown == source and is_whole else ""
    body = [*options, shown, *(["---", printed] if printed else [])]
    return "\n".join([f"{fence}{{cell}} {known.id}", *body, fence])


def _outputs(cell: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [output for output in cell.get("outputs", ()) if isinstance(output, dict)]


def _errors(cell: Mapping[str, Any]) -> list[str]:
    return [str(output["ename"]) for output in _outputs(cell) if output.get("output_type") == "error"]


def _write_pictures(cell: Mapping[str, Any], reading: _Import) -> list[str]:
    """The pictures that a cell drew in the notebook, as figures under it."""
    written: list[str] = []
    for output in _outputs(cell):
        data = output.get("data", {})
        media = next((media for media in RECORDED if media in data), "")
        if not media:
            continue
        name = f"cell-{reading.cells}-{len(written) + 1}"
        text = _join(data[media])
        content = text.encode() if media == "image/svg+xml" else base64.b64decode(text)
        reading.pictures[f"{name}.{RECORDED[media]}"] = content
        alt = f":alt: The picture that cell {reading.cells} of the notebook drew"
        lines = [
            f":::{{figure}} picture-{name}",
            f":file: {name}.{RECORDED[media]}",
            alt,
            "As the notebook recorded it.",
        ]
        written.append("\n".join([*lines, ":::"]))
    return written


def _fence_for(source: str) -> str:
    longest = max((len(found) for found in re.findall(r"^`{3,}", source, re.MULTILINE)), default=0)
    return "`" * max(3, longest + 1)


def _printed(outputs: Sequence[Mapping[str, Any]]) -> str:
    text = "".join(_join(output.get("text", "")) for output in outputs if output.get("name") == "stdout")
    return text.strip("\n")


def _show_last_value(source: str, outputs: Sequence[Mapping[str, Any]]) -> str:
    """A notebook shows the value of a last expression; a cell shows what it prints."""
    if not any(output.get("output_type") == "execute_result" for output in outputs):
        return source
    last = ast.parse(source).body[-1]
    if not isinstance(last, ast.Expr):
        return source
    lines = source.split("\n")
    shown = ast.get_source_segment(source, last) or ""
    return "\n".join([*lines[: last.lineno - 1], f"print({shown})"])


def _front_matter(title: str, reading: _Import, concept: str) -> str:
    """`minutes` by the rule of the check: words of prose, and a minute for each cell."""
    minutes = max(1, round(reading.words / WORDS_A_MINUTE + reading.cells))
    return "\n".join(
        [
            "---",
            f"title: {json.dumps(title, ensure_ascii=False)}",
            "subtitle: Taken over from a notebook.",
            f"minutes: {min(240, minutes)}",
            "draft: true",
            "objectives:",
            "  - Run each cell of the notebook on its own",
            f"concepts: [{concept}]",
            "---",
            "",
        ]
    )
