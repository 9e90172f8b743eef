"""Every way out of the graph is found, with its kind and its line, and nothing else is called a cut."""

import pytest

torch = pytest.importorskip("torch")

from tracer_parts import trace  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]

CUTS = [
    ("h.detach()", "detach"),
    ("h.data", "data"),
    ("h.sum().item()", "item"),
    ("h.tolist()", "tolist"),
    ("h.detach().numpy()", "detach"),
    ("float(h.sum())", "float"),
    ("h > 0", "comparison"),
    ("bool(h.sum())", "comparison"),
    ("h.argmax()", "integer"),
    ("h.long()", "integer"),
    ("int(h.sum())", "integer"),
    ("torch.tensor(h.sum())", "detach"),
    ("torch.equal(h, x)", "comparison"),
    ("[part for part in [torch.no_grad()(lambda: h * 3)()]]", "no_grad"),
    ("torch.inference_mode()(lambda: h.exp())()", "inference_mode"),
    ("math.sqrt(h.sum())", "float"),
    ("torch.isfinite(h).all()", "comparison"),
    ("h.clone().detach_()", "detach"),
]

HEAD = """\
import math
import torch
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
h = x * 2
"""


@pytest.mark.parametrize(("expression", "kind"), CUTS)
def test_a_cut_is_found_with_its_kind_and_line(expression: str, kind: str) -> None:
    cuts = trace(f"{HEAD}cut = {expression}\n").cuts
    assert len(cuts.kind) == 1
    assert cuts.kind == (kind,)
    assert cuts.span[0] is not None
    assert cuts.span[0][0] == 5


def test_a_cut_inside_a_function_of_torchs_own_has_the_line_that_called_it() -> None:
    found = trace(f"{HEAD}hard = torch.nn.functional.gumbel_softmax(h, hard=True)\nhard.sum().backward()\n")
    (node,) = found.cuts.node
    assert node is not None
    assert (found.cuts.kind, found.nodes.name[node]) == (("detach",), "SoftmaxBackward0")
    assert found.cuts.span[0] is not None
    assert found.cuts.span[0][0] == 5
    soft = trace(f"{HEAD}soft = torch.nn.functional.gumbel_softmax(h)\n")
    assert soft.cuts.kind == ()


def test_a_cut_of_several_lines_of_a_program_is_found_at_each() -> None:
    cuts = trace(f"{HEAD}a = h.detach()\nb = (a + h).data\nc = h.sum().item()\n").cuts
    assert [(kind, span and span[0]) for kind, span in zip(cuts.kind, cuts.span, strict=True)] == [
        ("detach", 5),
        ("data", 6),
        ("item", 7),
    ]


def test_a_block_without_gradients_is_a_cut_where_a_tracked_tensor_enters_it() -> None:
    cuts = trace(f"{HEAD}with torch.no_grad():\n    a = h * 2\n    b = a + 1\n").cuts
    assert (cuts.kind, [span and span[0] for span in cuts.span]) == (("no_grad",), [6])


def test_a_cut_knows_the_node_whose_output_left() -> None:
    found = trace(f"{HEAD}y = h.exp().detach() * x\ny.sum().backward()\n")
    node = found.cuts.node[0]
    assert node is not None
    assert found.nodes.forward[node] == "exp"
    assert found.nodes.backward[node] == -1


def test_what_a_cut_left_behind_stays_in_the_trace_with_its_parameters() -> None:
    source = """\
import torch
from torch import nn
first, second = nn.Linear(2, 3), nn.Linear(3, 1)
hidden = torch.relu(first(torch.ones(4, 2))).detach()
second(hidden).sum().backward()
"""
    nodes = trace(source).nodes
    reached = {name: call for name, call in zip(nodes.variable, nodes.backward, strict=True) if "." in name}
    assert reached == {"first.weight": -1, "first.bias": -1, "second.weight": 0, "second.bias": 0}


def test_a_training_step_with_an_optimizer_has_no_cut_but_the_learners_own() -> None:
    source = """\
import torch
from torch import nn
model = nn.Sequential(nn.LSTM(2, 3), )
head = nn.Linear(3, 1)
optimizer = torch.optim.AdamW([*model.parameters(), *head.parameters()], weight_decay=0.1)
for step in range(2):
    loss = head(model(torch.ones(4, 2))[0]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    kept = loss.item()
"""
    cuts = trace(source).cuts
    assert [(kind, span and span[0]) for kind, span in zip(cuts.kind, cuts.span, strict=True)] == [
        ("item", 12)
    ] * len(cuts.kind)
    assert len(cuts.kind) >= 1


def test_looking_at_a_tensor_is_no_cut() -> None:
    source = f"{HEAD}a = (h.shape, h.dtype, h.is_leaf, h.requires_grad, h.grad_fn, len(h), h.dim())\nb = f'{{h}}'\n"
    source += "c = torch.zeros_like(h)\nh.retain_grad()\nd = x.grad\n"
    assert trace(source).cuts.kind == ()
