"""A graph's state after some steps of its tape: which nodes are made, running or done, what they hold, and where
gradients are.

The browser's player follows the same rules; a test compares the two at every step.
"""

from dataclasses import dataclass, field

from app.pictures.graph.graph import Graph
from app.pictures.graph.words import drop_shape
from app.pictures.layout.boxes import GRADIENT_LETTERS, SEED, write_adding, write_parts
from app.pictures.tape.steps import Step, group_steps

ELLIPSIS = "…"

Flow = tuple[int, int]
"""A gradient's path: from the node that sent it to the node that receives it."""


@dataclass(slots=True)
class State:
    """A replay. `taken` counts steps; None means a still picture of the whole graph: all nodes made, none run."""

    graph: Graph
    taken: int | None = None
    step: Step | None = None
    running: frozenset[int] = frozenset()
    unmade: set[int] = field(default_factory=set)
    done: set[int] = field(default_factory=set)
    freed: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)
    held: dict[int, int] = field(default_factory=dict)
    grads: dict[int, str] = field(default_factory=dict)
    adding: dict[int, str] = field(default_factory=dict)
    """The text of a leaf's pill during the step that changes its .grad; `grads` has the text for afterwards."""
    values: dict[int, str] = field(default_factory=dict)
    """The values of leaves that the program has changed so far."""
    seeds: dict[int, str] = field(default_factory=dict)
    sent: dict[int, dict[int, list[str]]] = field(default_factory=dict)
    """For each node and each of its outputs, the parts of its gradient that have arrived."""
    sums: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """For each node that ran, the gradient that it received for each output: the sum of those parts."""
    flows: set[Flow] = field(default_factory=set)
    fresh: set[Flow] = field(default_factory=set)
    """The members of `flows` that belong to the last step."""

    def classes(self, members: tuple[int, ...]) -> str:
        """The classes of a drawn box, each after a space."""
        if self.taken is None or not members:
            return ""
        is_now = not self.running.isdisjoint(members)
        found = (
            (" is-unmade", self.unmade.issuperset(members)),
            (" is-recording", is_now and self.step is not None and self.step.kind == "record"),
            (" is-running", is_now and self.step is not None and self.step.kind != "record"),
            (" is-done", self._are_done(members)),
            (" is-freed", self._are_freed(members)),
            (" is-failed", not self.failed.isdisjoint(members)),
        )
        return "".join(name for name, holds in found if holds)

    def _are_done(self, members: tuple[int, ...]) -> bool:
        running = [node for node in members if node in self.graph.runners]
        return bool(running) and self.done.issuperset(running)

    def _are_freed(self, members: tuple[int, ...]) -> bool:
        return not self.freed.isdisjoint(members) and not any(self.held.get(node) for node in members)

    def fill(self, members: tuple[int, ...]) -> float:
        """The bytes that the members hold now as a share of their maximum, from 0 to 1."""
        most = sum(self.graph.most_held(node) for node in members)
        now = self.graph.trace.nodes.saved_bytes if self.taken is None else None
        held = sum(now[node] if now is not None else self.held.get(node, 0) for node in members)
        return min(1.0, held / most) if most else 0.0

    def received(self, node: int) -> tuple[str, ...]:
        """The lines that show what a node receives: parts while they arrive, then parts and their sum."""
        parts = [part for output in sorted(self.sent.get(node, ())) for part in self.sent[node][output]]
        sums = self.sums.get(node)
        if sums is None:
            return write_sum(parts, "")
        return write_sum(parts, "; ".join(sums))

    def seed(self, members: tuple[int, ...]) -> str:
        """How a call began at one of the members."""
        seed = next((self.seeds[node] for node in members if self.seeds.get(node)), "")
        return f"starts with {seed}" if seed else SEED

    def grad(self, leaf: int) -> str | None:
        """The second line of a leaf's pill; None if its .grad has not changed yet."""
        parts = [part for parts in self.sent.get(leaf, {}).values() for part in parts]
        if parts and leaf not in self.sums:
            return f"gets {write_parts(parts)}"
        return self.adding.get(leaf) or self.grads.get(leaf)


