"""Large and long programs: the tracer says less, the program runs on."""

import json
import math

import pytest

torch = pytest.importorskip("torch")

from tracer_parts import run, trace  # noqa: E402

from graders.inside.tracer import Caps  # noqa: E402

pytestmark = [pytest.mark.torch]

LOOP = """\
import torch
w = torch.ones(20, requires_grad=True)
for _ in range(30):
    (w.exp() * w).sum().backward()
"""

CHAIN = """\
import torch
x = torch.ones(3, requires_grad=True)
y = x
for _ in range({length}):
    y = y * 1.0
y.sum().backward()
"""


def test_past_the_cap_of_events_the_tape_stops_and_the_program_goes_on() -> None:
    ran = run(LOOP, traced=True, caps=Caps(max_events=40))
    found = ran.trace
    assert ran.error is None
    assert len(found.events.kind) == 40
    assert found.truncated
    assert any("40 steps" in note for note in found.notes)
    assert torch.equal(ran.tensors["w.grad"], run(LOOP, traced=False).tensors["w.grad"])


def test_past_the_cap_of_nodes_no_more_are_kept() -> None:
    found = trace(LOOP, Caps(max_nodes=10))
    assert len(found.nodes.name) == 10
    assert found.truncated


def test_values_give_way_to_norms_and_norms_to_shapes() -> None:
    source = (
        "import torch\nx = torch.ones(2, requires_grad=True)\ny = x.exp().sin().cos().tan().sum()\ny.backward()\n"
    )
    events = trace(source, Caps(valued_steps=3, normed_steps=5)).events
    ran = [text for kind, text in zip(events.kind, events.incoming, strict=True) if kind == "vjp"]
    # What a node receives was read when the node before it sent it: two more steps have values.
    slope = 1 / math.cos(math.cos(math.sin(math.e))) ** 2
    norm = math.sqrt(2) * slope * math.sin(math.sin(math.e))
    assert ran == ["() 1.0", "(2,) [1.0, 1.0]", f"(2,) [{slope:.4g}, {slope:.4g}]", f"(2,) ‖{norm:.3g}‖", "(2,)"]


def test_a_document_is_cut_to_the_bytes_that_will_be_read() -> None:
    sizes = {}
    for most in (1_000_000, 60_000, 30_000, 9_000, 1_500):
        document = run(LOOP, traced=True, caps=Caps(max_document_bytes=most)).document
        sizes[most] = len(json.dumps(document, separators=(",", ":")))
        assert sizes[most] <= most
        assert document["truncated"] == (sizes[most] != sizes[1_000_000])
    assert sizes[9_000] > 4_000


@pytest.mark.slow
def test_a_chain_of_a_hundred_thousand_nodes_is_walked_unwound_and_freed() -> None:
    ran = run(CHAIN.format(length=100_000), traced=True, caps=Caps(max_document_bytes=2**26, max_packed_bytes=2**26))
    assert ran.error is None
    assert torch.equal(ran.tensors["x.grad"], torch.ones(3))
    found = ran.trace
    assert len(found.nodes.name) == 100_002
    assert set(found.nodes.span[1:-1]) == {(5, 8, 5, 15)}
    assert found.truncated


RECURRENT = """\
import torch
torch.manual_seed(0)
cell, head, state = torch.nn.RNNCell(4, 3), torch.nn.Linear(3, 1), torch.zeros(1, 3)
for t in range(1000):
    state = cell(torch.randn(1, 4), state)
loss = head(state).pow(2).mean()
loss.backward()
"""


@pytest.mark.parametrize("source", [RECURRENT, CHAIN.format(length=10_000)], ids=["1,000 steps", "10,000 operations"])
def test_a_loop_keeps_its_values_and_the_tapes_end_because_it_compresses_well(source: str) -> None:
    found = trace(source)
    assert not found.truncated
    assert found.notes == ()
    assert found.events.kind[-1] == "end"
    assert found.events.incoming[-2].count("[") >= 1


def test_of_a_graph_too_large_to_be_sent_the_beginning_and_the_loss_are_kept() -> None:
    found = trace(CHAIN.format(length=400), Caps(max_document_bytes=20_000))
    assert 40 < len(found.nodes.name) < 400
    assert (found.nodes.forward[0], found.nodes.forward[-1]) == ("leaf", "sum")
    assert found.roots == (len(found.nodes.name) - 1,)
    assert any("in its middle" in note for note in found.notes)


def test_caps_given_by_a_caller_never_rise_above_their_defaults() -> None:
    caps = Caps.from_dict({"max_events": 10**9, "max_nodes": 5, "unknown": 1})
    assert (caps.max_events, caps.max_nodes) == (Caps.max_events, 5)


def test_a_broken_module_in_a_variable_does_not_stop_the_program() -> None:
    source = """\
import torch
class Unfinished(torch.nn.Module):
    def __init__(self):
        self.note = "no super().__init__()"
    def __getattr__(self, name):
        raise RuntimeError(name)
half = Unfinished()
x = torch.ones(2, requires_grad=True)
(x * 2).sum().backward()
"""
    ran = run(source + "del half\n", traced=True)
    assert ran.error is None
    assert "x" in ran.trace.nodes.variable


def test_other_threads_of_the_program_run_as_they_are() -> None:
    source = """\
import threading
import torch
w = torch.ones(3, requires_grad=True)
def work():
    (w * 2).sum().backward()
thread = threading.Thread(target=work)
thread.start()
thread.join()
(w * 3).sum().backward()
"""
    ran = run(source, traced=True)
    assert ran.error is None
    assert ran.tensors["w.grad"].tolist() == [5.0, 5.0, 5.0]
    assert [span and span[0] for span in ran.trace.nodes.span] == [None, 9, 9]


def test_nothing_of_torch_stays_wrapped_after_a_recording() -> None:
    watched = [
        (torch.autograd.graph, "_engine_run_backward"),
        (torch.autograd, "_engine_run_backward"),
        (torch.utils.checkpoint, "_checkpoint_hook"),
        (torch.utils.checkpoint, "_recomputation_hook"),
    ]
    before = [getattr(place, name) for place, name in watched]
    apply = torch.autograd.Function.__dict__["apply"]
    run("import torch\nx = torch.ones(2, requires_grad=True)\nx.sum().backward()\n1 / 0\n", traced=True)
    assert [getattr(place, name) for place, name in watched] == before
    assert torch.autograd.Function.__dict__["apply"] is apply
    assert not torch.nn.modules.module._global_forward_hooks
    assert not torch.nn.modules.module._global_forward_pre_hooks


def test_the_programs_own_hooks_on_nodes_run_beside_the_tapes_and_can_be_removed() -> None:
    source = """\
import torch
x = torch.ones(3, requires_grad=True)
y = x * 2
ran = []
first = y.grad_fn.register_hook(lambda sent, received: ran.append("first"))
z = y.exp().sum()
z.backward(retain_graph=True)
second = y.grad_fn.register_hook(lambda sent, received: ran.append("second"))
z.backward(retain_graph=True)
first.remove()
z.backward()
"""
    ran = run(source, traced=True)
    assert ran.error is None
    assert ran.namespace["ran"] == ["first", "first", "second", "second"]
    assert ran.trace.events.kind.count("vjp") == 9
    assert "_register_hook" not in torch.autograd.Function.__dict__
