"""What a learner's process says about its graph is refused in words where it contradicts itself."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graders.contract.trace import MAX_NODES, Cuts, Edges, Events, Matrices, Nodes, Outputs, Regions, Trace
from graders.contract.trace_check import MAX_ROOTS, TraceRefused, build_trace, check_trace, clean_text, read_trace

PLAIN: dict[str, Any] = {"shape": [], "span": None, "kind": "op", "made_by": None, "node": None, "norm": None}
TEXTS = {
    "name",
    "forward",
    "module",
    "dtype",
    "variable",
    "values",
    "saved",
    "before",
    "incoming",
    "outgoing",
    "text",
}
QUICK = settings(deadline=None, max_examples=50)


def fill(table: type[Any], length: int, **columns: Any) -> dict[str, Any]:
    """A table's columns, plain where they are not given."""
    return {
        name: columns.get(name, [PLAIN.get(name, "" if name in TEXTS else 0)] * length) for name in table.model_fields
    }


def chain(length: int = 4, **nodes: Any) -> dict[str, Any]:
    """Each node flows into the one before; a cut, an event and a region are there to be spoiled."""
    count = length - 1
    return {
        "nodes": fill(Nodes, length, **nodes),
        "edges": fill(Edges, count, source=[*range(1, length)], target=[*range(count)]),
        "cuts": fill(Cuts, 1, kind=["detach"], node=[0]),
        "events": fill(Events, 1, kind=["vjp"], node=[0]),
        "regions": fill(Regions, 1, kind=["checkpoint"], nodes=[[*range(length)]]),
        "roots": [length - 1],
    }


def refusal(document: Any) -> TraceRefused:
    with pytest.raises(TraceRefused) as caught:
        read_trace(json.dumps(document), most_bytes=10**9)
    return caught.value


def test_an_honest_trace_is_taken_as_it_is() -> None:
    assert read_trace(json.dumps(chain())) == Trace.model_validate(chain())


def test_a_trace_that_was_taken_is_taken_again_unchanged() -> None:
    once = build_trace(chain(variable=["a\x00b", "", "", ""]))
    assert check_trace(once) == once


def test_a_cycle_is_refused() -> None:
    edges = fill(Edges, 3, source=[1, 2, 3], target=[2, 3, 1])
    problem = refusal(chain() | {"edges": edges})
    assert (problem.code, str(problem)) == ("cycle", "3 nodes are on or behind a cycle of edges")


def test_a_node_that_feeds_itself_is_a_cycle() -> None:
    assert refusal(chain() | {"edges": fill(Edges, 1, source=[0], target=[0])}).code == "cycle"


def test_a_million_nodes_are_refused_before_anything_else_is_looked_at() -> None:
    count = MAX_NODES + 1
    problem = refusal({"nodes": {"name": [""] * count, "kind": ["op"] * count}})
    assert problem.code == "too-many"
    assert "200,001 nodes" in str(problem)


def test_as_many_roots_as_a_tape_has_steps_are_taken_and_no_more() -> None:
    assert len(build_trace(chain() | {"roots": [0] * MAX_ROOTS}).roots) == MAX_ROOTS
    assert refusal(chain() | {"roots": [0] * (MAX_ROOTS + 1)}).code == "too-many"


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
    document = chain()
    document["nodes"]["name"].pop()
    problem = refusal(document)
    assert problem.code == "ragged"
    assert "name 3, forward 4" in str(problem)


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        ("edges", "target", 4),
        ("cuts", "node", 9),
        ("events", "node", 4),
        ("regions", "nodes", [1, 77]),
        ("nodes", "made_by", 4),
    ],
)
def test_an_index_that_points_at_nothing_is_refused(table: str, column: str, value: Any) -> None:
    document = chain()
    document[table][column][0] = value
    assert refusal(document).code == "out-of-range"


def test_a_root_that_points_at_nothing_is_refused() -> None:
    assert refusal(chain() | {"roots": [4]}).code == "out-of-range"


