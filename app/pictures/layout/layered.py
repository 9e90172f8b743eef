"""A layered layout: deterministic, fast, and with few crossings on the graphs that autograd builds.

The method is that of Sugiyama, Tagawa and Toda (1981): layers by longest path, order within a layer by the mean
place of the neighbours, then coordinates by least squares. The constraint is that boxes of one layer do not
overlap; pooling adjacent violators solves it exactly. An edge that crosses layers passes through narrow bends,
which are placed like boxes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

COLUMN_GAP = 28.0
BEND_WIDTH = 10.0
BEND_GAP = 18.0
_ORDER_SWEEPS = 4
_PLACE_SWEEPS = 7
_BENDS_PER_BOX = 6
_AXIS_PULL = 0.002
_STRAIGHT = 3.0
_NO_LABEL = 24.0

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Block:
    """A rectangle to place. `pinned` keeps a group's port in the top or bottom layer; lines end `inset` inside it."""

    width: float
    height: float
    pinned: int = 0
    inset: float = 0.0


@dataclass(frozen=True, slots=True)
class Link:
    """A line from a producer's bottom to a consumer's top; the offsets are from their left sides."""

    source: int
    target: int
    exit: float
    entry: float


@dataclass(frozen=True, slots=True)
class Placement:
    """Left and top of each block, and each link's line as points from the producer down to the consumer."""

    left: tuple[float, ...]
    top: tuple[float, ...]
    routes: tuple[tuple[Point, ...], ...]
    width: float
    height: float


@dataclass(slots=True)
class _Cell:
    """A block or a bend in its layer; `up` and `down` hold (neighbour, own offset, neighbour's offset)."""

    width: float
    layer: int
    block: int
    left: float = 0.0
    place: int = 0
    up: list[tuple[int, float, float]] = field(default_factory=list)
    down: list[tuple[int, float, float]] = field(default_factory=list)


def place_blocks(
    blocks: Sequence[Block], links: Sequence[Link], *, row_gap: float = 40.0, bend_gap: float = 56.0
) -> Placement:
    """Place blocks so that every link points down. Raises ValueError where the links have a cycle.

    Rows are `row_gap` apart, or `bend_gap` if a line between them goes sideways.
    """
    layer_of = _assign_layers(blocks, links)
    cells = [_Cell(block.width, layer_of[index], index) for index, block in enumerate(blocks)]
    chains = _join(cells, links, with_bends=_bends(links, layer_of) <= _BENDS_PER_BOX * len(blocks) + 1_000)
    layers = _order_layers(cells)
    _set_lefts(cells, layers)
    return _read_placement(blocks, links, cells, layers, chains, (row_gap, bend_gap))


def _assign_layers(blocks: Sequence[Block], links: Sequence[Link]) -> list[int]:
    consumers: list[list[int]] = [[] for _ in blocks]
    producers = [0] * len(blocks)
    for link in links:
        consumers[link.source].append(link.target)
        producers[link.target] += 1
    floor = 1 if any(block.pinned < 0 for block in blocks) else 0
    layer_of = [0 if block.pinned < 0 else floor for block in blocks]
    for index in _order_downward(consumers, producers):
        for consumer in consumers[index]:
            layer_of[consumer] = max(layer_of[consumer], layer_of[index] + 1)
    bottom = max((layer for layer, block in zip(layer_of, blocks, strict=True) if block.pinned <= 0), default=0) + 1
    for index, block in enumerate(blocks):
        if block.pinned > 0:
            layer_of[index] = bottom
        elif block.pinned == 0 and not producers[index] and consumers[index]:
            layer_of[index] = min(layer_of[consumer] for consumer in consumers[index]) - 1
    return layer_of


