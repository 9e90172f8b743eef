"""Where a graph stands at one step of its tape: what is made, running, run, freed, and what each .grad holds."""

from dataclasses import dataclass, field

from app.pictures.boxes import shorten_grad, write_grad
from app.pictures.graph import Graph
from app.pictures.words import drop_shape


@dataclass(slots=True)
class State:
    """Sets of nodes after `step` was taken. Without a step everything is made and nothing has run."""

    step: int | None = None
    running: int | None = None
    unmade: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)
    freed: set[int] = field(default_factory=set)
    grads: dict[int, str] = field(default_factory=dict)
    incoming: dict[int, str] = field(default_factory=dict)

    def classes(self, node: int) -> str:
        """The classes of a node's group, each beginning with a space."""
        told = (
            (" is-unmade", node in self.unmade),
            (" is-running", node == self.running),
            (" is-done", node in self.done),
            (" is-freed", node in self.freed),
        )
        return "".join(name for name, holds in told if holds)

    def group_classes(self, members: tuple[int, ...]) -> str:
        """The classes of a group that stands for several nodes: what holds for all, and whether one is running."""
        if self.step is None or not members:
            return ""
        common = set.intersection(*(set(self.classes(node).split()) for node in members)) - {"is-running"}
        running = {"is-running"} if self.running in members else set()
        return "".join(f" {name}" for name in sorted(common | running))


def read_state(graph: Graph, step: int | None) -> State:
    """Replay the tape up to a step, from 0; a step past its end is the end."""
    state = State(step)
    if step is None:
        return state
    events = graph.trace.events
    recorded = {node for kind, node in zip(events.kind, events.node, strict=True) if kind == "record" and node is not None}
    state.unmade = recorded
    for now in range(min(step + 1, len(events.kind))):
        _take(graph, state, now, is_now=now == step)
    return state


def _take(graph: Graph, state: State, now: int, *, is_now: bool) -> None:
    events = graph.trace.events
    node = events.node[now]
    if node is None:
        return
    if is_now:
        state.running = node
    match events.kind[now]:
        case "record":
            state.unmade.discard(node)
        case "vjp":
            state.done.add(node)
            state.incoming[node] = drop_shape(events.incoming[now])
        case "accumulate":
            state.done.add(node)
            state.grads[node] = write_grad(events.incoming[now], events.outgoing[now], is_now)
        case "free":
            state.freed.add(node)
        case "save" | "recompute":
            state.freed.discard(node)
        case "capture":
            state.done.add(node)
            state.grads[node] = shorten_grad(f"grad: {drop_shape(events.incoming[now])}")
        case "backward" | "end" | "error":
            pass
