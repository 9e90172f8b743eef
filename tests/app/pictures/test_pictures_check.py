"""What a learner's process says about its graph is refused in words where it contradicts itself."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from picture_parts import QUICK, Sketch, any_sketch, load_recorded, sketch_chain, sketch_diamond

from app.pictures import TraceRefused, check_trace, draw_graph, read_trace
from app.pictures.check import clean_text
from graders.contract.trace import MAX_NODES


def refusal(document: Any) -> TraceRefused:
    with pytest.raises(TraceRefused) as caught:
        read_trace(json.dumps(document), most_bytes=10**9)
    return caught.value


@given(any_sketch())
@QUICK
def test_any_honest_trace_is_accepted_unchanged(sketch: Sketch) -> None:
    assert read_trace(json.dumps(sketch.document())) == sketch.trace()


def test_recorded_traces_are_accepted() -> None:
    trace, _ = load_recorded("mlp")
    assert check_trace(trace) == trace


def test_a_cycle_is_refused() -> None:
    document = sketch_diamond().document()
    document["edges"] = {"source": [1, 2, 3], "target": [2, 3, 1], "slot": [0, 0, 0], "output": [0, 0, 0]}
    problem = refusal(document)
    assert (problem.code, str(problem)) == ("cycle", "3 nodes lie on or behind a cycle of edges")


def test_a_node_that_feeds_itself_is_a_cycle() -> None:
    sketch = Sketch()
    sketch.op("mul", 0)
    assert refusal(sketch.document()).code == "cycle"


def test_a_million_nodes_are_refused_before_anything_is_drawn() -> None:
    columns = {"kind": ["op"] * (MAX_NODES + 1)}
    problem = refusal({"nodes": {"name": [""] * (MAX_NODES + 1), **columns}})
    assert problem.code == "too-many"
    assert "200,001 nodes" in str(problem)


def test_a_document_above_its_size_is_not_even_parsed() -> None:
    with pytest.raises(TraceRefused, match="at most 10 are read"):
        read_trace("[" * 11, most_bytes=10)


@pytest.mark.parametrize("document", ["", "[]", "nonsense", '{"nodes": 3}', "[" * 100_000, '{"extra": 1}', "\ud800"])
def test_what_is_no_trace_at_all_is_refused(document: str) -> None:
    with pytest.raises(TraceRefused, match="agreed form"):
        read_trace(document)


@given(st.binary(max_size=200))
@QUICK
def test_bytes_of_any_kind_raise_nothing_else(document: bytes) -> None:
    with pytest.raises(TraceRefused):
        read_trace(b"x" + document)


def test_columns_of_different_length_are_refused() -> None:
    document = sketch_diamond().document()
    document["nodes"]["name"].pop()
    problem = refusal(document)
    assert problem.code == "ragged"
    assert "name 3, forward 4" in str(problem)


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [("edges", "target", 4), ("cuts", "node", 9), ("events", "node", 4), ("regions", "nodes", [1, 77])],
)
def test_an_index_that_points_at_nothing_is_refused(table: str, column: str, value: Any) -> None:
    sketch = sketch_diamond()
    sketch.cut(1)
    sketch.event("record", 1)
    sketch.regions.append({"kind": "checkpoint", "nodes": [1, 2]})
    document = sketch.document()
    document[table][column][0] = value
    assert refusal(document).code == "out-of-range"


def test_a_root_that_points_at_nothing_is_refused() -> None:
    assert refusal(sketch_diamond().document(4)).code == "out-of-range"


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_norm_that_is_no_finite_number_is_refused(number: str) -> None:
    sketch = sketch_diamond()
    sketch.event("vjp", 3, norm=0.125)
    text = json.dumps(sketch.document()).replace("0.125", number)
    with pytest.raises(TraceRefused):
        read_trace(text)


@pytest.mark.parametrize("span", [(0, 0, 1, 1), (2, 0, 1, 0), (1, 5, 1, 2), (1, -1, 1, 2), (1, 0, 10**9, 0)])
def test_a_place_that_no_source_has_is_refused(span: tuple[int, ...]) -> None:
    assert refusal(sketch_chain(1, span=span).document()).code == "bad-span"


def test_a_shape_with_too_many_dimensions_is_refused() -> None:
    assert refusal(sketch_chain(1, shape=(1,) * 65).document()).code == "bad-shape"


def test_a_module_path_deeper_than_any_model_is_refused() -> None:
    assert refusal(sketch_chain(1, module="." * 100).document()).code == "too-deep"


def test_a_text_longer_than_the_contract_is_refused() -> None:
    assert refusal(sketch_chain(1, variable="x" * 201).document()).code == "malformed"


def test_a_sequence_number_beyond_64_bits_is_refused() -> None:
    assert refusal(sketch_chain(1, sequence=2**70).document()).code == "bad-number"


def test_control_and_direction_characters_become_visible() -> None:
    sketch = Sketch()
    sketch.leaf("a\x00b\u202ec\nd\u200b")
    assert read_trace(json.dumps(sketch.document())).nodes.variable == ("a\ufffdb\ufffdc d\ufffd",)


@given(st.text())
@QUICK
def test_clean_text_has_only_characters_that_xml_allows(text: str) -> None:
    cleaned = clean_text(text)
    assert len(cleaned) == len(text)
    assert all(letter >= " " and not "\ud800" <= letter <= "\udfff" for letter in cleaned)


def test_drawing_checks_again_so_that_no_caller_can_forget() -> None:
    looped = Sketch()
    looped.op("mul", 0)
    with pytest.raises(TraceRefused, match="cycle"):
        draw_graph(looped.trace(), id_prefix="g")