def _order_downward(consumers: Sequence[Sequence[int]], producers: Sequence[int]) -> list[int]:
    waits = list(producers)
    order = [index for index, count in enumerate(waits) if count == 0]
    for index in order:
        for consumer in consumers[index]:
            waits[consumer] -= 1
            if waits[consumer] == 0:
                order.append(consumer)
    if len(order) < len(waits):
        raise ValueError("the links have a cycle")
    return order


def _bends(links: Sequence[Link], layer_of: Sequence[int]) -> int:
    return sum(layer_of[link.target] - layer_of[link.source] - 1 for link in links)


def _join(cells: list[_Cell], links: Sequence[Link], *, with_bends: bool) -> list[list[int]]:
    """Join the cells along the links, and list the cells that each link passes. Lines from one exit share bends."""
    shared: dict[tuple[int, float, int], int] = {}
    joined: set[tuple[int, int]] = set()
    chains: list[list[int]] = []
    for link in links:
        chain = [link.source]
        for layer in range(cells[link.source].layer + 1, cells[link.target].layer if with_bends else 0):
            key = (link.source, link.exit, layer)
            if key not in shared:
                shared[key] = len(cells)
                cells.append(_Cell(BEND_WIDTH, layer, -1))
            chain.append(shared[key])
        chain.append(link.target)
        chains.append(chain)
        for upper, lower in pairwise(chain):
            if lower != link.target and (upper, lower) in joined:
                continue
            joined.add((upper, lower))
            out = link.exit if upper == link.source else BEND_WIDTH / 2
            into = link.entry if lower == link.target else BEND_WIDTH / 2
            cells[upper].down.append((lower, out, into))
            cells[lower].up.append((upper, into, out))
    return chains


def _order_layers(cells: list[_Cell]) -> list[list[int]]:
    layers: list[list[int]] = [[] for _ in range(max((cell.layer for cell in cells), default=-1) + 1)]
    for index, cell in enumerate(cells):
        layers[cell.layer].append(index)
    for layer in layers:
        _number(cells, layer)
    for sweep in range(_ORDER_SWEEPS):
        downward = sweep % 2 == 0
        for layer in layers if downward else reversed(layers):
            if len(layer) > 1:
                layer.sort(key=lambda index: _mean_place(cells, index, downward))
                _number(cells, layer)
    return layers


def _number(cells: list[_Cell], layer: list[int]) -> None:
    for place, index in enumerate(layer):
        cells[index].place = place


def _mean_place(cells: list[_Cell], index: int, downward: bool) -> float:
    """The mean of the places where the neighbours' lines leave; the cell's own place if it has no neighbours."""
    cell = cells[index]
    near = cell.up if downward else cell.down
    if not near:
        return cell.place
    return sum(cells[other].place + offset / (cells[other].width + 1.0) for other, _, offset in near) / len(near)


def _set_lefts(cells: list[_Cell], layers: list[list[int]]) -> None:
    steps = [_separations(cells, layer) for layer in layers]
    for layer, step in zip(layers, steps, strict=True):
        for index, left in zip(layer, step, strict=True):
            cells[index].left = left - (step[-1] + cells[layer[-1]].width) / 2
    for sweep in range(_PLACE_SWEEPS):
        numbers = range(len(layers)) if sweep % 2 == 0 else range(len(layers) - 1, -1, -1)
        both = sweep == _PLACE_SWEEPS - 2
        for number in numbers:
            wished = [_wish(cells, index, both or sweep % 2 == 0, both or sweep % 2 == 1) for index in layers[number]]
            for index, left in zip(layers[number], _separate(wished, steps[number]), strict=True):
                cells[index].left = left


def _separations(cells: list[_Cell], layer: list[int]) -> list[float]:
    """The leftmost place of each cell when the cells are packed side by side from 0."""
    lefts, left = [], 0.0
    for index, following in zip(layer, [*layer[1:], -1], strict=True):
        lefts.append(left)
        bend = cells[index].block < 0 or (following >= 0 and cells[following].block < 0)
        left += cells[index].width + (BEND_GAP if bend else COLUMN_GAP)
    return lefts