def write_sum(parts: list[str], total: str) -> tuple[str, ...]:
    """`1.0 + 1.0 = 2.0` on one line if it fits, else on up to three; a single part needs no sum."""
    if len(parts) < 2:
        return tuple(shorten_letters(text, GRADIENT_LETTERS) for text in (total or "".join(parts),) if text)
    result = f" = {total}" if total else ""
    line = " + ".join(parts) + result
    if len(line) <= GRADIENT_LETTERS:
        return (line,)
    more = f"+ {parts[1]}" if len(parts) == 2 else f"+ {len(parts) - 1} more"
    lines = [parts[0], more, *([result.strip()] if total else [])]
    return tuple(shorten_letters(text, GRADIENT_LETTERS) for text in lines)


def shorten_letters(text: str, most: int) -> str:
    """At most this many letters; the last is an ellipsis if some were cut."""
    return text if len(text) <= most else text[: most - 1].rstrip() + ELLIPSIS


def read_state(graph: Graph, taken: int | None) -> State:
    """Replay this many steps of the tape; a larger number than it has means all."""
    state = State(graph, taken)
    if taken is None:
        return state
    events = graph.trace.events
    state.unmade = {
        node for kind, node in zip(events.kind, events.node, strict=True) if kind == "record" and node is not None
    }
    state.held = {node: count for node, count in enumerate(graph.trace.nodes.saved_bytes) if node not in state.unmade}
    replay = _Replay(state)
    for step in group_steps(graph)[: max(taken, 0)]:
        replay.take(step)
    return state


class _Replay:
    def __init__(self, state: State) -> None:
        self._state = state
        self._graph = state.graph
        self._depth = 0

    def take(self, step: Step) -> None:
        state, events = self._state, self._graph.trace.events
        state.step = step
        state.fresh = set()
        state.adding = {}
        rows = range(step.first, step.last + 1)
        for row in rows:
            self._take_row(row)
        nodes = {events.node[row] for row in rows if events.kind[row] == step.kind}
        state.running = frozenset(node for node in (step.node, *nodes) if node is not None)

    def _take_row(self, row: int) -> None:
        events, state = self._graph.trace.events, self._state
        node, kind = events.node[row], events.kind[row]
        if kind == "backward":
            self._begin(row)
        elif kind == "end":
            self._depth = max(0, self._depth - 1)
        if node is None:
            return
        if kind in ("record", "save", "free"):
            self._hold(kind, node)
        elif kind in ("vjp", "accumulate", "capture"):
            state.done.add(node)
            self._receive(row, node)
        else:
            self._change(row, kind, node)

    def _change(self, row: int, kind: str, node: int) -> None:
        after = drop_shape(self._graph.trace.events.outgoing[row])
        if kind == "retain":
            self._state.grads[node] = f".grad = {after}"
        elif kind == "update":
            self._state.values[node] = after
        elif kind == "error":
            self._state.failed.add(node)
            self._state.failed.update(user for user, failed in self._graph.culprits.items() if failed == node)

    def _hold(self, kind: str, node: int) -> None:
        state = self._state
        if kind == "record":
            state.unmade.discard(node)
            state.held[node] = self._graph.trace.nodes.saved_bytes[node]
        elif kind == "save":
            state.freed.discard(node)
            state.held[node] = self._graph.most_held(node)
        else:
            state.freed.add(node)
            state.held[node] = 0

    def _begin(self, row: int) -> None:
        """A new backward call clears the gradients of the last one; a nested call does not."""
        state, node = self._state, self._graph.trace.events.node[row]
        if self._depth == 0:
            for table in (state.done, state.sent, state.sums, state.flows, state.seeds):
                table.clear()
        self._depth += 1
        if node is not None:
            state.seeds[node] = drop_shape(self._graph.seeds[row])

    def _receive(self, row: int, node: int) -> None:
        state, events = self._state, self._graph.trace.events
        incoming = tuple(map(drop_shape, events.incoming[row].split("; ")))
        state.sums[node] = incoming
        if events.kind[row] == "vjp":
            self._send(row, node)
        elif events.kind[row] == "accumulate":
            before = drop_shape(events.before[row])
            state.adding[node] = write_adding(before, incoming[0])
            state.grads[node] = f".grad = {drop_shape(events.outgoing[row])}"
        else:
            state.grads[node] = f"grad() gives {incoming[0]}"

    def _send(self, row: int, node: int) -> None:
        state, parts = self._state, self._graph.trace.events.outgoing[row].split("; ")
        for item in self._graph.inputs[node]:
            if item.slot >= len(parts):
                break
            part = parts[item.slot]
            if part in ("", "·"):
                continue
            state.sent.setdefault(item.node, {}).setdefault(item.output, []).append(drop_shape(part))
            state.flows.add((node, item.node))
            state.fresh.add((node, item.node))
