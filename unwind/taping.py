"""A tape around a block of your own code: recorded by the tracer, then checked and drawn as on the website."""

import html
import itertools
import linecache
import sys
from collections.abc import Iterable
from functools import cached_property
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Literal, Protocol

from app.pictures import Graph, Picture, TapeRow, draw_graph, graph_figure, read_graph, tape_rows
from graders.contract.trace_check import CheckedTrace, build_trace
from graders.inside.tracer import Caps
from unwind.look import add_look

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

Engine = Literal["torch", "learner"]

MAX_NODES = 15_000
"""When torch frees 40,000 nodes in a row that Python has touched, an ordinary stack of 8 MB overflows."""

MAX_VALUED = 5_000
"""Reading a value touches its node, so each of these counts like one of the nodes above."""

_numbers = itertools.count(1)


class _Recording(Protocol):
    def __enter__(self) -> Any: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...

    def document(self) -> dict[str, Any]: ...


def tape(*, engine: Engine = "torch", max_nodes: int = MAX_NODES) -> "Tape":
    """Record the autograd graphs of a `with` block, and every backward call in it.

    `engine="learner"` watches an engine of your own instead, by the protocol of docs/tracing.md; it needs no torch.
    """
    return Tape(
        engine, Caps(max_nodes=max_nodes, valued_steps=MAX_VALUED, max_document_bytes=2**26, max_packed_bytes=2**26)
    )


class Tape:
    """The recording of one `with` block, read after the block. If the block raises, the steps before that remain."""

    def __init__(self, engine: Engine, caps: Caps) -> None:
        self._engine = engine
        self._caps = caps
        self._recording: _Recording | None = None
        self._prefix = f"unwind-{next(_numbers)}"
        self.source = ""

    def __enter__(self) -> "Tape":
        if self._recording is not None:
            raise RuntimeError("this tape has already been used; write a new `with tape() as t:` for each block")
        frame = sys._getframe(1)
        self.source = read_source(frame)
        self._recording = self._open(frame)
        self._recording.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._recorded().__exit__(kind, error, traceback)

    def _open(self, frame: FrameType) -> _Recording:
        filename, namespace = frame.f_code.co_filename, frame.f_globals
        if self._engine == "learner":
            from graders.inside.tracer import learner  # noqa: PLC0415 - the other tracer needs torch, this one does not

            return learner.record(self.source, filename, namespace, self._caps)
        from graders.inside.tracer import record  # noqa: PLC0415 - imports torch

        return record(self.source, filename, namespace, self._caps)

    def _recorded(self) -> _Recording:
        if self._recording is None:
            raise RuntimeError("nothing is recorded yet; use the tape in a `with` statement first")
        return self._recording

    def document(self) -> dict[str, Any]:
        """The trace as JSON-ready data, in the columns of graders.contract.trace."""
        return self._recorded().document()

    @cached_property
    def trace(self) -> CheckedTrace:
        """The trace after validation against the contract."""
        return build_trace(self.document())

    @cached_property
    def _graph(self) -> Graph:
        return read_graph(self.trace, self.source)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out, in words."""
        return self.trace.notes

    def steps(self) -> tuple[TapeRow, ...]:
        """The tape: each step that recorded, ran, added or released something; `.sentence` describes it in words."""
        return tape_rows(self._graph)

    def figure(self, *, opened: Iterable[str] = ()) -> "Figure":
        """The graph as a plotly Figure. `opened` names folds to open, as listed by `folds()`."""
        return graph_figure(self._graph, opened=frozenset(opened))

    def svg(self, *, step: int | None = None, opened: Iterable[str] = ()) -> str:
        """The graph as self-contained SVG text; `step` shows it after that many of `steps()`."""
        return add_look(self._draw(step, opened).svg)

    def folds(self) -> tuple[str, ...]:
        """The keys of the folds that the picture shows closed."""
        return self._draw(None, ()).folds

    def text(self) -> str:
        """The graph in words."""
        return self._draw(None, ()).text

    def _draw(self, step: int | None, opened: Iterable[str]) -> Picture:
        return draw_graph(self._graph, id_prefix=self._prefix, step=step, opened=frozenset(opened))

    def _repr_html_(self) -> str:
        """The picture, with its description in words below it, for a notebook."""
        picture = self._draw(None, ())
        words = html.escape(picture.text)
        return (
            f'<figure style="overflow-x: auto; margin: 0">{add_look(picture.svg)}</figure>'
            f"<details><summary>The graph in words</summary><pre>{words}</pre></details>"
        )


def read_source(frame: FrameType) -> str:
    """The source of the file or notebook cell in which the frame runs; "" if Python does not have it."""
    return "".join(linecache.getlines(frame.f_code.co_filename, frame.f_globals))
