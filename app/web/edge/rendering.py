"""Templates to HTML: autoescape on, an unknown name is an error, one dataclass per template."""

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
"""How many rendered blocks are cached, a few KiB each. Most of a chapter is the same for every reader, and
rendering takes most of a page's time. A block that shows a reader's own data is never cached, so that deleting that
data leaves nothing here."""
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
    """The templates of a folder, each compiled at its first use, once per process."""
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
    """An author's sentence as HTML: `this` becomes code and *this* emphasis. Everything else is escaped."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return _mark_stress(text)
    marked = (
        Markup("<code>{}</code>").format(part) if number % 2 else _mark_stress(part)
        for number, part in enumerate(parts)
    )
    return Markup("").join(marked)


def _mark_stress(text: str) -> Markup:
    """Mark emphasis; a star that touches no word, as in a product, stays a star."""
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
        """A whole page. It belongs to one learner, so no cache on the way may keep it."""
        html = self.environment.get_template(page.template).render(page=page)
        return HTMLResponse(html, status, {"cache-control": "private, no-cache"})

    def block(self, block: Block) -> str:
        return self.environment.get_template(f"blocks/{block.template}.html").render(block=block)

    def fragment(self, block: Block, status: int = 200) -> HTMLResponse:
        """One block, for an element that swaps itself."""
        return HTMLResponse(self.block(block), status, {"cache-control": "no-store"})
