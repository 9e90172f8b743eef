"""Write an arrangement's frames, edges and nodes as SVG groups with the attributes that the player reads.

A node's group carries `data-node` (the trace's number), `data-members` (all nodes that it represents, as ranges),
`data-span` and, where it can be opened or closed, `data-fold`.
An edge's group carries `data-source` and `data-target` as backward runs, and `data-from`/`data-to`, the
ids of the drawn nodes.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from app.pictures.drawing.shapes import Said, draw_border, draw_box, draw_received, draw_sign, draw_text, draw_tie
from app.pictures.drawing.svg import draw_head, draw_line, element, write
from app.pictures.graph.graph import Graph
from app.pictures.graph.words import (
    describe_cut,
    describe_fold,
    describe_leaf,
    describe_node,
    fold_members,
    fold_title,
)
from app.pictures.layout.attach import Item, Side
from app.pictures.layout.boxes import SMALL_SIZE, Box, Text
from app.pictures.layout.labels import Label
from app.pictures.layout.layered import Point
from app.pictures.layout.measure import shorten_end
from app.pictures.layout.nested_groups import PlacedEdge, PlacedFrame, PlacedItem
from app.pictures.tape.state import Flow, State
from graders.contract.trace import Span

_MAX_SPANS = 8
_MAX_RANGES = 40


@dataclass(frozen=True, slots=True)
class DrawnNode:
    """One box of the picture: its element's id, the nodes that it represents, and its place in pixels."""

    id: str
    key: str
    kind: str
    members: tuple[int, ...]
    label: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class _Meaning:
    """A drawn box's sentence, and the code that it points at."""

    key: str
    node: int | None
    members: tuple[int, ...]
    label: str
    span: str | None
    fold_key: str | None = None


