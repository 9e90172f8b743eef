"""What a recorded run answers, read from its trace or from a variable: the generator's own answer has to agree."""

import ast
from collections.abc import Callable
from itertools import pairwise

from app.course.blocks import Value
from graders.contract.trace import Trace


class NotObserved(Exception):
    """The run gives no single answer. The message says why, in words for an author."""


def observe(trace: Trace, source: str, what: str, number: float | None = None) -> Value:
    """The answer that a run shows. `what` is the name of an observation and its arguments. Raises NotObserved.

    `number` is what the box read from the variable of `value NAME` when the program ended.
    """
    name, *arguments = what.split()
    if name not in (VALUE, *OBSERVATIONS):
        raise NotObserved(f"nothing is called {name!r}; the observations are {', '.join((VALUE, *OBSERVATIONS))}")
    if "error" in trace.events.kind and name != BACKWARD_ENDS:
        raise NotObserved("its backward raises an error")
    if name == VALUE:
        if number is None:
            raise NotObserved(f"{' '.join(arguments)!r} holds no finite number when the program ends")
        return number
    return OBSERVATIONS[name](trace, source, arguments)


def reads_variable(what: str) -> bool:
    return what.split()[0] == VALUE


def _gradient(trace: Trace, _source: str, arguments: list[str]) -> Value:
    """One element of a leaf's .grad after the last backward: `gradient x`, or for its second `gradient x 1`."""
    leaf, place = arguments[0], int(arguments[1]) if len(arguments) > 1 else 0
    node, events = _find_leaf(trace, leaf), trace.events
    rows = [row for row, kind in enumerate(events.kind) if kind == "accumulate" and events.node[row] == node]
    if not rows:
        raise NotObserved(f"{leaf!r} gets no gradient")
    values = _read_values(events.outgoing[rows[-1]])
    if place >= len(values):
        raise NotObserved(f"the gradient of {leaf!r} has {len(values)} readable elements")
    return values[place]


def _read_values(shown: str) -> list[float]:
    """The elements of a gradient as the tracer writes it: "(2,) [3.0, 4.0]"."""
    text = shown.partition(")")[2]
    try:
        return [float(part) for part in text.replace("[", " ").replace("]", " ").replace(",", " ").split()]
    except ValueError:
        raise NotObserved(f"the gradient {shown!r} cannot be read") from None


def _find_leaf(trace: Trace, name: str) -> int:
    found = [node for node, variable in enumerate(trace.nodes.variable) if variable == name and _is_leaf(trace, node)]
    if len(found) != 1:
        raise NotObserved(f"{len(found)} leaves of the graph are called {name!r}")
    return found[0]


def _is_leaf(trace: Trace, node: int) -> bool:
    return trace.nodes.kind[node] == "leaf"


def _leaves_reached(trace: Trace) -> set[int]:
    events = trace.events
    return {
        node for node, kind in zip(events.node, events.kind, strict=True) if kind == "accumulate" and node is not None
    }


def _leaf_without_gradient(trace: Trace, _source: str, _arguments: list[str]) -> Value:
    reached = _leaves_reached(trace)
    without = [node for node in range(len(trace.nodes.kind)) if _is_leaf(trace, node) and node not in reached]
    if len(without) != 1:
        raise NotObserved(f"{len(without)} leaves of the graph get no gradient")
    return trace.nodes.variable[without[0]]


def _leaves_with_gradient(trace: Trace, _source: str, _arguments: list[str]) -> Value:
    return len(_leaves_reached(trace))


def _bytes_kept(trace: Trace, _source: str, _arguments: list[str]) -> Value:
    """The bytes of all saved tensors, each storage once, at the moment when the first backward begins."""
    starts = [row for row, kind in enumerate(trace.events.kind) if kind == "backward"]
    if not starts:
        raise NotObserved("it calls no backward")
    return trace.events.bytes[starts[0]]


def _backward_ends(trace: Trace, _source: str, _arguments: list[str]) -> Value:
    """How its backward calls end: the first that raises ends the program."""
    if "backward" not in trace.events.kind:
        raise NotObserved("it calls no backward")
    return "raises an error" if "error" in trace.events.kind else "returns, without an error"


def _cutting_line(trace: Trace, source: str, _arguments: list[str]) -> Value:
    """The lines of the one cut; for a `no_grad` block, also the line that opens it."""
    spans = [span for span in trace.cuts.span if span is not None]
    lines = {span[0] for span in spans}
    if len(lines) != 1:
        raise NotObserved(f"{len(lines)} lines cut the graph")
    (line,) = lines
    opened = [
        node.lineno
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.With) and node.lineno < line <= (node.end_lineno or line)
    ]
    return ", ".join(map(str, sorted({*opened, line})))


def _backward_order(trace: Trace, source: str, _arguments: list[str]) -> Value:
    """The lines whose operations backward visits, in its order. Each line has one operation, visited once."""
    events, lines = trace.events, source.split("\n")
    visited: list[str] = []
    for kind, node in zip(events.kind, events.node, strict=True):
        if kind == "vjp" and node is not None:
            span = trace.nodes.span[node]
            if span is None:
                raise NotObserved("an operation has no line")
            visited.append(lines[span[0] - 1].strip())
    if len(set(visited)) != len(visited):
        raise NotObserved("backward visits a line twice")
    _need_one_order(trace)
    return "\n".join(visited)


def _need_one_order(trace: Trace) -> None:
    """Two nodes of one call that do not depend on each other could run in either order."""
    events = trace.events
    ran = [(events.call[row], events.node[row]) for row, kind in enumerate(events.kind) if kind == "vjp"]
    edges = set(zip(trace.edges.source, trace.edges.target, strict=True))
    for (call, node), (next_call, following) in pairwise(ran):
        if call == next_call and (node, following) not in edges:
            raise NotObserved("two of its operations could run in either order")


Observation = Callable[[Trace, str, list[str]], Value]

VALUE = "value"
"""The one observation that is not read from the trace."""
BACKWARD_ENDS = "backward-ends"
"""The one observation of a run that may end in an error."""

OBSERVATIONS: dict[str, Observation] = {
    "gradient": _gradient,
    "leaf-without-gradient": _leaf_without_gradient,
    "leaves-with-gradient": _leaves_with_gradient,
    "bytes-kept": _bytes_kept,
    BACKWARD_ENDS: _backward_ends,
    "cutting-line": _cutting_line,
    "backward-order": _backward_order,
}
"""By the name that a draw gives as its `observe`."""
