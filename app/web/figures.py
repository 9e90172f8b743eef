"""Pictures of graphs for pages: drawn in a thread, so that a big one does not hold up everybody else's page."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from pydantic import ValidationError

from graders.contract.trace import Trace


class Picture(Protocol):
    """What a drawing must have to stand on a page. The SVG is our own markup with learners' text escaped."""

    @property
    def svg(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def width(self) -> float: ...
    @property
    def height(self) -> float: ...


class Draw(Protocol):
    def __call__(self, trace: Trace, *, id_prefix: str) -> Picture: ...


@dataclass(frozen=True)
class Figure:
    """A trace with its picture."""

    trace: Trace
    picture: Picture


@dataclass(frozen=True)
class _Kept:
    changed_ns: int
    figure: Figure


class Figures:
    """Draws traces; keeps the pictures of the course's own graphs until their files change."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._kept: dict[tuple[Path, str], _Kept] = {}

    async def draw(self, trace: Trace, id_prefix: str) -> Figure:
        picture = await asyncio.to_thread(self._draw, trace, id_prefix=id_prefix)
        return Figure(trace, picture)

    async def kept(self, path: Path, id_prefix: str) -> Figure | None:
        """The picture of a trace that was committed with the course; None where there is none that can be read."""
        changed_ns = _changed_ns(path)
        if changed_ns is None:
            return None
        known = self._kept.get((path, id_prefix))
        if known is None or known.changed_ns != changed_ns:
            trace = await asyncio.to_thread(_read_trace, path)
            if trace is None:
                return None
            known = _Kept(changed_ns, await self.draw(trace, id_prefix))
            self._kept[path, id_prefix] = known
        return known.figure


def _changed_ns(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return None


def _read_trace(path: Path) -> Trace | None:
    try:
        return Trace.model_validate_json(path.read_bytes())
    except ValidationError:
        return None


def node_names(trace: Trace, node: int) -> tuple[str, ...]:
    """What a node may be called by: the variable it was kept in, the operation's forward name, autograd's own."""
    nodes = trace.nodes
    columns = (nodes.variable, nodes.forward, nodes.name)
    return tuple(dict.fromkeys(column[node] for column in columns if column[node]))


def node_label(trace: Trace, node: int) -> str:
    """A node in a list: its variable and operation, and the line it came from."""
    names = node_names(trace, node)
    span = trace.nodes.span[node]
    line = f", line {span[0]}" if span else ""
    return (" = ".join(names[:2]) if trace.nodes.kind[node] != "leaf" else names[0] if names else "leaf") + line