class Painter:
    """Writes groups, and keeps a list of the nodes that it drew."""

    def __init__(self, graph: Graph, state: State, items: Iterable[Item], id_prefix: str) -> None:
        self._graph = graph
        self._state = state
        self._prefix = id_prefix
        self._used_ids: set[str] = set()
        self._members = {item.key: list_members(graph, item) for item in items}
        self._keys = {leaf: f"n{leaf}" for leaf in graph.leaves}
        self._keys |= {node: key for key, members in self._members.items() for node in members}
        self._flows, self._fresh = self._between_boxes(state.flows), self._between_boxes(state.fresh)
        self.drawn: list[DrawnNode] = []

    def _between_boxes(self, flows: Iterable[Flow]) -> set[tuple[str, str]]:
        keys = self._keys
        return {(keys[node], keys[target]) for node, target in flows if node in keys and target in keys}

    def find_running(self) -> list[DrawnNode]:
        """The drawn nodes that the drawn step is about."""
        return [drawn for drawn in self.drawn if not self._state.running.isdisjoint(drawn.members)]

    def paint_frame(self, frame: PlacedFrame) -> str:
        fold = frame.shown.fold
        words = fold_title(self._graph, fold)
        title = Text(14.0, 21.0, shorten_end(words, frame.width - 50, 12.0, bold=True), "variable", 12.0)
        parts = draw_border(frame.x, frame.y, frame.width, frame.height) + draw_text(title, frame.x, frame.y)
        told: dict[str, str] = {"role": "group"}
        if frame.shown.asked:
            parts += draw_sign(frame.x + frame.width - 24, frame.y + 11, is_open=True)
            told = {"data_fold": fold.key, "role": "button", "tabindex": "0", "aria_expanded": "true"}
        name = self._new_id(f"f{fold.key}")
        return element("g", parts, klass=f"frame frame-{fold.kind}", id=name, aria_label=f"{words}, opened", **told)

    def paint_edge(self, placed: PlacedEdge) -> str:
        edge, points = placed.edge, placed.points
        parts = element("path", klass="line", fill="none", d=draw_line(points))
        parts += element("path", klass="head", d=draw_head(points[-1], "down"))
        parts += element("path", klass="head-back", d=draw_head(points[0], "up"))
        if edge.count > 1:
            parts += draw_text(Text(9.0, -6.0, f"×{edge.count:,}", "shape", SMALL_SIZE), *points[-1])
        return element(
            "g",
            parts,
            klass="edge" + self._edge_classes(edge.consumer, edge.producer),
            data_source=edge.consumer_node,
            data_target=edge.producer_node,
            data_slot=edge.slot,
            data_output=edge.output,
            data_from=f"{self._prefix}-{edge.consumer}",
            data_to=f"{self._prefix}-{edge.producer}",
        )

    def _edge_classes(self, consumer: str, producer: str) -> str:
        """A line appears together with the box that uses it, and changes once a gradient has passed along it."""
        if self._state.taken is None:
            return ""
        members, way = self._members.get(consumer, ()), (consumer, producer)
        found = (
            (" is-unmade", bool(members) and self._state.unmade.issuperset(members)),
            (" is-running", way in self._fresh),
            (" is-done", way in self._flows),
        )
        return "".join(name for name, holds in found if holds)

    def paint_item(self, placed: PlacedItem) -> str:
        """A box, then the small boxes beside it."""
        item = placed.item
        meaning = self._cut_meaning(int(item.key[1:])) if item.box.kind == "cut" else self._item_meaning(item)
        sides = (
            self._paint_side(placed, side, corner) for side, corner in zip(item.sides, placed.sides, strict=True)
        )
        return self._paint_node(item.box, meaning, placed.x, placed.y) + "".join(sides)

    def _item_meaning(self, item: Item) -> _Meaning:
        graph, fold = self._graph, item.fold
        if fold is None:
            return self._leaf_meaning(item.node)
        members = self._members[item.key]
        mark = ", backward starts here" if not graph.started.isdisjoint(members) else ""
        spans = write_spans(graph.trace.nodes.span[node] for node in members[: 50 * _MAX_SPANS])
        if fold.kind == "op":
            return _Meaning(item.key, item.node, members, describe_node(graph, item.node) + mark, spans)
        label = f"{describe_fold(graph, fold)}{mark}; folded"
        return _Meaning(item.key, item.node, members, label, spans, fold.key)

    def _leaf_meaning(self, leaf: int) -> _Meaning:
        mark = ", backward starts here" if leaf in self._graph.started else ""
        return _Meaning(f"n{leaf}", leaf, (leaf,), describe_leaf(self._graph, leaf) + mark, None)

    def _cut_meaning(self, row: int) -> _Meaning:
        cuts = self._graph.trace.cuts
        return _Meaning(f"x{row}", cuts.node[row], (), describe_cut(self._graph, row), write_spans((cuts.span[row],)))

    def _paint_side(self, placed: PlacedItem, side: Side, corner: Point) -> str:
        box, (x, y), item = side.box, corner, placed.item
        middle = y + box.height / 2
        at_box = min(max(middle, placed.y + 14), placed.y + item.box.height - 14)
        right = placed.x + item.box.width
        node, name = "", None
        if side.leaf is not None:
            node, name = self._paint_node(box, self._leaf_meaning(side.leaf), x, y), self.drawn[-1].id
        elif side.cut is not None:
            node = self._paint_node(box, self._cut_meaning(side.cut), x, y)
        else:
            words = "an operand that needs no gradient" if box.kind == "none" else box.texts[0].words
            node = element("g", element("title", write(words)) + draw_box(box, x, y), klass=f"node-{box.kind}")
        producer = f"n{side.leaf}" if side.leaf is not None else ""
        tie = element(
            "g",
            draw_tie(box.kind, right, x, middle, at_box),
            klass=f"edge tie-{box.kind}" + self._edge_classes(item.key, producer),
            data_source=item.node if side.leaf is not None else None,
            data_target=side.leaf,
            data_from=f"{self._prefix}-{item.key}",
            data_to=name,
        )
        return tie + node

    def _paint_node(self, box: Box, meaning: _Meaning, x: float, y: float) -> str:
        name = self._new_id(meaning.key)
        members = meaning.members
        self.drawn.append(DrawnNode(name, meaning.key, box.kind, members, meaning.label, x, y, box.width, box.height))
        kind = box.kind if box.kind in ("leaf", "cut", "fold") else "op"
        special = f" node-{box.kind}" if box.kind not in (kind, "op") else ""
        state = self._state
        grad, now = (state.grad(members[0]), state.values.get(members[0])) if kind == "leaf" else (None, None)
        said = Said(grad, state.seed(members), state.fill(members), now)
        is_fold = meaning.fold_key is not None
        is_unmade_cut = kind == "cut" and meaning.node in state.unmade
        return element(
            "g",
            element("title", write(meaning.label)) + draw_box(box, x, y, said),
            klass=f"node node-{kind}{special}{' is-unmade' if is_unmade_cut else state.classes(members)}",
            id=name,
            data_node=meaning.node,
            data_members=write_ranges(members) if members else None,
            data_span=meaning.span,
            data_fold=meaning.fold_key,
            tabindex="0",
            role="button" if is_fold else "img",
            aria_expanded="false" if is_fold else None,
            aria_label=meaning.label,
        )

    def _new_id(self, wanted: str) -> str:
        name, number = f"{self._prefix}-{wanted}", 2
        while name in self._used_ids:
            name, number = f"{self._prefix}-{wanted}-{number}", number + 1
        self._used_ids.add(name)
        return name

    def paint_label(self, placed: PlacedItem, label: Label, exits: tuple[float, ...]) -> str:
        """Shape and values beside the last exit, output numbers if there are several exits, room for the gradient."""
        if not label.lines or not exits:
            return ""
        item = placed.item
        node = self._graph.face(self._graph.order[item.fold.last]) if item.fold is not None else item.node
        bottom = placed.y + item.box.height
        right = placed.x + item.box.width / 2 + (exits[-1] if exits else 0.0)
        texts = [
            Text(8.0, 15.0 + 13.0 * row, line, "shape" if row == 0 else "value", SMALL_SIZE)
            for row, line in enumerate(label.lines)
        ]
        parts = "".join(draw_text(text, right, bottom) for text in texts)
        if len(item.outputs) > 1:
            for output, x in zip(item.outputs, exits, strict=False):
                number = Text(x - 5.0, 13.0, f"[{output}]", "name", SMALL_SIZE, "end")
                parts += draw_text(number, placed.x + item.box.width / 2, bottom)
        left = placed.x + item.box.width / 2 + exits[0]
        received = self._state.received(node) if self._state.taken is not None else ()
        parts += draw_received(received, left - 8.0, bottom + (28.0 if len(item.outputs) > 1 else 15.0))
        unmade = " is-unmade" if node in self._state.unmade else ""
        return element("g", parts, klass=f"exit{unmade}", data_node=node)


def list_members(graph: Graph, item: Item) -> tuple[int, ...]:
    """The trace's nodes that a drawn item represents."""
    if item.fold is not None:
        return tuple(fold_members(graph, item.fold))
    return (item.node,) if item.node >= 0 else ()


def write_spans(spans: Iterable[Span | None]) -> str | None:
    """`1,2,1,9;3,0,3,4`: each span once, up to a limit."""
    written = dict.fromkeys(",".join(map(str, span)) for span in spans if span is not None)
    return ";".join(list(written)[:_MAX_SPANS]) or None


def write_ranges(members: tuple[int, ...]) -> str:
    """`3-7 9`: node numbers as ranges; past a limit the last range covers the rest."""
    ranges: list[list[int]] = []
    for node in sorted(members):
        if (ranges and node == ranges[-1][1] + 1) or len(ranges) >= _MAX_RANGES:
            ranges[-1][1] = node
        else:
            ranges.append([node, node])
    return " ".join(f"{low}-{high}" if high > low else str(low) for low, high in ranges)
