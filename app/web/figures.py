"""Pictures of graphs for pages: drawn in a thread, so that a big one does not hold up everybody else's page."""

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from app.pictures import DrawnNode, TraceRefused, check_trace, read_trace, write_whole
from graders.contract.results import RunEnd
from graders.contract.trace import Trace


class Picture(Protocol):
    """What a drawing must have to stand on a page. The SVG is our own markup with learners' text escaped."""

    @property
    def svg(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def folds(self) -> tuple[str, ...]: ...
    @property
    def nodes(self) -> tuple[DrawnNode, ...]: ...
    @property
    def width(self) -> float: ...
    @property
    def height(self) -> float: ...


class Draw(Protocol):
    def __call__(
        self, trace: Trace, *, id_prefix: str, source: str, opened: frozenset[str], step: int | None
    ) -> Picture: ...


@dataclass(frozen=True)
class Sketch:
    """What is to be drawn: a trace, the code that its spans point into, which folds stand open, and at which step."""

    trace: Trace
    source: str
    id_prefix: str
    opened: frozenset[str] = field(default=frozenset())
    step: int | None = None


@dataclass(frozen=True)
class Figure:
    """A checked trace with its picture."""

    trace: Trace
    picture: Picture


class Figures:
    """Draws traces; keeps the pictures of the course's own graphs until their files change."""

    def __init__(self, draw: Draw) -> None:
        self._draw = draw
        self._kept: dict[tuple[Path, str], tuple[int, Figure]] = {}
        self._one_whole = asyncio.Semaphore(1)

    async def draw(self, sketch: Sketch) -> Figure:
        """Raises TraceRefused, in words, where a trace contradicts itself: a learner's process may say anything."""
        return await asyncio.to_thread(self._make, sketch)

    def _make(self, sketch: Sketch) -> Figure:
        trace = check_trace(sketch.trace)
        picture = self._draw(
            trace, id_prefix=sketch.id_prefix, source=sketch.source, opened=sketch.opened, step=sketch.step
        )
        return Figure(trace, picture)

    async def write_whole(self, trace: Trace, source: str) -> str:
        """JSON: a graph with nothing folded. One is laid out at a time: it takes seconds. Raises TraceRefused."""
        async with self._one_whole:
            document = await asyncio.to_thread(write_whole, trace, source)
            return await asyncio.to_thread(json.dumps, document, separators=(",", ":"))

    async def kept(
        self, path: Path, source: str, id_prefix: str, opened: frozenset[str] = frozenset()
    ) -> Figure | None:
        """The picture of a trace that was committed with the course; None where there is none that can be read."""
        changed_ns = _changed_ns(path)
        if changed_ns is None:
            return None
        known = self._kept.get((path, id_prefix))
        if not opened and known is not None and known[0] == changed_ns:
            return known[1]
        try:
            trace = await asyncio.to_thread(_read, path)
            figure = await self.draw(Sketch(trace, source, id_prefix, opened))
        except TraceRefused:
            return None
        if not opened:
            self._kept[path, id_prefix] = (changed_ns, figure)
        return figure


@dataclass(frozen=True)
class Drawn:
    """The picture of a run, if it made a graph; and what there is to say of it, or of why there is none."""

    figure: Figure | None
    note: str


async def draw_end(
    figures: Figures,
    end: RunEnd,
    source: str,
    id_prefix: str,
    opened: frozenset[str] = frozenset(),
    step: int | None = None,
) -> Drawn:
    if end.trace is None:
        return Drawn(None, end.trace_refused)
    try:
        figure = await figures.draw(Sketch(end.trace, source, id_prefix, opened, step))
    except TraceRefused as refusal:
        return Drawn(None, f"The graph could not be drawn: {refusal}.")
    if not figure.trace.nodes.name:
        return Drawn(None, " ".join(figure.trace.notes))
    return Drawn(figure, " ".join(figure.trace.notes))


def _changed_ns(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return None


def _read(path: Path) -> Trace:
    return read_trace(path.read_bytes())


def node_names(trace: Trace, node: int) -> tuple[str, ...]:
    """What a node may be called by: the variable it was kept in, the operation's forward name, autograd's own."""
    nodes = trace.nodes
    columns = (nodes.variable, nodes.forward, nodes.name)
    return tuple(dict.fromkeys(column[node] for column in columns if column[node]))


def node_label(trace: Trace, node: int) -> str:
    """A node in a list: its variable and operation, and the line it came from."""
    nodes = trace.nodes
    span, variable, forward = nodes.span[node], nodes.variable[node], nodes.forward[node]
    if nodes.kind[node] == "leaf":
        return f"{variable or 'a leaf without a name'} (leaf)"
    named = f"{variable} = {forward}" if variable else forward or nodes.name[node]
    return f"{named}, line {span[0]}" if span else named
