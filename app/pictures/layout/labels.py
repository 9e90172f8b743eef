"""The texts at a box's exit: shape and values on the right of the line, the gradient on its left."""

from dataclasses import dataclass

from app.pictures.graph.graph import Graph
from app.pictures.graph.words import drop_shape, write_shape
from app.pictures.layout.attach import Item
from app.pictures.layout.boxes import GRADIENT_LETTERS, SMALL_SIZE
from app.pictures.layout.measure import LETTER_EM, shorten_end, text_width

LABEL_ROOM = 112.0


@dataclass(frozen=True, slots=True)
class Label:
    """The lines on the right, and the width that each side needs, in pixels."""

    lines: tuple[str, ...] = ()
    left_room: float = 0.0
    right_room: float = 0.0


def label_item(graph: Graph, item: Item) -> Label:
    """Empty for a leaf, because its pill gives its shape, and for an output that nothing uses."""
    if item.fold is None or not item.outputs:
        return Label()
    node = graph.face(graph.order[item.fold.last])
    values = graph.trace.nodes.values[node]
    shape = graph.trace.nodes.shape[node]
    # A single number needs no shape beside it.
    lines = [] if values and not shape else [shorten_end(write_shape(shape), LABEL_ROOM, SMALL_SIZE, mono=True)]
    if values:
        lines.append(shorten_end(drop_shape(values), LABEL_ROOM, SMALL_SIZE, mono=True))
    width = max(text_width(line, SMALL_SIZE, mono=True) for line in lines)
    return Label(tuple(lines), _gradient_room(graph, node), 8 + width)


def _gradient_room(graph: Graph, node: int) -> float:
    """Room for the gradient that arrives: the most allowed for a sum of several parts, else what one part needs."""
    events = graph.trace.events
    texts = [drop_shape(events.incoming[row]) for row in graph.steps_at.get(node, ()) if events.kind[row] == "vjp"]
    if not texts:
        return 0.0
    is_sum = graph.uses.get(node, 0) > 1
    letters = GRADIENT_LETTERS if is_sum else min(GRADIENT_LETTERS, max(map(len, texts)))
    return 8 + letters * SMALL_SIZE * LETTER_EM
