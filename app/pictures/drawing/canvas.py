"""A graph with nothing folded, as compact arrays for a canvas: the same layers as the picture, laid out in columns.

One strip of ten thousand operations would be far too long and narrow to read. So the strip is cut between layers
and its pieces are placed side by side, like columns of print. A line that continues in the next column runs
through the gap between the two.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate, pairwise
from math import sqrt
from statistics import median
from typing import Any

from app.pictures.budget import TooLarge
from app.pictures.graph.graph import Graph
from app.pictures.graph.words import CUT_WORDS, write_place
from app.pictures.layout.boxes import CODE_SIZE, PADDING, TITLE_SIZE
from app.pictures.layout.layered import Block, Link, Placement, Point, place_blocks
from app.pictures.layout.measure import shorten_end, shorten_start, text_width
from app.pictures.layout.view import MAX_PILLS

MAX_WHOLE_NODES = 30_000
"""How many operations are opened at once; laying out more would delay every other page for too long."""

BOX_HEIGHT = 48.0
PILL_HEIGHT = 20.0
_WIDEST_TEXT = 170.0
_WIDEST_PILL = 130.0
_PILL_STEP = 24.0
_PILL_GAP = 14.0
_GUTTER = 70.0
_TURN = 16.0
_ASPECT = 1.5
_SHORTEST_COLUMN = 900.0
_NEAR_ROWS = 12
_ROUNDING = 0.2
_CUTTINGS = 3


@dataclass(frozen=True, slots=True)
class _Pill:
    """A label beside a box: a leaf, a cut, or how many more there are."""

    kind: str
    words: str
    width: float
    node: int


@dataclass(frozen=True, slots=True)
class _Card:
    """One operation: its texts shortened to fit, the width of its box, and its pills."""

    node: int
    title: str
    code: str
    width: float
    pills: tuple[_Pill, ...]

    @property
    def full_width(self) -> float:
        return self.width + (_PILL_GAP + max(pill.width for pill in self.pills) if self.pills else 0.0)

    @property
    def height(self) -> float:
        return max(BOX_HEIGHT, _PILL_STEP * len(self.pills))


@dataclass(frozen=True, slots=True)
class _Row:
    """A layer of boxes in the strip."""

    top: float
    left: float
    right: float

    @property
    def middle(self) -> float:
        return (self.left + self.right) / 2


@dataclass(frozen=True, slots=True)
class _Columns:
    """Where the strip is cut. Each row has its column and how far it moves; each column has its right end."""

    tops: tuple[float, ...]
    column_of: tuple[int, ...]
    shifts: tuple[Point, ...]
    rights: tuple[float, ...]
    width: float
    height: float

    def row_at(self, y: float) -> int:
        return max(0, bisect_right(self.tops, y + _ROUNDING) - 1)


@dataclass
class _Words:
    """A table of distinct texts and their numbers, so that each text is sent once."""

    numbers: dict[str, int] = field(default_factory=dict)

    def number(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))


def write_whole(graph: Graph, *, most: int = MAX_WHOLE_NODES) -> dict[str, Any]:
    """The document that the canvas draws. Raises TooLarge beyond `most` operations."""
    if len(graph.order) > most:
        raise TooLarge(f"the graph has {len(graph.order):,} operations; at most {most:,} are opened at once")
    cards = [_make_card(graph, node) for node in graph.order]
    links, ends = _make_links(graph, cards)
    placement = place_blocks([Block(card.full_width, card.height) for card in cards], links)
    columns = _cut_columns(cards, placement)
    words = _Words()
    return {
        "width": round(columns.width),
        "height": round(columns.height),
        "boxes": _write_boxes(cards, placement, columns, words),
        "pills": _write_pills(cards, placement, columns, words),
        "edges": {
            "from": [producer for producer, _ in ends],
            "to": [consumer for _, consumer in ends],
            "points": [_write_route(route, columns) for route in placement.routes],
        },
        "words": list(words.numbers),
    }


def _make_card(graph: Graph, node: int) -> _Card:
    title, title_width = _fit_title(graph.title(node))
    span = graph.trace.nodes.span[node]
    code, code_width = _fit_code(f"{span[0]}  {graph.code(span)}".rstrip()) if span is not None else ("", 0.0)
    pills = _leaf_pills(graph, node) + _cut_pills(graph, node)
    return _Card(node, title, code, round(max(title_width, code_width, 60.0) + 2 * PADDING), pills)


# Ten thousand operations have few different texts, because each turn of a loop repeats the same code.
@lru_cache(maxsize=4_096)
def _fit_title(title: str) -> tuple[str, float]:
    short = shorten_end(title, _WIDEST_TEXT, TITLE_SIZE, bold=True)
    return short, text_width(short, TITLE_SIZE, bold=True)


@lru_cache(maxsize=4_096)
def _fit_code(code: str) -> tuple[str, float]:
    short = shorten_end(code, _WIDEST_TEXT, CODE_SIZE, mono=True)
    return short, text_width(short, CODE_SIZE, mono=True)


@lru_cache(maxsize=4_096)
def _fit_name(name: str) -> tuple[str, float]:
    short = shorten_start(name, _WIDEST_PILL, CODE_SIZE, mono=True)
    return short, text_width(short, CODE_SIZE, mono=True) + 16.0


def _leaf_pills(graph: Graph, node: int) -> tuple[_Pill, ...]:
    leaves = list(dict.fromkeys(item.node for item in graph.operands(node) if item.node in graph.leaf_set))
    names = graph.trace.nodes.variable
    pills = [_Pill("leaf", *_fit_name(names[leaf] or "leaf"), leaf) for leaf in leaves[:MAX_PILLS]]
    if len(leaves) > MAX_PILLS:
        pills.append(_Pill("more", *_fit_name(f"+ {len(leaves) - MAX_PILLS:,} more"), -1))
    return tuple(pills)


def _cut_pills(graph: Graph, node: int) -> tuple[_Pill, ...]:
    cuts, pills = graph.trace.cuts, list[_Pill]()
    for row in graph.cuts_at.get(node, ())[:MAX_PILLS]:
        words, width = _fit_name(f"{CUT_WORDS[cuts.kind[row]]} {write_place(cuts.span[row])}".rstrip())
        pills.append(_Pill("cut", words, width + 16.0, node))
    return tuple(pills)


def _make_links(graph: Graph, cards: Sequence[_Card]) -> tuple[list[Link], list[tuple[int, int]]]:
    """One link from each producer to each of its users, and for each link the two places in the forward order."""
    found = dict[tuple[int, int], Link]()
    for place, node in enumerate(graph.order):
        for item in graph.operands(node):
            if item.node not in graph.leaf_set:
                above = graph.position[item.node]
                found[above, place] = Link(above, place, cards[above].width / 2, cards[place].width / 2)
    return list(found.values()), list(found)


def _cut_columns(cards: Sequence[_Card], placement: Placement) -> _Columns:
    """Cut the strip into columns whose height makes the whole a little wider than high."""
    rows = _straighten_strip(_find_rows(cards, placement))
    if not rows:
        return _Columns((0.0,), (0,), ((0.0, 0.0),), (0.0,), 0.0, 0.0)
    starts = _cut_rows(rows, placement.height)
    column_of, shifts, rights, x = list[int](), list[Point](), list[float](), _GUTTER / 2
    for column, (start, stop) in enumerate(pairwise([*starts, len(rows)])):
        inside = rows[start:stop]
        left = min(row.left + lean for row, lean in inside)
        shifts += [(x - left + lean, _GUTTER - inside[0][0].top) for _, lean in inside]
        column_of += [column] * len(inside)
        x += max(row.right + lean for row, lean in inside) - left + _GUTTER
        rights.append(x - _GUTTER / 2)
    ends = [*(rows[start][0].top for start in starts[1:]), placement.height]
    height = max(end - rows[start][0].top for start, end in zip(starts, ends, strict=True)) + 2 * _GUTTER
    tops = tuple(row.top for row, _ in rows)
    return _Columns(tops, tuple(column_of), tuple(shifts), tuple(rights), x, height)


def _cut_rows(rows: Sequence[tuple[_Row, float]], height: float) -> list[int]:
    """Each column's first row."""
    usual = median(row.right - row.left for row, _ in rows) + _GUTTER
    for _ in range(_CUTTINGS):
        tallest = max(_SHORTEST_COLUMN, sqrt(height * usual / _ASPECT))
        starts = [0]
        for place, (row, _) in enumerate(rows):
            if row.top - rows[starts[-1]][0].top > tallest:
                starts.append(place)
        bounds = pairwise([*starts, len(rows)])
        # A row is shifted within its column, so the column's width must be measured over all its rows.
        usual = sum(_width(rows[start:stop]) for start, stop in bounds) / len(starts) + _GUTTER
    return starts