def test_calls_of_one_module_that_share_nodes_are_refused() -> None:
    stretches = {"module": ["a", "a"], "number": [1, 2], "first": [0, 1], "last": [1, 2]}
    assert refusal(chain() | {"passes": stretches}).code == "repeated"
    apart = stretches | {"first": [0, 2]}
    assert build_trace(chain() | {"passes": apart}).passes.first == (0, 2)


def test_an_output_of_no_node_is_refused() -> None:
    outputs = fill(Outputs, 1, node=[10**6], output=[1])
    assert refusal(chain() | {"outputs": outputs}).code == "out-of-range"


@pytest.mark.parametrize(("of", "at"), [("values", 4), ("incoming", 10**6)])
def test_a_matrix_of_no_node_and_no_step_is_refused(of: str, at: int) -> None:
    matrices = fill(Matrices, 1, of=[of], at=[at], numbers=["[[1.0]]"])
    assert refusal(chain() | {"matrices": matrices}).code == "out-of-range"


def test_a_region_that_names_a_node_twice_is_refused() -> None:
    document = chain() | {"regions": fill(Regions, 1, kind=["checkpoint"], nodes=[[1, 2, 1]])}
    problem = refusal(document)
    assert (problem.code, str(problem)) == ("repeated", "checkpointed region 0 names a node twice")


def test_regions_that_share_nodes_are_taken_because_reentrant_checkpoints_do() -> None:
    nodes = [[0, 1, 2], [2, 3], [0, 1, 2]]
    document = chain() | {"regions": fill(Regions, 3, kind=["checkpoint"] * 3, nodes=nodes)}
    assert build_trace(document).regions.nodes == ((0, 1, 2), (2, 3), (0, 1, 2))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_a_norm_that_is_no_finite_number_is_refused(number: str) -> None:
    document = chain() | {"events": fill(Events, 1, kind=["vjp"], norm=[0.125])}
    with pytest.raises(TraceRefused):
        read_trace(json.dumps(document).replace("0.125", number))


@pytest.mark.parametrize("span", [(0, 0, 1, 1), (2, 0, 1, 0), (1, 5, 1, 2), (1, -1, 1, 2), (1, 0, 10**9, 0)])
def test_a_place_that_no_source_has_is_refused(span: tuple[int, ...]) -> None:
    assert refusal(chain(1, span=[span])).code == "bad-span"


def test_a_shape_with_too_many_dimensions_is_refused() -> None:
    assert refusal(chain(1, shape=[(1,) * 65])).code == "bad-shape"


def test_a_module_path_deeper_than_any_model_is_refused() -> None:
    assert refusal(chain(1, module=["." * 100])).code == "too-deep"


def test_a_text_longer_than_the_contract_is_refused() -> None:
    assert refusal(chain(1, variable=["x" * 201])).code == "malformed"


@pytest.mark.parametrize("column", ["sequence", "backward"])
def test_a_number_beyond_64_bits_is_refused(column: str) -> None:
    assert refusal(chain(1, **{column: [2**70]})).code == "bad-number"


@pytest.mark.parametrize("column", ["slot", "output"])
def test_an_operand_beyond_any_operations_last_is_refused(column: str) -> None:
    document = chain()
    document["edges"][column][0] = 10**9
    assert refusal(document).code == "bad-number"


def test_control_and_direction_characters_become_visible() -> None:
    document = chain(1, variable=["a\x00b\u202ec\nd\u200b"])
    assert read_trace(json.dumps(document)).nodes.variable == ("a\ufffdb\ufffdc d\ufffd",)


@given(st.text())
@QUICK
def test_clean_text_has_only_characters_that_xml_allows(text: str) -> None:
    cleaned = clean_text(text)
    assert len(cleaned) == len(text)
    assert all(letter >= " " and not "\ud800" <= letter <= "\udfff" for letter in cleaned)
