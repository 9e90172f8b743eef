"""Programs of which the tape once said something wrong, each the smallest of its kind."""

import json

import pytest

torch = pytest.importorskip("torch")

from tracer_parts import run, trace  # noqa: E402

from app.pictures import read_graph, tape_rows  # noqa: E402
from graders.contract.trace_check import build_trace  # noqa: E402
from graders.inside.tracer import Caps  # noqa: E402

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


def tell(source: str) -> list[str]:
    """The tape's sentences."""
    checked = build_trace(run(source, traced=True).document)
    return [row.sentence for row in tape_rows(read_graph(checked, source))]


def test_a_node_of_a_worker_thread_has_the_line_and_the_value_that_it_has_there() -> None:
    source = """\
import threading
import torch
x = torch.tensor(0.5, requires_grad=True)
a = x.exp()
made = {}
def work():
    made["y"] = x * 3
thread = threading.Thread(target=work)
thread.start()
thread.join()
made["y"].backward()
"""
    nodes = trace(source).nodes
    told = zip(nodes.name, nodes.forward, nodes.span, nodes.values, strict=True)
    assert [(name, forward, span and span[0], values) for name, forward, span, values in told] == [
        ("AccumulateGrad", "leaf", None, "0.5"),
        ("ExpBackward0", "exp", 4, "1.649"),
        ("MulBackward0", "mul", 7, "1.5"),
    ]


def test_a_backward_call_of_a_worker_thread_is_left_out_with_a_word() -> None:
    source = """\
import threading
import torch
x = torch.tensor(0.5, requires_grad=True)
thread = threading.Thread(target=lambda: (x * 3).backward())
thread.start()
thread.join()
"""
    assert any("another thread" in note for note in trace(source).notes)


@pytest.mark.slow
def test_a_compiled_function_stays_one_node_at_the_line_that_calls_it() -> None:
    source = """\
import torch
x = torch.tensor([0.5, 1.0], requires_grad=True)
@torch.compile(backend="aot_eager")
def f(x):
    return (x.sin() * x).sum()
y = f(x)
y.backward()
"""
    found = trace(source)
    assert found.nodes.name == ("AccumulateGrad", "CompiledFunctionBackward")
    assert found.nodes.span[1] == (6, 4, 6, 8)
    assert found.events.kind.count("backward") == 1
    assert any("torch.compile" in note for note in found.notes)


def test_saved_memory_is_named_after_the_leaf_that_owns_it_when_it_is_saved() -> None:
    source = """\
import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
(w * w).sum().backward()
w.data = torch.tensor([3.0, 4.0])
(w * w).sum().backward()
torch.nn.init.ones_(w)
(w * w).sum().backward()
"""
    nodes = trace(source).nodes
    saved = [text for name, text in zip(nodes.name, nodes.saved, strict=True) if name == "MulBackward0"]
    assert saved == ["other = w (2,) 8 B; self = w (2,) 8 B"] * 3


TWICE = """\
import torch
class Net(torch.nn.Module):
    def forward(self, x):
        return (x.tanh() * 2).sin()
net = Net()
x = torch.ones(2, requires_grad=True)
out = net(net(x)).sum()
out.backward()
"""


def test_two_calls_of_one_module_are_told_apart() -> None:
    passes = trace(TWICE).passes
    assert list(zip(passes.module, passes.number, passes.first, passes.last, strict=True)) == [
        ("net", 1, 1, 3),
        ("net", 2, 4, 6),
    ]


def test_a_gradient_that_a_hook_empties_is_not_said_to_be_the_sum() -> None:
    source = """\
import torch
w = torch.tensor([3.0, 3.0], requires_grad=True)
def step(p):
    p.grad = None
w.register_post_accumulate_grad_hook(step)
(w * 3).sum().backward()
"""
    assert tell(source)[-1] == "w.grad: None += (2,) [3.0, 3.0]; then a hook ran and left None"


def test_a_leaf_has_its_new_value_after_each_step_of_an_optimizer() -> None:
    source = """\
import torch
w = torch.tensor(2.0, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.25)
for _ in range(2):
    optimizer.zero_grad()
    loss = w * w
    loss.backward()
    optimizer.step()
"""
    kinds = [(sentence.split(" ")[0], "new value" in sentence) for sentence in tell(source)]
    assert tell(source)[4] == "w has a new value: 1.0"
    assert tell(source)[-1] == "w has a new value: 0.5"
    assert [name for name, _ in kinds] == 2 * ["mul", "backward", "mul", "w.grad:", "w"]


def test_each_of_several_outputs_has_its_name_shape_and_values() -> None:
    source = """\
import torch
x = torch.arange(6.0, requires_grad=True)
i, j, k = x.split([1, 2, 3])
y = i.sum() * 2 + k.sum() + j.sum()
y.backward()
"""
    outputs = trace(source).outputs
    assert outputs.shape == ((2,), (3,))
    assert outputs.variable == ("j", "k")
    assert outputs.values == ("[1.0, 2.0]", "[3.0, 4.0, 5.0]")
    sums = [sentence for sentence in tell(source) if sentence.startswith("sum (SumBackward0) runs")]
    assert [sentence.rpartition(" to ")[2] for sentence in sums] == ["j", "k", "i"]


