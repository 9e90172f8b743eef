"""The answer of a drill is read from the recorded run alone."""

import pytest

from app.course.drills.observing import NotObserved, observe
from graders.contract.trace import Cuts, Edges, Events, Nodes, Trace

SOURCE = "import torch\n\nx = torch.tensor(2.0, requires_grad=True)\ny = x * x\nz = y + x\nz.backward()"


def make_trace(**changes: object) -> Trace:
    """Two operations on one leaf, walked once: the leaf's gradient is 5."""
    events = [
        ("record", 1, -1, 4, ""), ("record", 2, -1, 4, ""), ("backward", 2, 0, 4, ""), ("vjp", 2, 0, 4, ""),
        ("vjp", 1, 0, 4, ""), ("free", 1, 0, 0, ""), ("accumulate", 0, 0, 0, "() 5.0"), ("end", None, 0, 0, ""),
    ]  # fmt: skip
    kind, node, call, held, outgoing = zip(*events, strict=True)
    blank = ("",) * len(events)
    parts: dict[str, object] = {
        "nodes": Nodes(
            name=("AccumulateGrad", "MulBackward0", "AddBackward0"), forward=("leaf", "mul", "add"),
            kind=("leaf", "op", "op"), module=("",) * 3, span=(None, (4, 4, 4, 9), (5, 4, 5, 9)), shape=((),) * 3,
            dtype=("float32",) * 3, variable=("x", "y", "z"), values=("2.0", "4.0", "6.0"), saved_bytes=(0, 4, 0),
            leaf_bytes=(0, 4, 0), saved=("", "self = x", ""), sequence=(-1, 0, 1), backward=(0, 0, 0),
            made_by=(None,) * 3,
        ),
        "edges": Edges(source=(1, 1, 2, 2), target=(0, 0, 1, 0), slot=(0, 1, 0, 1), output=(0,) * 4),
        "events": Events(
            kind=kind, node=node, call=call, bytes=held, norm=(None,) * len(events), before=blank, incoming=blank,
            outgoing=outgoing, text=blank,
        ),
        "roots": (2,),
    }  # fmt: skip
    return Trace.model_validate_json(Trace(**(parts | changes)).model_dump_json())


def with_events(**columns: object) -> Trace:
    made = make_trace().events.model_dump()
    return make_trace(events=Events(**(made | columns)))


@pytest.mark.parametrize(
    ("what", "answer"),
    [
        ("gradient x", 5.0),
        ("leaves-with-gradient", 1),
        ("bytes-kept", 4),
        ("backward-order", "z = y + x\ny = x * x"),
        ("backward-ends", "returns, without an error"),
    ],
)
def test_a_run_answers_what_is_asked_of_it(what: str, answer: object) -> None:
    assert observe(make_trace(), SOURCE, what) == answer


def test_a_variable_answers_with_the_number_that_the_box_read_from_it() -> None:
    assert observe(make_trace(), SOURCE, "value w", 2.5) == 2.5


def test_an_element_of_a_gradient_is_named_by_its_place() -> None:
    outgoing = tuple("(2, 2) [[1.0, 2.0], [3.0, 4.5]]" if one else one for one in make_trace().events.outgoing)
    assert observe(with_events(outgoing=outgoing), SOURCE, "gradient x 3") == 4.5


def test_a_leaf_that_backward_does_not_reach_is_found_by_its_name() -> None:
    kinds = tuple("capture" if kind == "accumulate" else kind for kind in make_trace().events.kind)
    assert observe(with_events(kind=kinds), SOURCE, "leaf-without-gradient") == "x"


def test_the_line_that_opens_a_block_cuts_as_well_as_the_line_in_it() -> None:
    source = "with torch.no_grad():\n    y = x * 2"
    cuts = Cuts(kind=("no_grad",), span=((2, 8, 2, 13),), node=(None,), shape=((),))
    assert observe(make_trace(cuts=cuts), source, "cutting-line") == "1, 2"


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("gradient w", "0 leaves of the graph are called 'w'"),
        ("gradient x 4", "has 1 readable elements"),
        ("leaf-without-gradient", "0 leaves of the graph get no gradient"),
        ("cutting-line", "0 lines cut the graph"),
        ("value w", "'w' holds no finite number when the program ends"),
        ("the-weather", "nothing is called 'the-weather'"),
    ],
)
def test_a_run_without_that_answer_is_refused_in_words(what: str, why: str) -> None:
    with pytest.raises(NotObserved, match=why):
        observe(make_trace(), SOURCE, what)


def test_an_order_that_could_be_another_is_refused() -> None:
    edges = Edges(source=(1, 1, 2), target=(0, 0, 0), slot=(0, 1, 1), output=(0,) * 3)
    with pytest.raises(NotObserved, match="either order"):
        observe(make_trace(edges=edges), SOURCE, "backward-order")


def test_a_run_that_ends_in_an_error_answers_nothing() -> None:
    kinds = (*make_trace().events.kind[:-1], "error")
    with pytest.raises(NotObserved, match="raises an error"):
        observe(with_events(kind=kinds), SOURCE, "gradient x")


def test_a_backward_that_raises_answers_the_question_how_it_ends() -> None:
    kinds = (*make_trace().events.kind[:-1], "error")
    assert observe(with_events(kind=kinds), SOURCE, "backward-ends") == "raises an error"
    never = tuple("record" if kind == "backward" else kind for kind in kinds)
    with pytest.raises(NotObserved, match="calls no backward"):
        observe(with_events(kind=never), SOURCE, "backward-ends")
