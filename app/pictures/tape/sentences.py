"""The tape as words: each step as a sentence, for the player's status line and for the table without script."""

from dataclasses import dataclass

from app.pictures.budget import MAX_TOLD_PARTS
from app.pictures.graph.absorb import Input
from app.pictures.graph.graph import Graph
from app.pictures.graph.words import (
    count_words,
    name_operation,
    saved_words,
    write_bytes,
    write_place,
    write_shape,
)
from app.pictures.tape.steps import Step, group_steps
from graders.contract.trace import MAX_MESSAGE, Shape

UNSEEN = "?"
"""A part of a gradient that the trace did not see, because a learner's own engine may add up before it stores."""

HOOKED_AFTER = "then a hook ran"
"""So ends the text of an `accumulate` after which the program's own hook could change or empty the .grad."""

_VERBS = {
    "record": "recorded",
    "save": "saves again",
    "free": "is released",
    "vjp": "runs",
    "accumulate": "is added to",
    "retain": "keeps its gradient",
    "capture": "is handed out",
    "update": "has a new value",
    "recompute": "computes again",
    "backward": "begins",
    "end": "ends",
    "error": "fails",
}


@dataclass(frozen=True, slots=True)
class TapeRow:
    """One step of the tape in words. Steps count from 1; `line` is 0 if the node has no place in the source."""

    step: int
    kind: str
    what: str
    node: int | None
    name: str
    line: int
    detail: str
    held_bytes: int

    @property
    def sentence(self) -> str:
        """`linear (AddmmBackward0) runs: receives (16, 64), sends ...`."""
        if self.kind == "accumulate":
            return f"{self.name}.grad: {self.detail}"
        head = self.name if self.kind == "capture" else f"{self.name} {self.what}".strip()
        return f"{head}: {self.detail}" if self.detail else head


def tape_rows(graph: Graph) -> tuple[TapeRow, ...]:
    """Every step of a graph's tape as a row."""
    return tell_steps(graph, group_steps(graph))


def tell_steps(graph: Graph, steps: tuple[Step, ...]) -> tuple[TapeRow, ...]:
    """A row for each step of an already grouped tape."""
    return tuple(_tell(graph, number, step) for number, step in enumerate(steps, 1))


def name_node(graph: Graph, node: int) -> str:
    """`linear (AddmmBackward0)`, or a leaf's name."""
    nodes = graph.trace.nodes
    if node in graph.leaf_set:
        return nodes.variable[node] or "a leaf"
    return name_operation(graph, node)


def _tell(graph: Graph, number: int, step: Step) -> TapeRow:
    events = graph.trace.events
    name, line = "", 0
    if step.node is not None:
        span = graph.trace.nodes.span[step.node]
        name, line = name_node(graph, step.node), span[0] if span is not None else 0
    what = _VERBS[step.kind]
    if step.kind == "backward":
        name, what = events.text[step.main] or "backward", "begins" + (f" at {name}" if name else "")
    return TapeRow(number, step.kind, what, step.node, name, line, _detail(graph, step), events.bytes[step.last])


def _tidy(text: str) -> str:
    """Remove the empty shape before a plain number."""
    return text.removeprefix("() ")


def _detail(graph: Graph, step: Step) -> str:
    events, row = graph.trace.events, step.main
    match step.kind:
        case "vjp":
            return "; ".join(filter(None, (_tell_gradients(graph, step), _tell_freed(graph, step))))
        case "accumulate":
            return _tell_added(graph, row)
        case "capture":
            return f"grad() returns {_tidy(events.incoming[row]) or 'a gradient'}"
        case "record":
            return _tell_output(graph, step)
        case "recompute":
            return _tell_recomputed(graph, step)
        case "free":
            return f"nothing needs it any more; {_tell_freed(graph, step)}"
        case "retain":
            return f".grad is {_tidy(events.outgoing[row])}"
        case _:
            return _tell_updates(graph, step) if step.kind == "update" else _tell_message(graph, step)


def _tell_recomputed(graph: Graph, step: Step) -> str:
    events = graph.trace.events
    count = sum(kind == "save" for kind in events.kind[step.first : step.last + 1])
    again = events.bytes[step.last] - (events.bytes[step.first - 1] if step.first else 0)
    return f"its region runs forward again, {count_words(count, 'node')} hold {write_bytes(max(again, 0))}"


def _tell_message(graph: Graph, step: Step) -> str:
    text = "" if step.kind == "backward" else graph.trace.events.text[step.main]
    if step.kind == "error":
        writers = (user for user, failed in graph.culprits.items() if failed == graph.trace.events.node[step.main])
        told = [f"{name_node(graph, user)}, {write_place(graph.trace.nodes.span[user])}" for user in writers]
        text = f"what it had saved was changed by {' and '.join(told)}. {text}" if told else text
    return text if len(text) < MAX_MESSAGE else f"{text[:-1]}…"