def test_every_part_that_a_stack_sends_is_told_and_single_numbers_keep_their_sign() -> None:
    source = """\
import torch
parts = [torch.tensor(-1.5 - at, requires_grad=True) for at in range(40)]
y = -torch.stack(parts).sum()
y.backward()
"""
    events = trace(source).events
    sent = [text for text in events.outgoing if text.count("; ") > 1]
    assert sent == ["; ".join(["() -1.0"] * 40)]


def test_what_is_too_long_to_tell_ends_with_a_whole_part() -> None:
    source = """\
import torch
parts = [torch.full((3,), 1.23456 + at, requires_grad=True) for at in range(600)]
(torch.stack(parts) * torch.tensor([1.23456, 2.34567, 3.45678])).sum().backward()
"""
    longest = max(trace(source).events.outgoing, key=len)
    assert set(longest.split("; ")) == {"(3,) ‖4.36‖"}


def test_what_a_distribution_checks_is_no_cut_of_the_program() -> None:
    source = """\
import torch
from torch.distributions import Categorical, Normal
w = torch.tensor([0.1, 0.2], requires_grad=True)
loss = -Categorical(logits=w).log_prob(torch.tensor(1)) + Normal(w, torch.ones(2)).log_prob(torch.ones(2)).sum()
loss.backward()
"""
    assert trace(source).cuts.kind == ()


def test_a_cut_of_what_no_graph_has_stands_alone() -> None:
    source = """\
import torch
y = torch.ones(2, requires_grad=True).detach()
x = torch.ones(2, requires_grad=True)
(x * y).sum().backward()
"""
    found = trace(source)
    assert (found.cuts.kind, found.cuts.node) == (("detach",), (None,))
    assert found.nodes.variable == ("x", "", "")


def test_what_backward_did_not_reach_names_what_is_unused_frozen_and_tracked_too_late() -> None:
    source = """\
import torch
from torch import nn
spare = nn.Linear(2, 1, bias=False)
cold = nn.Linear(2, 1, bias=False)
cold.requires_grad_(False)
w = torch.ones(2)
y = (w * 2).sum()
w.requires_grad_()
x = torch.ones(2, requires_grad=True)
cold(x).sum().backward()
"""
    idle = trace(source).idle
    spans = [span and span[0] for span in idle.span]
    assert set(zip(idle.variable, idle.reason, spans, strict=True)) == {
        ("spare.weight", "unused", None),
        ("cold.weight", "frozen", None),
        ("w", "late", 8),
    }


def test_a_hook_and_a_retained_gradient_are_told() -> None:
    source = """\
import torch
x = torch.tensor(1.0, requires_grad=True)
y = x * 3
y.register_hook(lambda gradient: gradient * 2)
y.retain_grad()
(y * 5).backward()
"""
    told = tell(source)
    assert "mul (MulBackward0) keeps its gradient: .grad is 10.0" in told
    assert any("receives 10.0 (a hook ran on this gradient first), sends 30.0 to x" in sentence for sentence in told)


def test_what_was_dropped_before_backward_is_counted_in_a_note() -> None:
    source = "import torch\nx = torch.ones(2, requires_grad=True)\ny = x.exp().sum()\ny = x.sum()\ny.backward()\n"
    assert any("2 operations are not shown" in note and "line 3" in note for note in trace(source).notes)


def test_a_forward_mode_derivative_is_left_out_with_a_word() -> None:
    source = """\
import torch
import torch.autograd.forward_ad as forward_ad
x = torch.ones(2, requires_grad=True)
with forward_ad.dual_level():
    y = forward_ad.make_dual(x, torch.ones(2)).sin().sum()
x.sum().backward()
"""
    assert any("Forward-mode" in note for note in trace(source).notes)


def test_a_parameter_made_of_a_result_and_a_number_in_a_text_are_cuts() -> None:
    source = """\
import torch
h = torch.ones(2, requires_grad=True) * 2
p = torch.nn.Parameter(h)
y = (p * 2).sum()
text = f"{y:.2f}"
y.backward()
"""
    found = trace(source)
    assert [(kind, span and span[0]) for kind, span in zip(found.cuts.kind, found.cuts.span, strict=True)] == [
        ("parameter", 3),
        ("format", 5),
    ]


def test_the_write_that_made_a_backward_fail_is_named() -> None:
    source = """\
import torch
x = torch.ones(2, requires_grad=True)
y = x.exp()
y.add_(1)
y.sum().backward()
"""
    assert "fails: what it had saved was changed by add_ (AddBackward0), line 4." in tell(source)[-1]


def tell_turns(source: str) -> list[tuple[int, str, list[str]]]:
    """Each turn of a loop with the names of its nodes."""
    found = trace(source)
    turns, names = found.turns, found.nodes.forward
    rows = zip(turns.line, turns.value, turns.first, turns.last, strict=True)
    return [(line, value, list(names[first : last + 1])) for line, value, first, last in rows]


