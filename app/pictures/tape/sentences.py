"""The tape as words: each step as a sentence, for the player's status line and for the table without script."""

from dataclasses import dataclass

from app.pictures.budget import MAX_TOLD_PARTS
from app.pictures.graph.graph import Graph
from app.pictures.graph.words import count_words, name_operation, saved_words, write_bytes, write_shape
from app.pictures.tape.steps import Step, group_steps
from graders.contract.trace import MAX_TEXT

UNSEEN = "?"
"""A part of a gradient that the trace did not see, because a learner's own engine may add up before it stores."""

_VERBS = {
    "record": "recorded",
    "save": "saves again",
    "free": "is released",
    "vjp": "runs",
    "accumulate": "is added to",
    "capture": "is handed out",
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
            before, added, after = events.before[row], events.incoming[row], events.outgoing[row]
            return f"{_tidy(before) or 'None'} += {_tidy(added)} gives {_tidy(after)}"
        case "capture":
            return f"grad() returns {_tidy(events.incoming[row]) or 'a gradient'}"
        case "record":
            return _tell_output(graph, step)
        case "recompute":
            count = sum(kind == "save" for kind in events.kind[step.first : step.last + 1])
            again = events.bytes[step.last] - (events.bytes[step.first - 1] if step.first else 0)
            return f"its region runs forward again, {count_words(count, 'node')} hold {write_bytes(max(again, 0))}"
        case "free":
            return "; ".join(filter(None, ("nothing needs it any more", _tell_freed(graph, step))))
        case "save" | "backward" | "end" | "error":
            text = "" if step.kind == "backward" else events.text[row]
            return text if len(text) < MAX_TEXT else f"{text[:-1]}…"


def _tell_output(graph: Graph, step: Step) -> str:
    if step.node is None:
        return ""
    nodes, face = graph.trace.nodes, graph.face(step.node)
    name, shape, values = nodes.variable[face], write_shape(nodes.shape[face]), nodes.values[face]
    if values:
        gives = f"gives {f'{name} = ' if name else ''}{_tidy(f'{shape} {values}')}"
    else:
        gives = f"gives {f'{name} of ' if name else ''}shape {shape}"
    return "; ".join(filter(None, (gives, saved_words(graph, graph.members(step.node)))))


def _tell_gradients(graph: Graph, step: Step) -> str:
    """What the node received, and what it sends to which node; a helper's parts count as its operation's."""
    events, row = graph.trace.events, step.main
    receives = f"receives {_tidy(events.incoming[row]) or 'a gradient'}"
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
    return f"{receives}, sends {' and '.join(sent) if sent else 'nothing on'}"


def _find_targets(graph: Graph, node: int, slots: set[int]) -> dict[int, int]:
    """The operation or leaf that a slot's gradient reaches, past the helpers that the node's box already shows."""
    found: dict[int, int] = {}
    for item in graph.inputs[node]:
        if item.slot in slots:
            found[item.slot] = item.node
    return {slot: _pass_helpers(graph, node, target) for slot, target in found.items()}


def _pass_helpers(graph: Graph, node: int, target: int) -> int:
    while graph.absorbed.get(target) == graph.absorbed.get(node, node) and graph.inputs[target]:
        target = graph.inputs[target][0].node
    return target


def _tell_target(graph: Graph, target: int | None) -> str:
    if target is None:
        return ""
    host = graph.absorbed.get(target, target)
    name = graph.trace.nodes.variable[graph.face(host)]
    return f" to {name or graph.title(host)}"


def _tell_freed(graph: Graph, step: Step) -> str:
    events = graph.trace.events
    rows = range(step.first, step.last + 1)
    if not any(events.kind[row] == "free" for row in rows):
        return ""
    before = events.bytes[step.first - 1] if step.first else 0
    count = before - events.bytes[step.last]
    return f"releases {write_bytes(count)}" if count > 0 else "releases its saved tensors"
