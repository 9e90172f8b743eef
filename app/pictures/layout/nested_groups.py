"""Place a scene: each opened group is laid out separately, then placed as one block in the group around it.

An edge that crosses a group's border passes through a port: a narrow block pinned to the group's first or last
layer. So opening a group changes the layout of that group alone, and edges still run straight through it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.pictures.layout.attach import Edge, Item, Scene
from app.pictures.layout.boxes import MAX_OUTPUTS, OUTPUT_STEP, SMALL_SIZE
from app.pictures.layout.layered import Block, Link, Placement, Point, place_blocks
from app.pictures.layout.measure import text_width
from app.pictures.layout.view import Shown

SIDE_GAP = 22.0
STACK_GAP = 6.0
ROW_GAP, BEND_GAP = 46.0, 64.0
FRAME_HEAD, FRAME_PAD = 34.0, 14.0
_PORT = 10.0
_ENTRY_STEP = 20.0
MARGIN = 10.0


@dataclass(frozen=True, slots=True)
class PlacedItem:
    """An item's box at its place, in pixels; `sides` are the top left corners of the small boxes beside it."""

    item: Item
    x: float
    y: float
    sides: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class PlacedFrame:
    """The border of an opened fold."""

    shown: Shown
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class PlacedEdge:
    """An edge as points from the producer down to the consumer."""

    edge: Edge
    points: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Arrangement:
    """A picture's geometry, before any colour."""

    items: tuple[PlacedItem, ...]
    frames: tuple[PlacedFrame, ...]
    edges: tuple[PlacedEdge, ...]
    width: float
    height: float


@dataclass
class _Unit:
    """An item, or a framed group of units. `shift` is the room left of an item's box, `inset` the room above it."""

    key: str
    item: Item | None = None
    shown: Shown | None = None
    parts: list["_Unit"] = field(default_factory=list)
    path: tuple[str, ...] = ()
    width: float = 0.0
    height: float = 0.0
    shift: float = 0.0
    inset: float = 0.0
    placement: Placement | None = None
    entries: dict[tuple[str, int], float] = field(default_factory=dict)
    exits: dict[tuple[str, int], float] = field(default_factory=dict)
    segments: dict[int, tuple[Point, ...]] = field(default_factory=dict)


def arrange(scene: Scene, view: Sequence[Shown], labels: dict[str, tuple[float, float]]) -> Arrangement:
    """Place a scene. `labels` gives the pixels that the texts at an item's exit need, left and right, by item key."""
    return _Arranger(scene, view, labels).arrange()


def needs_frame(shown: Shown, *, whole: bool) -> bool:
    """Whether an opened fold is drawn with a border; `whole` says that nothing in the picture is folded."""
    if shown.asked or shown.fold.kind == "checkpoint":
        return True
    return shown.fold.kind in ("module", "iteration") and not whole


def is_whole(view: Sequence[Shown]) -> bool:
    """Whether a view leaves nothing folded."""
    return all(is_whole(shown.parts) if shown.is_open else shown.fold.kind == "op" for shown in view)


