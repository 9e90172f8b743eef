"""Where an answer first differs is said once, in the order of its elements, and at the right node of a graph."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from pydantic import ValidationError

from graders.contract.manifest import Tolerance
from graders.contract.results import Difference
from graders.trusted.case import GraphSpec
from graders.trusted.compare import matches
from graders.trusted.differing import compare_graph, find_difference, read_place

NEAR = Tolerance(absolute=1e-6, relative=0.0)

SHAPES = arrays.array_shapes(min_dims=0, max_dims=3, max_side=4)
PAIRS = SHAPES.flatmap(
    lambda shape: st.tuples(*(arrays.arrays(np.float64, shape, elements=st.floats(-9, 9)) for _ in range(2)))
)


def test_the_first_element_that_is_off_is_named_with_its_distance():
    expected = {"loss": 1.0, "grad": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])}
    got = {"loss": 1.0, "grad": np.array([[1.0, 2.0, 3.0], [4.5, 5.0, 7.0]])}

    assert find_difference(got, expected, NEAR) == Difference(
        name="grad", index=(1, 0), got="4.5", expected="4", off_by=0.5, others=1
    )


@pytest.mark.parametrize(
    ("shape", "place", "label"), [((9,), 4, "weight[1, 1]"), ((9,), 6, "bias[0]"), ((3, 3), 8, "scale")]
)
def test_an_element_is_called_by_its_part_and_its_index_there(shape, place, label):
    expected = np.zeros(shape)
    got = expected.copy()
    got.flat[place] = 1.0
    labels = {"parameters": {"weight": [2, 3], "bias": [2], "scale": []}}

    found = find_difference({"parameters": got}, {"parameters": expected}, NEAR, labels)

    assert found is not None
    assert found.label == label


def test_without_labels_an_element_has_its_index_alone():
    found = find_difference({"x": np.ones(2)}, {"x": np.zeros(2)}, NEAR, {"y": {"first": [2]}})

    assert found is not None
    assert (found.index, found.label) == ((0,), "")


@given(PAIRS)
def test_there_is_a_difference_exactly_where_the_answer_does_not_match(pair):
    got, expected = {"x": pair[0]}, {"x": pair[1]}
    found = find_difference(got, expected, NEAR)

    assert (found is None) is matches(got, expected, NEAR)
    if found:
        far = np.argwhere(np.abs(pair[0] - pair[1]) > 1e-6)
        assert found.index == tuple(far[0])
        assert found.others == len(far) - 1


def test_what_is_not_finite_differs_by_no_distance():
    found = find_difference({"x": np.array([1.0, np.nan])}, {"x": np.array([1.0, 2.0])}, NEAR)

    assert found is not None
    assert (found.index, found.off_by) == ((1,), None)


@pytest.mark.parametrize(
    ("got", "expected", "index"),
    [
        (["+", "*", ""], ["+", "tanh", ""], (1,)),
        (["+"], ["+", "tanh"], ()),
    ],
)
def test_a_list_of_texts_differs_at_its_entry(got, expected, index):
    found = find_difference({"ops": json.dumps(got)}, {"ops": json.dumps(expected)}, NEAR)

    assert found is not None
    assert (found.index, found.off_by) == (index, None)


@pytest.mark.parametrize("text", ["[" * 100_000, "[1, 2", '["a"', "plain"])
def test_a_strange_text_is_a_text(text):
    found = find_difference({"x": text}, {"x": "expected"}, NEAR)

    assert found is not None
    assert found.expected == "expected"
    assert len(found.got) <= 200


GRAPH = {
    "nodes": [
        {"name": "x", "answer": "grads[0]"},
        {"name": "w", "answer": "grads[1]"},
        {"name": "y", "op": "*", "operands": [0, 1], "answer": "out"},
        {"name": "z", "op": "tanh", "operands": [2]},
    ]
}


@pytest.mark.parametrize(
    ("walk", "out", "grads", "first"),
    [
        ("backward", 3.0, [1.0, 2.0], None),
        ("backward", 3.0, [9.0, 9.0], 1),
        ("forward", 3.0, [9.0, 9.0], 0),
        ("backward", 9.0, [9.0, 2.0], 2),
    ],
)
def test_the_first_wrong_node_is_the_first_on_the_way(walk, out, grads, first):
    order = GraphSpec.model_validate({**GRAPH, "walk": walk})
    expected = {"out": 3.0, "grads": np.array([1.0, 2.0])}

    graph = compare_graph(order, {"out": out, "grads": np.array(grads)}, expected, NEAR)

    assert graph.first_wrong == first
    assert graph.nodes[3].right is None


@pytest.mark.parametrize("answer", ["nothing", "grads[7]", "grads[0, 0]", "out[1]"])
def test_a_node_with_an_answer_that_is_not_there_is_never_wrong(answer):
    order = GraphSpec.model_validate({"nodes": [{"name": "x", "answer": answer}]})

    graph = compare_graph(order, {"out": 1.0, "grads": np.zeros(2)}, {"out": 2.0, "grads": np.ones(2)}, NEAR)

    assert (graph.first_wrong, graph.nodes[0].right) == (None, None)


@pytest.mark.parametrize(
    "nodes",
    [[], [{"name": "x", "operands": [0]}], [{"name": "x", "answer": "a.b"}], [{"name": "x", "colour": "red"}]],
)
def test_a_graph_that_makes_no_sense_is_refused(nodes):
    with pytest.raises(ValidationError):
        GraphSpec.model_validate({"nodes": nodes})


def test_places_are_read():
    assert [read_place(text) for text in ("loss", "g[2]", "w[0, 1]", "w[1,2]", "a.b")] == [
        ("loss", ()),
        ("g", (2,)),
        ("w", (0, 1)),
        ("w", (1, 2)),
        None,
    ]
