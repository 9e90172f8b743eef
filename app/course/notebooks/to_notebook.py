"""A chapter as a Jupyter notebook, for reading and running there. Pure: takes and returns text.

Every cell carries the lines of the chapter that it was made from, so that an unchanged notebook converts back to the
same chapter. Format: nbformat 4.5, https://nbformat.readthedocs.io/en/latest/format_description.html.
"""

import base64
import hashlib
import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from app.course.blocks import VariantDraw
from app.course.language.directive_scan import Fence, find_fences
from app.course.language.directive_specs import BOXES
from app.course.problems import Report
from app.course.questions.draw_values import ANSWER, show_values, split_texts
from app.course.questions.placeholders import fill_text, mark_placeholders

META = "unwind"
SEPARATOR = "---"
SPLIT = "+++"
ITEM = re.compile(r"- \[(?: |x|X|rubric)\] ")
CHAPTER_LINK = re.compile(r"\]\(chapter:([a-z0-9-]+)(#[^)]*)?\)")
COURSE_LINK = re.compile(r"\[([^\]]+)\]\((?:exercise|term|debugging):[^)\s]*\)")
"""Links to what a notebook does not have; their words stay."""
SWITCH = re.compile(r"- \[(?P<on> ?|x|X)\][ \t]+`(?P<name>\w+)`[ \t]*(?P<words>.*)")
CODE_SPAN = re.compile(r"`([^`]+)`")
FIGURE = re.compile(r"\]\(figures/([^)\s]+)\)")
MEDIA = {"svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg", "webp": "image/webp"}

NO_DRAWS: Mapping[str, VariantDraw] = {}

SHOWN_CODE = ("cell", "graph", "measure", "claim")
NAMES = {
    "predict": "Predict",
    "question": "Question",
    "interview": "Interview",
    "faq": "Question",
    "exercise": "Exercise",
    "drill": "Drill, asked on the website",
}


@dataclass(frozen=True)
class Piece:
    """Lines of the chapter that become one notebook cell; `fence` is the code they hold, or None for prose."""

    first: int
    last: int
    fence: Fence | None


@dataclass
class _Chapter:
    """The chapter's lines with its fences, and the pictures in its prose."""

    lines: list[str]
    fences: Mapping[int, Fence]
    pictures: Mapping[str, bytes]
    draws: Mapping[str, VariantDraw] = field(default_factory=dict)
    setups: dict[str, str] = field(default_factory=dict)


