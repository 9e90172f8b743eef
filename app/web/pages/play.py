"""The tape player on its own page: any code on the left, its tape on the right, and a gallery of programs."""

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

from fastapi import APIRouter, Query, Response
from starlette.exceptions import HTTPException

from app.course.gallery import Snippet
from app.web.edge.frame import Frame
from app.web.edge.identity import RequestContextDep
from app.web.views.blocks import CellView
from graders.contract.jobs import Flavour

router = APIRouter(include_in_schema=False)

EMPTY = """\
import torch

x = torch.tensor(2.0, requires_grad=True)
y = x * x + x
y.backward()
"""

OWN_ENGINE = """\
class Value:
    def __init__(self, data, _prev=(), _op=""):
        self.data, self.grad, self._prev, self._op = data, 0.0, _prev, _op

    def __mul__(self, other):
        return Value(self.data * other.data, (self, other), "*")

    def backward(self):
        self.grad = 1.0
        a, b = self._prev
        a.grad += b.data * self.grad
        b.grad += a.data * self.grad


x, w = Value(2.0), Value(3.0)
y = x * w
y.backward()
"""
"""An engine with one operation, for the reader to replace with their own."""

CELL = CellView.of_no_chapter("play", EMPTY)


@dataclass(frozen=True)
class SnippetLink:
    """One program of the gallery; `current` is the one in the editor."""

    href: str
    title: str
    current: bool


@dataclass(frozen=True)
class PlayPage:
    """`text` says what to watch in the shown snippet; empty without one. `own_engine` means that torch is absent."""

    template: ClassVar[str] = "play.html"
    frame: Frame
    cell: CellView
    snippets: tuple[SnippetLink, ...]
    title: str
    text: str
    own_engine: bool


@router.api_route("/play", methods=["GET", "HEAD"])
async def play_page(
    context: RequestContextDep, snippet: Annotated[str, Query(max_length=80)] = "", flavour: Flavour = Flavour.TORCH
) -> Response:
    """The player; `?snippet=` puts a program of the gallery into its editor, the first one if none is named.

    `?flavour=plain` is for the reader's own engine and runs without torch.
    """
    gallery = context.course.gallery
    own_engine = flavour is Flavour.PLAIN
    shown = None if own_engine else _find(gallery, snippet)
    source = shown.source if shown else OWN_ENGINE if own_engine else EMPTY
    action = f"/runs?flavour={flavour}" if own_engine else CELL.action
    page = PlayPage(
        frame=await context.frame("Play", "Step through the autograd graph of any code, forward and backward."),
        cell=replace(CELL, source=source, text=source, flavour=flavour.value, action=action),
        snippets=tuple(SnippetLink(f"/play?snippet={item.id}", item.title, item is shown) for item in gallery),
        title=shown.title if shown else "",
        text=shown.text if shown else "",
        own_engine=own_engine,
    )
    return context.site.renderer.page(page)


def _find(gallery: tuple[Snippet, ...], name: str) -> Snippet | None:
    if not name:
        return gallery[0] if gallery else None
    found = next((snippet for snippet in gallery if snippet.id == name), None)
    if found is None:
        raise HTTPException(404, "There is no such program in the gallery.")
    return found
