"""Names and places that a learner knows: sub-expressions, variables, dotted parameters, modules, forward names."""

import pytest

torch = pytest.importorskip("torch")

from tracer_parts import read_program, trace  # noqa: E402

from graders.contract.trace import Trace  # noqa: E402

pytestmark = [pytest.mark.torch]


def list_expressions(source: str, found: Trace) -> list[str]:
    lines = source.splitlines()
    spans = [span for span in found.nodes.span if span is not None]
    return [lines[line - 1][start:end] for line, start, _, end in spans]


def test_two_operations_of_one_expression_have_two_places() -> None:
    source = "import torch\nx = torch.ones(2, requires_grad=True)\ny = x*2 + 1\ny.sum().backward()\n"
    assert list_expressions(source, trace(source)) == ["x*2", "x*2 + 1", "y.sum()"]


def test_columns_are_counted_in_characters() -> None:
    source = "import torch\nx = torch.ones(2, requires_grad=True)\nα = 'déjà'; π = x.exp() * 2\n"
    assert list_expressions(source, trace(source)) == ["x.exp()", "x.exp() * 2"]


def test_parameters_have_dotted_names_and_nodes_their_modules() -> None:
    nodes = trace(read_program("transformer")).nodes
    leaves = [name for name, kind in zip(nodes.variable, nodes.kind, strict=True) if kind == "leaf"]
    assert len(leaves) == len(set(leaves)) == 1 + 4 * 12 + 1
    assert "model.layers.3.attention.qkv.weight" in leaves
    assert "model.layers.3.feed.1" in nodes.module
    assert "model.layers.3.attention" in nodes.module


def test_variables_of_a_running_function_are_names_too() -> None:
    source = """\
import torch
def train():
    weight = torch.ones(2, requires_grad=True)
    params = {"bias": torch.zeros(2, requires_grad=True)}
    hidden = weight * 2 + params["bias"]
    loss = hidden.sum()
    loss.backward()
train()
"""
    assert [name for name in trace(source).nodes.variable if name] == ["weight", "params['bias']", "hidden", "loss"]


def test_tensors_of_a_learners_object_are_named_by_their_attribute() -> None:
    source = """\
import torch
class Net:
    def __init__(self):
        self.w = [torch.ones(2, requires_grad=True)]
net = Net()
(net.w[0] * 3).sum().backward()
"""
    assert trace(source).nodes.variable[0] == "net.w[0]"


def test_forward_names_come_from_the_call_and_helpers_from_their_derivative() -> None:
    source = """\
import torch
import torch.nn.functional as F
layer = torch.nn.Linear(3, 2)
x = torch.ones(4, 3)
loss = F.cross_entropy(F.relu(layer(x))[:3] @ torch.ones(2, 2) - 1, torch.tensor([0, 1, 1]))
"""
    nodes = trace(source).nodes
    assert [(name, kind) for name, kind in zip(nodes.forward, nodes.kind, strict=True) if kind != "leaf"] == [
        ("transpose (weight)", "opaque"),
        ("linear", "op"),
        ("relu", "op"),
        ("index", "op"),
        ("matmul", "op"),
        ("sub", "op"),
        ("log_softmax", "op"),
        ("nll_loss", "op"),
    ]


def test_small_outputs_are_shown_with_their_values() -> None:
    source = "import torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\ny = (x / 3).exp().sum()\n"
    assert trace(source).nodes.values == ("[1.0, 2.0]", "[0.3333, 0.6667]", "[1.396, 1.948]", "3.343")


def test_a_graph_that_was_never_unwound_is_shown_with_its_root() -> None:
    found = trace("import torch\nx = torch.ones(2, requires_grad=True)\ny = x.exp()\nz = y * 2\n")
    assert [found.nodes.variable[root] for root in found.roots] == ["z"]
    assert found.nodes.backward == (-1, -1, -1)


def test_a_graph_that_an_error_left_behind_is_shown() -> None:
    from tracer_parts import run

    source = """\
import torch
def step(x):
    hidden = x * 2
    return hidden @ torch.ones(5)
step(torch.ones(2, requires_grad=True))
"""
    ran = run(source, traced=True)
    assert isinstance(ran.error, RuntimeError)
    assert "hidden" in ran.trace.nodes.variable
