"""Decide what each visible box is joined to: leaves (in the flow or beside a user), cuts, empty operands, edges."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from app.pictures.budget import MAX_FLOWING_LEAVES, MAX_FLOWING_OPERANDS, MAX_LINES, TooLarge
from app.pictures.graph.fold import Fold
from app.pictures.graph.graph import Graph
from app.pictures.graph.words import count_words, fold_members
from app.pictures.layout.boxes import (
    MAX_OUTPUTS,
    WIDEST_FREE_PILL,
    Box,
    make_cut_mark,
    make_fold_box,
    make_leaf_pill,
    make_more_pill,
    make_none_stub,
    make_op_box,
)
from app.pictures.layout.view import MAX_PILLS, Shown, flatten

_MAX_CUTS = 3
_MAX_SHARED_USES = 6
_CLOSE = 6
_MAX_LOOSE = 6
_MAX_PARALLEL = 3
_MAX_SLOTS = 6


@dataclass(frozen=True, slots=True)
class Side:
    """A small box at the right of another: a leaf, a cut, an operand without gradient, or "and more"."""

    box: Box
    leaf: int | None = None
    cut: int | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One visible box with the small boxes beside it. `outputs` are the output numbers that something uses."""

    key: str
    box: Box
    node: int
    fold: Fold | None
    sides: tuple[Side, ...]
    outputs: tuple[int, ...] = (0,)


@dataclass(frozen=True, slots=True)
class Edge:
    """A visible edge, in forward direction. Nodes are the trace's numbers; producer and consumer are items' keys."""

    producer: str
    consumer: str
    producer_node: int
    consumer_node: int
    output: int
    slot: int
    count: int = 1


@dataclass(frozen=True, slots=True)
class Scene:
    """Everything visible, not yet placed."""

    items: tuple[Item, ...]
    edges: tuple[Edge, ...]


def set_scene(graph: Graph, view: Sequence[Shown]) -> Scene:
    """The visible items and their edges. Items are in forward order, except that leaves in the flow come first."""
    return _Setter(graph, view).set()


