"""One task: from a trace's bytes to what a page needs, or to a sentence about why there is nothing."""

import json
import logging
import sys

import pytest
from picture_parts import Sketch, load_recorded
from test_budget import sketch_dense, sketch_stack
from test_hostile_traces import all_keys

from app.drawing import answer
from app.drawing.answer import answer_task
from app.drawing.tasks import DrawPicture, Figure, NotDrawn, WritePlayed, WriteTrace, WriteWhole
from app.pictures import Graph, draw_graph, read_graph
from graders.contract.trace import Trace
from graders.contract.trace_check import CheckedTrace, TraceRefused, read_trace

pytestmark = pytest.mark.slow

RECORDED, SOURCE = load_recorded("mlp")
PICTURE = DrawPicture(source=SOURCE, id_prefix="g", rows=10, list_nodes=True)


def write(trace: Trace) -> bytes:
    return trace.model_dump_json().encode()


def test_a_figure_is_the_picture_that_the_same_process_would_draw() -> None:
    drawn = draw_graph(read_graph(RECORDED, SOURCE), id_prefix="g")

    figure = Figure.model_validate_json(answer_task(PICTURE, write(RECORDED)))

    assert (figure.svg, figure.text) == (drawn.svg, drawn.text)
    assert tuple(fold.key for fold in figure.folds) == drawn.folds
    assert len(figure.nodes) == figure.node_total == len(RECORDED.nodes.name)
    assert figure.tape is not None
    assert len(figure.tape.rows) == min(10, figure.tape.total)


def test_the_player_gets_picture_words_and_tape_in_one_object() -> None:
    played = json.loads(answer_task(WritePlayed(source=SOURCE, id_prefix="g"), write(RECORDED)))

    assert list(played) == ["svg", "text", "note", "tape"]


def test_a_trace_is_given_as_it_was_checked() -> None:
    assert read_trace(answer_task(WriteTrace(), write(RECORDED))) == RECORDED


def test_bytes_that_are_no_trace_are_refused_in_words() -> None:
    with pytest.raises(NotDrawn, match=r"^The graph could not be drawn: the trace does not have the .*\.$"):
        answer_task(PICTURE, b"{")


def test_six_thousand_leaves_before_one_operation_are_a_small_picture() -> None:
    figure = Figure.model_validate_json(answer_task(PICTURE, write(sketch_stack(6_000).trace)))

    assert len(figure.svg) < 20_000


def test_a_dense_graph_with_its_folds_open_is_refused_in_words() -> None:
    graph = sketch_dense(300)
    task = DrawPicture(source="", id_prefix="g", opened=tuple(sorted(all_keys(graph))))

    with pytest.raises(NotDrawn, match=r"^This graph is too large to draw: more than 3,000 .*; close a fold\.$"):
        answer_task(task, write(graph.trace))


def test_a_picture_of_too_many_bytes_is_refused_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer, "MAX_ANSWER_BYTES", 1_000)

    with pytest.raises(NotDrawn, match=r"^This graph is too large to draw: it would have 0 MB"):
        answer_task(PICTURE, write(RECORDED))


def test_an_empty_graph_has_no_steps_to_play_and_says_what_was_left_out() -> None:
    trace = Trace(notes=("Nothing required a gradient.",))

    with pytest.raises(NotDrawn, match=r"^Nothing required a gradient\.$"):
        answer_task(WritePlayed(source="", id_prefix="g"), write(trace))


def test_whatever_drawing_raises_refuses_that_trace_alone_with_one_line_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def recurse(trace: CheckedTrace, source: str = "") -> Graph:
        return recurse(trace, source)

    monkeypatch.setattr(answer, "read_graph", recurse)
    with caplog.at_level(logging.ERROR), pytest.raises(NotDrawn) as refused:
        answer_task(WriteWhole(source=""), write(RECORDED))

    assert str(refused.value) == "The graph could not be drawn: it made our drawing fail."
    (line,) = caplog.messages
    assert line.startswith("drawing a whole failed: RecursionError at ")
    assert "\n" not in line


def test_a_trace_as_deep_as_python_s_recursion_is_drawn_or_refused() -> None:
    """A chain, nested regions and nested modules, each deeper than a recursive walk could follow."""
    deep = 3 * sys.getrecursionlimit()
    sketch = Sketch()
    node = sketch.leaf("x")
    for number in range(deep):
        node = sketch.op("mul", node, module=".".join("abc"[: 1 + number % 3]))
    sketch.regions += [
        {"kind": "checkpoint", "nodes": [*range(1, deep - number)], "span": None} for number in range(40)
    ]
    trace = sketch.trace(node)
    for task in (PICTURE, WriteWhole(source=""), WritePlayed(source="", id_prefix="g")):
        assert answer_task(task, write(trace))


def test_refusals_of_the_reader_are_sentences() -> None:
    lying = RECORDED.model_copy(update={"roots": (10**6,)})

    with pytest.raises(TraceRefused):
        read_trace(write(lying))
    with pytest.raises(NotDrawn, match=r"^The graph could not be drawn: roots points at node 1000000, .*\.$"):
        answer_task(PICTURE, write(lying))


def test_nodes_that_would_read_the_same_are_told_apart() -> None:
    figure = Figure.model_validate_json(answer_task(PICTURE, write(RECORDED)))
    stack = Figure.model_validate_json(answer_task(PICTURE, write(sketch_stack(50).trace)))

    for drawn in (figure, stack):
        labels = [node.label for node in drawn.nodes]
        assert len(set(labels)) == len(labels)
