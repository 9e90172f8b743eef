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
    saving: frozenset[int] = frozenset()
    grads: dict[int, str] = field(default_factory=dict)
    incoming: dict[int, str] = field(default_factory=dict)

    def classes(self, members: tuple[int, ...]) -> str:
        """The classes of a drawn box, each after a space: what holds for all it stands for, and whether one runs."""
        if self.step is None or not members:
            return ""
        found = (
            (" is-unmade", self.unmade.issuperset(members)),
            (" is-running", self.running in members),
            (" is-done", self.done.issuperset(members)),
            (" is-freed", self._are_freed(members)),
        )
        return "".join(name for name, holds in found if holds)

    def _are_freed(self, members: tuple[int, ...]) -> bool:
        saving = [node for node in members if node in self.saving]
        return bool(saving) and self.freed.issuperset(saving)


def read_state(graph: Graph, step: int | None) -> State:
    """Replay the tape up to a step, from 0; a step past its end is the end."""
    state = State(step)
    if step is None:
        return state
    events = graph.trace.events
    recorded = {
        node for kind, node in zip(events.kind, events.node, strict=True) if kind == "record" and node is not None
    }
    state.unmade = recorded
    state.saving = frozenset(
        node for kind, node in zip(events.kind, events.node, strict=True) if kind == "free" and node is not None
    )
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