def _width(rows: Sequence[tuple[_Row, float]]) -> float:
    return max(row.right + lean for row, lean in rows) - min(row.left + lean for row, lean in rows)


def _find_rows(cards: Sequence[_Card], placement: Placement) -> list[_Row]:
    rows, bottom = list[_Row](), -1.0
    for place in sorted(range(len(cards)), key=lambda place: placement.top[place]):
        left, top = placement.left[place], placement.top[place]
        right = left + cards[place].full_width
        if top >= bottom:
            rows.append(_Row(top, left, right))
        else:
            rows[-1] = _Row(rows[-1].top, min(rows[-1].left, left), max(rows[-1].right, right))
        bottom = max(bottom, top + cards[place].height)
    return rows


def _straighten_strip(rows: Sequence[_Row]) -> list[tuple[_Row, float]]:
    """Each row with how far it moves sideways, so that a long strip stays upright instead of drifting to one side."""
    sums = [0.0, *accumulate(row.middle for row in rows)]
    found = list[tuple[_Row, float]]()
    for place, row in enumerate(rows):
        near = min(place, len(rows) - 1 - place, _NEAR_ROWS)
        found.append((row, (sums[place - near] - sums[place + near + 1]) / (2 * near + 1)))
    return found


def _write_boxes(
    cards: Sequence[_Card], placement: Placement, columns: _Columns, words: _Words
) -> dict[str, list[int]]:
    places = [_move((left, top), columns) for left, top in zip(placement.left, placement.top, strict=True)]
    return {
        "node": [card.node for card in cards],
        "x": [round(x) for x, _ in places],
        "y": [round(y + (card.height - BOX_HEIGHT) / 2) for card, (_, y) in zip(cards, places, strict=True)],
        "width": [round(card.width) for card in cards],
        "title": [words.number(card.title) for card in cards],
        "code": [words.number(card.code) for card in cards],
    }


