"""Whatever a checked trace holds is drawn, told and written, or refused in words: nothing else is ever raised."""

import json
from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from picture_parts import Sketch, sketch_chain

from app.pictures import Graph, draw_graph, graph_figure, tape_rows, write_tape, write_whole
from app.pictures.graph.fold import Fold, fold_graph, settle_regions, unfold
from graders.contract.trace import CutKind, EventKind, NodeKind
from graders.contract.trace_check import MAX_MODULE_DEPTH

pytestmark = pytest.mark.slow

MANY = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.too_slow])
NAMES = ("MulBackward0", "MmBackward0", "TBackward0", "ViewBackward0", "ExpandBackward1", "", "AccumulateGrad")
TEXTS = st.sampled_from(["", "() 1.0", "·; (2,) [1.0]; ", "nan", "; ;", '<&">', "?", "None"])
MODULES = st.sampled_from(["", "a", "a.0", "a.1", "b", "a.0.c", ".", "..", "a..b"])
SPANS = st.sampled_from([None, (1, 0, 1, 3), (2, 4, 3, 1), (9, 0, 9, 4), (1, 900, 1, 901)])


@st.composite
def any_trace(draw: st.DrawFn) -> Graph:
    """No tracer made it: any kinds, slots, overlapping regions, repeated roots, and events in any order."""
    sketch, count = Sketch(), draw(st.integers(1, 14))
    numbers = st.integers(0, count - 1)
    for number in range(count):
        sketch.nodes.append(
            {
                "name": draw(st.sampled_from(NAMES)),
                "forward": draw(st.sampled_from(["", "mul", "x" * 90])),
                "kind": draw(st.sampled_from(get_args(NodeKind))),
                "module": draw(MODULES),
                "span": draw(SPANS),
                "shape": draw(st.sampled_from([[], [2], [2**53] * 4])),
                "saved_bytes": draw(st.sampled_from([0, 8, 2**53])),
                "variable": draw(TEXTS),
                "values": draw(TEXTS),
            }
        )
        for _ in range(draw(st.integers(0, 3)) if number else 0):
            slot, output = draw(st.sampled_from([0, 1, 5, 90_000])), draw(st.sampled_from([0, 1, 70, 90_000]))
            sketch.edges.append(
                {"source": number, "target": draw(st.integers(0, number - 1)), "slot": slot, "output": output}
            )
    turn = draw(st.permutations(range(count)))
    for edge in sketch.edges:
        edge["source"], edge["target"] = turn[edge["source"]], turn[edge["target"]]
    for nodes in draw(st.lists(st.sets(numbers, max_size=count), max_size=6)):
        sketch.regions.append({"kind": "checkpoint", "nodes": list(nodes), "span": None})
    for _ in range(draw(st.integers(0, 4))):
        sketch.cut(draw(st.none() | numbers), draw(st.sampled_from(get_args(CutKind))), span=draw(SPANS))
    for _ in range(draw(st.integers(0, 10))):
        texts = {name: draw(TEXTS) for name in ("before", "incoming", "outgoing", "text")}
        kind, call = draw(st.sampled_from(get_args(EventKind))), draw(st.sampled_from([-1, 0, 1, 2**63]))
        sketch.event(kind, draw(st.none() | numbers), call=call, bytes=draw(st.sampled_from([0, 2**53])), **texts)
    return sketch.graph(*draw(st.lists(numbers, max_size=4)), source="y = x * 2\nz = y.exp()\n")


def all_keys(graph: Graph) -> frozenset[str]:
    """Every fold that can be opened, however deep."""
    found, waiting = set[str](), [fold_graph(graph)]
    while waiting:
        fold = waiting.pop()
        found.add(fold.key)
        waiting.extend(unfold(fold))
    return frozenset(found)


