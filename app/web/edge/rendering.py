"""Templates to HTML: autoescape on, an unknown name is an error, one dataclass a template."""

import re
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, Protocol

from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from app.web.edge.frame import Frame
from app.web.views.blocks import BlockView
from app.web.views.ownership import is_of_reader

STRESSED = re.compile(r"\*(\w(?:[^*]*\w)?)\*")
BLOCKS_KEPT = 2048
"""Rendered blocks, a few KiB each: most of a chapter is the same for every reader, and rendering is most of a page.
A block that shows something of its reader is not among them, so that deleting one's data leaves nothing here."""
TEMPLATES = Path(__file__).resolve().parent.parent / "templates"


class Page(Protocol):
    """A page's dataclass: its template's name, and its frame."""

    template: ClassVar[str]

    @property
    def frame(self) -> Frame: ...


class Block(Protocol):
    """A view that can be rendered alone: the name of its template in blocks/."""

    template: ClassVar[str]


@lru_cache(maxsize=8)
def open_templates(folder: Path, reload: bool) -> Environment:
    """The templates of a folder: compiled at their first use, once a process."""
    environment = Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=reload,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["words"] = mark_words

    def render(block: BlockView) -> Markup:
        return Markup(environment.get_template(f"blocks/{block.template}.html").render(block=block))

    render_shared = render if reload else lru_cache(BLOCKS_KEPT)(render)
    environment.filters["rendered"] = lambda block: (render if is_of_reader(block) else render_shared)(block)
    return environment


def mark_words(text: str) -> Markup:
    """A sentence of an author's, in which `this` is code and *this* is stressed. All else is escaped, and stays."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return _mark_stress(text)
    marked = (
        Markup("<code>{}</code>").format(part) if number % 2 else _mark_stress(part)
        for number, part in enumerate(parts)
    )
    return Markup("").join(marked)


def _mark_stress(text: str) -> Markup:
    """A star that touches no word, as in a product, is a star."""
    pieces = STRESSED.split(text)
    marked = (
        Markup("<em>{}</em>").format(piece) if number % 2 else escape(piece) for number, piece in enumerate(pieces)
    )
    return Markup("").join(marked)


class Renderer:
    """Pages and blocks to HTML."""

    def __init__(self, folder: Path = TEMPLATES, *, reload: bool = False) -> None:
        self.environment = open_templates(folder, reload)

    def page(self, page: Page, status: int = 200) -> HTMLResponse:
        """A whole page. It is one learner's, so no cache in between may keep it."""
        html = self.environment.get_template(page.template).render(page=page)
        return HTMLResponse(html, status, {"cache-control": "private, no-cache"})

    def block(self, block: Block) -> str:
        return self.environment.get_template(f"blocks/{block.template}.html").render(block=block)

    def fragment(self, block: Block, status: int = 200) -> HTMLResponse:
        """One block, for an element that swaps itself."""
        return HTMLResponse(self.block(block), status, {"cache-control": "no-store"})
