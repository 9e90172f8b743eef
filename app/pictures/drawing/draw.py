"""Draw a graph as SVG that works without script: inputs at the top, results below, in the program's order."""

import re
from dataclasses import dataclass

from app.pictures.budget import MAX_SVG_BYTES, TooLarge
from app.pictures.drawing.paint import DrawnNode, Painter
from app.pictures.drawing.shapes import draw_halo
from app.pictures.drawing.svg import element, write
from app.pictures.graph.graph import Graph
from app.pictures.graph.words import describe_graph, write_text
from app.pictures.layout.attach import Item
from app.pictures.layout.boxes import MAX_OUTPUTS, OUTPUT_STEP
from app.pictures.layout.compose import Composition, compose
from app.pictures.tape.state import read_state

_PREFIX = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawn graph. `text` says the same in words; `folds` are the closed folds, which `opened` may name."""

    svg: str
    nodes: tuple[DrawnNode, ...]
    folds: tuple[str, ...]
    width: float
    height: float
    text: str


def draw_graph(
    graph: Graph,
    *,
    id_prefix: str,
    opened: frozenset[str] = frozenset(),
    step: int | None = None,
) -> Picture:
    """The picture of a graph. `step` says how many steps of its tape have been taken; None is the whole graph as a
    still picture.

    Unknown keys in `opened` are ignored. Raises TooLarge, and ValueError if `id_prefix` could not begin an id.
    """
    if not _PREFIX.fullmatch(id_prefix):
        raise ValueError(f"id_prefix is {id_prefix!r}; write a letter, then letters, digits, - or _")
    composition = compose(graph, opened)
    state = read_state(graph, step)
    painter = Painter(graph, state, composition.scene.items, id_prefix)
    svg = _write_svg(composition, painter, id_prefix, is_stepping=step is not None)
    if len(svg) > MAX_SVG_BYTES:
        raise TooLarge(f"its picture would take {len(svg) / 1e6:.0f} MB; close a fold")
    folds = tuple(item.key for item in composition.scene.items if item.fold is not None and item.fold.kind != "op")
    size = composition.arrangement
    text = write_text(graph, composition.view)
    return Picture(svg, tuple(painter.drawn), folds, size.width, size.height, text)


def _write_svg(composition: Composition, painter: Painter, id_prefix: str, *, is_stepping: bool) -> str:
    title_id, text_id = f"{id_prefix}-title", f"{id_prefix}-desc"
    arrangement, labels = composition.arrangement, composition.labels
    exits = "".join(
        painter.paint_label(placed, labels[placed.item.key], spread_exits(placed.item))
        for placed in arrangement.items
    )
    layers = (
        element("title", "Graph of the program", id=title_id)
        + element("desc", write(describe_graph(composition.graph)), id=text_id)
        + element("g", "".join(map(painter.paint_frame, arrangement.frames)), klass="frames")
        + element("g", "".join(map(painter.paint_edge, arrangement.edges)), klass="edges", aria_hidden="true")
        + element("g", exits, klass="exits", aria_hidden="true")
        + element("g", "".join(map(painter.paint_item, arrangement.items)), klass="nodes")
    )
    # The wavefront comes last so that it is drawn over everything; the player moves its elements.
    halos = (draw_halo(node.x, node.y, node.width, node.height) for node in painter.find_running())
    wavefront = f'<g class="wavefront" aria-hidden="true">{"".join(halos)}</g>'
    width, height = round(arrangement.width), round(arrangement.height)
    return element(
        "svg",
        layers + wavefront,
        xmlns="http://www.w3.org/2000/svg",
        klass="graph-picture is-stepping" if is_stepping else "graph-picture",
        id=id_prefix,
        viewBox=f"0 0 {width} {height}",
        width=width,
        height=height,
        role="group",
        aria_labelledby=title_id,
        aria_describedby=text_id,
    )


def spread_exits(item: Item) -> tuple[float, ...]:
    """Where each output's line leaves, measured from the middle of the box."""
    count = min(len(item.outputs), MAX_OUTPUTS)
    return tuple((place - (count - 1) / 2) * OUTPUT_STEP for place in range(count))