@pytest.mark.parametrize("traces", [40, pytest.param(150, marks=pytest.mark.nightly)])
def test_any_checked_trace_is_drawn_told_and_written(traces: int) -> None:
    settings(MANY, max_examples=traces)(given(any_trace())(draw_in_every_way))()


def draw_in_every_way(graph: Graph) -> None:
    opened = all_keys(graph)
    for keys in (frozenset[str](), opened):
        picture = draw_graph(graph, id_prefix="g", opened=keys)
        assert draw_graph(graph, id_prefix="g", opened=keys) == picture
    for step in (0, 1, len(tape_rows(graph))):
        draw_graph(graph, id_prefix="g", opened=opened, step=step)
    json.dumps(write_tape(graph).document)
    json.dumps(write_whole(graph))
    graph_figure(graph, opened=opened)


@given(any_trace())
@MANY
def test_every_fold_of_any_trace_has_a_key_of_its_own(graph: Graph) -> None:
    keys, waiting = list[str](), [fold_graph(graph)]
    while waiting:
        fold = waiting.pop()
        keys.append(fold.key)
        waiting.extend(fold.parts)
    assert len(keys) == len(set(keys))


@given(any_trace())
@MANY
def test_settled_regions_are_apart_or_one_within_the_other(graph: Graph) -> None:
    settled = [frozenset(places) for places in settle_regions(graph)]
    for number, inner in enumerate(settled):
        for outer in settled[:number]:
            assert inner.isdisjoint(outer) or inner < outer


def with_regions(*regions: list[int]) -> Graph:
    sketch = sketch_chain(8)
    sketch.regions += [{"kind": "checkpoint", "nodes": nodes, "span": None} for nodes in regions]
    return sketch.graph(8)


def frames(fold: Fold) -> list[tuple[int, int]]:
    """The checkpoints of a graph as intervals, outer ones first."""
    inner = [frame for part in fold.parts for frame in frames(part)]
    return [(fold.first, fold.last), *inner] if fold.kind == "checkpoint" else inner


@pytest.mark.parametrize(
    ("regions", "expected"),
    [
        pytest.param([[1, 2, 3], [1, 2, 3]], [(0, 2)], id="a checkpoint that does nothing but call another"),
        pytest.param([[2, 3], [1, 2, 3, 4]], [(0, 3), (1, 2)], id="one within another"),
        pytest.param([[1, 2, 3, 4], [4, 5, 6]], [(0, 3), (4, 5)], id="a reentrant one within another"),
        pytest.param([[1, 2, 3, 4], [1, 5, 6, 7]], [(0, 3), (4, 6)], id="one that ran backward twice"),
        pytest.param([[1, 3, 5, 7], [2, 4, 6, 8]], [(at, at) for at in range(8)], id="two that alternate"),
    ],
)
def test_overlapping_regions_are_frames_of_their_own(
    regions: list[list[int]], expected: list[tuple[int, int]]
) -> None:
    graph = with_regions(*regions)
    assert frames(fold_graph(graph)) == expected
    draw_graph(graph, id_prefix="g", opened=all_keys(graph))


def test_a_thousand_nested_regions_are_drawn_as_deep_as_a_reader_can_follow() -> None:
    sketch = sketch_chain(150)
    sketch.regions += [
        {"kind": "checkpoint", "nodes": [*range(1, 151 - number)], "span": None} for number in range(150)
    ]
    graph = sketch.graph(150)
    draw_graph(graph, id_prefix="g", opened=all_keys(graph))
    assert len(frames(fold_graph(graph))) == 20


def test_the_deepest_modules_are_drawn() -> None:
    sketch = Sketch()
    node = sketch.leaf("x")
    for depth in range(MAX_MODULE_DEPTH):
        for _ in range(2):
            node = sketch.op("mul", node, module=".".join("abcdefgh"[at % 8] for at in range(depth + 1)))
    graph = sketch.graph(node)
    draw_graph(graph, id_prefix="g", opened=all_keys(graph))
