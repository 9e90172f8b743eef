"""The front door for one's own scripts and notebooks: a block is recorded, drawn and told."""

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

torch = pytest.importorskip("torch")

from tape_parts import run_cell  # noqa: E402

import unwind  # noqa: E402
from graders.contract.trace_check import read_trace  # noqa: E402

pytestmark = [pytest.mark.torch]
ROOT = Path(__file__).resolve().parents[2]

CELL = """\
import torch
from unwind import tape
x = torch.tensor([1.0, 2.0], requires_grad=True)
with tape() as t:
    y = (x * 3).sum()
    y.backward()
z = x * 4
"""


def test_a_block_of_this_very_file_is_recorded_with_its_lines() -> None:
    weight = torch.ones(3, requires_grad=True)
    with unwind.tape() as t:
        loss = (weight * 2).sum()
        loss.backward()
    nodes = t.trace.nodes
    assert nodes.variable == ("weight", "", "loss")
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    span = nodes.span[1]
    assert span is not None
    assert lines[span[0] - 1][span[1] : span[3]] == "weight * 2"


def test_a_cell_of_a_notebook_is_read_from_where_python_keeps_it() -> None:
    t = run_cell(CELL)["t"]
    assert t.source == CELL
    assert 'mul (MulBackward0), made by "x * 3" at line 5' in t.text()
    assert "x * 4" not in t.text()


def test_a_model_of_another_cell_is_shown_at_the_call() -> None:
    namespace = run_cell(
        "import torch\nfrom unwind import tape\nnet = torch.nn.Linear(2, 1)\ndef f(x):\n    return net(x)\n"
    )
    t = run_cell("with tape() as t:\n    y = f(torch.ones(2)).sum()\n", namespace)["t"]
    assert "net.weight" in t.trace.nodes.variable
    assert {span[0] for span in t.trace.nodes.span if span} == {2}


def test_a_graph_that_no_backward_unwound_is_found_in_a_functions_variables() -> None:
    def work() -> unwind.Tape:
        x = torch.ones(2, requires_grad=True)
        with unwind.tape() as t:
            kept = x.exp()
        del kept
        return t

    def look() -> unwind.Tape:
        x = torch.ones(2, requires_grad=True)
        with unwind.tape() as t:
            result = x.exp() * 2
        assert result.requires_grad
        return t

    assert look().trace.nodes.forward == ("leaf", "exp", "mul")
    assert work().trace.nodes.forward == ("leaf", "exp")


def test_the_picture_stands_alone_and_has_its_colours() -> None:
    t = run_cell(CELL)["t"]
    svg = t.svg()
    tree = ElementTree.fromstring(svg)
    style = tree[0]
    assert style.tag.endswith("style")
    assert style.text is not None
    assert "#1b5ea8" in style.text
    assert "var(" not in style.text
    assert "is-done" not in svg.replace(style.text, "")
    assert "is-done" in t.svg(step=len(t.steps())).replace(style.text, "")


def test_two_tapes_on_one_page_share_no_id() -> None:
    namespace = run_cell(CELL)
    first = namespace["t"]
    second = run_cell(CELL, namespace)["t"]
    ids = [
        {item.get("id") for item in ElementTree.fromstring(t.svg()).iter() if item.get("id")} for t in (first, second)
    ]
    assert not ids[0] & ids[1]


def test_a_notebook_shows_the_picture_and_the_words() -> None:
    shown = run_cell(CELL.replace("x * 3", "x * (3 if '<b>' else 4)"))["t"]._repr_html_()
    assert "<svg" in shown
    assert "Graph of 2 operations and 1 leaf" in shown
    assert "<b>" not in shown


def test_the_figure_is_plotlys_and_says_each_nodes_sentence() -> None:
    figure = run_cell(CELL)["t"].figure()
    assert any("MulBackward0" in text for text in figure.data[0].text)


def test_the_document_is_json_that_the_website_reads() -> None:
    t = run_cell(CELL)["t"]
    assert read_trace(json.dumps(t.document())) == t.trace


def test_the_steps_are_sentences() -> None:
    sentences = [row.sentence for row in run_cell(CELL)["t"].steps()]
    assert sentences[-1] == "x.grad: None += (2,) [3.0, 3.0] gives (2,) [3.0, 3.0]"


def test_an_error_in_the_block_is_raised_and_the_tape_keeps_what_there_was() -> None:
    source = "import torch\nfrom unwind import tape\nx = torch.ones(2, requires_grad=True)\nt = tape()\n"
    namespace = run_cell(source)
    with pytest.raises(RuntimeError, match="inconsistent tensor size"):
        run_cell("with t:\n    y = x * 2\n    y @ torch.ones(5)\n", namespace)
    assert namespace["t"].trace.nodes.variable == ("x", "y")


def test_a_tape_that_was_never_used_says_so() -> None:
    with pytest.raises(RuntimeError, match="use the tape in a `with` statement"):
        unwind.tape().document()


def test_a_tape_is_used_once() -> None:
    with unwind.tape() as t:
        pass
    with pytest.raises(RuntimeError, match="has already been used"), t:
        pass


def test_without_a_source_there_is_a_picture_without_code() -> None:
    namespace: dict[str, object] = {"__name__": "__main__"}
    exec(CELL.replace("(x * 3)", "(x*3)"), namespace)
    t = namespace["t"]
    assert isinstance(t, unwind.Tape)
    assert t.source == ""
    assert "mul (MulBackward0), made at line 5" in t.text()


@pytest.mark.slow
def test_a_deep_graph_on_an_ordinary_stack_ends_in_a_note_and_not_in_a_crash() -> None:
    program = (
        "import torch, unwind\nx = y = torch.ones(2, requires_grad=True)\n"
        "with unwind.tape() as t:\n    for _ in range(100_000):\n        y = y * 1.0\n    y.sum().backward()\n"
        "del y\nprint(t.notes, t.trace.truncated)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Only the first 15,000 nodes are shown" in done.stdout
