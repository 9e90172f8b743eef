"""Fold a graph into a tree: by module, then runs that repeat, then stretches, until each level has few parts.

Every fold is an interval of the forward order. Producers come before consumers in that order, so the graph
between folds has no cycle, no matter which folds are open.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from typing import Literal

from app.pictures.graph.graph import Graph
from app.pictures.graph.loops import Loop, LoopNames, TurnValues
from app.pictures.graph.repeats import find_runs

FoldKind = Literal["op", "module", "repeat", "iteration", "stretch", "checkpoint"]

MAX_PARTS = 12
_FEW_ITERATIONS = 5
_NESTED_LOOPS = 3
_MAX_NESTED_REGIONS = 20
_CHECKPOINT = "\0checkpoint "
_CALL = "\0call "


@dataclass(frozen=True, slots=True)
class Fold:
    """An interval of the forward order, from position `first` to `last`, both included.

    A repeat holds the parts of all its iterations in one flat tuple, `period` parts per iteration. `offset` and
    `total` say which iterations of the whole run they are.
    """

    key: str
    kind: FoldKind
    label: str
    first: int
    last: int
    parts: tuple["Fold", ...] = ()
    period: int = 0
    offset: int = 0
    total: int = 0
    loop: str = ""
    """Of a repeat: the loop variable of the source that runs over it."""
    turns: tuple[str, ...] = ()
    """Of a repeat in a loop: for each iteration of the whole run, `t = 2`, or "" where that is not known."""

    @property
    def times(self) -> int:
        return len(self.parts) // self.period if self.period else 1

    @property
    def size(self) -> int:
        """How many operations the fold holds."""
        return self.last - self.first + 1

    @property
    def over(self) -> str:
        """Of a repeat in a loop: `for t = 0 … 39`, or "" where it is not known what its variable was."""
        if not self.turns:
            return ""
        first, last = self.turns[self.offset], self.turns[self.offset + self.times - 1]
        name, _, value = last.partition(" = ")
        return f"for {first} … {value}" if last and first.startswith(f"{name} = ") else ""


def fold_graph(graph: Graph) -> Fold:
    """The whole graph as one tree of folds; the root has the key "all"."""
    folder = _Folder(graph)
    parts = folder.fold_interval(0, len(graph.order), 0)
    return Fold("all", "module", "", 0, len(graph.order) - 1, _bunch(parts, folder.lines))


class _Folder:
    """One pass over a graph: it numbers folds so that equal ones get equal numbers."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._paths = _find_paths(graph)
        spans = graph.trace.nodes.span
        self.lines = [span[0] if (span := spans[node]) is not None else 0 for node in graph.order]
        self._loops = LoopNames(graph.lines)
        self._turns = TurnValues(graph.trace.turns)
        self._crossings = _count_crossings(graph)
        self._numbers: dict[object, int] = {}
        self._signs: dict[str, int] = {}

    def fold_interval(self, first: int, stop: int, depth: int) -> list[Fold]:
        paths = self._paths
        items: list[Fold] = []
        place = first
        while place < stop:
            if len(paths[place]) <= depth:
                items.append(self._op(place))
                place += 1
                continue
            end = place
            while end < stop and len(paths[end]) > depth and paths[end][depth] == paths[place][depth]:
                end += 1
            items.append(self._module(place, end, depth))
            place = end
        for _ in range(_NESTED_LOOPS):
            folded = self._fold_repeats(items)
            if len(folded) == len(items):
                break
            items = folded
        return items

    def _op(self, place: int) -> Fold:
        node = self._graph.order[place]
        return Fold(f"n{node}", "op", self._graph.title(node), place, place)

    def _module(self, first: int, stop: int, depth: int) -> Fold:
        path = self._paths[first][: depth + 1]
        parts = self.fold_interval(first, stop, depth + 1)
        if path[-1].startswith(_CHECKPOINT):
            # A key names one interval, so this frame replaces any part that holds the same operations.
            while len(parts) == 1 and parts[0].kind in ("checkpoint", "module"):
                parts = list(parts[0].parts)
            return Fold(
                f"c{first}-{stop - 1}", "checkpoint", "checkpoint", first, stop - 1, _bunch(parts, self.lines)
            )
        if len(parts) == 1 and parts[0].kind in ("op", "module"):
            return parts[0]
        label = ".".join(_drop_calls([part for part in path if not part.startswith(_CHECKPOINT)]))
        call = path[-1].partition(_CALL)[2]
        label = f"{label} (call {call})" if call else label
        return Fold(f"m{first}-{stop - 1}", "module", label, first, stop - 1, _bunch(parts, self.lines))

    def _fold_repeats(self, items: list[Fold]) -> list[Fold]:
        signs = [self._sign(item) for item in items]
        crossings = [self._crossings[item.first] for item in items]
        fewest = [2 if item.kind == "module" else 3 for item in items]
        folded: list[Fold] = []
        done = 0
        for run in find_runs(signs, crossings, fewest):
            folded.extend(items[done : run.start])
            parts = tuple(items[run.start : run.stop])
            loop = self._loops.find(self.lines[parts[0].first : parts[run.period - 1].last + 1])
            turns = self._find_turns(loop, parts, run.period) if loop.variable else ()
            folded.append(_repeat(parts, run.period, 0, run.times, loop.variable, turns))
            done = run.stop
        return folded + items[done:]

    def _find_turns(self, loop: Loop, parts: tuple[Fold, ...], period: int) -> tuple[str, ...]:
        order = self._graph.order
        firsts, lasts = parts[::period], parts[period - 1 :: period]
        pairs = zip(firsts, lasts, strict=True)
        return tuple(self._turns.find(loop, order[first.first], order[last.last]) for first, last in pairs)

    def _sign(self, fold: Fold) -> int:
        sign = self._signs.get(fold.key)
        if sign is None:
            sign = self._signs[fold.key] = self._numbers.setdefault(self._describe(fold), len(self._numbers))
        return sign

    def _describe(self, fold: Fold) -> object:
        nodes = self._graph.trace.nodes
        node = self._graph.order[fold.first]
        if fold.kind == "op":
            span = nodes.span[node]
            return (nodes.name[node] or nodes.forward[node], nodes.shape[node] if span is None else span)
        return (fold.kind, nodes.shape[node], *map(self._sign, fold.parts))


