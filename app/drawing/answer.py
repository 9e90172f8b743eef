"""Carries out one task: from the bytes of a trace to the bytes that a page needs. Raises NotDrawn and nothing else.

It runs in a drawing process for whatever a learner's program recorded, and in the website for the course's own
committed traces.
"""

import json
import logging
from collections import Counter
from typing import assert_never

from app.drawing.tasks import (
    ClosedFold,
    DrawPicture,
    Figure,
    NamedNode,
    NotDrawn,
    TapePart,
    TapeRow,
    Task,
    WritePlayed,
    WritePlotly,
    WriteTrace,
    WriteWhole,
)
from app.pictures import (
    Graph,
    Picture,
    TooLarge,
    draw_graph,
    graph_figure,
    read_graph,
    tape_rows,
    write_tape,
    write_whole,
)
from graders.contract.trace import Trace
from graders.contract.trace_check import CheckedTrace, TraceRefused, read_trace

log = logging.getLogger(__name__)

MAX_ANSWER_BYTES = 16 * 2**20
"""The whole of a trace of the largest size, with the longest texts, has less."""
MAX_READ_BYTES = 8 * 2**20
"""Of a trace: twice what the grader accepts, because a number that is written again may be longer."""


def answer_task(task: Task, document: bytes) -> bytes:
    """The answer as JSON. Raises NotDrawn, also for a fault of ours: a forged trace must not be a 500."""
    try:
        answer = _answer(task, read_trace(document, most_bytes=MAX_READ_BYTES))
    except TraceRefused as refusal:
        raise NotDrawn(f"The graph could not be drawn: {refusal}.") from None
    except TooLarge as refusal:
        raise NotDrawn(f"This graph is too large to draw: {refusal}.") from None
    except (NotDrawn, MemoryError):
        raise
    except Exception as fault:  # noqa: BLE001 - an edge: whatever a trace makes drawing raise refuses that trace alone
        log.error("drawing a %s failed: %s at %s", task.kind, type(fault).__name__, _find_line(fault))
        raise NotDrawn("The graph could not be drawn: it made our drawing fail.") from None
    if len(answer) > MAX_ANSWER_BYTES:
        raise NotDrawn(f"This graph is too large to draw: it would have {len(answer) / 1e6:.0f} MB.")
    return answer


def _find_line(fault: BaseException) -> str:
    """Where it was raised. One line of the log: a whole traceback of a recursion has thousands."""
    step = fault.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    return "an unknown line" if step is None else f"{step.tb_frame.f_code.co_filename}:{step.tb_lineno}"


def _answer(task: Task, trace: CheckedTrace) -> bytes:
    match task:
        case DrawPicture():
            return _draw(task, trace).model_dump_json().encode()
        case WritePlayed():
            return _write_played(task, trace)
        case WriteWhole():
            return _write_json(write_whole(read_graph(trace, task.source)))
        case WritePlotly():
            figure = graph_figure(read_graph(trace, task.source), opened=frozenset(task.opened))
            return str(figure.to_json()).encode()
        case WriteTrace():
            return trace.model_dump_json().encode()
        case _:
            assert_never(task)


def _write_json(document: object) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()


def _draw(task: DrawPicture, trace: CheckedTrace) -> Figure:
    graph = read_graph(trace, task.source)
    picture = draw_graph(graph, id_prefix=task.id_prefix, opened=frozenset(task.opened), step=task.step)
    return Figure(
        svg=picture.svg,
        text=picture.text,
        width=picture.width,
        height=picture.height,
        folds=_name_folds(picture),
        notes=" ".join(trace.notes),
        node_total=len(trace.nodes.name),
        has_tape=bool(trace.events.kind),
        weighs=trace.engine == "torch",
        nodes=_name_nodes(trace) if task.list_nodes else (),
        tape=_tell_tape(graph, task.step or 0, task.rows) if task.rows else None,
    )


def _name_folds(picture: Picture) -> tuple[ClosedFold, ...]:
    labels = {node.key: node.label for node in picture.nodes}
    return tuple(ClosedFold(key=key, words=labels.get(key, key).removesuffix("; folded")) for key in picture.folds)


def _tell_tape(graph: Graph, step: int, most: int) -> TapePart:
    rows = tape_rows(graph)
    low = max(0, min(step - most // 2, len(rows) - most))
    return TapePart(
        total=len(rows),
        rows=tuple(
            TapeRow(step=row.step, sentence=row.sentence, line=row.line, held_bytes=row.held_bytes)
            for row in rows[low : low + most]
        ),
    )


def _write_played(task: WritePlayed, trace: CheckedTrace) -> bytes:
    notes = " ".join(trace.notes)
    if not trace.nodes.name:
        raise NotDrawn(notes)
    graph = read_graph(trace, task.source)
    picture = draw_graph(graph, id_prefix=task.id_prefix)
    return _write_json(
        {
            "svg": picture.svg,
            "text": picture.text,
            "note": notes,
            "tape": write_tape(graph, task.explained).document,
        }
    )


def _name_nodes(trace: Trace) -> tuple[NamedNode, ...]:
    """Every node. Those that would read the same differ by what they were computed from, else by a number."""
    named = [_name_node(trace, node) for node in range(len(trace.nodes.name))]
    often = Counter(node.label for node in named)
    inputs = _list_inputs(trace) if len(often) < len(named) else {}
    labels = [
        f"{node.label}{inputs.get(n, '')}" if often[node.label] > 1 else node.label for n, node in enumerate(named)
    ]
    alike, seen = Counter(labels), Counter[str]()
    told = []
    for node, label in zip(named, labels, strict=True):
        seen[label] += 1
        number = f", {seen[label]} of {alike[label]}" if alike[label] > 1 else ""
        told.append(node.model_copy(update={"label": f"{label}{number}"}))
    return tuple(told)


def _list_inputs(trace: Trace) -> dict[int, str]:
    """By node, what it was computed from: ", of x and exp"."""
    nodes = trace.nodes
    inputs: dict[int, list[str]] = {}
    for source, to in zip(trace.edges.source, trace.edges.target, strict=True):
        inputs.setdefault(source, []).append(nodes.variable[to] or nodes.forward[to] or nodes.name[to])
    return {node: f", of {' and '.join(names)}" for node, names in inputs.items()}


def _name_node(trace: Trace, node: int) -> NamedNode:
    """Its entry in a list, and the names that it may have: the variable that held it, the operation's forward name,
    and autograd's name."""
    nodes = trace.nodes
    columns = (nodes.variable, nodes.forward, nodes.name)
    names = tuple(dict.fromkeys(column[node] for column in columns if column[node]))
    return NamedNode(label=_label_node(trace, node), names=names)


def _label_node(trace: Trace, node: int) -> str:
    """Its variable and operation, and the line that created it."""
    nodes = trace.nodes
    span, variable, forward = nodes.span[node], nodes.variable[node], nodes.forward[node]
    if nodes.kind[node] == "leaf":
        return f"{variable or 'a leaf without a name'} (leaf)"
    named = f"{variable} = {forward}" if variable else forward or nodes.name[node]
    return f"{named}, line {span[0]}" if span else named