def write_notebook(text: str, pictures: Mapping[str, bytes], draws: Mapping[str, VariantDraw] = NO_DRAWS) -> str:
    """The notebook's JSON. `pictures` are those of figures/, by name; they are embedded in the cells that show them.

    `draws` are by question: the notebook fills a question that has a variant from its draw.
    """
    lines = text.split("\n")
    front = _front_matter_end(lines)
    blank = [""] * front + lines[front:]
    fences = find_fences(blank, Report(""))
    chapter = _Chapter(blank, fences, pictures, draws)
    for fence in fences.values():
        if fence.name == "setup":
            chapter.setups[fence.argument] = _body(chapter, fence)
    cells = [_title_cell(lines[:front])]
    for piece in _cut(chapter, front):
        _add(_write_cell(chapter, piece), cells)
    document = {
        "cells": [{**cell, "id": f"cell-{number}"} for number, cell in enumerate(cells)],
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _add(cell: dict[str, Any], cells: list[dict[str, Any]]) -> None:
    """Adds a cell. A cell that shows nothing, such as a setup, gives its lines to the cell before it."""
    if cell["source"]:
        cells.append(cell)
    else:
        cells[-1]["metadata"][META]["chapter"] += cell["metadata"][META]["chapter"]


def digest_source(source: str) -> str:
    """A digest that shows whether a cell's text has changed since the export."""
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def _front_matter_end(lines: list[str]) -> int:
    if not lines or lines[0].rstrip() != SEPARATOR:
        return 0
    return next((n + 1 for n in range(1, len(lines)) if lines[n].rstrip() == SEPARATOR), 0)


def _title_cell(front: list[str]) -> dict[str, Any]:
    fields = dict(line.split(": ", 1) for line in front if ": " in line and not line.startswith((" ", "-")))
    title, subtitle = (fields.get(name, "").strip("\"'") for name in ("title", "subtitle"))
    return _markdown(f"# {title}\n\n{subtitle}".rstrip(), front, {})


def _cut(chapter: _Chapter, start: int) -> list[Piece]:
    """The chapter cut before and after each fence of code, and between its sections; nothing is left out.

    A reveal is one piece, with its code: a notebook cannot fold a code cell, and the code would give the answer away.
    """
    pieces: list[Piece] = []
    first = number = start
    edges = {line for fold in _open_folds(chapter) for line in (fold.open, fold.end)}
    while number < len(chapter.lines):
        if number in edges and first < number:
            pieces.append(Piece(first, number, None))
            first = number
        fence = chapter.fences.get(number)
        if fence is not None and fence.is_code:
            if first < number:
                pieces.append(Piece(first, number, None))
            pieces.append(Piece(number, fence.end, fence))
            first = number = fence.end
        elif fence is not None and (fence.name in NAMES or (fence.name == "fold" and number not in edges)):
            if first < number:
                pieces.append(Piece(first, number, None))
            pieces.append(Piece(number, fence.end, None))
            first = number = fence.end
        else:
            number += 1
    if first < len(chapter.lines):
        pieces.append(Piece(first, len(chapter.lines), None))
    return pieces


def _open_folds(chapter: _Chapter) -> list[Fence]:
    """The folds that hold code to run, or questions: these stay cells of their own, and only the prose is folded.

    A fold in a *break it* is an answer, so it is folded whole.
    """
    fences = chapter.fences.values()
    tasks = [box for box in fences if box.name == "break-it"]
    return [
        fold
        for fold in fences
        if fold.name == "fold"
        and any(fold.open < one.open < fold.close and one.name in (*SHOWN_CODE, *NAMES) for one in fences)
        and not any(task.open < fold.open < task.close for task in tasks)
    ]


def _write_cell(chapter: _Chapter, piece: Piece) -> dict[str, Any]:
    lines = chapter.lines[piece.first : piece.last]
    if piece.fence is None:
        return _write_prose(chapter, piece, lines)
    if piece.fence.name in SHOWN_CODE:
        return _write_code(chapter, piece.fence, lines)
    # Hidden code and plain examples: a reader of the notebook sees an example as text, and a setup in its cells.
    shown = "" if piece.fence.name in ("setup", "variant") else "\n".join(lines)
    return _markdown(shown, lines, chapter.pictures)


def _write_prose(chapter: _Chapter, piece: Piece, lines: list[str]) -> dict[str, Any]:
    fence = chapter.fences.get(piece.first)
    around = (one for one in _open_folds(chapter) if one.open <= piece.first and piece.last <= one.end)
    fold = max(around, key=lambda one: one.open, default=None)
    if fence is not None and fence.name in ("predict", "question"):
        shown = _show_question(chapter, fence)
    elif fence is not None and fence.name in ("interview", "faq"):
        shown = _show_reveal(chapter, fence)
    elif fence is not None and fence.name == "fold" and fence is not fold:
        shown = _fold(fence.argument, _show_lines(chapter, fence.body, fence.close))
    elif fold is not None:
        shown = _show_part_of_fold(chapter, fold, piece)
    else:
        shown = _show_lines(chapter, piece.first, piece.last)
    return _markdown(shown.strip("\n"), lines, chapter.pictures)


def _show_lines(chapter: _Chapter, first: int, last: int) -> str:
    """Lines of prose, and the code among them as text: such code is in an answer."""
    shown: list[str] = []
    number = first
    while number < last:
        fence = chapter.fences.get(number)
        if fence is None or not fence.is_code:
            shown.append(_show_line(chapter, number))
            number += 1
            continue
        if fence.name in SHOWN_CODE:
            shown.append(_show_code(chapter, fence))
        number = fence.end
    return "\n".join(shown).strip("\n")


def _show_code(chapter: _Chapter, fence: Fence) -> str:
    source, printed = _read_code(chapter, fence)
    return f"```python\n{source}\n```" + (f"\n\n```text\n{printed}\n```" if printed else "")


def _show_part_of_fold(chapter: _Chapter, fold: Fence, piece: Piece) -> str:
    """Prose of a fold that holds cells: the part before the first of them has the title, even without prose."""
    begins = piece.first == fold.open
    text = _show_lines(chapter, fold.body if begins else piece.first, min(piece.last, fold.close))
    if not text:
        return f"**{fold.argument}**" if begins else ""
    return _fold(fold.argument if begins else f"{fold.argument} (continued)", text)


def _show_line(chapter: _Chapter, number: int) -> str:
    """A line of prose; the lines that open and close a box become its name, or nothing."""
    line = chapter.lines[number]
    fence = chapter.fences.get(number)
    if fence is not None and fence.name in OPTION_SHOWS:
        options = {option.name: option.value for option in fence.options}
        return OPTION_SHOWS[fence.name](options)
    if fence is not None:
        label = BOXES.get(fence.name) or NAMES.get(fence.name, "")
        words = f"{label}: {fence.argument}" if label and fence.argument else label or fence.argument
        return f"**{words}**\n" if words else ""
    if line.startswith(":::") or any(
        number + 1 == option.line for f in chapter.fences.values() for option in f.options
    ):
        return ""
    return "" if line.rstrip() == SPLIT else line


OPTION_SHOWS: Mapping[str, Callable[[Mapping[str, str]], str]] = {
    "figure": lambda options: f"![{options.get('alt', '')}](figures/{options.get('file', '')})\n",
    "incident": lambda options: f"**{options.get('title', '')}**\n",
    "steps": lambda options: f"**{options['caption']}**\n" if options.get("caption") else "",
}
"""What the line that opens such a directive shows: something of its options, and not its id."""


def _show_reveal(chapter: _Chapter, fence: Fence) -> str:
    """A question of an interview or a FAQ, with its answer behind a summary."""
    cut = next((n for n in range(fence.body, fence.close) if chapter.lines[n].rstrip() == SPLIT), fence.close)
    asked = _show_lines(chapter, fence.open, cut)
    return f"{asked}\n\n{_fold('Answer', _show_lines(chapter, cut, fence.close))}"


def _fold(summary: str, text: str) -> str:
    return f"<details><summary>{_as_html(summary)}</summary>\n\n{text}\n\n</details>"


def _as_html(title: str) -> str:
    """A title between HTML tags, where Markdown is not read."""
    return CODE_SPAN.sub(r"<code>\1</code>", html.escape(title, quote=False))


def _shuffle_listing(body: Sequence[str]) -> tuple[list[str], list[str]]:
    """A question's body with the lines of its listing in another order, and the listing as it was."""
    marks = [n for n, line in enumerate(body) if line.startswith("```")]
    if len(marks) < 2:
        return list(body), []
    first, last = marks[0] + 1, marks[1]
    right = list(body[first:last])
    mixed = sorted(right, key=digest_source)
    if mixed == right:
        mixed.reverse()
    return [*body[:first], *mixed, *body[last:]], list(body[first - 1 : last + 1])


def _show_question(chapter: _Chapter, fence: Fence) -> str:
    """The question, and its answer behind a summary that a reader opens."""
    draw = chapter.draws.get(fence.argument)
    shown = show_values(draw) if draw else {}
    body = [fill_text(mark_placeholders(line), shown) for line in chapter.lines[fence.body : fence.close]]
    cut = next((n for n, line in enumerate(body) if line.rstrip() == SPLIT), len(body))
    first = next((n for n, line in enumerate(body[:cut]) if ITEM.match(line)), cut)
    choices: list[str] = []
    kind = next((option.value for option in fence.options if option.name == "kind"), "choice")
    if kind in ("choice", "several"):
        choices = [f"- {ITEM.sub('', line, count=1)}" for line in body[first:cut] if ITEM.match(line)]
    right = [f"Right: {', '.join(split_texts(shown[ANSWER]))}", ""] if kind == "several" and ANSWER in shown else []
    prompt, in_order = _shuffle_listing(body[:first]) if kind == "order" else (body[:first], [])
    answer = "\n".join([*right, *in_order, "", *body[first:cut], "", *body[cut + 1 :]]).strip("\n")
    asked = "\n".join([f"**{NAMES[fence.name]}**", "", *prompt, *choices]).rstrip("\n")
    return f"{asked}\n\n{_fold('Answer', answer)}"


def _body(chapter: _Chapter, fence: Fence) -> str:
    return "\n".join(chapter.lines[fence.body : fence.close]).strip("\n")


def _read_code(chapter: _Chapter, fence: Fence) -> tuple[str, str]:
    """What runs, with its setup and switches, and what it prints."""
    before, _, after = _body(chapter, fence).partition(f"\n{SEPARATOR}\n")
    if fence.name == "claim":
        sentence = "\n".join(f"# {line}" for line in before.split("\n"))
        return f"{sentence}\n{after}", ""
    options = {option.name: option.value for option in fence.options}
    setup = chapter.setups.get(options.get("setup", ""), "")
    return "\n\n".join(filter(None, (setup, _switches(chapter, fence), before))), after


def _write_code(chapter: _Chapter, fence: Fence, lines: list[str]) -> dict[str, Any]:
    before = _body(chapter, fence).partition(f"\n{SEPARATOR}\n")[0]
    options = {option.name: option.value for option in fence.options}
    source, printed = _read_code(chapter, fence)
    skipped = source.count("\n") - before.count("\n") if fence.name != "claim" else 0
    metadata: dict[str, Any] = {META: {**_origin(source, lines), "skip": skipped}}
    if "raises" in options:
        metadata["tags"] = ["raises-exception"]
    if any(fold.open < fence.open < fold.close for fold in _open_folds(chapter)):
        metadata["jupyter"] = {"source_hidden": True, "outputs_hidden": True}
    output = {"name": "stdout", "output_type": "stream", "text": _split(f"{printed}\n")}
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": metadata,
        "outputs": [output] if printed else [],
        "source": _split(source),
    }


