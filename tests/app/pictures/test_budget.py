"""What a picture may hold: more is summed up or refused in words, and no trace buys more work than it has rows."""

import pytest
from picture_parts import Sketch, sketch_chain
from test_hostile_traces import all_keys

from app.pictures import Graph, Picture, TooLarge, draw_graph, tape_rows
from app.pictures.budget import (
    MAX_CODE_LETTERS,
    MAX_FLOWING_LEAVES,
    MAX_FLOWING_OPERANDS,
    MAX_LINES,
    MAX_TOLD_PARTS,
)
from app.pictures.graph.fold import fold_graph
from app.pictures.layout.attach import set_scene
from app.pictures.layout.boxes import MAX_OUTPUTS
from app.pictures.layout.view import MAX_OPENED, MAX_VISIBLE, choose_view, flatten


def draw(graph: Graph, **more: object) -> Picture:
    return draw_graph(graph, id_prefix="g", **more)  # type: ignore[arg-type]


def sketch_stack(leaves: int) -> Graph:
    """What `torch.stack` of so many leaves records."""
    sketch = Sketch()
    stack = sketch.op("stack", *[sketch.leaf(f"w{number}") for number in range(leaves)])
    return sketch.graph(sketch.op("sum", stack))


def sketch_dense(nodes: int) -> Graph:
    """Each operation uses every earlier one."""
    sketch = Sketch()
    for number in range(nodes):
        sketch.op("cat", *range(number), span=(number + 1, 0, number + 1, 5))
    return sketch.graph(nodes - 1)


def test_six_thousand_leaves_before_one_operation_hang_at_its_side_as_a_number() -> None:
    picture = draw(sketch_stack(6_000))
    assert "+ 5,996 more" in picture.svg
    assert len(picture.nodes) < 10
    assert len(picture.svg) < 20_000


def test_an_operation_of_few_leaves_has_them_all_in_the_flow() -> None:
    few, more = draw(sketch_stack(MAX_FLOWING_OPERANDS)), draw(sketch_stack(MAX_FLOWING_OPERANDS + 1))
    assert sum(node.kind == "leaf" for node in few.nodes) == MAX_FLOWING_OPERANDS
    assert sum(node.kind == "leaf" for node in more.nodes) == 4


def test_no_more_leaves_flow_than_a_picture_has_room_for() -> None:
    sketch, node = Sketch(), 0
    leaves = [sketch.leaf(f"w{number}") for number in range(MAX_FLOWING_LEAVES + 40)]
    for number, leaf in enumerate(leaves):
        node = sketch.op("mul", leaf, span=(number + 1, 0, number + 1, 5), shape=(number,))
    graph = sketch.graph(node)
    scene = set_scene(graph, choose_view(graph, fold_graph(graph), all_keys(graph)))
    assert sum(item.key in {f"n{leaf}" for leaf in leaves} for item in scene.items) == MAX_FLOWING_LEAVES


def test_what_an_operation_uses_is_looked_up_once() -> None:
    graph = sketch_stack(3)
    assert graph.operands(3) is graph.operands(3)


def test_helpers_that_use_one_another_twice_have_not_exponentially_many_ways() -> None:
    sketch = Sketch()
    node = sketch.leaf("x")
    for _ in range(60):
        node = sketch.op("t", node, node, span=(1, 0, 1, 9))
    product = sketch.op("mm", node, node, span=(1, 0, 1, 9))
    graph = sketch.graph(product)
    assert graph.order == (product,)
    assert len(graph.operands(product)) == 4


def test_outputs_beyond_those_with_an_exit_of_their_own_share_the_last() -> None:
    sketch = Sketch()
    unbind = sketch.op("unbind", sketch.leaf("x"))
    stack = sketch.op("stack", *[(unbind, output) for output in range(400)])
    graph = sketch.graph(stack)
    scene = set_scene(graph, choose_view(graph, fold_graph(graph)))
    edges = [edge for edge in scene.edges if edge.producer_node == unbind]
    assert len(edges) <= 4 * MAX_OUTPUTS
    assert sum(edge.count for edge in edges) == 400
    assert {edge.output for edge in edges} == set(range(MAX_OUTPUTS))


def test_a_dense_graph_is_drawn_folded_and_refused_in_words_when_it_is_opened() -> None:
    graph = sketch_dense(100)
    assert draw(graph).folds
    with pytest.raises(TooLarge, match=f"more than {MAX_LINES:,} lines would run between its boxes; close a fold"):
        draw(graph, opened=all_keys(graph))


def test_a_picture_of_too_many_letters_is_refused_in_words() -> None:
    sketch, long = Sketch(), "w" * 200
    node = sketch.leaf(long)
    for number in range(1_200):
        more = {"variable": long, "values": long, "saved": long, "saved_bytes": 8}
        node = sketch.op("f" * 190, node, sketch.leaf(long), module=f"m{number // 12}", **more)
    graph = sketch.graph(node)
    with pytest.raises(TooLarge, match=r"its picture would take \d MB; close a fold"):
        draw(graph, opened=all_keys(graph))


def test_what_opens_by_itself_counts_among_the_opened() -> None:
    graph = sketch_chain(20_000, span=(3, 4, 3, 9)).graph()
    shown = flatten(choose_view(graph, fold_graph(graph), all_keys(graph)))
    assert len(shown) <= MAX_OPENED + 2 * MAX_VISIBLE


def test_code_in_a_label_ends_where_a_reader_would_stop() -> None:
    graph = sketch_chain(1, span=(1, 0, 900, 9)).graph(source="x = 100_000_000\n" * 1_000)
    assert len(graph.code((1, 0, 900, 9))) == MAX_CODE_LETTERS + 1


def test_a_step_that_sends_many_gradients_names_the_first_and_counts_the_rest() -> None:
    sketch = Sketch()
    stack = sketch.op("stack", *[sketch.leaf(f"w{number}") for number in range(40)])
    sketch.event("vjp", stack, incoming="() 1.0", outgoing="; ".join(["1.0"] * 40))
    (row,) = tape_rows(sketch.graph(stack))
    assert row.detail.count(" to w") == MAX_TOLD_PARTS
    assert row.detail.endswith(" and 28 more")


def test_a_thousand_calls_are_labelled_each_with_its_own_number() -> None:
    sketch = sketch_chain(1)
    for call in range(1_000):
        sketch.event("backward", 1, call=call, text="backward")
        sketch.event("vjp", 1, call=call, incoming=f"() {call}.0", outgoing="() 1.0")
        sketch.event("end", call=call)
    graph = sketch.graph(1)
    assert graph.seeds[0] == "() 0.0"
    assert graph.seeds[2_997] == "() 999.0"
