"""A tape's rows become the steps that a reader takes, and the steps a state and sentences."""

import json
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st
from picture_parts import QUICK, Sketch, any_sketch, open_recorded

from app.pictures import Graph, draw_graph, tape_rows, write_tape
from app.pictures.tape.state import read_state, write_sum
from app.pictures.tape.steps import find_calls, group_steps
from graders.contract.trace import EventKind


def sketch_two_uses() -> Graph:
    """x feeds a and b, which meet; one backward call brings both gradients back to x."""
    sketch = Sketch()
    x = sketch.leaf("x")
    h = sketch.op("mul", x, variable="h", saved_bytes=8)
    a = sketch.op("mul", h, variable="a", saved_bytes=4)
    b = sketch.op("exp", h, variable="b")
    loss = sketch.op("add", a, b, variable="loss")
    for node, held in ((h, 8), (a, 12), (b, 12), (loss, 12)):
        sketch.event("record", node, call=-1, bytes=held)
    sketch.event("backward", loss, text="backward", bytes=12)
    sketch.event("vjp", loss, incoming="() 1.0", outgoing="() 1.0; () 1.0", bytes=12)
    sketch.event("vjp", b, incoming="() 1.0", outgoing="() 3.0", bytes=12)
    sketch.event("vjp", a, incoming="() 1.0", outgoing="() 2.0", bytes=12)
    sketch.event("free", a, bytes=8)
    sketch.event("vjp", h, incoming="() 5.0", outgoing="() 20.0", bytes=8)
    sketch.event("free", h, bytes=0)
    sketch.event("accumulate", x, before="() 1.0", incoming="() 20.0", outgoing="() 21.0")
    sketch.event("end")
    return sketch.graph(loss)


def test_a_node_runs_and_lets_go_in_one_step() -> None:
    graph = sketch_two_uses()
    assert [(step.kind, step.node) for step in group_steps(graph)[4:]] == [
        ("backward", 4), ("vjp", 4), ("vjp", 3), ("vjp", 2), ("vjp", 1), ("accumulate", 0),
    ]  # fmt: skip


def test_every_row_of_a_tape_belongs_to_one_step() -> None:
    for name in ("diamond", "mlp", "detach", "chunk", "checkpoint", "transformer", "rnn"):
        graph = open_recorded(name)
        rows = [row for step in group_steps(graph) for row in range(step.first, step.last + 1)]
        assert rows == list(range(len(graph.trace.events.kind)))


def test_a_linear_layers_transpose_has_no_step_of_its_own() -> None:
    graph = open_recorded("mlp")
    assert not [step for step in group_steps(graph) if step.node in graph.absorbed]


def test_a_regions_slots_refill_in_one_step() -> None:
    graph = open_recorded("checkpoint")
    step = next(step for step in group_steps(graph) if step.kind == "recompute")
    assert [graph.trace.events.kind[row] for row in range(step.first, step.last + 1)] == ["recompute"] + 3 * ["save"]


def test_parts_that_meet_are_added_before_the_node_runs() -> None:
    graph = sketch_two_uses()
    assert [read_state(graph, taken).received(1) for taken in (6, 7, 8, 9)] == [
        (), ("3.0",), ("3.0 + 2.0",), ("3.0 + 2.0 = 5.0",),
    ]  # fmt: skip


def test_a_long_sum_stands_on_three_lines() -> None:
    assert write_sum(["[1.0, 2.0, 3.0]"] * 2, "[2.0, 4.0, 6.0]") == (
        "[1.0, 2.0, 3.0]", "+ [1.0, 2.0, 3.0]", "= [2.0, 4.0, 6.0]",
    )  # fmt: skip
    assert write_sum(["[1.0, 2.0, 3.0]"] * 4, "")[1] == "+ 3 more"


def test_a_pill_says_what_is_added_to_what_stood_there() -> None:
    graph = sketch_two_uses()
    assert [read_state(graph, taken).grad(0) for taken in (8, 9, 10)] == [None, "gets 20.0", ".grad 1.0 += 20.0"]


def test_bars_empty_when_their_node_has_run() -> None:
    graph = sketch_two_uses()
    assert [read_state(graph, taken).fill((1, 2)) for taken in (0, 1, 4, 8, 9)] == [0.0, 8 / 12, 1.0, 8 / 12, 0.0]
    assert read_state(graph, None).fill((1, 2)) == 1.0


def test_a_checkpointed_regions_bars_are_empty_until_it_computes_again() -> None:
    graph = open_recorded("checkpoint")
    steps = group_steps(graph)
    (place,) = [number for number, step in enumerate(steps, 1) if step.kind == "recompute"]
    assert [read_state(graph, taken).fill((2, 3, 4)) for taken in (place - 1, place)] == [0.0, 1.0]
    assert read_state(graph, len(steps)).fill((2, 3, 4)) == 0.0


