"""The same picture as a Plotly figure, for notebooks, export and charts. The only module that needs plotly."""

from typing import TYPE_CHECKING, Any

from app.pictures.drawing.svg import draw_across, draw_head, draw_line
from app.pictures.graph.graph import Graph
from app.pictures.graph.words import describe_cut, describe_fold, describe_leaf, describe_node
from app.pictures.layout.boxes import Box
from app.pictures.layout.compose import Composition, compose
from app.pictures.layout.nested_groups import PlacedEdge, PlacedItem

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

_INK, _FORWARD, _LEAF, _CUT, _SAVED = "#23201b", "#1b5ea8", "#1f6f3c", "#63605a", "#e0a526"
_FILLS = {"leaf": "#e3f2e6", "more": "#e3f2e6", "cut": "#eeece7", "none": "#ffffff"}
_LINES = {"leaf": _LEAF, "more": _LEAF, "cut": _CUT, "none": _CUT}
_BOLD = ("title", "variable", "root")
_MONO = ("code", "grad", "shape", "value")


def graph_figure(graph: Graph, *, opened: frozenset[str] = frozenset()) -> "Figure":
    """A graph as a figure of shapes and labels; pointing at a box shows its sentence. Raises TooLarge."""
    # Plotly takes a third of a second to import, and only this function needs it.
    from plotly.graph_objects import Figure, Scatter  # noqa: PLC0415

    composition = compose(graph, opened)
    sketch = _Sketch(composition)
    xs, ys, words = sketch.points()
    hover = Scatter(x=xs, y=ys, text=words, mode="markers", marker={"size": 22, "opacity": 0}, hoverinfo="text")
    size = composition.arrangement
    hidden = {"visible": False, "fixedrange": True}
    return Figure(
        data=[hover],
        layout={
            "shapes": sketch.shapes(),
            "annotations": sketch.annotations(),
            "xaxis": {**hidden, "range": [0, size.width]},
            "yaxis": {**hidden, "range": [size.height, 0]},
            "width": round(size.width),
            "height": round(size.height),
            "margin": {"l": 0, "r": 0, "t": 0, "b": 0},
            "plot_bgcolor": "#fbf9f3",
            "paper_bgcolor": "#fbf9f3",
            "showlegend": False,
        },
    )


class _Sketch:
    """Plotly's dictionaries for one composition. The y axis points down, as in SVG."""

    def __init__(self, composition: Composition) -> None:
        self._composition = composition
        self._placed = composition.arrangement.items

    def shapes(self) -> list[dict[str, Any]]:
        found = [
            _rectangle(frame.x, frame.y, frame.width, frame.height, "#8c8371", "rgba(243,239,229,0.5)")
            for frame in self._composition.arrangement.frames
        ]
        for edge in self._composition.arrangement.edges:
            found += _edge_shapes(edge)
        for placed in self._placed:
            found += _box_shapes(placed.item.box, placed.x, placed.y)
            for side, (x, y) in zip(placed.item.sides, placed.sides, strict=True):
                found += _tie_shapes(placed, side.box, x, y)
        return found

    def annotations(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for placed in self._placed:
            found += _box_texts(placed.item.box, placed.x, placed.y)
            for side, (x, y) in zip(placed.item.sides, placed.sides, strict=True):
                found += _box_texts(side.box, x, y)
            found += self._exit_texts(placed)
        return found

    def _exit_texts(self, placed: PlacedItem) -> list[dict[str, Any]]:
        lines = self._composition.labels[placed.item.key].lines
        x, y = placed.x + placed.item.box.width / 2 + 8, placed.y + placed.item.box.height
        return [_text(line, x, y + 11 + 13 * row, 11, _CUT, "monospace") for row, line in enumerate(lines)]

    def points(self) -> tuple[list[float], list[float], list[str]]:
        """The points to hover over, and the sentence shown at each."""
        graph = self._composition.graph
        xs: list[float] = []
        ys: list[float] = []
        words: list[str] = []

        def add(box: Box, x: float, y: float, sentence: str) -> None:
            xs.append(x + box.width / 2)
            ys.append(y + box.height / 2)
            words.append(_plain(sentence))

        for placed in self._placed:
            add(placed.item.box, placed.x, placed.y, self._describe(placed))
            for side, (x, y) in zip(placed.item.sides, placed.sides, strict=True):
                if side.leaf is not None:
                    add(side.box, x, y, describe_leaf(graph, side.leaf))
                elif side.cut is not None:
                    add(side.box, x, y, describe_cut(graph, side.cut))
        return xs, ys, words

    def _describe(self, placed: PlacedItem) -> str:
        graph, item = self._composition.graph, placed.item
        if item.box.kind == "cut":
            return describe_cut(graph, int(item.key[1:]))
        if item.fold is not None and item.fold.kind != "op":
            return describe_fold(graph, item.fold)
        return describe_node(graph, item.node)


def _rectangle(x: float, y: float, width: float, height: float, line: str, fill: str) -> dict[str, Any]:
    return {
        "type": "rect", "x0": x, "y0": y, "x1": x + width, "y1": y + height,
        "line": {"color": line, "width": 1.4}, "fillcolor": fill, "layer": "below",
    }  # fmt: skip


def _path(path: str, line: str, fill: str = "rgba(0,0,0,0)", dash: str = "solid") -> dict[str, Any]:
    style = {"color": line, "width": 1.6, "dash": dash}
    return {"type": "path", "path": path, "line": style, "fillcolor": fill, "layer": "below"}


def _edge_shapes(placed: PlacedEdge) -> list[dict[str, Any]]:
    if len(placed.points) < 2:
        return []
    return [
        _path(draw_line(placed.points, stub=0.0), _FORWARD),
        _path(draw_head(placed.points[-1], "down"), _FORWARD, _FORWARD),
    ]


def _tie_shapes(placed: PlacedItem, box: Box, x: float, y: float) -> list[dict[str, Any]]:
    middle = y + box.height / 2
    at_box = min(max(middle, placed.y + 14), placed.y + placed.item.box.height - 14)
    right = placed.x + placed.item.box.width
    dash = "dash" if box.kind in ("cut", "none") else "solid"
    tie = _path(draw_across((x, middle), (right, at_box)), _LINES[box.kind], dash=dash)
    return [tie, *_box_shapes(box, x, y)]


def _box_shapes(box: Box, x: float, y: float) -> list[dict[str, Any]]:
    line, fill = _LINES.get(box.kind, _FORWARD), _FILLS.get(box.kind, "#ffffff")
    found = [] if box.kind == "none" else [_rectangle(x, y, box.width, box.height, line, fill)]
    if box.bar is not None and box.bar.filled:
        found.append(_rectangle(x + box.bar.x, y + box.bar.y, box.bar.filled, 8.0, _SAVED, _SAVED))
    return found


def _box_texts(box: Box, x: float, y: float) -> list[dict[str, Any]]:
    found = []
    for text in box.texts:
        words = f"<b>{_plain(text.words)}</b>" if text.style in _BOLD else _plain(text.words)
        family = "monospace" if text.style in _MONO else "serif"
        found.append(_text(words, x + text.x, y + text.y - text.size * 0.35, text.size, _INK, family))
    return found


def _text(words: str, x: float, y: float, size: float, color: str, family: str) -> dict[str, Any]:
    return {
        "text": words, "x": x, "y": y, "showarrow": False, "xanchor": "left", "yanchor": "middle",
        "font": {"size": size, "color": color, "family": family},
    }  # fmt: skip


def _plain(text: str) -> str:
    """Escape a learner's text, because Plotly interprets a few tags and entities in texts."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