class _Arranger:
    def __init__(self, scene: Scene, view: Sequence[Shown], labels: dict[str, tuple[float, float]]) -> None:
        self._scene = scene
        self._labels = labels
        self._whole = is_whole(view)
        self._items = {item.key: item for item in scene.items}
        self._units: dict[str, _Unit] = {}
        self._root = _Unit("", parts=self._gather(view))
        self._add_free_items()
        self._set_paths(self._root, ())
        self._edges_in: dict[str, list[int]] = {}
        for number, edge in enumerate(scene.edges):
            for key in {**dict.fromkeys(self._path(edge.producer)), **dict.fromkeys(self._path(edge.consumer))}:
                self._edges_in.setdefault(key, []).append(number)

    def arrange(self) -> Arrangement:
        self._lay_out(self._root)
        items: list[PlacedItem] = []
        frames: list[PlacedFrame] = []
        pieces: dict[int, list[tuple[float, tuple[Point, ...]]]] = {}
        self._collect(self._root, MARGIN, MARGIN, items, frames, pieces)
        edges = []
        for number, edge in enumerate(self._scene.edges):
            parts = sorted(pieces.get(number, ()), key=lambda piece: piece[0])
            edges.append(PlacedEdge(edge, tuple(point for _, points in parts for point in points)))
        order = {item.key: place for place, item in enumerate(self._scene.items)}
        items.sort(key=lambda placed: order[placed.item.key])
        width, height = self._root.width + 2 * MARGIN, self._root.height + 2 * MARGIN
        return Arrangement(tuple(items), tuple(frames), tuple(edges), width, height)

    def _gather(self, view: Sequence[Shown]) -> list[_Unit]:
        units: list[_Unit] = []
        for shown in view:
            if not shown.is_open:
                units.append(self._unit(self._items[shown.fold.key]))
            elif needs_frame(shown, whole=self._whole):
                group = _Unit(shown.fold.key, shown=shown, parts=self._gather(shown.parts))
                self._units[group.key] = group
                units.append(group)
            else:
                units.extend(self._gather(shown.parts))
        return units

    def _unit(self, item: Item) -> _Unit:
        unit = self._units[item.key] = _Unit(item.key, item=item)
        return unit

    def _add_free_items(self) -> None:
        """Put a leaf in the flow into the innermost group of all its users; loose cuts stay outside all groups."""
        self._set_paths(self._root, ())
        free = [item for item in self._scene.items if item.key not in self._units]
        users: dict[str, list[tuple[str, ...]]] = {}
        for edge in self._scene.edges:
            if edge.consumer in self._units:
                users.setdefault(edge.producer, []).append(self._units[edge.consumer].path)
        for item in reversed(free):
            home = _common(users.get(item.key, [("",)]))
            parent = self._units.get(home, self._root)
            parent.parts.insert(0 if item.key in users else len(parent.parts), self._unit(item))

    def _set_paths(self, unit: _Unit, above: tuple[str, ...]) -> None:
        unit.path = above
        for part in unit.parts:
            self._set_paths(part, (*above, unit.key))

    def _path(self, key: str) -> tuple[str, ...]:
        return self._units[key].path

    def _child_within(self, group: str, key: str) -> str | None:
        """The part of a group that holds an item; None if the item is outside the group."""
        path = (*self._path(key), key)
        return path[path.index(group) + 1] if group in path[:-1] else None

    def _lay_out(self, group: _Unit) -> None:
        for part in group.parts:
            if part.item is not None:
                self._measure(part, part.item)
            else:
                self._lay_out(part)
        blocks = [Block(part.width, part.height, inset=part.inset) for part in group.parts]
        places = {part.key: place for place, part in enumerate(group.parts)}
        entries: dict[tuple[str, int], int] = {}
        exits: dict[tuple[str, int], int] = {}
        links: dict[tuple[int, int, float, float, int], int] = {}
        link_of: dict[int, int] = {}
        for number in self._edges_in.get(group.key, ()):
            edge = self._scene.edges[number]
            above, below = self._child_within(group.key, edge.producer), self._child_within(group.key, edge.consumer)
            if above == below:
                continue
            name = (edge.producer, edge.output)
            source = places[above] if above is not None else _port(entries, blocks, name, -1)
            target = places[below] if below is not None else _port(exits, blocks, name, 1)
            out = self._units[above].exits[name] if above is not None else _PORT / 2
            into = self._entry(below, name) if below is not None else _PORT / 2
            slot = edge.slot if below == edge.consumer else 0
            link_of[number] = links.setdefault((source, target, out, into, slot), len(links))
        made = [Link(source, target, out, into) for source, target, out, into, _ in links]
        placement = place_blocks(blocks, made, row_gap=ROW_GAP, bend_gap=BEND_GAP)
        self._finish(group, placement, made, entries, exits, link_of)

    def _entry(self, key: str, name: tuple[str, int]) -> float:
        unit = self._units[key]
        return unit.entries[name] if unit.item is None else unit.shift + unit.item.box.width / 2

    def _measure(self, unit: _Unit, item: Item) -> None:
        box, stack = item.box, [side.box for side in item.sides]
        left, right = self._labels.get(item.key, (0.0, 0.0))
        middle = box.width / 2
        unit.shift = max(0.0, left - middle)
        stack_width = SIDE_GAP + max(side.width for side in stack) if stack else 0.0
        unit.width = unit.shift + max(box.width + stack_width, middle + right)
        unit.height = max(box.height, _stack_height(item))
        unit.inset = (unit.height - box.height) / 2
        shown = item.outputs[:MAX_OUTPUTS]
        for place, output in enumerate(item.outputs):
            step = min(place, len(shown) - 1) - (len(shown) - 1) / 2
            unit.exits[(item.key, output)] = unit.shift + middle + step * OUTPUT_STEP

    def _finish(
        self,
        group: _Unit,
        placement: Placement,
        links: list[Link],
        entries: dict[tuple[str, int], int],
        exits: dict[tuple[str, int], int],
        link_of: dict[int, int],
    ) -> None:
        head, pad = (FRAME_HEAD, FRAME_PAD) if group.shown is not None else (0.0, 0.0)
        group.placement = placement
        foot = min(pad, 2.0) if exits else pad  # the line down to a port already leaves room
        group.width, group.height = placement.width + 2 * pad, placement.height + head + foot
        if group.shown is not None:
            title = text_width(group.shown.fold.label, SMALL_SIZE + 1, bold=True) + 60
            group.width = max(group.width, min(title, 240.0))
        group.entries = {name: placement.left[place] + _PORT / 2 + pad for name, place in entries.items()}
        group.exits = {name: placement.left[place] + _PORT / 2 + pad for name, place in exits.items()}
        routes = self._spread_entries(group, placement, links)
        ports = frozenset(entries.values()), frozenset(exits.values())
        for number, link in link_of.items():
            points = routes[link]
            if links[link].source in ports[0]:
                points = ((points[0][0], -head), *points)
            if links[link].target in ports[1]:
                points = (*points, (points[-1][0], placement.height + foot))
            group.segments[number] = points

    def _spread_entries(self, group: _Unit, placement: Placement, links: list[Link]) -> list[tuple[Point, ...]]:
        """Spread several lines into one box side by side, in the order in which they come from above."""
        routes = list(placement.routes)
        arriving: dict[int, list[int]] = {}
        for number, link in enumerate(links):
            if link.target < len(group.parts) and group.parts[link.target].item is not None:
                arriving.setdefault(link.target, []).append(number)
        for target, numbers in arriving.items():
            item = group.parts[target].item
            if len(numbers) < 2 or item is None:
                continue
            step = min(_ENTRY_STEP, (item.box.width - 24) / (len(numbers) - 1))
            numbers.sort(key=lambda number: routes[number][-3][0])
            for place, number in enumerate(numbers):
                shift = (place - (len(numbers) - 1) / 2) * step
                route = routes[number]
                moved = tuple((x + shift, y) for x, y in route[-2:])
                routes[number] = (*route[:-2], *moved)
        return routes

    def _collect(
        self,
        group: _Unit,
        x: float,
        y: float,
        items: list[PlacedItem],
        frames: list[PlacedFrame],
        pieces: dict[int, list[tuple[float, tuple[Point, ...]]]],
    ) -> None:
        inner_x, inner_y = x, y
        if group.shown is not None:
            frames.append(PlacedFrame(group.shown, x, y, group.width, group.height))
            inner_x, inner_y = x + FRAME_PAD, y + FRAME_HEAD
        for number, points in group.segments.items():
            moved = tuple((px + inner_x, py + inner_y) for px, py in points)
            pieces.setdefault(number, []).append((moved[0][1], moved))
        if group.placement is None:
            return
        for part, left, top in zip(group.parts, group.placement.left, group.placement.top, strict=False):
            if part.item is None:
                self._collect(part, inner_x + left, inner_y + top, items, frames, pieces)
            else:
                items.append(self._place_item(part, part.item, inner_x + left, inner_y + top))

    def _place_item(self, unit: _Unit, item: Item, x: float, y: float) -> PlacedItem:
        x += unit.shift
        side_x, side_y = x + item.box.width + SIDE_GAP, y + (unit.height - _stack_height(item)) / 2
        corners = []
        for side in item.sides:
            corners.append((side_x, side_y))
            side_y += side.box.height + STACK_GAP
        return PlacedItem(item, x, y + unit.inset, tuple(corners))


def _port(ports: dict[tuple[str, int], int], blocks: list[Block], name: tuple[str, int], pinned: int) -> int:
    if name not in ports:
        ports[name] = len(blocks)
        blocks.append(Block(_PORT, 0.0, pinned))
    return ports[name]


def _stack_height(item: Item) -> float:
    return sum(side.box.height for side in item.sides) + STACK_GAP * max(0, len(item.sides) - 1)


def _common(paths: list[tuple[str, ...]]) -> str:
    home = ""
    for keys in zip(*paths, strict=False):
        if len(set(keys)) > 1:
            break
        home = keys[0]
    return home
