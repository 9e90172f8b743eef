"""The texts at a box's exit: shape and values on the right of the line, the gradient's place on its left."""

from dataclasses import dataclass

from app.pictures.attach import Item
from app.pictures.boxes import SMALL_SIZE
from app.pictures.graph import Graph
from app.pictures.measure import shorten_end, text_width
from app.pictures.words import drop_shape, write_shape

LABEL_ROOM = 112.0


@dataclass(frozen=True, slots=True)
class Label:
    """Lines for the right, and the room that both sides need, in pixels."""

    lines: tuple[str, ...] = ()
    left_room: float = 0.0
    right_room: float = 0.0


def label_item(graph: Graph, item: Item) -> Label:
    """Empty for a leaf, whose pill says its shape, and where nothing takes the output."""
    if item.fold is None or not item.outputs:
        return Label()
    node = graph.face(graph.order[item.fold.last])
    values = graph.trace.nodes.values[node]
    lines = [shorten_end(write_shape(graph.trace.nodes.shape[node]), LABEL_ROOM, SMALL_SIZE, mono=True)]
    if values:
        lines.append(shorten_end(drop_shape(values), LABEL_ROOM, SMALL_SIZE, mono=True))
    width = max(text_width(line, SMALL_SIZE, mono=True) for line in lines)
    return Label(tuple(lines), _gradient_room(graph, node), 8 + width)


def _gradient_room(graph: Graph, node: int) -> float:
    events = graph.trace.events
    texts = [drop_shape(events.incoming[step]) for step in graph.steps_at.get(node, ()) if events.kind[step] == "vjp"]
    return min(LABEL_ROOM, max((8 + text_width(text, SMALL_SIZE, mono=True) for text in texts), default=0.0))


def shorten_gradient(text: str) -> str:
    """What fits at the left of a line."""
    return shorten_end(text, LABEL_ROOM - 8, SMALL_SIZE, mono=True)
