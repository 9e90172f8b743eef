"""Draw a trace as SVG that works without script: inputs at the top, results below, as the program runs."""

import re
from dataclasses import dataclass

from app.pictures.arrange import Arrangement, arrange
from app.pictures.attach import Item, set_scene
from app.pictures.boxes import MOST_OUTPUTS, OUTPUT_STEP
from app.pictures.fold import fold_graph
from app.pictures.graph import Graph, read_graph
from app.pictures.labels import Label, label_item
from app.pictures.paint import DrawnNode, Painter
from app.pictures.shapes import draw_halo
from app.pictures.state import State, read_state
from app.pictures.svg import element, write
from app.pictures.view import choose_view
from app.pictures.words import describe_graph, write_text
from graders.contract.trace import Trace

_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawn graph. `text` says the same in words; `folds` are the keys that `opened` may name."""

    svg: str
    nodes: tuple[DrawnNode, ...]
    folds: tuple[str, ...]
    width: float
    height: float
    text: str


def draw_graph(
    trace: Trace,
    *,
    id_prefix: str,
    source: str = "",
    opened: frozenset[str] = frozenset(),
    step: int | None = None,
) -> Picture:
    """The picture of a checked trace. `source` is the text that its spans point into; `step` a step of its tape.

    Raises ValueError where `id_prefix` could not begin an id; unknown keys in `opened` are passed over.
    """
    if not _PREFIX.fullmatch(id_prefix):
        raise ValueError(f"id_prefix is {id_prefix!r}; write a letter, then letters, digits, - or _")
    graph = read_graph(trace, source)
    view = choose_view(graph, fold_graph(graph), opened)
    scene = set_scene(graph, view)
    labels = {item.key: label_item(graph, item) for item in scene.items}
    arrangement = arrange(scene, view, {key: (label.left_room, label.right_room) for key, label in labels.items()})
    state = read_state(graph, step)
    painter = Painter(graph, state, id_prefix)
    svg = _write_picture(graph, arrangement, painter, labels, state, id_prefix)
    folds = tuple(item.fold.key for item in scene.items if item.fold is not None and item.fold.kind != "op")
    return Picture(svg, tuple(painter.drawn), folds, arrangement.width, arrangement.height, write_text(graph, view))


def _write_picture(
    graph: Graph, arrangement: Arrangement, painter: Painter, labels: dict[str, Label], state: State, id_prefix: str
) -> str:
    title_id, text_id = f"{id_prefix}-title", f"{id_prefix}-desc"
    exits = "".join(
        painter.paint_label(placed, labels[placed.item.key], spread_exits(placed.item))
        for placed in arrangement.items
    )
    layers = (
        element("title", "Graph of the program", id=title_id)
        + element("desc", write(describe_graph(graph)), id=text_id)
        + element("g", "".join(map(painter.paint_frame, arrangement.frames)), klass="frames")
        + element("g", "".join(map(painter.paint_edge, arrangement.edges)), klass="edges", aria_hidden="true")
        + element("g", exits, klass="exits", aria_hidden="true")
        + element("g", "".join(map(painter.paint_item, arrangement.items)), klass="nodes")
        + element("g", _write_wavefront(painter, state), klass="wavefront", aria_hidden="true")
    )
    width, height = round(arrangement.width), round(arrangement.height)
    return element(
        "svg",
        layers,
        xmlns="http://www.w3.org/2000/svg",
        klass="graph-picture",
        id=id_prefix,
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="group",
        aria_labelledby=title_id,
        aria_describedby=text_id,
    )


def spread_exits(item: Item) -> tuple[float, ...]:
    """Where each output's line leaves, from the middle of the box."""
    count = min(len(item.outputs), MOST_OUTPUTS)
    return tuple((place - (count - 1) / 2) * OUTPUT_STEP for place in range(count))


def _write_wavefront(painter: Painter, state: State) -> str:
    found = (drawn for drawn in painter.drawn if state.running is not None and state.running in drawn.members)
    return "".join(draw_halo(drawn.x, drawn.y, drawn.width, drawn.height) for drawn in found)
