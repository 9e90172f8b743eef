"""An engine that the learner wrote is drawn and told in its own words: values and operations, no torch."""

import re

import pytest
from picture_parts import Sketch, open_recorded

from app.pictures import Graph, draw_graph, graph_figure, read_graph, tape_rows, write_tape
from app.pictures.graph.formulas import UNKNOWN_RULE, find_scalar_formula
from app.pictures.tape.lists import find_unreached
from graders.contract.trace_check import check_trace

JARGON = re.compile(r"Backward\d|AccumulateGrad| \(\)|shape|bytes|saves")


def sketch_engine() -> Graph:
    sketch = Sketch()
    x, w = sketch.leaf("x", values="0.5"), sketch.leaf("w", values="2.0")
    y = sketch.op("*", x, w, values="1.0", variable="y")
    z = sketch.op("+", y, y, values="2.0")
    sketch.event("backward", z)
    sketch.event("vjp", z, incoming="() 1.0", outgoing="?; ?")
    sketch.event("vjp", y, incoming="() 2.0", outgoing="() 4.0; ·")
    sketch.event("accumulate", x, before="() 0.0", incoming="() 4.0", outgoing="() 4.0")
    sketch.event("end")
    for node in sketch.nodes:
        node["name"] = ""
    return as_engine(sketch, z)


def as_engine(sketch: Sketch, root: int) -> Graph:
    return read_graph(check_trace(sketch.trace(root).model_copy(update={"engine": "learner"})))


def test_nothing_in_a_picture_or_a_tape_speaks_of_torch() -> None:
    graph = open_recorded("engine")
    picture = draw_graph(graph, id_prefix="g")
    drawn = re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg)
    told = [row.sentence for row in tape_rows(graph)]
    hovers = list(graph_figure(graph).data[0].text)
    tape = write_tape(graph).document["nodes"]
    for text in (*drawn, *told, *hovers, picture.text, *tape["label"], *tape["shape"], *tape["formulas"]):
        assert not JARGON.search(text), text


def test_a_value_reads_as_a_sentence_with_its_number() -> None:
    labels = [node.label for node in draw_graph(open_recorded("engine"), id_prefix="g").nodes]
    assert 'tanh, made by "(x * w + b).tanh()" at line 50, gives h = -0.2913' in labels
    assert "leaf x = 0.5, its gradient goes to .grad" in labels


def test_a_gradient_that_nobody_saw_is_told_as_unseen() -> None:
    details = [row.detail for row in tape_rows(sketch_engine())]
    assert details[1] == "receives 1.0, sends an unseen gradient to y and an unseen gradient to y"
    assert details[2] == "receives 2.0, sends 4.0 to x"


def test_a_leaf_that_got_nothing_is_listed_without_a_shape() -> None:
    words = [item.words for item in find_unreached(sketch_engine())]
    assert words == ["w: backward ended before it reached this leaf"]


def test_operations_of_one_line_are_not_folded_as_if_they_were_one() -> None:
    sketch = Sketch()
    node = sketch.leaf("x")
    for number in range(60):
        node = sketch.op(("+", "*")[number % 2], node, span=(1, 0, 1, 5))
        sketch.nodes[node]["name"] = ""
    (fold,) = [item for item in draw_graph(as_engine(sketch, node), id_prefix="g").nodes if item.kind == "fold"]
    assert "28 times 2 operations, 2 to 29 of 30" in fold.label


@pytest.mark.parametrize(
    ("operation", "formula"),
    [
        ("+", "ā = ȳ,   b̄ = ȳ"),
        ("*", "ā = ȳ * b,   b̄ = ȳ * a"),
        ("**2", "x̄ = ȳ * n * x^(n-1)"),
        ("tanh", "x̄ = ȳ * (1 - y²)"),
        ("ReLU", "x̄ = ȳ where y > 0, else 0"),
        ("softplus?", UNKNOWN_RULE),
    ],
)
def test_an_operation_on_numbers_has_its_derivative(operation: str, formula: str) -> None:
    assert find_scalar_formula(operation, "op").text == formula