def _write_pills(
    cards: Sequence[_Card], placement: Placement, columns: _Columns, words: _Words
) -> dict[str, list[Any]]:
    rows = list[tuple[int, str, int, int, int, int, int]]()
    for place, card in enumerate(cards):
        x, y = _move((placement.left[place], placement.top[place]), columns)
        top = y + (card.height - _PILL_STEP * len(card.pills)) / 2 + (_PILL_STEP - PILL_HEIGHT) / 2
        for number, pill in enumerate(card.pills):
            left, width = round(x + card.width + _PILL_GAP), round(pill.width)
            y_now = round(top + number * _PILL_STEP)
            rows.append((place, pill.kind, pill.node, left, y_now, width, words.number(pill.words)))
    names = ("box", "kind", "node", "x", "y", "width", "words")
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def _move(point: Point, columns: _Columns) -> Point:
    dx, dy = columns.shifts[columns.row_at(point[1])]
    return point[0] + dx, point[1] + dy


def _write_route(route: Sequence[Point], columns: _Columns) -> list[int]:
    """x, y, x, y ...: from the producer down to the user, through the gap wherever the next column begins."""
    points = [_move(route[0], columns)]
    for before, after in pairwise(route):
        column, following = (columns.column_of[columns.row_at(y)] for _, y in (before, after))
        moved = _move(after, columns)
        if following != column:
            points += _turn(points[-1], moved, columns.rights[column])
        points.append(moved)
    return [round(number) for point in _straighten(points) for number in point]


def _turn(before: Point, after: Point, gap: float) -> list[Point]:
    low, high = before[1] + _TURN, min(after[1], _GUTTER) - _TURN
    return [(before[0], low), (gap, low), (gap, high), (after[0], high)]


def _straighten(points: Sequence[Point]) -> list[Point]:
    """Drop the points in the middle of vertical lines."""
    kept = list(points[:1])
    for before, point, after in zip(points, points[1:], points[2:], strict=False):
        if not abs(before[0] - point[0]) < 1 > abs(after[0] - point[0]):
            kept.append(point)
    return [*kept, points[-1]]
