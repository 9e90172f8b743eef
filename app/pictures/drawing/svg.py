"""SVG in strings: every text and attribute value is escaped here, and no style is written, only classes."""

from collections.abc import Sequence
from functools import cache, lru_cache
from html import escape
from itertools import pairwise

from app.pictures.layout.layered import Point
from graders.contract.trace_check import clean_text

_STRAIGHT = 3.0


def element(name: str, content: str = "", **attributes: str | float | None) -> str:
    """An element. In attribute names, write `_` instead of `-` and `klass` instead of class; None leaves one out."""
    written = ""
    for key, value in attributes.items():
        if value is not None and value != "":
            written += f' {_name(key)}="{write(value)}"'
    return f"<{name}{written}>{content}</{name}>" if content else f"<{name}{written}/>"


@cache
def _name(key: str) -> str:
    return "class" if key == "klass" else key.rstrip("_").replace("_", "-")


def write(value: str | float) -> str:
    """The value as text, escaped for an attribute or an element; numbers have at most one decimal."""
    if isinstance(value, float):
        return f"{value:.1f}".removesuffix(".0")
    return _escape(value) if isinstance(value, str) else str(value)


# A picture writes the same few texts hundreds of times, mostly class names.
@lru_cache(maxsize=4_096)
def _escape(text: str) -> str:
    return escape(clean_text(text), quote=True)


def draw_line(points: Sequence[Point], stub: float = 30.0) -> str:
    """Path data through points. A curve between points that are not aligned starts and ends vertical."""
    steps = [f"M{_pair(points[0])}"]
    for before, after in pairwise(points):
        if before == after:
            continue
        if abs(before[0] - after[0]) < _STRAIGHT:
            steps.append(f"L{_pair(after)}")
            continue
        # The line stays vertical beside its first label, and bends in the rest of the way.
        start = (before[0], before[1] + min(stub, (after[1] - before[1]) / 2))
        middle = (start[1] + after[1]) / 2
        steps.append(f"L{_pair(start)}C{_pair((before[0], middle))} {_pair((after[0], middle))} {_pair(after)}")
    return "".join(steps)


def draw_across(start: Point, end: Point) -> str:
    """Path data for a curve that starts and ends horizontal."""
    if abs(start[1] - end[1]) < 0.6:
        return f"M{_pair(start)}L{_pair(end)}"
    middle = (start[0] + end[0]) / 2
    return f"M{_pair(start)}C{_pair((middle, start[1]))} {_pair((middle, end[1]))} {_pair(end)}"


def draw_head(tip: Point, towards: str, size: float = 5.0) -> str:
    """Path data of an arrow's head with its tip at a point, pointing "down", "up" or "left"."""
    x, y = tip
    long = size * 1.7
    corners = {
        "down": ((x - size, y - long), (x + size, y - long)),
        "up": ((x - size, y + long), (x + size, y + long)),
        "left": ((x + long, y - size), (x + long, y + size)),
    }[towards]
    return f"M{_pair(tip)}L{_pair(corners[0])}L{_pair(corners[1])}Z"


def _pair(point: Point) -> str:
    return f"{write(float(point[0]))} {write(float(point[1]))}"