class _Setter:
    def __init__(self, graph: Graph, view: Sequence[Shown]) -> None:
        self._graph = graph
        self._folds = [shown.fold for shown in flatten(view)]
        self._key_at = [fold.key for fold in self._folds for _ in range(fold.size)]
        self._users = self._find_users()
        self._flowing = self._choose_flowing()
        self._edges = self._find_edges()
        self._outputs = _group_outputs(self._edges)

    def set(self) -> Scene:
        largest = max(
            (
                sum(self._graph.trace.nodes.saved_bytes[node] for node in fold_members(self._graph, fold))
                for fold in self._folds
            ),
            default=0,
        )
        loose = [leaf for leaf in self._graph.leaves if leaf not in self._users and self._matters(leaf)]
        flowing = [*(leaf for leaf in self._graph.leaves if leaf in self._flowing), *loose[:_MAX_LOOSE]]
        items = [*map(self._leaf_item, flowing), *(self._fold_item(fold, largest) for fold in self._folds)]
        items += self._loose_cuts()
        return Scene(tuple(items), self._edges)

    def _find_users(self) -> dict[int, tuple[int, ...]]:
        """For each leaf, the indices of the visible folds that use it."""
        users: dict[int, dict[int, None]] = {}
        for place, fold in enumerate(self._folds):
            for node in self._graph.order[fold.first : fold.last + 1]:
                for item in self._graph.operands(node):
                    if item.node in self._graph.leaf_set:
                        users.setdefault(item.node, {})[place] = None
        return {leaf: tuple(places) for leaf, places in users.items()}

    def _choose_flowing(self) -> frozenset[int]:
        crowded = {
            place
            for place, fold in enumerate(self._folds)
            if fold.kind == "op" and len(self._leaf_operands(fold)) > MAX_FLOWING_OPERANDS
        }
        flowing = (
            leaf
            for leaf, users in self._users.items()
            if (leaf in self._graph.root_set or crowded.isdisjoint(users)) and self._flows(leaf, users)
        )
        return frozenset(islice(flowing, MAX_FLOWING_LEAVES))

    def _leaf_operands(self, fold: Fold) -> frozenset[int]:
        operands = self._graph.operands(self._graph.order[fold.first])
        return frozenset(item.node for item in operands if item.node in self._graph.leaf_set)

    def _flows(self, leaf: int, users: tuple[int, ...]) -> bool:
        """Whether to draw a leaf in the flow: the program starts from it, or users close together share it."""
        if any(self._folds[place].kind != "op" for place in users) or leaf in self._graph.root_set:
            return leaf in self._graph.root_set
        if len(users) > 1:
            return len(users) <= _MAX_SHARED_USES and max(users) - min(users) <= _CLOSE
        if "." in self._graph.trace.nodes.variable[leaf]:
            return False
        operands = self._graph.operands(self._graph.order[self._folds[users[0]].first])
        return all(item.node in self._graph.leaf_set for item in operands)

    def _matters(self, leaf: int) -> bool:
        return leaf in self._graph.root_set or leaf in self._graph.cuts_at or leaf in self._graph.steps_at

    def _find_edges(self) -> tuple[Edge, ...]:
        found = dict[tuple[str, str, int, int], Edge]()
        pairs = set[tuple[str, str]]()
        for edge in self._list_edges():
            key = (edge.producer, edge.consumer, edge.output, min(edge.slot, _MAX_PARALLEL))
            found[key] = replace(edge, count=found[key].count + 1) if key in found else edge
            pairs.add(key[:2])
            if len(pairs) > MAX_LINES:
                break
        edges = _share_exits(found.values())
        if len(edges) > MAX_LINES:
            raise TooLarge(f"more than {MAX_LINES:,} lines would run between its boxes; close a fold")
        return edges

    def _list_edges(self) -> Iterator[Edge]:
        """Every edge between two visible boxes, including those that will share a line."""
        graph = self._graph
        kinds = {fold.key: fold.kind for fold in self._folds}
        for place, node in enumerate(graph.order):
            consumer = self._key_at[place]
            for item in graph.operands(node):
                if item.node in graph.leaf_set:
                    if item.node not in self._flowing:
                        continue
                    producer = f"n{item.node}"
                else:
                    producer = self._key_at[graph.position[item.node]]
                if producer != consumer:
                    output = item.output if kinds.get(producer) == "op" else 0
                    slot = item.slot if kinds[consumer] == "op" else 0
                    yield Edge(producer, consumer, item.node, node, output, slot)

    def _leaf_item(self, leaf: int) -> Item:
        return Item(
            f"n{leaf}", make_leaf_pill(self._graph, leaf, WIDEST_FREE_PILL), leaf, None, self._cut_sides((leaf,))
        )

    def _fold_item(self, fold: Fold, largest: int) -> Item:
        graph = self._graph
        node = graph.order[fold.first]
        outputs = self._outputs.get(fold.key, ())
        if fold.kind != "op":
            members = fold_members(graph, fold)
            sides = (*self._leaf_summary(members), *self._cut_sides(members, summed=True))
            return Item(fold.key, make_fold_box(graph, fold, largest), node, fold, sides, outputs)
        sides = (*self._operand_sides(node), *self._cut_sides((node,)))
        return Item(fold.key, make_op_box(graph, node, largest, outputs), node, fold, sides, outputs)

    def _operand_sides(self, node: int) -> tuple[Side, ...]:
        """Leaves and operands without gradient, by slot, each leaf once."""
        by_slot: dict[int, int | None] = dict.fromkeys(find_empty_slots(self._graph, node))
        for item in reversed(self._graph.operands(node)):
            if item.node in self._graph.leaf_set and item.node not in self._flowing:
                by_slot[item.slot] = item.node
        found = list(dict.fromkeys(by_slot[slot] for slot in sorted(by_slot)))
        sides = [
            Side(make_none_stub()) if leaf is None else Side(make_leaf_pill(self._graph, leaf), leaf=leaf)
            for leaf in found[: MAX_PILLS + 1]
        ]
        if len(found) > MAX_PILLS + 1:
            sides.append(Side(make_more_pill(f"+ {len(found) - MAX_PILLS - 1:,} more")))
        return tuple(sides)

    def _leaf_summary(self, members: list[int]) -> tuple[Side, ...]:
        graph = self._graph
        leaves = list(
            dict.fromkeys(item.node for node in members for item in graph.inputs[node] if item.node in graph.leaf_set)
        )
        if len(leaves) == 1:
            return (Side(make_leaf_pill(graph, leaves[0]), leaf=leaves[0]),)
        return (Side(make_more_pill(count_words(len(leaves), "leaf"))),) if leaves else ()

    def _cut_sides(self, members: Sequence[int], *, summed: bool = False) -> tuple[Side, ...]:
        rows = [row for node in members for row in self._graph.cuts_at.get(node, ())]
        if summed and len(rows) > 1:
            return (Side(make_more_pill(count_words(len(rows), "cut"))),)
        sides = [Side(make_cut_mark(self._graph, row), cut=row) for row in rows[:_MAX_CUTS]]
        if len(rows) > _MAX_CUTS:
            sides.append(Side(make_more_pill(f"+ {len(rows) - _MAX_CUTS:,} cuts")))
        return tuple(sides)

    def _loose_cuts(self) -> list[Item]:
        rows = self._graph.cuts_at.get(None, ())
        return [Item(f"x{row}", make_cut_mark(self._graph, row), -1, None, ()) for row in rows[:_MAX_LOOSE]]


def _share_exits(edges: Collection[Edge]) -> tuple[Edge, ...]:
    """Outputs beyond the first few leave by the last exit, and their lines to the same consumer become one."""
    exits = {key: outputs[:MAX_OUTPUTS] for key, outputs in _group_outputs(edges).items()}
    found = dict[tuple[str, str, int, int], Edge]()
    for edge in edges:
        output = min(edge.output, exits[edge.producer][-1])
        key = (edge.producer, edge.consumer, output, min(edge.slot, _MAX_PARALLEL))
        old = found.get(key)
        found[key] = replace(edge, output=output, count=edge.count + (old.count if old else 0))
    return tuple(found.values())


def _group_outputs(edges: Iterable[Edge]) -> dict[str, tuple[int, ...]]:
    found: dict[str, set[int]] = {}
    for edge in edges:
        found.setdefault(edge.producer, set()).add(edge.output)
    return {key: tuple(sorted(outputs)) for key, outputs in found.items()}


def find_empty_slots(graph: Graph, node: int) -> tuple[int, ...]:
    """Operands known to get no gradient: gaps between the slots of the edges, and "·" in what the node sent."""
    events = graph.trace.events
    used = {item.slot for item in graph.operands(node)}
    sent = next((events.outgoing[step] for step in graph.steps_at.get(node, ()) if events.kind[step] == "vjp"), "")
    marks = [slot for slot, part in enumerate(sent.split("; ")) if part == "·"]
    gaps = range(min(max(used, default=0), _MAX_SLOTS))
    return tuple(slot for slot in sorted({*marks, *gaps} - used) if slot < _MAX_SLOTS)
