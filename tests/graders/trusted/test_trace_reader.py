"""The document of a free cell: what is taken, and what is refused with a reason."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graders.contract.trace import Trace
from graders.contract.trace_check import TraceRefused, build_trace
from graders.trusted.trace_reader import MAX_DOCUMENT_BYTES, read_report


def chain(length: int, **changes: object) -> dict:
    """A trace of `length` nodes, each flowing into the one before."""
    column = {"name": "AddBackward0", "forward": "add", "kind": "op", "module": "", "dtype": "float32"}
    nodes = {name: [value] * length for name, value in column.items()}
    nodes |= {"span": [[1, 0, 1, 5]] * length, "shape": [[2, 3]] * length, "variable": [""] * length}
    nodes |= {"values": [""] * length, "saved": [""] * length}
    nodes |= {"saved_bytes": [0] * length, "leaf_bytes": [0] * length, "sequence": list(range(length))}
    nodes |= {"backward": [-1] * length, "made_by": [None] * length}
    edges = {
        "source": list(range(1, length)),
        "target": list(range(length - 1)),
        "slot": [0] * (length - 1),
        "output": [0] * (length - 1),
    }
    return {"version": 1, "torch": "2.13.0", "nodes": nodes, "edges": edges, "roots": [length - 1], **changes}


def document(**told: object) -> bytes:
    return json.dumps({"ok": True, "mistake": None, "trace": None, **told}).encode()


def test_an_honest_trace_is_taken_as_it_is():
    report = read_report(document(trace=chain(5)))
    assert report is not None
    assert (report.ok, report.trace_refused) == (True, "")
    assert report.trace == Trace.model_validate(chain(5))


def test_a_long_chain_is_no_deep_recursion():
    assert len(build_trace(chain(20_000)).nodes.name) == 20_000


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"edges": {"source": [0, 1], "target": [1, 0], "slot": [0, 0], "output": [0, 0]}}, "cycle"),
        ({"edges": {"source": [0], "target": [0], "slot": [0], "output": [0]}}, "cycle"),
        ({"edges": {"source": [0], "target": [7], "slot": [0], "output": [0]}}, "points at node"),
        ({"edges": {"source": [0], "target": [], "slot": [0], "output": [0]}}, "differ in length"),
        ({"edges": {"source": [-1], "target": [0], "slot": [0], "output": [0]}}, "agreed form: edges.source"),
        ({"roots": [99]}, "points at node"),
        ({"surprise": 1}, "agreed form: surprise"),
        ({"version": 2}, "agreed form: version"),
        ({"torch": "x" * 500}, "agreed form: torch"),
        ({"nodes": []}, "agreed form: nodes"),
    ],
)
def test_a_trace_that_is_no_graph_is_refused_with_a_reason_and_the_run_still_counts(change, reason):
    report = read_report(document(trace=chain(3, **change)))
    assert report is not None
    assert (report.ok, report.trace) == (True, None)
    assert reason in report.trace_refused


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"not json",
        b"[1]",
        b"null",
        b'{"ok": NaN}',
        b'{"ok": true, "x": 1e999}',
        b'{"ok": -Infinity}',
        b"[" * 100_000,
        b'{"a":' * 50_000,
        b'{"n": ' + b"9" * 5000 + b"}",
        b" " * (MAX_DOCUMENT_BYTES + 1),
    ],
    ids=lambda raw: repr(raw[:20]),
)
def test_what_is_no_report_is_none(raw):
    assert read_report(raw) is None


def test_texts_lose_their_control_characters():
    told = chain(1)
    told["nodes"]["variable"] = ["w\x1b[2J\u202e"]
    assert build_trace(told).nodes.variable == ("w\ufffd[2J\ufffd",)


def test_a_mistake_makes_a_run_not_ok_whatever_it_says():
    report = read_report(document(mistake={"type": "E"}))
    assert report is not None
    assert not report.ok


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["nodes", "edges", "source"]), inner),
    max_leaves=12,
)


@given(JSON)
def test_any_trace_is_taken_or_refused(told):
    try:
        build_trace(told)
    except TraceRefused:
        return


@given(st.binary(max_size=300))
def test_any_bytes_are_a_report_or_none(raw):
    read_report(raw)
