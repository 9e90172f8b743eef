"""From a graph to an arrangement: fold, choose, attach, place. Every kind of picture starts here."""

from dataclasses import dataclass

from app.pictures.graph.fold import fold_graph
from app.pictures.graph.graph import Graph
from app.pictures.layout.attach import Scene, set_scene
from app.pictures.layout.labels import Label, label_item
from app.pictures.layout.nested_groups import Arrangement, arrange
from app.pictures.layout.view import Shown, choose_view


@dataclass(frozen=True, slots=True)
class Composition:
    """A placed picture without colour."""

    graph: Graph
    view: tuple[Shown, ...]
    scene: Scene
    labels: dict[str, Label]
    arrangement: Arrangement


def compose(graph: Graph, opened: frozenset[str] = frozenset()) -> Composition:
    """Arrange a graph. `opened` names folds; unknown names are ignored. Raises TooLarge."""
    view = choose_view(graph, fold_graph(graph), opened)
    scene = set_scene(graph, view)
    labels = {item.key: label_item(graph, item) for item in scene.items}
    room = {key: (label.left_room, label.right_room) for key, label in labels.items()}
    return Composition(graph, view, scene, labels, arrange(scene, view, room))
