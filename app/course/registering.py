"""Adds a chapter to course.toml by editing its text, which preserves comments and layout. Pure."""

import re
import tomllib
from typing import Any

MODULE = re.compile(r"\[\[modules\]\]\s*(#.*)?$")
TABLE = re.compile(r"\[")
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
    last = next(
        n for n in range(end - 1, start - 1, -1) if lines[n].strip() and not lines[n].lstrip().startswith("#")
    )
    return [*lines[: last + 1], "", "[[modules.chapters]]", f'slug = "{slug}"', *(lines[last + 1 :] or [""])]
