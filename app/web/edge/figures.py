"""Pictures of graphs for pages, drawn in a thread so that a big one does not delay other readers' pages."""

import asyncio
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.pictures import Graph, Picture, TooLarge, draw_graph, read_graph, write_whole
from graders.contract.results import RunEnd
from graders.contract.trace import Trace
from graders.contract.trace_check import CheckedTrace, TraceRefused, check_trace, read_trace


@dataclass(frozen=True)
class Sketch:
    """What to draw: a trace, the code that its spans point into, which folds are open, and at which step."""

    trace: Trace
    source: str
    id_prefix: str
    opened: frozenset[str] = field(default=frozenset())
    step: int | None = None


@dataclass(frozen=True)
class Figure:
    """A graph with its picture."""

    graph: Graph
    picture: Picture

    @property
    def trace(self) -> CheckedTrace:
        return self.graph.trace


class Figures:
    """Draws traces; keeps the pictures of the course's own graphs until their files change."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Path, str], tuple[int, Figure]] = {}
        self._one_whole = asyncio.Semaphore(1)

    async def draw(self, sketch: Sketch) -> Figure:
        """Draw a trace. Raises TraceRefused if it contradicts itself: a learner's process may send anything."""
        return await asyncio.to_thread(_draw, sketch)

    async def write_whole(self, trace: Trace, source: str) -> str:
        """A graph with nothing folded, as JSON. Only one is laid out at a time, because it takes seconds.

        Raises TraceRefused.
        """
        async with self._one_whole:
            document = await asyncio.to_thread(_write_whole, trace, source)
            return await asyncio.to_thread(json.dumps, document, separators=(",", ":"))

    async def kept(
        self, path: Path, source: str, id_prefix: str, opened: frozenset[str] = frozenset()
    ) -> Figure | None:
        """The picture of a trace that was committed with the course; None if there is no readable trace."""
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
class RunPicture:
    """The picture of a run, if it recorded a graph, with a note on the picture or on why there is none."""

    figure: Figure | None
    note: str


async def draw_end(
    figures: Figures,
    end: RunEnd,
    source: str,
    id_prefix: str,
    opened: frozenset[str] = frozenset(),
    step: int | None = None,
) -> RunPicture:
    if end.trace is None:
        return RunPicture(None, end.trace_refused)
    try:
        figure = await figures.draw(Sketch(end.trace, source, id_prefix, opened, step))
    except TraceRefused as refusal:
        return RunPicture(None, f"The graph could not be drawn: {refusal}.")
    if not figure.trace.nodes.name:
        return RunPicture(None, " ".join(figure.trace.notes))
    return RunPicture(figure, " ".join(figure.trace.notes))


def _changed_ns(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return None


def _draw(sketch: Sketch) -> Figure:
    graph = read_graph(check_trace(sketch.trace), sketch.source)
    try:
        picture = draw_graph(graph, id_prefix=sketch.id_prefix, opened=sketch.opened, step=sketch.step)
    except TooLarge as refusal:
        raise TraceRefused("too-large", str(refusal)) from None
    return Figure(graph, picture)


def _write_whole(trace: Trace, source: str) -> dict[str, Any]:
    try:
        return write_whole(read_graph(check_trace(trace), source))
    except TooLarge as refusal:
        raise TraceRefused("too-large", str(refusal)) from None


def _read(path: Path) -> Trace:
    return read_trace(path.read_bytes())


def node_names(trace: Trace, node: int) -> tuple[str, ...]:
    """The names that a node may have: the variable that held it, the operation's forward name, autograd's name."""
    nodes = trace.nodes
    columns = (nodes.variable, nodes.forward, nodes.name)
    return tuple(dict.fromkeys(column[node] for column in columns if column[node]))


def node_label(trace: Trace, node: int) -> str:
    """A node's entry in a list: its variable and operation, and the line that created it."""
    nodes = trace.nodes
    span, variable, forward = nodes.span[node], nodes.variable[node], nodes.forward[node]
    if nodes.kind[node] == "leaf":
        return f"{variable or 'a leaf without a name'} (leaf)"
    named = f"{variable} = {forward}" if variable else forward or nodes.name[node]
    return f"{named}, line {span[0]}" if span else named