def test_a_turn_of_a_loop_keeps_what_the_loop_variable_was() -> None:
    source = """\
import torch
x = torch.ones((), requires_grad=True)
def twice(y):
    return y * 2
for t in range(3, 5):
    x = x.exp()
    for name in ("a", "b"):
        x = twice(x).sin()
x.backward()
"""
    inner = ["mul", "sin"]
    assert sorted(tell_turns(source)) == [
        (5, "t = 3", ["exp", *inner, *inner]),
        (5, "t = 4", ["exp", *inner, *inner]),
        *((7, f"name = {name!r}", ["sin"]) for name in "aabb"),
    ]


def test_a_loop_in_a_function_over_pairs_keeps_its_first_plain_variable() -> None:
    source = """\
import torch
def run(x):
    for number, scale in enumerate(torch.ones(2)):
        double = lambda y: y.exp()
        x = double(x) * scale
    return x
run(torch.ones((), requires_grad=True)).backward()
"""
    assert [turn[:2] for turn in tell_turns(source)] == [(3, "number = 0"), (3, "number = 1")]


def test_a_loop_over_tensors_has_no_values() -> None:
    source = "import torch\nw = x = torch.ones(2, requires_grad=True)\nfor part in (x, x):\n    w = w * part\n"
    assert tell_turns(source + "w.sum().backward()\n") == []


SQUARES = """\
import torch
W = torch.tensor([[float(row - column) for column in range(4)] for row in range(4)], requires_grad=True)
for _ in range(2):
    loss = (W * W).sum()
    loss.backward()
    with torch.no_grad():
        W -= W.grad
        W.grad = None
"""


def test_the_numbers_of_a_small_matrix_stand_in_a_table_and_its_text_is_its_norm() -> None:
    found = trace(SQUARES)
    rows = zip(found.matrices.of, found.matrices.at, found.matrices.slot, found.matrices.numbers, strict=True)
    numbers = {(of, at, slot): text for of, at, slot, text in rows}
    events, W = found.events, [[float(row - column) for column in range(4)] for row in range(4)]
    leaf, product = found.nodes.kind.index("leaf"), found.nodes.forward.index("mul")
    assert numbers["values", leaf, 0] == str(W)
    assert numbers["values", product, 0] == str([[each * each for each in row] for row in W])
    assert found.nodes.values[leaf] == found.nodes.values[product] == ""

    added = events.kind.index("accumulate")
    assert events.incoming[added] == events.outgoing[added] == f"(4, 4) ‖{2 * 40**0.5:.3g}‖"
    assert numbers["incoming", added, 0] == str([[2 * each for each in row] for row in W])
    ran = next(row for row, node in enumerate(events.node) if node == product and events.kind[row] == "vjp")
    assert numbers["incoming", ran, 0] == str([[1.0] * 4] * 4)
    assert numbers["outgoing", ran, 1] == str(W)

    changed = events.kind.index("update")
    assert events.outgoing[changed] == f"(4, 4) ‖{40**0.5:.3g}‖"
    assert numbers["outgoing", changed, 0] == str([[0.0 - each for each in row] for row in W])


def test_a_matrix_of_nine_columns_and_a_long_vector_have_their_norm_alone() -> None:
    source = "import torch\nW = torch.ones(2, 9, requires_grad=True)\nv = torch.ones(13, requires_grad=True)\n"
    found = trace(source + "(W.sum() * v.sum()).backward()\n")
    assert found.matrices.of == ()


def test_past_the_cap_of_matrices_those_of_leaves_are_kept() -> None:
    source = """\
import torch
W = torch.eye(4).mul(0.5).requires_grad_()
h = W
for _ in range(200):
    h = h @ W
h.sum().backward()
"""
    found = trace(source)
    assert len(found.matrices.of) == 400
    assert any("400 matrices of up to 8 by 8" in note for note in found.notes)
    added = len(found.events.kind) - 1 - found.events.kind[::-1].index("accumulate")
    kept = set(zip(found.matrices.of, found.matrices.at, strict=True))
    assert {("incoming", added), ("outgoing", added)} <= kept


def test_a_program_whose_matrices_do_not_fit_loses_their_numbers_first() -> None:
    whole = json.dumps(run(SQUARES, traced=True).document, separators=(",", ":"))
    document = run(SQUARES, traced=True, caps=Caps(max_document_bytes=len(whole) - 1)).document
    assert document["matrices"]["of"] == []
    assert any("numbers of matrices are left out" in note for note in document["notes"])
    assert "[" not in "".join(document["nodes"]["values"])
    assert not any("Values are left out" in note for note in document["notes"])


def test_a_retained_and_a_handed_out_gradient_have_their_matrices() -> None:
    source = """\
import torch
W = torch.ones(4, 4, requires_grad=True)
y = W * 2
y.retain_grad()
y.sum().backward()
torch.autograd.grad((W * 3).sum(), W)
"""
    found = trace(source)
    places = zip(found.matrices.of, found.matrices.at, strict=True)
    told = {(of, found.events.kind[at]) for of, at in places if of != "values"}
    assert {("outgoing", "retain"), ("incoming", "capture")} <= told
