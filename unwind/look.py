"""Gives a picture its colours, so that it can stand alone: on the website they are part of the page's stylesheet."""

import re
from functools import cache
from importlib.resources import files

STYLESHEET = files("app.pictures.drawing") / "graph.css"
_VARIABLE = re.compile(r"var\(--[a-z-]+, ([^()]+)\)")
_COMMENT = re.compile(r"/\*.*?\*/\s*", re.DOTALL)


def add_look(svg: str) -> str:
    """The SVG with its own style. Every rule is confined to `.graph-picture`, so that a page keeps its looks."""
    start = svg.index(">") + 1
    return f"{svg[:start]}<style>{read_look()}</style>{svg[start:]}"


@cache
def read_look() -> str:
    """The pictures' stylesheet with its plain colours: what draws an SVG outside of a browser knows no variables."""
    return _VARIABLE.sub(r"\1", _COMMENT.sub("", STYLESHEET.read_text(encoding="utf-8")))