def _tell_added(graph: Graph, row: int) -> str:
    events = graph.trace.events
    before, added, after = (_tidy(column[row]) for column in (events.before, events.incoming, events.outgoing))
    if events.text[row].endswith(HOOKED_AFTER):
        first = events.text[row].removesuffix(HOOKED_AFTER).rstrip("; ")
        told = f"{before or 'None'} += {added}; {HOOKED_AFTER} and left {after}"
        return f"{told} ({first})" if first else told
    told = f"{before or 'None'} += {added} gives {after}"
    return f"{told} ({events.text[row]})" if events.text[row] else told


def _tell_output(graph: Graph, step: Step) -> str:
    if step.node is None:
        return ""
    nodes, outputs, face = graph.trace.nodes, graph.trace.outputs, graph.face(step.node)
    gives = [_tell_value(nodes.variable[face], nodes.shape[face], nodes.values[face])]
    more = [row for (node, _), row in graph.outputs_at.items() if node == face] if face in graph.branching else []
    gives += [
        _tell_value(outputs.variable[row], outputs.shape[row], outputs.values[row]) for row in more[:MAX_TOLD_PARTS]
    ]
    if len(more) > MAX_TOLD_PARTS:
        gives.append(f"{len(more) - MAX_TOLD_PARTS:,} more")
    return "; ".join(filter(None, (f"gives {' and '.join(gives)}", saved_words(graph, graph.members(step.node)))))


def _tell_value(name: str, shape: Shape, values: str) -> str:
    if values:
        return f"{f'{name} = ' if name else ''}{_tidy(f'{write_shape(shape)} {values}')}"
    return f"{f'{name} of ' if name else ''}shape {write_shape(shape)}"


def _tell_updates(graph: Graph, step: Step) -> str:
    """The new values of the leaves that the program changed between two operations."""
    events = graph.trace.events
    rows = [row for row in range(step.first, step.last + 1) if events.kind[row] == "update"]
    told = [_tidy(events.outgoing[rows[0]])]
    for row in rows[1:MAX_TOLD_PARTS]:
        node = events.node[row]
        told.append(f"{name_node(graph, node) if node is not None else 'a leaf'} {_tidy(events.outgoing[row])}")
    if len(rows) > MAX_TOLD_PARTS:
        told.append(f"and {len(rows) - MAX_TOLD_PARTS:,} more")
    return ", ".join(told)


def _tell_gradients(graph: Graph, step: Step) -> str:
    """What the node received, and what it sends to which node; a helper's parts count as its operation's."""
    events, row = graph.trace.events, step.main
    hooked = f" ({events.text[row]})" if events.text[row] else ""
    receives = f"receives {_tidy(events.incoming[row]) or 'a gradient'}{hooked}"
    node = events.node[row]
    if node is None:
        return receives
    parts = [(slot, part) for slot, part in enumerate(events.outgoing[row].split("; ")) if part not in ("", "·")]
    targets = _find_targets(graph, node, {slot for slot, _ in parts[:MAX_TOLD_PARTS]})
    sent = [
        f"{_tidy(part) if part != UNSEEN else 'an unseen gradient'}{_tell_target(graph, targets.get(slot))}"
        for slot, part in parts[:MAX_TOLD_PARTS]
    ]
    if len(parts) > MAX_TOLD_PARTS:
        sent.append(f"{len(parts) - MAX_TOLD_PARTS:,} more")
    worked = f" ({' '.join(graph.worked[row].split())})" if row in graph.worked else ""
    return f"{receives}, sends {' and '.join(sent) if sent else 'nothing on'}{worked}"


def _find_targets(graph: Graph, node: int, slots: set[int]) -> dict[int, Input]:
    """The output or leaf that a slot's gradient reaches, past the helpers that the node's box already shows."""
    found: dict[int, Input] = {}
    for item in graph.inputs[node]:
        if item.slot in slots:
            found[item.slot] = item
    return {slot: _pass_helpers(graph, node, target) for slot, target in found.items()}


def _pass_helpers(graph: Graph, node: int, target: Input) -> Input:
    while graph.absorbed.get(target.node) == graph.absorbed.get(node, node) and graph.inputs[target.node]:
        target = graph.inputs[target.node][0]
    return target


def _tell_target(graph: Graph, target: Input | None) -> str:
    if target is None:
        return ""
    host = graph.absorbed.get(target.node, target.node)
    name = graph.name_output(graph.face(host), target.output)
    which = f" (output {target.output})" if target.output and not name else ""
    return f" to {name or graph.title(host)}{which}"


def _tell_freed(graph: Graph, step: Step) -> str:
    events = graph.trace.events
    rows = range(step.first, step.last + 1)
    if not any(events.kind[row] == "free" for row in rows):
        return ""
    before = events.bytes[step.first - 1] if step.first else 0
    count = before - events.bytes[step.last]
    return f"releases {write_bytes(count)}" if count > 0 else "releases its saved tensors"
