"""Two sorted lists: the nodes that hold memory for backward, and what backward did not reach, with the reason."""

from collections.abc import Iterable
from dataclasses import dataclass

from app.pictures.graph.graph import Graph
from app.pictures.graph.words import CUT_REASONS, CUT_WORDS, is_number, write_bytes, write_place, write_shape
from app.pictures.tape.sentences import name_node

MAX_LISTED = 200


IDLE_REASONS = {
    "unused": "nothing was computed from it",
    "late": "nothing was computed from it after tracking was asked for at",
    "frozen": "requires_grad is False",
}


@dataclass(frozen=True, slots=True)
class Holder:
    """An operation with the memory that it keeps for backward."""

    node: int
    words: str
    held_bytes: int


@dataclass(frozen=True, slots=True)
class Unreached:
    """A leaf or cut that no gradient reached, with the reason."""

    node: int | None
    words: str


def find_holders(graph: Graph) -> tuple[Holder, ...]:
    """The operations by the bytes they hold, largest first; a helper's bytes count for its operation."""
    nodes = graph.trace.nodes
    held = {node: sum(nodes.saved_bytes[member] for member in graph.members(node)) for node in graph.order}
    largest = sorted((node for node in graph.order if held[node]), key=lambda node: (-held[node], node))
    return tuple(Holder(node, _tell_holder(graph, node), held[node]) for node in largest[:MAX_LISTED])


def _tell_holder(graph: Graph, node: int) -> str:
    nodes = graph.trace.nodes
    members = graph.members(node)
    saved = "; ".join(nodes.saved[member] for member in members if nodes.saved[member])
    owned = sum(nodes.leaf_bytes[member] for member in members)
    of_leaves = f", {write_bytes(owned)} of it parameters" if owned else ""
    place = write_place(nodes.span[node])
    module = f" in {nodes.module[node]}" if nodes.module[node] else ""
    told = f"{name_node(graph, node)}{module}{', ' + place if place else ''}"
    return f"{told}: {saved}{of_leaves}" if saved else f"{told}{of_leaves}"


def find_unreached(graph: Graph) -> tuple[Unreached, ...]:
    """Leaves without a gradient first, then the cuts. Each names its line and the reason."""
    if not graph.started:
        return ()
    leaves = [leaf for leaf in graph.leaves if leaf not in graph.runners]
    reasons = _Reasons(graph)
    found = [Unreached(leaf, f"{_tell_leaf(graph, leaf)}: {reasons.find(leaf)}") for leaf in leaves[:MAX_LISTED]]
    found += _list_idle(graph)
    cuts = graph.trace.cuts
    for row in range(min(len(cuts.kind), MAX_LISTED)):
        node = cuts.node[row]
        what = _name(graph, node) if node is not None else "a value"
        place = f" at {write_place(cuts.span[row])}" if cuts.span[row] is not None else ""
        kind = cuts.kind[row]
        found.append(Unreached(node, f"{what} was cut by {CUT_WORDS[kind]}{place}: {CUT_REASONS[kind]}"))
    return tuple(found)


def _list_idle(graph: Graph) -> list[Unreached]:
    """Leaves that no graph has."""
    idle = graph.trace.idle
    rows = list(zip(idle.variable, idle.shape, idle.reason, idle.span, strict=True))
    return [
        Unreached(None, f"{name} {write_shape(shape)}: {IDLE_REASONS[reason]} {write_place(span)}".rstrip())
        for name, shape, reason, span in rows[:MAX_LISTED]
    ]


def _tell_leaf(graph: Graph, leaf: int) -> str:
    nodes = graph.trace.nodes
    name = nodes.variable[leaf] or "a leaf"
    return name if is_number(graph, leaf) else f"{name} {write_shape(nodes.shape[leaf])}"


def _name(graph: Graph, node: int) -> str:
    return graph.trace.nodes.variable[graph.face(node)] or name_node(graph, node)


class _Reasons:
    """Why no gradient reached a leaf. The ancestors of the cuts and of the loss are found once for all leaves."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        cut = [node for node in range(len(graph.inputs)) if self._cuts(node)]
        self._leads_to_cut = _find_sources(graph, cut)
        self._leads_to_start = _find_sources(graph, graph.started)

    def find(self, leaf: int) -> str:
        """The cut between the leaf and the loss, if there is one; else that no path leads to where backward began."""
        graph, cuts = self._graph, self._graph.trace.cuts
        seen, waiting = {leaf}, [leaf] if leaf in self._leads_to_cut else []
        while waiting:
            node = waiting.pop()
            if rows := self._cuts(node):
                return f"cut by {CUT_WORDS[cuts.kind[rows[0]]]} {write_place(cuts.span[rows[0]])}".rstrip()
            users = [user for user in graph.users.get(node, ()) if user in self._leads_to_cut and user not in seen]
            seen.update(users)
            waiting += users
        if leaf in self._leads_to_start:
            return "backward ended before it reached this leaf"
        return "nothing that was computed from it leads to where backward began"

    def _cuts(self, node: int) -> tuple[int, ...]:
        return self._graph.cuts_at.get(self._graph.absorbed.get(node, node), ())


def _find_sources(graph: Graph, ends: Iterable[int]) -> set[int]:
    """These nodes and all their ancestors."""
    seen = set(ends)
    waiting = list(seen)
    while waiting:
        for item in graph.inputs[waiting.pop()]:
            if item.node not in seen:
                seen.add(item.node)
                waiting.append(item.node)
    return seen
