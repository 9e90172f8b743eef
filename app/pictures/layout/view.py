"""Choose which parts of a folded graph to show: as many as read comfortably, and those that the reader opened."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.pictures.graph.fold import Fold, unfold
from app.pictures.graph.graph import Graph

COMFORTABLE = 34
MAX_VISIBLE = 60
MAX_OPENED = 1_500
MAX_PILLS = 3


@dataclass(frozen=True, slots=True)
class Shown:
    """A fold as the picture shows it: closed (no parts), or opened into parts. `asked` means opened by its key."""

    fold: Fold
    parts: tuple["Shown", ...] = ()
    asked: bool = False

    @property
    def is_open(self) -> bool:
        return bool(self.parts)


def choose_view(
    graph: Graph, root: Fold, opened: frozenset[str] = frozenset(), *, comfortable: int = COMFORTABLE
) -> tuple[Shown, ...]:
    """Open whole levels while they fit, then the folds that `opened` names, until MAX_OPENED parts are shown."""
    whole = sum(weigh_node(graph, node) for node in graph.order[: MAX_VISIBLE + 1])
    room = MAX_VISIBLE if whole <= MAX_VISIBLE else min(comfortable, MAX_VISIBLE)
    return _Chooser(graph, opened, room).show_level(unfold(root))


def flatten(view: Sequence[Shown]) -> list[Shown]:
    """The closed folds and operations of a view, in forward order."""
    found: list[Shown] = []
    for shown in view:
        found.extend(flatten(shown.parts) if shown.is_open else [shown])
    return found


def weigh(graph: Graph, fold: Fold) -> int:
    """How many boxes a closed fold draws: one for itself, and one pill per leaf."""
    if fold.kind != "op":
        return 2
    return weigh_node(graph, graph.order[fold.first])


def weigh_node(graph: Graph, node: int) -> int:
    """How many boxes an operation draws: itself, and the pills of its leaves."""
    operands = graph.operands(node)
    leaves = {item.node for item in operands if item.node in graph.leaf_set}
    return 1 + min(MAX_PILLS, len(leaves))


class _Chooser:
    def __init__(self, graph: Graph, opened: frozenset[str], comfortable: int) -> None:
        self._graph = graph
        self._opened = opened
        self._comfortable = comfortable
        self._left = MAX_OPENED

    def show_level(self, folds: Sequence[Fold]) -> tuple[Shown, ...]:
        expanded = expand_levels(folds, self._comfortable, lambda fold: weigh(self._graph, fold))
        return tuple(self._show(fold, expanded) for fold in folds)

    def _show(self, fold: Fold, expanded: frozenset[str]) -> Shown:
        if fold.kind == "op":
            return Shown(fold)
        asked = fold.key in self._opened and self._left > 0
        if fold.key not in expanded and not asked:
            return Shown(fold)
        parts = unfold(fold)
        self._left -= len(parts)
        if fold.key in expanded:
            return Shown(fold, tuple(self._show(part, expanded) for part in parts))
        return Shown(fold, self.show_level(parts), asked=True)


def expand_levels(folds: Sequence[Fold], comfortable: int, weigh: Callable[[Fold], int]) -> frozenset[str]:
    """The keys to open so that whole levels show; a level that does not fit may still open its repeats and stretches.

    It opens whole levels because one open layer beside eleven closed ones would look like a difference in the model.
    """
    expanded: set[str] = set()
    level = list(folds)
    settled = 0
    while True:
        closed = [fold for fold in level if fold.kind != "op" and not fold.key.startswith("k")]
        for wanted in (closed, [fold for fold in closed if fold.kind in ("repeat", "stretch")]):
            chosen = {fold.key for fold in wanted}
            inner = [part for fold in wanted for part in unfold(fold)]
            rest = [fold for fold in level if fold.key not in chosen]
            if chosen and settled + sum(map(weigh, rest)) + sum(map(weigh, inner)) <= comfortable:
                break
        else:
            return frozenset(expanded)
        expanded |= chosen
        settled += sum(weigh(fold) for fold in rest if fold.kind == "op")
        level = inner + [fold for fold in rest if fold.kind != "op"]