def _switches(chapter: _Chapter, fence: Fence) -> str:
    """The switches of the incident that a cell replays, as they were set in it."""
    around = (other for other in chapter.fences.values() if other.open < fence.open and fence.end <= other.close)
    incident = next((other for other in around if other.name == "incident"), None)
    if incident is None:
        return ""
    found = (SWITCH.match(line) for line in chapter.lines[incident.body : fence.open])
    return "\n".join(
        f"{one['name']} = {one['on'].strip() != ''}  # {one['words']}".rstrip(" #") for one in found if one
    )


def _markdown(shown: str, lines: list[str], pictures: Mapping[str, bytes]) -> dict[str, Any]:
    """A text cell with the pictures that it shows."""
    used = [name for name in dict.fromkeys(FIGURE.findall(shown)) if name in pictures]
    for name in used:
        shown = shown.replace(f"](figures/{name})", f"](attachment:{name})")
    shown = CHAPTER_LINK.sub(lambda found: f"]({found[1]}.ipynb{found[2] or ''})", shown)
    shown = COURSE_LINK.sub(r"\1", shown)
    cell: dict[str, Any] = {
        "cell_type": "markdown",
        "metadata": {META: _origin(shown, lines)},
        "source": _split(shown),
    }
    if used:
        cell["attachments"] = {name: _attach(name, pictures[name]) for name in used}
    return cell


def _attach(name: str, picture: bytes) -> dict[str, str]:
    media = MEDIA.get(name.rpartition(".")[2], "application/octet-stream")
    return {media: base64.b64encode(picture).decode()}


def _origin(source: str, lines: list[str]) -> dict[str, object]:
    return {"chapter": list(lines), "own": len(lines), "digest": digest_source(source)}


def _split(text: str) -> list[str]:
    return text.splitlines(keepends=True)
