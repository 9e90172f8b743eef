"""A graph keeps every connection of its trace, whatever is shown by one box."""

import pytest
from picture_parts import RECORDED, Sketch, load_recorded

from app.pictures.graph.graph import Graph, derive_forward_name, read_graph, slice_source


def leaves_below(graph: Graph, node: int) -> set[int]:
    """The leaves that a shown operation is computed from, by the operands that are shown."""
    seen, waiting = set[int](), [graph.absorbed.get(node, node)]
    while waiting:
        at = waiting.pop()
        if at not in seen:
            seen.add(at)
            waiting.extend(item.node for item in graph.operands(at))
    return seen & graph.leaf_set


def reached(graph: Graph, node: int) -> set[int]:
    """The same by the edges of the trace."""
    seen, waiting = set[int](), [node]
    while waiting:
        at = waiting.pop()
        if at not in seen:
            seen.add(at)
            waiting.extend(item.node for item in graph.inputs[at])
    return seen & graph.leaf_set


@pytest.mark.parametrize("name", RECORDED)
def test_absorbing_helpers_loses_no_connection(name: str) -> None:
    trace, source = load_recorded(name)
    graph = read_graph(trace, source)
    operations = [node for node in range(len(trace.nodes.name)) if node not in graph.leaf_set]
    hosts = {node for node in operations if node not in graph.absorbed}
    assert set(graph.order) == hosts
    for node in hosts:
        assert leaves_below(graph, node) == reached(graph, node)


def test_every_producer_is_used_by_somebody_but_the_roots() -> None:
    trace, source = load_recorded("transformer")
    graph = read_graph(trace, source)
    used = {item.node for node in graph.order for item in graph.operands(node)}
    assert {node for node in graph.order if node not in used} == set(graph.root_set)


def test_a_product_of_many_dimensions_shows_its_views_as_one_box() -> None:
    sketch = Sketch()
    call = {"span": (1, 0, 1, 9), "module": "net"}
    x, weight = sketch.op("exp", sketch.leaf("x")), sketch.leaf("net.weight")
    flat = sketch.op("view", x, **call)
    turned = sketch.op("t", weight, **call)
    product = sketch.op("addmm", flat, turned, **call)
    seen = sketch.op("view", product, **{**call, "shape": (2, 3), "variable": "y"})
    sketch.nodes[seen]["forward"] = "linear"
    last = sketch.op("sum", seen)
    graph = sketch.graph(last)
    assert graph.order == (x, product, last)
    assert (graph.title(product), graph.face(product)) == ("linear", seen)
    assert [item.node for item in graph.operands(product)] == [x, weight]
    assert [item.node for item in graph.operands(last)] == [product]


def test_a_view_that_the_learner_wrote_is_shown() -> None:
    sketch = Sketch()
    view = sketch.op("view", sketch.leaf("x"), span=(1, 0, 1, 5))
    sketch.op("mm", view, span=(1, 0, 1, 9))
    assert sketch.graph().order == (1, 2)


def test_nodes_in_another_order_are_put_producers_first() -> None:
    sketch = Sketch()
    sketch.op("sum", 1)
    sketch.op("exp", 2)
    sketch.leaf("x")
    assert sketch.graph(0).order == (1, 0)


@pytest.mark.parametrize(
    ("backward", "forward"),
    [
        ("AddmmBackward0", "addmm"),
        ("NllLossBackward0", "nll_loss"),
        ("SquareBackward", "square"),
        ("CopySlices", "CopySlices"),
        ("Backward0", "Backward0"),
    ],
)
def test_forward_names_come_from_backward_names(backward: str, forward: str) -> None:
    assert derive_forward_name(backward) == forward


@pytest.mark.parametrize(
    ("span", "text"),
    [
        ((1, 4, 1, 9), "x * 2"),
        ((2, 4, 3, 9), "f(x, y)"),
        ((9, 0, 9, 1), ""),
        ((3, 50, 9, 0), ""),
        (None, ""),
    ],
)
def test_the_source_of_a_place_is_one_line(span: tuple[int, int, int, int] | None, text: str) -> None:
    assert slice_source(("a = x * 2", "b = f(x,", "      y)"), span) == text