def _wish(cells: list[_Cell], index: int, from_up: bool, from_down: bool) -> tuple[float, float]:
    """Where a cell would be straight below or above its neighbours, and how much that matters to it."""
    cell = cells[index]
    near = (cell.up if from_up else []) + (cell.down if from_down else [])
    if not near:
        return cell.left, 0.1
    # Direct edges outrank long ones; otherwise a chain with shortcuts would drift sideways without end. The weak
    # pull to the axis (0, where the layers were centred) bounds the drift that remains.
    alike = [item for item in near if (cells[item[0]].block < 0) == (cell.block < 0)] or near
    pull = sum(cells[other].left + offset - own for other, own, offset in alike) - _AXIS_PULL * cell.width / 2
    return pull / (len(alike) + _AXIS_PULL), (1.0 if cell.block < 0 else 4.0) * len(near)


def _separate(wished: list[tuple[float, float]], steps: list[float]) -> list[float]:
    """The places nearest to the wished ones, by weighted least squares, that keep the minimum steps between cells.

    The method is pool adjacent violators.
    """
    pools: list[tuple[float, float, int]] = []
    for (wish, weight), step in zip(wished, steps, strict=True):
        mean, mass, count = wish - step, weight, 1
        while pools and pools[-1][0] > mean:
            before, before_mass, before_count = pools.pop()
            mean = (before * before_mass + mean * mass) / (before_mass + mass)
            mass, count = mass + before_mass, count + before_count
        pools.append((mean, mass, count))
    means = [mean for mean, _, count in pools for _ in range(count)]
    return [mean + step for mean, step in zip(means, steps, strict=True)]


def _read_placement(
    blocks: Sequence[Block],
    links: Sequence[Link],
    cells: list[_Cell],
    layers: list[list[int]],
    chains: list[list[int]],
    gaps: tuple[float, float],
) -> Placement:
    heights = [
        max((blocks[cells[index].block].height for index in layer if cells[index].block >= 0), default=0.0)
        for layer in layers
    ]
    rows = _stack_rows(cells, heights, gaps)
    shift = min((cell.left for cell in cells), default=0.0)
    left = [round(cell.left - shift, 1) for cell in cells]
    top = [
        round(rows[cell.layer] + (heights[cell.layer] - block.height) / 2, 1)
        for cell, block in zip(cells, blocks, strict=False)
    ]
    routes = []
    for link, chain in zip(links, chains, strict=True):
        start, end = cells[link.source], cells[link.target]
        from_x, to_x = left[link.source] + link.exit, left[link.target] + link.entry
        bottom = top[link.source] + blocks[link.source].height - blocks[link.source].inset
        points = [(from_x, bottom), (from_x, rows[start.layer] + heights[start.layer])]
        for index in chain[1:-1]:
            x, row = left[index] + BEND_WIDTH / 2, cells[index].layer
            points += [(x, rows[row]), (x, rows[row] + heights[row])]
        points += [(to_x, rows[end.layer]), (to_x, top[link.target] + blocks[link.target].inset)]
        routes.append(tuple(points))
    width = max((edge + cell.width for edge, cell in zip(left, cells, strict=True)), default=0.0)
    height = rows[-1] + heights[-1] if heights else 0.0
    return Placement(tuple(left[: len(blocks)]), tuple(top), tuple(routes), width, height)


def _stack_rows(cells: list[_Cell], heights: list[float], gaps: tuple[float, float]) -> list[float]:
    """The top of each row. A line that goes sideways needs more room below a row; a row of ports needs less."""
    bent = {
        upper.layer
        for upper in cells
        for lower, out, into in upper.down
        if abs(upper.left + out - cells[lower].left - into) > _STRAIGHT
    }
    rows, top = [], 0.0
    for number, height in enumerate(heights):
        rows.append(top)
        top += height + gaps[number in bent] - (0.0 if height else _NO_LABEL)
    return rows