def _find_paths(graph: Graph) -> list[tuple[str, ...]]:
    """For each position the module path, with one part inserted for each checkpointed region."""
    modules = graph.trace.nodes.module
    paths = [tuple(modules[node].split(".")) if modules[node] else () for node in graph.order]
    _tell_passes_apart(graph, paths)
    for number, places in enumerate(settle_regions(graph)):
        depth = _common_depth([paths[place] for place in places])
        for place in places:
            paths[place] = (*paths[place][:depth], f"{_CHECKPOINT}{number}", *paths[place][depth:])
    return paths


def _tell_passes_apart(graph: Graph, paths: list[tuple[str, ...]]) -> None:
    """A module that was called several times has one part of a path for each call."""
    passes = graph.trace.passes
    for module, number, first, last in zip(passes.module, passes.number, passes.first, passes.last, strict=True):
        parts = module.split(".")
        depth = len(parts)
        for node in range(first, last + 1):
            place = graph.position.get(node)
            if place is None or len(paths[place]) < depth or _drop_calls(paths[place][:depth]) != parts:
                continue
            path = paths[place]
            paths[place] = (*path[: depth - 1], f"{path[depth - 1]}{_CALL}{number}", *path[depth:])


def _drop_calls(path: Sequence[str]) -> list[str]:
    return [part.partition(_CALL)[0] for part in path]


def settle_regions(graph: Graph) -> list[tuple[int, ...]]:
    """The checkpointed regions as positions. Any two are disjoint or nested, and an outer one comes first.

    A trace's regions may overlap, and a program that unwinds one twice has it twice. Nodes that two regions share
    stay with the larger one. A region that would add no frame, or nest too deeply, is left out.
    """
    wanted = [
        [graph.position[node] for node in nodes if node in graph.position] for nodes in graph.trace.regions.nodes
    ]
    settled: list[tuple[int, ...]] = []
    depths: list[int] = []
    home_of: dict[int, int] = {}
    for places in sorted(wanted, key=len, reverse=True):
        homes = Counter(home_of.get(place, -1) for place in places)
        home = max(homes, key=homes.__getitem__, default=-1)
        inside = tuple(place for place in places if home_of.get(place, -1) == home)
        depth = depths[home] + 1 if home >= 0 else 1
        if not inside or depth > _MAX_NESTED_REGIONS or (home >= 0 and len(inside) == len(settled[home])):
            continue
        home_of.update(dict.fromkeys(inside, len(settled)))
        settled.append(inside)
        depths.append(depth)
    return settled


