"""Adds a picture's colours for use outside the website, where they are part of the page's stylesheet."""

import re
from functools import cache
from importlib.resources import files

STYLESHEET = files("app.pictures.drawing") / "graph.css"
_VARIABLE = re.compile(r"var\(--[a-z-]+, ([^()]+)\)")
_COMMENT = re.compile(r"/\*.*?\*/\s*", re.DOTALL)


def add_look(svg: str) -> str:
    """The SVG with its own style. Every rule is confined to `.graph-picture`, so that it does not affect a page."""
    start = svg.index(">") + 1
    return f"{svg[:start]}<style>{read_look()}</style>{svg[start:]}"


@cache
def read_look() -> str:
    """The pictures' stylesheet with variables replaced by colours: outside browsers, SVG renderers know none."""
    return _VARIABLE.sub(r"\1", _COMMENT.sub("", STYLESHEET.read_text(encoding="utf-8")))
