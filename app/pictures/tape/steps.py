"""Group the rows of a tape into the steps that a reader takes: a node's run and its release of tensors are one step.

A tape has one row for each event. A helper's rows belong to the operation that shows it, the release of saved
tensors belongs to the run before it, and a region's refilled slots belong to the recomputation.
"""

from dataclasses import dataclass

from app.pictures.graph.graph import Graph
from graders.contract.trace import EventKind


@dataclass(frozen=True, slots=True)
class Step:
    """Rows `first` to `last` of the tape, both included. Row `main` names the step; `node` is the operation shown."""

    kind: EventKind
    node: int | None
    call: int
    first: int
    last: int
    main: int


@dataclass(frozen=True, slots=True)
class Call:
    """One backward call's steps, from number `first` to `last`; steps are numbered from 1."""

    label: str
    first: int
    last: int


def group_steps(graph: Graph) -> tuple[Step, ...]:
    """The steps of a tape, in order; every row belongs to one."""
    events = graph.trace.events
    steps: list[Step] = []
    first = 0
    for row, kind in enumerate(events.kind):
        node = events.node[row]
        shown = graph.absorbed.get(node, node) if node is not None else None
        if steps and first == row and _joins(graph, steps[-1], row, shown):
            steps[-1] = _widen(steps[-1], row)
            first = row + 1
        elif node is None or node not in graph.absorbed or kind not in ("record", "vjp", "free"):
            steps.append(Step(kind, shown, events.call[row], first, row, row))
            first = row + 1
    if steps and first < len(events.kind):
        steps[-1] = _widen(steps[-1], len(events.kind) - 1)
    return tuple(steps)


def _joins(graph: Graph, before: Step, row: int, shown: int | None) -> bool:
    events = graph.trace.events
    match events.kind[row]:
        case "end":
            return True
        case "free":
            return before.kind == "free" or events.call[row] >= 0
        case "save":
            return before.kind in ("recompute", "save")
        case "update":
            return before.kind == "update"
        case "record":
            return before.kind == "record" and before.node == shown
        case _:
            return False


def _widen(step: Step, last: int) -> Step:
    return Step(step.kind, step.node, step.call, step.first, last, step.main)


def find_calls(graph: Graph, steps: tuple[Step, ...]) -> tuple[Call, ...]:
    """The parts of the timeline: the recording, and each backward call with all that runs inside it."""
    if not steps:
        return ()
    calls = find_outermost(graph)
    of_step = [calls[step.first] for step in steps]
    bounds = [place for place in range(len(steps)) if place == 0 or of_step[place] != of_step[place - 1]]
    numbers = {call: number for number, call in enumerate(dict.fromkeys(call for call in of_step if call >= 0), 1)}
    events = graph.trace.events
    begun = [row for row, kind in enumerate(events.kind) if kind == "backward"]
    texts = {events.call[row]: events.text[row] for row in reversed(begun)}
    labels = {
        call: f"{texts[call] or 'backward'}{f' {number}' if len(numbers) > 1 else ''}"
        for call, number in numbers.items()
    }
    return tuple(
        Call(labels.get(of_step[start], "forward"), start + 1, stop)
        for start, stop in zip(bounds, [*bounds[1:], len(steps)], strict=True)
    )


def find_outermost(graph: Graph) -> tuple[int, ...]:
    """For each row of the tape, the backward call that is running (the outermost if nested), or -1 if none is."""
    found: list[int] = []
    depth, outermost = 0, -1
    for kind, call in zip(graph.trace.events.kind, graph.trace.events.call, strict=True):
        if kind == "backward":
            outermost = call if depth == 0 else outermost
            depth += 1
        found.append(outermost if depth else -1)
        if kind == "end":
            depth = max(0, depth - 1)
    return tuple(found)
