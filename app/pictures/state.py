"""Where a graph stands at one step of its tape: what is made, running, run, freed, and what each .grad holds."""

from dataclasses import dataclass, field

from app.pictures.boxes import write_grad
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
    node, kind = events.node[now], events.kind[now]
    if node is None:
        return
    if is_now:
        state.running = node
    if kind in ("vjp", "accumulate", "capture"):
        state.done.add(node)
        _take_gradient(graph, state, now, node, is_now=is_now)
    elif kind == "record":
        state.unmade.discard(node)
    elif kind == "free":
        state.freed.add(node)
    elif kind == "save":
        state.freed.discard(node)


def _take_gradient(graph: Graph, state: State, now: int, node: int, *, is_now: bool) -> None:
    events = graph.trace.events
    if events.kind[now] == "vjp":
        state.incoming[node] = drop_shape(events.incoming[now])
    elif events.kind[now] == "accumulate":
        state.grads[node] = write_grad(events.incoming[now], events.outgoing[now], is_now)
    else:
        state.grads[node] = f"grad: {drop_shape(events.incoming[now])}"
