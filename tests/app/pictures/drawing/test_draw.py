"""The picture itself: well-formed, safe, complete, the same every time, and readable as words."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from picture_parts import HERE, QUICK, RECORDED, Sketch, any_sketch, load_recorded, sketch_chain, sketch_diamond

from app.pictures import Picture, draw_graph, graph_figure, read_graph, tape_rows
from app.pictures.layout.compose import compose
from graders.contract.trace_check import CheckedTrace, build_trace

SVG = "{http://www.w3.org/2000/svg}"
PROGRAM = "x = leaf()\na = x * 2\nb = x.exp()\nc = a * b\n"


def draw(trace: CheckedTrace, source: str = "", **more: object) -> Picture:
    return draw_graph(read_graph(trace, source), id_prefix="g", **more)  # type: ignore[arg-type]


def groups(picture: Picture, klass: str) -> list[ElementTree.Element]:
    tree = ElementTree.fromstring(picture.svg)
    return [item for item in tree.iter(f"{SVG}g") if klass in item.get("class", "").split()]


@pytest.mark.parametrize("name", RECORDED)
def test_pictures_of_real_programs_stay_as_they_were_reviewed(name: str) -> None:
    """After a change that is meant: python tests/app/pictures/rewrite_goldens.py, then look at the diff."""
    trace, source = load_recorded(name)
    golden = HERE / "goldens" / f"{name}.svg"
    assert draw(trace, source=source).svg.replace("><", ">\n<") + "\n" == golden.read_text(encoding="utf-8")


@given(any_sketch())
@QUICK
def test_no_two_boxes_overlap_and_all_lie_within_the_picture(sketch: Sketch) -> None:
    picture = draw(sketch.trace())
    for place, one in enumerate(picture.nodes):
        assert 0 <= one.x <= one.x + one.width <= picture.width
        assert 0 <= one.y <= one.y + one.height <= picture.height
        for other in picture.nodes[:place]:
            beside = one.x + one.width <= other.x + 0.1 or other.x + other.width <= one.x + 0.1
            below = one.y + one.height <= other.y + 0.1 or other.y + other.height <= one.y + 0.1
            assert beside or below, (one, other)


@given(any_sketch())
@QUICK
def test_every_edge_goes_down_and_joins_two_boxes(sketch: Sketch) -> None:
    arrangement = compose(sketch.graph()).arrangement
    boxes = {placed.item.key: placed for placed in arrangement.items}
    for edge in arrangement.edges:
        heights = [y for _, y in edge.points]
        assert heights == sorted(heights)
        producer, consumer = boxes[edge.edge.producer], boxes[edge.edge.consumer]
        assert edge.points[0][1] == pytest.approx(producer.y + producer.item.box.height)
        assert edge.points[-1][1] == pytest.approx(consumer.y)
        assert consumer.x <= edge.points[-1][0] <= consumer.x + consumer.item.box.width


@given(any_sketch())
@QUICK
def test_the_same_trace_gives_the_same_picture_and_well_formed_xml(sketch: Sketch) -> None:
    trace = sketch.trace()
    picture = draw(trace)
    assert draw(trace) == picture
    ids = [item.get("id") for item in ElementTree.fromstring(picture.svg).iter() if item.get("id")]
    assert len(ids) == len(set(ids))


@given(any_sketch())
@QUICK
def test_every_operation_belongs_to_one_drawn_box(sketch: Sketch) -> None:
    trace = sketch.trace()
    drawn = [node for box in draw(trace).nodes if box.kind != "leaf" for node in box.members]
    assert sorted(drawn) == [node for node, kind in enumerate(trace.nodes.kind) if kind != "leaf"]


def test_a_diamond_names_its_nodes_edges_and_places() -> None:
    picture = draw(sketch_diamond().trace(3), source=PROGRAM)
    assert [(node.id, node.kind, node.members) for node in picture.nodes] == [
        ("g-n0", "leaf", (0,)),
        ("g-n1", "op", (1,)),
        ("g-n2", "op", (2,)),
        ("g-n3", "op", (3,)),
    ]
    edges = [(edge.get("data-source"), edge.get("data-target")) for edge in groups(picture, "edge")]
    assert edges == [("1", "0"), ("2", "0"), ("3", "1"), ("3", "2")]
    assert [node.get("data-span") for node in groups(picture, "node")][1:] == ["2,4,2,9", "3,4,3,11", "4,4,4,9"]


def test_inputs_stand_above_results() -> None:
    picture = draw(sketch_diamond().trace(3), source=PROGRAM)
    tops = {node.id: node.y for node in picture.nodes}
    assert tops["g-n0"] < tops["g-n1"] == tops["g-n2"] < tops["g-n3"]


def test_a_node_reads_as_a_sentence() -> None:
    picture = draw(sketch_diamond().trace(3), source=PROGRAM)
    assert picture.nodes[2].label == (
        'exp (ExpBackward0), made by "x.exp()" at line 3, gives b of shape (3,), saves 24 bytes: result'
    )
    assert picture.text.splitlines()[0] == ("Graph of 3 operations and 1 leaf. Inputs are at the top, results below.")


def test_an_operation_is_located_by_its_modules_path() -> None:
    sketch = Sketch()
    call = {"span": (1, 0, 1, 3), "module": "net.encoder.layers.0.linear1"}
    sketch.op("relu", sketch.op("exp", sketch.leaf("x"), **call), **call | {"span": None})
    labels = [node.label for node in draw(sketch.trace(), source="f()").nodes[1:]]
    assert labels == [
        'exp (ExpBackward0), made by "f()" at line 1 in net.encoder.layers.0.linear1, gives shape ()',
        "relu (ReluBackward0), made in net.encoder.layers.0.linear1, gives shape ()",
    ]


def test_a_weights_pill_names_its_layer() -> None:
    sketch = Sketch()
    sketch.op("linear", sketch.leaf("net.encoder.linear1.weight", shape=(64, 64)))
    names = [text.text for text in ElementTree.fromstring(draw(sketch.trace()).svg).iter(f"{SVG}text")]
    assert "linear1.weight" in names


def test_a_parameter_is_a_pill_beside_each_use() -> None:
    sketch = Sketch()
    node, weight = sketch.leaf("x"), sketch.leaf("net.weight", shape=(4, 4))
    for name in ("exp", "sin", "tanh", "cos", "sigmoid", "relu", "gelu", "silu", "mish"):
        node = sketch.op(name, node)
        node = sketch.op("mul", node, weight)
    pills = [item for item in draw(sketch.trace(node)).nodes if item.key == "n1"]
    assert len(pills) == 9
    assert [pill.id for pill in pills[:3]] == ["g-n1", "g-n1-2", "g-n1-3"]


def test_a_linear_layer_shows_one_box_without_its_transpose() -> None:
    trace, source = load_recorded("mlp")
    titles = [node.label.split(" (")[0] for node in draw(trace, source=source).nodes if node.kind != "leaf"]
    assert titles == ["linear", "relu", "linear", "relu", "linear", "log_softmax", "nll_loss"]


def test_a_cut_says_which_call_and_line_cut_it() -> None:
    trace, source = load_recorded("detach")
    cuts = [node.label for node in draw(trace, source=source).nodes if node.kind == "cut"]
    assert cuts == [
        "cut: y leaves the graph by .detach() at line 5; detach() makes a tensor without history",
        "cut: y leaves the graph by .item() at line 6; item() makes a Python number",
    ]


def test_a_checkpointed_region_has_a_dashed_frame() -> None:
    trace, source = load_recorded("checkpoint")
    assert len(groups(draw(trace, source=source), "frame-checkpoint")) == 1


def test_a_mistake_is_told_at_its_node() -> None:
    sketch = sketch_diamond()
    sketch.event("error", 2, text="one of the variables was modified in place")
    texts = [text.text for text in ElementTree.fromstring(draw(sketch.trace()).svg).iter(f"{SVG}text")]
    assert any(text and text.startswith("one of the variables") for text in texts)


def test_an_opened_fold_is_framed_and_closes_by_the_same_key() -> None:
    trace = sketch_chain(50, span=(2, 0, 2, 5)).trace()
    closed = draw(trace)
    (key,) = closed.folds
    opened = draw(trace, opened=frozenset({key}))
    (frame,) = groups(opened, "frame")
    assert (frame.get("data-fold"), frame.get("aria-expanded")) == (key, "true")
    assert key not in opened.folds
    assert len(opened.nodes) > len(closed.nodes)


def test_a_step_shows_what_has_run_and_what_each_grad_holds() -> None:
    trace, source = load_recorded("diamond")
    start, end = (draw(trace, source=source, step=step) for step in (1, 100))
    assert ".grad None" in start.svg
    assert ".grad += [10.87, 44.33" in end.svg
    assert [node.get("data-node") for node in groups(start, "is-unmade") if node.get("id")] == ["2", "3", "4"]
    assert not groups(end, "is-unmade")
    assert {node.get("data-node") for node in groups(end, "is-done") if node.get("id")} == {"0", "1", "2", "3", "4"}


def test_the_running_node_has_the_wavefront() -> None:
    trace, source = load_recorded("diamond")
    rows = tape_rows(read_graph(trace, source))
    step = next(row.step for row in rows if row.kind == "vjp")
    picture = draw(trace, source=source, step=step)
    assert [node.get("data-node") for node in groups(picture, "is-running") if node.get("id")] == ["4"]
    assert len(list(groups(picture, "wavefront")[0])) == 1


def test_without_a_step_nothing_is_marked() -> None:
    trace, source = load_recorded("diamond")
    picture = draw(trace, source=source)
    assert not any(groups(picture, state) for state in ("is-unmade", "is-running", "is-done", "is-freed"))


def test_the_tape_reads_as_a_table() -> None:
    trace, source = load_recorded("diamond")
    told = {(row.kind, row.name): row.sentence for row in tape_rows(read_graph(trace, source))}
    assert told["vjp", "sum (SumBackward0)"] == (
        "sum (SumBackward0) runs: receives 1.0, sends (3,) [1.0, 1.0, 1.0] to c"
    )
    assert told["accumulate", "x"].startswith("x.grad: None += (3,) [10.87, 44.33")


HOSTILE = '"><script>alert(1)</script><img src=x onerror="alert(1)">&amp;]]>'


def test_script_in_names_stays_text() -> None:
    sketch = Sketch()
    leaf = sketch.leaf(HOSTILE, values=HOSTILE)
    node = sketch.op("exp", leaf, module=HOSTILE.replace(".", ""), variable=HOSTILE, values=HOSTILE, saved=HOSTILE)
    sketch.nodes[node] |= {"forward": HOSTILE, "name": HOSTILE, "span": (1, 0, 1, 60), "saved_bytes": 8}
    sketch.cut(node, span=(1, 0, 1, 5))
    sketch.event("backward", node)
    sketch.event("vjp", node, incoming=HOSTILE, outgoing=HOSTILE)
    sketch.event("error", node, text=HOSTILE)
    sketch.event("accumulate", leaf, incoming=HOSTILE, outgoing=HOSTILE)
    picture = draw(sketch.trace(node), source=HOSTILE * 3, step=3)
    tree = ElementTree.fromstring(picture.svg)
    assert {item.tag.removeprefix(SVG) for item in tree.iter()} <= {
        "svg", "title", "desc", "g", "rect", "path", "circle", "text", "tspan",
    }  # fmt: skip
    names = {name for item in tree.iter() for name in item.attrib}
    assert not {name for name in names if name.startswith("on") or name in ("style", "href")}


@given(any_sketch(most=20))
@QUICK
def test_no_picture_has_a_style_a_script_or_a_link(sketch: Sketch) -> None:
    assert not re.search(
        r"<(style|script|a|foreignObject|image|use)\b|\sstyle=|\shref=|\son\w+=", draw(sketch.trace()).svg
    )


def test_an_id_prefix_that_could_not_begin_an_id_is_refused() -> None:
    with pytest.raises(ValueError, match="write a letter"):
        draw_graph(sketch_diamond().graph(), id_prefix='1"')


def test_an_empty_trace_gives_an_empty_picture() -> None:
    picture = draw(build_trace({}))
    assert picture.nodes == ()
    assert picture.text == "Graph of 0 operations and 0 leaves. Inputs are at the top, results below."


def test_a_leaf_from_which_backward_starts_is_drawn_alone() -> None:
    sketch = Sketch()
    sketch.leaf("x")
    sketch.event("backward", 0, text="backward")
    (node,) = draw(sketch.trace(0)).nodes
    assert node.label.endswith("backward starts here")


def test_a_cut_of_nothing_known_stands_alone() -> None:
    sketch = sketch_diamond()
    sketch.cut(None, "no_grad", span=(1, 0, 1, 4))
    assert [node.key for node in draw(sketch.trace()).nodes if node.kind == "cut"] == ["x0"]


def test_the_figure_has_the_pictures_boxes_and_their_sentences() -> None:
    trace, source = load_recorded("detach")
    figure = graph_figure(read_graph(trace, source))
    picture = draw(trace, source=source)
    assert sorted(figure.data[0].text) == sorted(
        node.label.replace(", backward starts here", "") for node in picture.nodes
    )
    assert (figure.layout.width, figure.layout.height) == (round(picture.width), round(picture.height))


def test_a_figures_texts_carry_no_markup_of_the_learners() -> None:
    sketch = Sketch()
    sketch.leaf("<b>x</b>")
    sketch.event("accumulate", 0, incoming="1", outgoing="1")
    figure = graph_figure(sketch.graph())
    assert any("&lt;b&gt;" in annotation.text for annotation in figure.layout.annotations)
