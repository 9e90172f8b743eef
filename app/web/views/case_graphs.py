"""Draw the small graph of a public case, and mark the first node whose value differs from the expected one."""

from app.pictures import draw_graph, read_graph
from app.pictures.drawing.mark import mark_node
from app.web.views.result_views import CaseGraphView
from graders.contract.results import CaseGraph, GraphNode
from graders.contract.trace import Edges, Nodes, Trace
from graders.contract.trace_check import check_trace

WAYS = {
    "backward": "From the output back to the leaves",
    "forward": "From the leaves on",
}


def show_case_graph(graph: CaseGraph, id_prefix: str) -> CaseGraphView | None:
    """The drawn graph, or None if no node of it is wrong."""
    if graph.first_wrong is None:
        return None
    node = graph.nodes[graph.first_wrong]
    picture = draw_graph(read_graph(check_trace(trace_of(graph))), id_prefix=id_prefix)
    return CaseGraphView(
        svg=mark_node(picture, graph.first_wrong, "first wrong"),
        words=f"{WAYS[graph.walk]}, the first node that differs is {_name(node)}: "
        f"yours is {node.got}, expected {node.expected}.",
        rows=tuple((one.name, _write_step(graph, one), one.got, one.expected, one.right) for one in graph.nodes),
    )


def trace_of(graph: CaseGraph) -> Trace:
    """The case's graph as a trace that can be drawn, like that of an engine without backward nodes."""
    nodes = graph.nodes
    count = len(nodes)
    ways = [(at, to, slot) for at, node in enumerate(nodes) for slot, to in enumerate(node.operands)]
    used = {to for _, to, _ in ways}
    return Trace(
        engine="learner",
        nodes=Nodes(
            name=("",) * count,
            forward=tuple(node.op for node in nodes),
            kind=tuple("op" if node.operands else "leaf" for node in nodes),
            module=("",) * count,
            span=(None,) * count,
            shape=((),) * count,
            dtype=("",) * count,
            variable=tuple(node.name for node in nodes),
            # The boxes of leaves and outputs contain their names; any other name is beside the exit, with the value.
            values=tuple(_write_value(node, at in used) for at, node in enumerate(nodes)),
            saved_bytes=(0,) * count,
            leaf_bytes=(0,) * count,
            saved=("",) * count,
            sequence=(-1,) * count,
            backward=(-1,) * count,
            made_by=(None,) * count,
        ),
        edges=Edges(
            source=tuple(at for at, _, _ in ways),
            target=tuple(to for _, to, _ in ways),
            slot=tuple(slot for *_, slot in ways),
            output=(0,) * len(ways),
        ),
        roots=tuple(at for at in range(count) if at not in used),
    )


def _write_value(node: GraphNode, is_used: bool) -> str:
    if not node.operands or not is_used:
        return node.value
    return f"{node.name} = {node.value}" if node.value else node.name


def _name(node: GraphNode) -> str:
    return f"{node.name} ({node.op})" if node.op else f"the leaf {node.name}"


def _write_step(graph: CaseGraph, node: GraphNode) -> str:
    if not node.operands:
        return "leaf"
    return f"{node.op} of {', '.join(graph.nodes[place].name for place in node.operands)}"
