"""From a trace to an arrangement: read, fold, choose, attach, place. What every kind of picture begins with."""

from dataclasses import dataclass

from app.pictures.arrange import Arrangement, arrange
from app.pictures.attach import Scene, set_scene
from app.pictures.check import check_trace
from app.pictures.fold import fold_graph
from app.pictures.graph import Graph, read_graph
from app.pictures.labels import Label, label_item
from app.pictures.view import Shown, choose_view
from graders.contract.trace import Trace


@dataclass(frozen=True, slots=True)
class Composition:
    """A placed picture without colour."""

    graph: Graph
    view: tuple[Shown, ...]
    scene: Scene
    labels: dict[str, Label]
    arrangement: Arrangement


def compose(trace: Trace, source: str = "", opened: frozenset[str] = frozenset()) -> Composition:
    """Arrange a trace; `opened` names folds, unknown names are passed over. Raises TraceRefused.

    The trace is checked here, again if need be: a caller that forgot would draw a hostile one.
    """
    graph = read_graph(check_trace(trace), source)
    view = choose_view(graph, fold_graph(graph), opened)
    scene = set_scene(graph, view)
    labels = {item.key: label_item(graph, item) for item in scene.items}
    room = {key: (label.left_room, label.right_room) for key, label in labels.items()}
    return Composition(graph, view, scene, labels, arrange(scene, view, room))