def _count_crossings(graph: Graph) -> list[int]:
    """For each position, how many outputs are created before it and used at it or later."""
    last_use: dict[int, int] = {}
    for place, node in enumerate(graph.order):
        for item in graph.operands(node):
            if item.node not in graph.leaf_set:
                last_use[graph.position[item.node]] = place
    change = [0] * (len(graph.order) + 2)
    for made, used in last_use.items():
        change[made + 1] += 1
        change[used + 1] -= 1
    return list(accumulate(change))


def _common_depth(paths: Sequence[tuple[str, ...]]) -> int:
    low, high = min(paths), max(paths)
    depth = 0
    while depth < min(len(low), len(high)) and low[depth] == high[depth]:
        depth += 1
    return depth


def _repeat(
    parts: tuple[Fold, ...], period: int, offset: int, total: int, loop: str, turns: tuple[str, ...] = ()
) -> Fold:
    first, last = parts[0].first, parts[-1].last
    letter = "r" if len(parts) == period * total else "k"
    label = ", ".join(part.label for part in parts[:period])
    if period == 1 and parts[0].kind == "module":
        label = _join_labels(parts[0].label, parts[-1].label)
    return Fold(f"{letter}{first}-{last}", "repeat", label, first, last, parts, period, offset, total, loop, turns)


def _join_labels(first: str, last: str) -> str:
    """`layers.0 … 11` for several modules, and the name alone for several calls of one."""
    name, _, call = first.partition(" (call ")
    if call and last.startswith(f"{name} (call "):
        return name
    return f"{first} … {last.rpartition('.')[2]}"


def _bunch(parts: Sequence[Fold], lines: Sequence[int] = ()) -> tuple[Fold, ...]:
    """A long list cut into stretches, and long stretches cut again: by the lines of the source, if they are few.

    `lines` has the line of each operation in forward order, 0 where it has none; without them, stretches are equal.
    """
    if len(parts) <= MAX_PARTS:
        return tuple(parts)
    by_line = [tuple(group) for _, group in groupby(parts, key=lambda part: lines[part.first] if lines else 0)]
    if 1 < len(by_line) <= MAX_PARTS:
        return tuple(_stretch(group, lines) for group in by_line)
    width = -(-len(parts) // MAX_PARTS)
    return tuple(_stretch(parts[low : low + width], lines) for low in range(0, len(parts), width))


def _stretch(parts: Sequence[Fold], lines: Sequence[int]) -> Fold:
    if len(parts) == 1:
        return parts[0]
    first, last = parts[0].first, parts[-1].last
    return Fold(f"s{first}-{last}", "stretch", "operations", first, last, _bunch(parts, lines))


def unfold(fold: Fold) -> tuple[Fold, ...]:
    """The parts that replace a fold once it is opened; for a long repeat the first, the rest and the last."""
    if fold.kind != "repeat":
        return fold.parts
    times = fold.times
    if times <= _FEW_ITERATIONS:
        bounds = list(range(times + 1))
    elif times == fold.total:
        bounds = [0, 1, times - 1, times]
    else:
        bounds = [times * piece // _FEW_ITERATIONS for piece in range(_FEW_ITERATIONS + 1)]
    return tuple(_slice_repeat(fold, low, high) for low, high in pairwise(bounds))


def _slice_repeat(fold: Fold, low: int, high: int) -> Fold:
    parts = fold.parts[low * fold.period : high * fold.period]
    if high - low > 1:
        return _repeat(parts, fold.period, fold.offset + low, fold.total, fold.loop, fold.turns)
    if fold.period == 1:
        return parts[0]
    first, last = parts[0].first, parts[-1].last
    number = fold.offset + low
    turn = fold.turns[number] if fold.turns else ""
    loop = f"for {turn}, " if turn else f"for {fold.loop}: " if fold.loop else ""
    label = f"{loop}{number + 1:,} of {fold.total:,}"
    return Fold(f"i{first}-{last}", "iteration", label, first, last, _bunch(parts))
