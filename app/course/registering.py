"""Adds a chapter or concepts to course.toml by editing its text, which preserves comments and layout. Pure."""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

MODULE = re.compile(r"\[\[modules\]\]\s*(#.*)?$")
TABLE = re.compile(r"\[")
CONCEPTS = re.compile(r"\[concepts\]\s*(#.*)?$")
INLINE = re.compile(r"chapters\s*=\s*\[")


class CannotRegister(Exception):
    """course.toml has to be edited by hand; the message says what to add."""


def register_chapter(text: str, slug: str, module: str = "") -> str:
    """The text of course.toml with the chapter added at the end of the module with that id.

    Without an id it joins the last module whose chapters are numbered, else the last one.

    Raises CannotRegister if the result would not be exactly the old course plus the new entry.
    """
    data = tomllib.loads(text)
    ids = [str(entry["id"]) for entry in data["modules"]]
    if module and module not in ids:
        raise CannotRegister(f"course.toml has no module {module!r}: it has {', '.join(ids)}")
    numbered = [place for place, entry in enumerate(data["modules"]) if entry.get("numbered", True)]
    number = ids.index(module) if module else (numbered or [len(ids) - 1])[-1]
    fresh = _insert(text.split("\n"), slug, number)
    data["modules"][number].setdefault("chapters", []).append({"slug": slug})
    if not _is(fresh, data):
        raise CannotRegister(
            f'course.toml has a layout that cannot be edited automatically: add {{ slug = "{slug}" }} to its chapters'
        )
    return fresh


def register_concepts(text: str, concepts: Mapping[str, str]) -> str:
    """The text of course.toml with these concepts at the end of its own.

    Raises CannotRegister if the result would not be exactly the old course plus the new concepts.
    """
    if not concepts:
        return text
    data, lines = tomllib.loads(text), text.split("\n")
    start = next((n for n, line in enumerate(lines) if CONCEPTS.match(line.strip())), None)
    added = [f"{name} = {json.dumps(words, ensure_ascii=False)}" for name, words in concepts.items()]
    if start is not None:
        end = next((n for n in range(start + 1, len(lines)) if TABLE.match(lines[n].strip())), len(lines))
        last = _find_last(lines, start, end)
        fresh = "\n".join([*lines[: last + 1], *added, *(lines[last + 1 :] or [""])])
        data["concepts"] |= concepts
        if _is(fresh, data):
            return fresh
    raise CannotRegister(
        f"course.toml has a layout that cannot be edited automatically: add to [concepts] {'; '.join(added)}"
    )


def _is(text: str, data: dict[str, Any]) -> bool:
    try:
        return tomllib.loads(text) == data
    except tomllib.TOMLDecodeError:
        return False


def _insert(lines: list[str], slug: str, number: int) -> str:
    headers = [index for index, line in enumerate(lines) if MODULE.match(line.strip())]
    if number >= len(headers):
        return ""
    start = headers[number]
    end = next((n for n in headers if n > start), len(lines))
    inline = next((n for n in range(start, end) if INLINE.match(lines[n].strip())), None)
    fresh = _in_array(lines, inline, slug) if inline is not None else _as_table(lines, start, end, slug)
    return "\n".join(fresh)


def _in_array(lines: list[str], start: int, slug: str) -> list[str]:
    """Inserts the entry before the array's closing bracket; the array may take one line or several."""
    entry = f'{{ slug = "{slug}" }}'
    line = lines[start]
    if line.rstrip().endswith("]"):
        inside = line.rstrip()[:-1].rstrip()
        comma = "" if inside.endswith(("[", ",")) else ","
        space = "" if inside.endswith("[") else " "
        return [*lines[:start], f"{inside}{comma}{space}{entry}]", *lines[start + 1 :]]
    close = next((n for n in range(start, len(lines)) if lines[n].strip() == "]"), None)
    if close is None:
        return lines
    before = lines[:close]
    if not before[-1].rstrip().endswith((",", "[")):
        before[-1] = f"{before[-1].rstrip()},"
    return [*before, f"  {entry},", *lines[close:]]


def _as_table(lines: list[str], start: int, end: int, slug: str) -> list[str]:
    """Inserts the entry as its own [[modules.chapters]] table, after the module's last line of content."""
    last = _find_last(lines, start, end)
    return [*lines[: last + 1], "", "[[modules.chapters]]", f'slug = "{slug}"', *(lines[last + 1 :] or [""])]


def _find_last(lines: list[str], start: int, end: int) -> int:
    """The table's last line of content: what follows it may be about the next table."""
    content = (n for n in range(end - 1, start - 1, -1) if lines[n].strip())
    return next(n for n in content if not lines[n].lstrip().startswith("#"))