def test_a_second_call_forgets_the_gradients_of_the_first_but_not_grad() -> None:
    sketch = Sketch()
    x = sketch.leaf("x")
    y = sketch.op("mul", x)
    sketch.event("record", y, call=-1)
    for call, (before, after) in enumerate((("None", "() 2.0"), ("() 2.0", "() 4.0"))):
        sketch.event("backward", y, call=call, text="backward")
        sketch.event("vjp", y, call=call, incoming="() 1.0", outgoing="() 2.0")
        sketch.event("accumulate", x, call=call, before=before, incoming="() 2.0", outgoing=after)
        sketch.event("end", call=call)
    graph = sketch.graph(y)
    state = read_state(graph, 5)
    assert (state.done, state.received(y), state.grad(x)) == (set(), (), ".grad = 2.0")
    assert [call.label for call in find_calls(graph, group_steps(graph))] == ["forward", "backward 1", "backward 2"]


def test_what_runs_inside_a_call_belongs_to_it() -> None:
    sketch = Sketch()
    x = sketch.leaf("x")
    y = sketch.op("mul", x)
    sketch.event("record", y, call=-1)
    sketch.event("backward", y, call=0, text="grad")
    second = sketch.op("mul", x, made_by=y)
    sketch.event("record", second, call=-1)
    sketch.event("vjp", y, call=0, incoming="() 1.0", outgoing="() 2.0")
    sketch.event("end", call=0)
    graph = sketch.graph(y)
    calls = find_calls(graph, group_steps(graph))
    assert [(call.label, call.first, call.last) for call in calls] == [("forward", 1, 1), ("grad", 2, 4)]


def test_a_step_reads_as_a_sentence() -> None:
    rows = tape_rows(sketch_two_uses())
    assert [row.sentence for row in rows][3:] == [
        "add (AddBackward0) recorded: gives loss of shape ()",
        "backward begins at add (AddBackward0)",
        "add (AddBackward0) runs: receives 1.0, sends 1.0 to a and 1.0 to b",
        "exp (ExpBackward0) runs: receives 1.0, sends 3.0 to h",
        "mul (MulBackward0) runs: receives 1.0, sends 2.0 to h; releases 4 bytes",
        "mul (MulBackward0) runs: receives 5.0, sends 20.0 to x; releases 8 bytes",
        "x.grad: 1.0 += 20.0 gives 21.0",
    ]
    assert [row.held_bytes for row in rows][-3:] == [8, 0, 0]


def test_a_reader_first_sees_the_recorded_graph() -> None:
    tape = write_tape(sketch_two_uses())
    assert tape.start == 4
    assert tape.document["calls"] == [["forward", 1, 4], ["backward", 5, 10]]


def test_holders_are_sorted_by_what_they_hold() -> None:
    holders = write_tape(sketch_two_uses()).document["holders"]
    assert [(node, held) for node, _, held in holders] == [(1, 8), (2, 4)]


def test_what_backward_did_not_reach_is_told_with_the_cut() -> None:
    sketch = Sketch()
    w, v = sketch.leaf("w", shape=(2,)), sketch.leaf("v")
    y = sketch.op("mul", w, variable="y")
    z = sketch.op("mul", v)
    sketch.cut(y, "detach", span=(7, 0, 7, 4))
    sketch.event("backward", z, text="backward")
    sketch.event("vjp", z, incoming="() 1.0", outgoing="() 1.0")
    sketch.event("accumulate", v, incoming="() 1.0", outgoing="() 1.0")
    told = [words for _, words in write_tape(sketch.graph(z)).document["unreached"]]
    assert told[0] == "w (2,): cut by .detach() line 7"
    assert told[1].startswith("y was cut by .detach() at line 7")


@given(any_sketch(most=12), st.data())
@QUICK
def test_any_order_of_rows_replays_without_a_fault(sketch: Sketch, data: st.DataObject) -> None:
    nodes = st.sampled_from([None, *range(len(sketch.nodes))])
    texts = st.sampled_from(["", "() 1.0", "·; (2,) [1.0, 2.0]; ", "nan", "; ;"])
    for _ in range(data.draw(st.integers(0, 20))):
        kind = data.draw(st.sampled_from(get_args(EventKind)))
        texts_of_row = {name: data.draw(texts) for name in ("before", "incoming", "outgoing", "text")}
        sketch.event(kind, data.draw(nodes), call=data.draw(st.integers(-1, 3)), bytes=7, **texts_of_row)
    graph = sketch.graph()
    tape = write_tape(graph)
    json.dumps(tape.document)
    rows = tape_rows(graph)
    assert len(rows) == len(tape.document["steps"]["told"])
    for step in range(len(rows) + 1):
        draw_graph(graph, id_prefix="p", step=step)
