"""The tracer against torch itself: anomaly mode knows every node's line, a plain run knows every bit."""

import json

import pytest

torch = pytest.importorskip("torch")

from tracer_parts import are_equal, list_programs, read_lines_by_anomaly_mode, read_program, run  # noqa: E402

from graders.contract.trace import Trace  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

PROGRAMS = list_programs()
ATTRIBUTED = [name for name in PROGRAMS if name != "transforms"]  # wrapped tensors are skipped, with a note


@pytest.mark.parametrize("name", ATTRIBUTED)
def test_every_node_has_the_line_that_anomaly_mode_gives_it(name: str) -> None:
    source = read_program(name)
    expected = read_lines_by_anomaly_mode(source)
    nodes = run(source, traced=True).trace.nodes
    found = {
        number: (name.split("::")[-1], None if span is None else span[0])
        for number, name, span in zip(nodes.sequence, nodes.name, nodes.span, strict=True)
        if number >= 0
    }
    expected = {number: (node.split("::")[-1], line) for number, (node, line) in expected.items()}
    assert len(expected) >= 4
    assert {number: found.get(number) for number in expected} == expected


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_traced_program_computes_the_same_bits(name: str) -> None:
    source = read_program(name)
    plain, traced = run(source, traced=False), run(source, traced=True)
    assert plain.error is None
    assert traced.error is None
    assert plain.tensors.keys() == traced.tensors.keys()
    assert [key for key, value in plain.tensors.items() if not are_equal(value, traced.tensors[key])] == []
    assert torch.equal(plain.random_state, traced.random_state)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_document_is_a_trace_with_columns_of_one_length(name: str) -> None:
    document = run(read_program(name), traced=True).document
    trace = Trace.model_validate_json(json.dumps(document, allow_nan=False))
    for table in (trace.nodes, trace.edges, trace.cuts, trace.events, trace.regions):
        assert len({len(getattr(table, column)) for column in type(table).model_fields}) == 1
    count = len(trace.nodes.name)
    assert all(node < count for node in (*trace.edges.source, *trace.edges.target, *trace.roots))
    assert all(target < source for source, target in zip(trace.edges.source, trace.edges.target, strict=True))
