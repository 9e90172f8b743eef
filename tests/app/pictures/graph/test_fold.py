"""Folding shows at most sixty boxes, loses no node, and opens down to each of them."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from picture_parts import QUICK, Sketch, any_sketch, open_recorded, sketch_chain

from app.pictures.graph.fold import Fold, fold_graph, unfold
from app.pictures.graph.graph import Graph
from app.pictures.graph.repeats import Run, find_runs
from app.pictures.graph.words import describe_fold
from app.pictures.layout.boxes import make_fold_box
from app.pictures.layout.view import MAX_VISIBLE, Shown, choose_view, flatten, weigh


def view_of(graph: Graph, *opened: str) -> tuple[Shown, ...]:
    return choose_view(graph, fold_graph(graph), frozenset(opened))


def told(view: Iterable[Shown]) -> list[str]:
    return [f"{shown.fold.kind} {shown.fold.label} {shown.fold.times}" for shown in flatten(tuple(view))]


@given(any_sketch(most=120))
@QUICK
def test_at_most_sixty_boxes_show_by_default(sketch: Sketch) -> None:
    graph = sketch.graph()
    assert sum(weigh(graph, shown.fold) for shown in flatten(view_of(graph))) <= MAX_VISIBLE


@given(any_sketch(most=120))
@QUICK
def test_what_shows_covers_every_operation_once_and_in_order(sketch: Sketch) -> None:
    graph = sketch.graph()
    covered = [place for shown in flatten(view_of(graph)) for place in range(shown.fold.first, shown.fold.last + 1)]
    assert covered == list(range(len(graph.order)))


@given(any_sketch(most=120), st.data())
@QUICK
def test_opening_reaches_every_node(sketch: Sketch, data: st.DataObject) -> None:
    graph = sketch.graph()
    wanted = data.draw(st.integers(0, len(graph.order) - 1))
    opened: set[str] = set()
    while True:
        (shown,) = (item for item in flatten(view_of(graph, *opened)) if item.fold.first <= wanted <= item.fold.last)
        if shown.fold.kind == "op":
            break
        assert shown.fold.key not in opened
        opened.add(shown.fold.key)
    assert shown.fold.key == f"n{graph.order[wanted]}"


@given(any_sketch(most=120))
@QUICK
def test_every_fold_has_a_key_of_its_own(sketch: Sketch) -> None:
    keys = [fold.key for fold in walk(fold_graph(sketch.graph()))]
    assert len(keys) == len(set(keys))


def walk(fold: Fold) -> Iterable[Fold]:
    yield fold
    for part in unfold(fold):
        yield from walk(part)


def test_a_small_graph_shows_whole() -> None:
    graph = sketch_chain(4, span=(1, 0, 1, 5)).graph()
    assert told(view_of(graph)) == ["op mul 1"] * 4


def test_a_long_chain_shows_its_first_the_rest_and_its_last() -> None:
    graph = sketch_chain(10_000, span=(3, 4, 3, 9)).graph()
    assert told(view_of(graph)) == ["op mul 1", "repeat mul 9998", "op mul 1"]


def test_a_loop_is_folded_where_its_body_begins() -> None:
    view = view_of(open_recorded("rnn"))
    assert [shown.fold.label for shown in view] == ["matmul, matmul, add, tanh", "pow", "sum"]
    first, rest, last = view[0].parts
    assert (first.fold.label, rest.fold.times, last.fold.label) == (
        "for t: 1 of 12",
        10,
        "for t: 12 of 12",
    )


def sketch_loop(times: int) -> Sketch:
    """A body of two lines below `for t in range(2, …)`, at line 1."""
    sketch = Sketch()
    node = sketch.leaf("x")
    for number in range(times):
        first = sketch.op("mul", node, span=(2, 4, 2, 9))
        node = sketch.op("exp", first, span=(3, 4, 3, 11))
        sketch.turns.append({"line": 1, "value": f"t = {number + 2}", "first": first, "last": node})
    return sketch


LOOP = "for t in range(2, 42):\n    x = x * 2\n    x = x.exp()\n"


def test_an_iteration_says_what_its_loop_variable_was() -> None:
    first, rest, last = view_of(sketch_loop(40).graph(source=LOOP))[0].parts
    assert [part.fold.label for part in (first, last)] == ["for t = 2, 1 of 40", "for t = 41, 40 of 40"]
    assert unfold(unfold(rest.fold)[0])[0].label == "for t = 3, 2 of 40"


def test_a_closed_loop_says_which_turns_it_holds() -> None:
    graph = sketch_loop(40).graph(source=LOOP)
    (shown,) = view_of(graph)
    rest = shown.parts[1].fold
    whole = fold_graph(graph).parts[0]
    assert [whole.over, rest.over] == ["for t = 2 … 41", "for t = 3 … 40"]
    assert "mul, exp: for t = 3 … 40, 38 times 2 operations, 2 to 39 of 40" in describe_fold(graph, rest)
    words = [text.words for text in make_fold_box(graph, rest, 1).texts]
    assert words[1:3] == ["for t = 3 … 40", "×38 · 2 operations each"]


def test_a_closed_loop_with_an_unknown_end_says_only_its_variable() -> None:
    sketch = sketch_loop(6)
    sketch.turns.pop()  # its value was no plain number
    graph = sketch.graph(source=LOOP)
    whole = fold_graph(graph).parts[0]
    assert whole.over == ""
    assert "for t: ×6 · 2 operations each" in [text.words for text in make_fold_box(graph, whole, 1).texts]


def test_a_loop_of_one_operation_says_which_turns_it_holds() -> None:
    sketch = Sketch()
    node = sketch.leaf("x")
    for name in "abcde":
        node = sketch.op("exp", node, span=(2, 4, 2, 11))
        sketch.turns.append({"line": 1, "value": f"name = {name!r}", "first": node, "last": node})
    (fold,) = fold_graph(sketch.graph(source="for name in 'abcde':\n    x = x.exp()\n")).parts
    assert fold.over == "for name = 'a' … 'e'"


def test_an_iteration_of_unknown_turns_only_says_its_number() -> None:
    sketch = sketch_loop(6)
    del sketch.turns[0]  # its value was no plain number
    sketch.turns[-1]["first"] -= 1  # and this turn shares a node with the one before it
    first, rest, _ = view_of(sketch.graph(source=LOOP))[0].parts
    labels = [first.fold.label, *(fold.label for fold in unfold(rest.fold))]
    assert labels == ["for t: 1 of 6", "for t = 3, 2 of 6", "for t = 4, 3 of 6", "for t = 5, 4 of 6", "for t: 5 of 6"]


def test_identical_layers_are_folded_together() -> None:
    view = view_of(open_recorded("transformer"))
    assert "repeat model.blocks.1 … 10 10" in told(view)
    assert len(flatten(view)) <= 15
    assert "stretch operations 1" in told(view)


def test_layers_that_take_turns_are_folded_by_pairs() -> None:
    sketch = Sketch()
    node = sketch.leaf("x")
    for layer in range(6):
        for name in ("exp", "tanh") if layer % 2 else ("exp", "sin", "tanh"):
            node = sketch.op(name, node, module=f"layers.{layer}", span=(1, 0, 1, 5))
    (layers,) = fold_graph(sketch.graph()).parts
    assert [(part.kind, part.times, part.period) for part in layers.parts] == [("repeat", 3, 2)]


def test_the_last_iteration_of_a_chunk_is_a_few_openings_away() -> None:
    graph = sketch_chain(1_000, span=(3, 4, 3, 9)).graph()
    opened: set[str] = set()
    while (key := key_at(view_of(graph, *opened), 500))[0] != "n":
        opened.add(key)
    assert len(opened) <= 6


def key_at(view: tuple[Shown, ...], place: int) -> str:
    return next(item.fold.key for item in flatten(view) if item.fold.first <= place <= item.fold.last)


def test_unknown_keys_open_nothing() -> None:
    graph = sketch_chain(100, span=(3, 4, 3, 9)).graph()
    assert view_of(graph, "m0-7", "<script>") == view_of(graph)


def test_a_checkpointed_region_is_one_group_within_its_module() -> None:
    sketch = Sketch()
    node = sketch.leaf("x")
    nodes = [node := sketch.op(name, node, module="net") for name in ("exp", "sin", "tanh", "cos")]
    sketch.regions.append({"kind": "checkpoint", "nodes": nodes[1:3]})
    (module,) = fold_graph(sketch.graph()).parts
    assert [(part.kind, part.first, part.last) for part in module.parts] == [
        ("op", 0, 0),
        ("checkpoint", 1, 2),
        ("op", 3, 3),
    ]


@pytest.mark.parametrize(
    ("signs", "runs"),
    [
        ([1, 1, 1, 1], [Run(0, 1, 4)]),
        ([1, 1, 2], []),
        ([9, 1, 2, 1, 2, 1, 2, 8], [Run(1, 2, 3)]),
        ([1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 2], [Run(0, 1, 3), Run(4, 1, 3), Run(8, 1, 3)]),
        ([], []),
    ],
)
def test_runs_are_found_from_left_to_right_shortest_pattern_first(signs: list[int], runs: list[Run]) -> None:
    assert find_runs(signs, [0] * len(signs), [3] * len(signs)) == runs


def test_a_sequence_made_to_cost_time_is_given_up_on() -> None:
    signs = [at * at % 97 for at in range(100_000)]
    assert isinstance(find_runs(signs, [0] * len(signs), [3] * len(signs)), list)


def test_each_call_of_a_module_is_a_fold_of_its_own() -> None:
    sketch = Sketch()
    node = sketch.leaf("x")
    for number in (1, 2):
        low = len(sketch.nodes)
        for step in range(40):
            node = sketch.op(f"step_{step * number}", node, module="net")
        sketch.passes.append({"module": "net", "number": number, "first": low, "last": node})
    assert told(view_of(sketch.graph())) == ["module net (call 1) 1", "module net (call 2) 1"]


def test_equal_calls_of_one_module_are_told_as_a_loop() -> None:
    sketch = Sketch()
    node = sketch.leaf("x")
    for number in range(1, 31):
        low = len(sketch.nodes)
        node = sketch.op("tanh", sketch.op("mul", node, module="cell"), module="cell")
        sketch.passes.append({"module": "cell", "number": number, "first": low, "last": node})
    assert "repeat cell 28" in told(view_of(sketch.graph()))


def test_a_graph_of_fewer_than_sixty_boxes_shows_whole() -> None:
    sketch = Sketch()
    node = sketch.leaf("x")
    for layer in range(5):
        for step in range(8):
            node = sketch.op(f"step_{layer}_{step}", node, module=f"net.{layer}")
    assert {shown.fold.kind for shown in flatten(view_of(sketch.graph()))} == {"op"}


def test_a_long_stretch_is_cut_where_a_line_of_the_source_begins() -> None:
    sketch = Sketch()
    node = sketch.leaf("x")
    for line in range(1, 9):
        for step in range(20):
            node = sketch.op(f"step_{line}_{step}", node, span=(line, 0, line, step + 1))
    parts = fold_graph(sketch.graph()).parts
    assert [(part.kind, part.size) for part in parts] == [("stretch", 20)] * 8
